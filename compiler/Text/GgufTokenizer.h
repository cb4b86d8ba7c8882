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
/// the folder from which the file was made, as far as they decide ids and texts. Returns nullopt if the file has no
/// tokenizer. Fails for malformed metadata, and for unknown kinds of tokenizers and names of pre-tokenizers, since a
/// wrong split of a text would be a wrong result. |warn|, unless empty, gets a message for each assumption that is made
/// where the metadata say nothing.
Result<std::optional<TokenizerArguments>> readGgufTokenizer(const GgufFile &file, const std::function<void(const std::string &)> &warn);

/// Returns the special tokens of |file| by the names that chat templates see, such as "bos_token". Omits tokens whose
/// id is not that of a token of the vocabulary or whose text is not UTF-8.
std::vector<std::pair<std::string, std::string>> readGgufSpecialTokens(const GgufFile &file);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_GGUFTOKENIZER_H
