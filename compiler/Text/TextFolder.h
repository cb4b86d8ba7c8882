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

/// Returns the names, relative to |folder|, of the files from which its .text file is made. The list lacks
/// modules.json; the listed files need not exist.
std::vector<std::string> textFileNames(const std::string &folder);

/// Compiles three parts of |folder|, a model folder or a GGUF file, to the bytes of a .text file: the tokenizer, the
/// settings of tasks, which need a tokenizer, and the chat templates. A part that cannot be compiled is left out, since
/// a model is useful without it, and |warn|, unless empty, gets the reason. Returns nullopt if no part remains.
std::optional<std::string> compileText(const std::string &folder, const std::function<void(const std::string &)> &warn);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TEXTFOLDER_H
