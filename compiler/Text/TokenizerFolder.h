//===- TokenizerFolder.h - The tokenizer of a model folder ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_TOKENIZERFOLDER_H
#define ATTUNE_COMPILER_TEXT_TOKENIZERFOLDER_H

#include "compiler/Text/TextFileWriter.h"

#include "compiler/Support/Status.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace attune::text {

/// Returns the names of the files in |folder| from which a tokenizer may be made; they need not exist.
std::vector<std::string> tokenizerFileNames(const std::string &folder);

/// Adds the tokenizer of |folder|, a model folder or a GGUF file, to |writer|; adds nothing if there is no tokenizer.
/// |warn|, unless empty, receives warnings. After a failure |writer| may have a part of the sections.
Status addTokenizer(const std::string &folder, const std::function<void(const std::string &)> &warn, TextFileWriter &writer);

/// Compiles the tokenizer of |folder| alone to the bytes of a .text file; nullopt if the folder has none.
Result<std::optional<std::string>> compileTokenizer(const std::string &folder, const std::function<void(const std::string &)> &warn);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_TOKENIZERFOLDER_H
