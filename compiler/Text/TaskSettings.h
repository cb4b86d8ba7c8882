//===- TaskSettings.h - How a folder's model is used with texts -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TASKSETTINGS_H
#define ATTUNE_COMPILER_TEXT_TASKSETTINGS_H

#include "compiler/Support/Status.h"
#include "compiler/Text/TextFileWriter.h"

#include <string>
#include <vector>

namespace attune::text {

/// Returns the files that addTaskSettings reads, besides config.json and modules.json, relative to |folder|, present or
/// not.
std::vector<std::string> taskFileNames(const std::string &folder);

/// Adds the settings of tasks (runtime/text/tasks/TaskFormat.h) that the model folder |folder| has to |writer|: the
/// largest length and special tokens of tokenizer_config.json, further special tokens of special_tokens_map.json,
/// problem_type and pad_token_id of config.json, and max_seq_length, prompts and similarity of a sentence-transformers
/// folder.
Status addTaskSettings(const std::string &folder, TextFileWriter &writer);

/// Returns true if |folder|, of sentence-transformers, says that texts are turned to lower case before anything else.
Result<bool> lowersTexts(const std::string &folder);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TASKSETTINGS_H
