//===- Config.h - config.json with checked access ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A family reads its keys through ConfigReader, which keeps the first error, so that a table of keys reads as a table. Every error names
// file, key, what was expected and what the file has. Keys nobody asks for are ignored.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_IMPORT_CONFIG_H
#define ATTUNE_IMPORT_CONFIG_H

#include "compiler/Import/ConfigTrace.h"
#include "compiler/Support/Json.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// A parsed config.json.
class Config {
public:
  /// Reads the file |name| of |folder|; its value must be an object.
  static Result<Config> open(const std::string &folder, const char *name = "config.json");
  /// A configuration without a file, whose values are those of the object |root|; |path| is for messages.
  static Config create(std::string path, Json root) { return Config(std::move(path), "", std::move(root), nullptr); }

  /// The file's path, for messages.
  const std::string &file() const { return path; }
  /// The value of |key|, or null if the file lacks it.
  const Json *find(std::string_view key) const { return findJson(root, key); }
  /// The keys of the file, sorted.
  std::vector<std::string> keys() const;
  /// |key| as messages call it: "rope_scaling.factor" in an object that is itself the value of a key.
  std::string label(std::string_view key) const { return prefix + std::string(key); }
  /// The object |key|, as a configuration of its own; empty if the file has something else there.
  Config object(std::string_view key) const;
  /// Replaces the value of |key|, or adds it.
  void set(const char *key, Json value) { root[key] = std::move(value); }

  /// Makes readers of this configuration, and of its objects, note their keys in |trace|.
  void setTrace(std::shared_ptr<ConfigTrace> trace) { notes = std::move(trace); }
  /// The notes of readers, or null.
  ConfigTrace *trace() const { return notes.get(); }

private:
  Config(std::string path, std::string prefix, Json root, std::shared_ptr<ConfigTrace> notes)
      : path(std::move(path)), prefix(std::move(prefix)), root(std::move(root)), notes(std::move(notes)) {}

  std::string path, prefix;
  Json root;
  std::shared_ptr<ConfigTrace> notes;
};

/// The values a key may have.
struct Range {
  int64_t min;
  int64_t max;
};

/// Reads keys of one configuration and keeps the first error; after an error the values returned are the defaults.
class ConfigReader {
public:
  explicit ConfigReader(const Config &config) : config(config) {}

  /// The first error, or success.
  const Status &status() const { return first; }
  /// Records the first error of |other|, a reader of a part of the file.
  void join(const ConfigReader &other) { record(other.status()); }

  /// True if the file has |key|, perhaps with the value null.
  bool knows(const char *key) const { return config.find(key) != nullptr; }
  /// True if the file has |key| with a value other than null.
  bool present(const char *key) const;
  /// The integer |key|, or |fallback| if it is absent.
  int64_t integer(const char *key, int64_t fallback, Range range);
  /// The same for a key that transformers knows by another name, too (`attribute_map`), which counts where the file has both.
  int64_t integer(const char *key, const char *other, int64_t fallback, Range range) {
    return integer(other, integer(key, fallback, range), range);
  }
  /// The same for keys whose null means their default.
  int64_t integerOrNull(const char *key, int64_t fallback, Range range) { return present(key) ? integer(key, fallback, range) : fallback; }
  /// The two integers of the list |key|, or twice the integer |key|, or twice |fallback| if it is absent.
  std::pair<int64_t, int64_t> integerPair(const char *key, int64_t fallback, Range range);
  /// The number |key| in [min, max], or |fallback| if it is absent.
  double number(const char *key, double fallback, double min, double max);
  /// The |count| numbers of the list |key|, all in [min, max]; ones if there is none, which is an error.
  std::vector<double> numbers(const char *key, size_t count, double min, double max);
  /// The flag |key|, or |fallback| if it is absent.
  bool flag(const char *key, bool fallback);
  /// The string |key|, or |fallback| if it is absent; without |fallback| the key is required.
  std::string string(const char *key, const char *fallback = nullptr);

  /// The strings of the list |key|, or the words of one string, in lower case, with `|` between them; none if it is absent or null.
  std::vector<std::string> words(const char *key);

  /// The model's class: the first of `architectures`, or |fallback| if the key is absent or null. A name that the reference library
  /// gave up counts as the present one.
  std::string architecture(const char *fallback);
  /// The entry of |table|, pairs that begin with a name, called |name|; records that |key| should be one of them and returns null if there
  /// is none.
  template <typename Table>
  auto choose(const char *key, const std::string &name, const Table &table) -> decltype(&*std::begin(table));
  /// The object |key| of lists of integers, empty if it is absent or null.
  std::vector<std::pair<std::string, std::vector<int64_t>>> integerLists(const char *key);
  /// The number of labels: the entries of `id2label`, else `num_labels`, else |fallback| (in this order, as transformers does).
  int64_t labels(int64_t fallback = 2);
  /// The names of |count| labels, `id2label`; "LABEL_0" where it has none, as in transformers.
  std::vector<std::string> labelNames(int64_t count);

  /// An error if |key| is present and neither null, false nor empty; |reason| says what is not implemented.
  void reject(const char *key, const char *reason);
  /// Records "FILE: 'key': expected EXPECTED, got <the file's value>".
  void fail(const char *key, const std::string &expected);

private:
  template <typename T>
  T keep(Result<T> value, T fallback);
  void record(Status status);
  /// Notes |key| in the configuration's trace, if it has one.
  void note(const char *key, const Json &fallback, const std::string &expected) const;
  /// Notes the choices of |key|: the classes of the family, or values.
  void noteChoices(const char *key, const std::vector<std::string> &names) const;
  /// Returns the end of a message about the choices of |key|: "" or words in parentheses.
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
