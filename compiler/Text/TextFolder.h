//===- TextFolder.h - The .text file of a model folder --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TEXTFOLDER_H
#define ATTUNE_COMPILER_TEXT_TEXTFOLDER_H

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace attune::text {

/// Returns the names of the files from which the .text file of |folder| is made, except modules.json, relative to
/// |folder|. A listed file may be missing.
std::vector<std::string> textFileNames(const std::string &folder);

/// Compiles the tokenizer, with it the settings of tasks, and the chat templates of |folder|, a model folder or a GGUF
/// file, to the bytes of a .text file; returns nullopt if it has neither. What cannot be compiled is left out, since a
/// model is useful without it, and |warn| gets the reason.
std::optional<std::string> compileText(const std::string &folder, const std::function<void(const std::string &)> &warn);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TEXTFOLDER_H
