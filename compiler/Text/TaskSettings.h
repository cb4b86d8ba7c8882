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

/// Returns the names, relative to |folder|, of the files that addTaskSettings reads, except config.json and
/// modules.json. Listed files need not exist. In a sentence-transformers folder, modules.json may put the files of the
/// transformer into a subfolder; their names then begin with its name.
std::vector<std::string> taskFileNames(const std::string &folder);

/// Adds to |writer| the settings of tasks (runtime/text/tasks/TaskFormat.h) of the model folder |folder|. From
/// tokenizer_config.json come model_max_length and the tokens for masks, classes and unknown words;
/// special_tokens_map.json gives those of these tokens that tokenizer_config.json lacks. From config.json come
/// problem_type and pad_token_id. From the files of a sentence-transformers folder come max_seq_length, which replaces
/// model_max_length, prompts and similarity. Fails if one of these files is malformed.
Status addTaskSettings(const std::string &folder, TextFileWriter &writer);

/// Returns `do_lower_case` of the settings of the transformer in |folder| (readTransformerSettings): true if texts are
/// turned to lower case before any other step. Returns false if there are no such settings, and fails if they are
/// malformed.
Result<bool> lowersTexts(const std::string &folder);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TASKSETTINGS_H
