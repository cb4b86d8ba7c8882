//===- PythonTokenizer.h - Common parts of tokenizer classes in Python ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some tokenizer classes of transformers are written in Python: they read their files themselves and do not use the
// package `tokenizers`, and no component of tokenizer.json describes them. A class here makes steps of the tables, or
// components of that form. Common to all of them: added tokens match texts as they are, `split_special_tokens` splits
// all of them, white space beside added tokens and at the ends of decoded texts is Python's, and where truncation cuts
// both texts of a pair to an odd number of tokens in all, the first text keeps the odd one.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_PYTHONTOKENIZER_H
#define ATTUNE_COMPILER_TEXT_PYTHONTOKENIZER_H

#include "compiler/Text/TokenizerBuilder.h"

#include <functional>

namespace attune::text {

/// Sets the rules that all tokenizer classes in Python have in common.
void setPythonRules(TokenizerBuilder &builder);
/// Adds the added tokens of the settings and the special tokens of class and settings, as TokenizerBuilder::initialize
/// takes them, to the spec of |builder|, in which the vocabulary must be. Added tokens keep the ids that the settings give
/// them. A special token that is not among them is added with its id in the vocabulary, or else a new one, and with no
/// flag but `special`. Fails for an added token with `single_word` and for an id far beyond the number of tokens.
Status initializeInPython(TokenizerBuilder &builder, const NamedTokens &tokens,
                          std::optional<std::vector<NamedToken>> extra = std::nullopt);
/// Sets |id| to the id of the special token |name|, such as "eos_token". Fails if there is no such token.
Status requireToken(const TokenizerBuilder &builder, const char *name, uint32_t &id);
/// Adds a post-processor with the templates "cls A sep" for one text and "cls A sep sep B sep" for two. Fails if one of
/// the two tokens is missing.
Status addClsSepTemplate(TokenizerBuilder &builder);
/// Gives each id without a token a string for decoding alone, |textOf|(id). The ids are those below |end| or below the
/// highest id of an added token, whichever is larger.
void fillGaps(TokenizerSpec &spec, size_t end, const std::function<std::string(size_t)> &textOf);

/// The lines of a text file, without their ends, as Python's text mode reads them: "\n", "\r\n" and "\r" end a line.
struct PythonLines {
  std::vector<std::string> lines;
  bool hasLastEnd = true; ///< false if the last line has no end
};
/// Reads the lines of the file |path|. Fails if a line is not UTF-8.
Result<PythonLines> readPythonLines(const std::string &path);

/// Returns true for the characters that Python's str.isspace() takes for white space.
bool isPythonSpace(uint32_t c);
/// Returns |text|, which is UTF-8, without white space at both ends, as Python's str.strip() does.
std::string stripPythonSpace(const std::string &text);
/// Returns the words of |text|, which is UTF-8, as Python's str.split() does.
std::vector<std::string> splitAtPythonSpace(const std::string &text);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_PYTHONTOKENIZER_H
