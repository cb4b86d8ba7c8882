//===- LanguageCodes.h - Languages of models that translate ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of the languages that tokenizer classes of transformers add to a vocabulary as tokens, in the order of the
// tokens' ids. M2M100Tokenizer has two lists, m2m100 and wmt21, between which its setting `language_codes` chooses; its
// token for the language en is __en__. In the other classes the name of a language is its token.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_LANGUAGECODES_H
#define ATTUNE_COMPILER_TEXT_LANGUAGECODES_H

#include <vector>

namespace attune::text {

std::vector<const char *> mbartLanguages();
const std::vector<const char *> &mbart50Languages();
const std::vector<const char *> &nllbLanguages();
const std::vector<const char *> &m2m100Languages();
const std::vector<const char *> &wmt21Languages();

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_LANGUAGECODES_H
