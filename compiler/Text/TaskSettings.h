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

/// Returns the names of the files that addTaskSettings reads, relative to |folder|. The list lacks config.json and
/// modules.json, which it also reads; listed files need not exist. In a sentence-transformers folder, modules.json says
/// in which subfolder the files of the transformer are, and their names begin with that.
std::vector<std::string> taskFileNames(const std::string &folder);

/// Adds the settings of tasks (runtime/text/tasks/TaskFormat.h) that the model folder |folder| has to |writer|: the
/// largest length and the special tokens for masks, classes and unknown words of tokenizer_config.json, those of
/// special_tokens_map.json that it lacks, problem_type and pad_token_id of config.json, and max_seq_length, prompts and
/// similarity of a sentence-transformers folder.
Status addTaskSettings(const std::string &folder, TextFileWriter &writer);

/// Returns `do_lower_case` of the transformer's settings (readTransformerSettings): true if texts are turned to lower
/// case before any other step. False without such settings.
Result<bool> lowersTexts(const std::string &folder);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TASKSETTINGS_H
