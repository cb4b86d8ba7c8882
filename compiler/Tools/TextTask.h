//===- TextTask.h - A model opened for texts ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part that embed, classify, fill and answer share: texts of the command line or of a file, and a model with its
// tokenizer and as much memory as these texts need.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_TEXTTASK_H
#define ATTUNE_COMPILER_TOOLS_TEXTTASK_H

#include "attune/tasks.h"
#include "compiler/Support/Json.h"
#include "compiler/Tools/Commands.h"

namespace attune {

/// Returns the lines of the file |path|, or of standard input for "-". A last line need not end with a line break.
Result<std::vector<std::string>> readLines(const std::string &path);
/// Returns |words|; the lines of standard input if the only word is "-"; or the lines of |file| if that is not "".
/// Fails if there are neither words nor a file, or both.
Result<std::vector<std::string>> gatherTexts(const std::vector<std::string> &words, const std::string &file);

/// Flags of all commands on texts. |maxLength| 0 means the limit of model folder and model.
struct TextTaskFlags {
  std::string file;
  int64_t batchSize = 32, maxLength = 0, threads = 0;
  bool json = false;

  /// Adds the flags, --file and --batch-size only if |hasFile|, and the flags of |host|.
  void addTo(FlagTable &flags, const CommandHost &host, bool hasFile = true);
};

/// A model with its tokenizer and memory for one task.
class TextTask {
public:
  /// Opens |model| with its tokenizer. If the tool compiles the model, |entry| is the only entry that the compilation
  /// creates.
  static Result<TextTask> open(const CommandHost &host, const std::string &model, const std::string &entry);
  /// Creates the task of |kind|, with memory for |count| texts of at most |longest| bytes each.
  Status begin(attune_task_kind kind, const TextTaskFlags &flags, size_t count, size_t longest);
  /// Returns the kind of task that the model is made for. Fails if the model is for no task.
  Result<attune_task_kind> findKind() const;
  /// Prints a warning if the last call cut texts, but only the first time in the life of this object.
  void reportCut(const CommandHost &host);

  const Artifact &artifact() const { return model; }
  const attune_text *text() const { return tokenizer.get(); }
  attune_task *get() const { return task.get(); }

private:
  TextTask(Artifact artifact, std::shared_ptr<attune_text> text) : model(std::move(artifact)), tokenizer(std::move(text)) {}

  // Destroyed in reverse order: the task before the tokenizer and the model that it uses.
  Artifact model;
  std::shared_ptr<attune_text> tokenizer;
  std::shared_ptr<attune_task> task;
  bool saidCut = false;
};

/// Returns the error of this thread's last failing call of the runtime.
inline Status taskError() { return Status::error(attune_last_error()); }
/// Prints |object| on one line, with U+FFFD for bytes that are not UTF-8.
void printJsonLine(const nlohmann::ordered_json &object);
/// Returns |number| as the shortest decimal number that reads back as the same float.
std::string formatFloat(float number);
/// Returns |number| as a number of JSON with the digits of formatFloat; null if it is not finite.
nlohmann::ordered_json toJson(float number);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_TEXTTASK_H
