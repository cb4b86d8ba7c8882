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

/// Returns the files that the .text file of |folder| is made from, relative to it. Not all of them need be there.
std::vector<std::string> textFileNames(const std::string &folder);

/// Compiles the tokenizer and the chat templates of |folder| to the bytes of a .text file; nullopt if there is neither.
/// A model is of use without them: |warn| receives the reason why one is left out.
std::optional<std::string> compileText(const std::string &folder, const std::function<void(const std::string &)> &warn);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TEXTFOLDER_H
