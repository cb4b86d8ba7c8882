//===- Config.h - config.json with checked access ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family reads its keys through ConfigReader, which keeps the first error, so that a family can read a table of keys
// without checks in between. Each error names the file, the key, the expected and the actual value. Keys that no reader
// asks for are ignored.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_CONFIG_H
#define ATTUNE_IMPORT_CONFIG_H

#include "compiler/Import/ConfigTrace.h"
#include "compiler/Support/Json.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// A parsed config.json or another JSON file of settings, or an object in one.
class Config {
public:
  /// Reads the file |name| of |folder|; its value must be an object.
  static Result<Config> open(const std::string &folder, const char *name = "config.json");
  /// Returns a configuration without a file, with the values of the object |root|. |path| is for messages.
  static Config create(std::string path, Json root) { return Config(std::move(path), "", std::move(root), nullptr); }

  /// Returns the file's path, for messages.
  const std::string &file() const { return path; }
  /// Returns the value of |key|, which may be a JSON null, or nullptr if this object lacks the key.
  const Json *find(std::string_view key) const { return findJson(root, key); }
  /// Returns the keys of this object, sorted.
  std::vector<std::string> keys() const;
  /// Returns the name of |key| in messages: "rope_scaling.factor" for the key "factor" of the object under the key
  /// "rope_scaling".
  std::string label(std::string_view key) const;
  /// Returns a copy of the object |key| as a configuration of its own; an empty one if the key is absent or its value
  /// is not an object.
  Config object(std::string_view key) const;
  /// Replaces the value of |key|, or adds it.
  void set(const char *key, Json value) { root[key] = std::move(value); }
  /// Adds |key| of |other|, unless this object has the key or |other| lacks it. Messages then name the key as in
  /// |other|.
  void inherit(const std::string &key, const Config &other);
  /// Makes |name|, which a user or the tensors chose, the class of the model, in place of the file's `architectures`. A
  /// family that otherwise takes the class from another key (ChatGLM, from `auto_map`) then takes |name|.
  void chooseClass(const std::string &name) {
    set("architectures", Json::array({name}));
    classChosen = true;
  }
  /// Returns true if chooseClass has been called.
  bool hasChosenClass() const { return classChosen; }
  /// Removes |key|.
  void remove(const char *key) { root.erase(key); }

  /// Makes readers of this configuration, and of its objects, record their keys in |trace|.
  void setTrace(std::shared_ptr<ConfigTrace> trace) { notes = std::move(trace); }
  /// Returns the trace, or null.
  ConfigTrace *trace() const { return notes.get(); }

private:
  Config(std::string path, std::string prefix, Json root, std::shared_ptr<ConfigTrace> notes)
      : path(std::move(path)), prefix(std::move(prefix)), root(std::move(root)), notes(std::move(notes)) {}

  std::string path, prefix;
  Json root;
  std::shared_ptr<ConfigTrace> notes;
  bool classChosen = false;
  /// The names of inherited keys in messages, by key.
  std::map<std::string, std::string, std::less<>> inheritedLabels;
};

/// The range of an integer key, both ends included; a value outside it is refused.
struct IntegerRange {
  int64_t min;
  int64_t max;
};

/// Reads keys of one configuration, which it borrows, and keeps the first error. A key whose value is refused reads as
/// its fallback; a key without a fallback reads as an empty value, unless its function says otherwise. The other keys
/// are still read.
class ConfigReader {
public:
  explicit ConfigReader(const Config &config) : config(config) {}

  /// Returns the first error, or success.
  const Status &status() const { return first; }
  /// Records the first error of |other|, a reader of an object of the same file.
  void join(const ConfigReader &other) { record(other.status()); }

