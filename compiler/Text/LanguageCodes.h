//===- LanguageCodes.h - Languages of models that translate ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For each of five tokenizer classes of transformers, the names of the languages that the class adds to a vocabulary as
// tokens, in the order of their ids.
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
