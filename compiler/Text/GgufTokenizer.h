//===- GgufTokenizer.h - The tokenizer of a GGUF file ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_GGUFTOKENIZER_H
#define ATTUNE_COMPILER_TEXT_GGUFTOKENIZER_H

#include "compiler/Support/Gguf.h"
#include "compiler/Text/TokenizerArguments.h"

#include <functional>
#include <optional>

namespace attune::text {

/// Returns the arguments of the tokenizer that the metadata of |file| describe: the settings and the tokenizer.json of
/// the folder that the file was made from, as far as they decide ids and texts. Returns nullopt if the file has no
/// tokenizer. Fails for kinds of tokenizers and names of pre-tokenizers that are not known: a wrong split of a text
/// would be a wrong result. |warn| gets a message for each assumption that is made where the metadata say nothing.
Result<std::optional<TokenizerArguments>> readGgufTokenizer(const GgufFile &file, const std::function<void(const std::string &)> &warn);

/// Returns the special tokens of |file| by the names that chat templates see, such as "bos_token", without those whose
/// id is wrong or whose text is not UTF-8.
std::vector<std::pair<std::string, std::string>> readGgufSpecialTokens(const GgufFile &file);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_GGUFTOKENIZER_H