  /// Returns true if the file has |key|, also with the value null.
  bool knows(const char *key) const { return config.find(key) != nullptr; }
  /// Returns true if the file has |key| with a value other than null.
  bool present(const char *key) const;
  /// Returns the integer |key|, or |fallback| if it is absent.
  int64_t integer(const char *key, int64_t fallback, IntegerRange range);
  /// Returns the integer |key|, which transformers also knows under the name |other| (`attribute_map`). If the file has
  /// both, returns that of |other|; if it has neither, |fallback|.
  int64_t integer(const char *key, const char *other, int64_t fallback, IntegerRange range) {
    return integer(other, integer(key, fallback, range), range);
  }
  /// Returns the integer |key|, or |fallback| if it is absent or null.
  int64_t integerOrNull(const char *key, int64_t fallback, IntegerRange range) {
    return present(key) ? integer(key, fallback, range) : fallback;
  }
  /// Returns the two integers of the list |key|; an element that is refused reads as |fallback|. If the key is one
  /// integer, returns it twice. If the key is absent, or is neither an integer nor a list of two, returns |fallback|
  /// twice.
  std::pair<int64_t, int64_t> integerPair(const char *key, int64_t fallback, IntegerRange range);
  /// Returns the number |key| in [min, max], or |fallback| if it is absent.
  double number(const char *key, double fallback, double min, double max);
  /// Returns the |count| numbers of the list |key|, all in [min, max]. If |key| has no such list, records an error and
  /// returns |count| ones.
  std::vector<double> numbers(const char *key, size_t count, double min, double max);
  /// Returns the flag |key|, or |fallback| if it is absent.
  bool flag(const char *key, bool fallback);
  /// Returns the string |key|, or |fallback| if it is absent; without |fallback| the key is required.
  std::string string(const char *key, const char *fallback = nullptr);

  /// Returns the strings of the list |key| unchanged, or the words of a single string, separated by `|`, trimmed and in
  /// lower case. Returns an empty list if the key is absent or null.
  std::vector<std::string> words(const char *key);

  /// Returns the class of the model: the first of `architectures`, or |fallback| if the key is absent, null or an empty
  /// list. A former name in transformers is replaced by the present one.
  std::string architecture(const char *fallback);
  /// Returns the entry of |table|, a list of pairs, whose first member is |name|. If there is none, records an error
  /// that |key| should be one of the first members, and returns nullptr.
  template <typename Table>
  auto choose(const char *key, const std::string &name, const Table &table) -> decltype(&*std::begin(table));
  /// Returns the members of the object |key|, lists of integers by name; none if the key is absent or null.
  std::vector<std::pair<std::string, std::vector<int64_t>>> integerLists(const char *key);
  /// Returns the number of labels: the number of entries of `id2label`, else `num_labels`, else |fallback|, in the
  /// order of transformers 4 (see completeConfig).
  int64_t labels(int64_t fallback = 2);
  /// Returns the names of |count| labels, the values of the keys 0 … |count| - 1 of `id2label`; other numbers as keys
  /// are ignored. A missing name is "LABEL_" and the number, as in transformers. Records an error if a key is no
  /// integer, or a name is no string or contains a NUL. If |count| is 0, returns an empty list and checks nothing.
  std::vector<std::string> labelNames(int64_t count);

  /// Records an error if |key| is present and neither null, false nor an empty object or list. |reason| says which
  /// feature is not implemented.
  void reject(const char *key, const char *reason);
  /// Records "FILE: 'key': expected EXPECTED, got <the value>", or "…, but the key is missing".
  void fail(const char *key, const std::string &expected);

private:
  template <typename T>
  T keep(Result<T> value, T fallback);
  void record(Status status);
  /// Records |key| in the trace of the configuration, if there is one. A null |fallback| stands for none, an empty
  /// |expected| for accepted values that are not known.
  void note(const char *key, const Json &fallback, const std::string &expected) const;
  /// Records |names| in the trace of the configuration, which must have one: for "architectures" as the classes of the
  /// family, for other keys as the accepted values.
  void noteChoices(const char *key, const std::vector<std::string> &names) const;
  /// Returns the end of a message about the choices of |key|: "", or a hint in parentheses about `auto_map` or
  /// --architecture.
  std::string choiceHint(std::string_view key) const;

  const Config &config;
  Status first;
};

template <typename Table>
auto ConfigReader::choose(const char *key, const std::string &name, const Table &table) -> decltype(&*std::begin(table)) {
  if (config.trace()) {
    std::vector<std::string> names;
    for (const auto &entry : table)
      names.emplace_back(entry.first);
    noteChoices(key, names);
  }
  std::string known;
  for (const auto &entry : table) {
    if (name == entry.first)
      return &entry;
    known += (known.empty() ? "" : ", ") + std::string(entry.first);
  }
  fail(key, "one of " + known + choiceHint(key));
  return nullptr;
}

} // namespace attune

#endif // ATTUNE_IMPORT_CONFIG_H
