//===- VocabularyFiles.h - Reading vocab.txt, vocab.json and merges.txt ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TEXT_VOCABULARYFILES_H
#define ATTUNE_COMPILER_TEXT_VOCABULARYFILES_H

#include "compiler/Support/MappedFile.h"
#include "compiler/Text/TokenizerSpec.h"

namespace attune::text {

/// Maps the file |path|. Fails if it has more than |mostMiB| MiB.
Result<MappedFile> openVocabularyFile(const std::string &path, size_t mostMiB = 256);
/// Returns the lines of |path| without line ends. A last line need not end with a line break. Fails if a line is not
/// UTF-8.
Result<std::vector<std::string>> readTextLines(const std::string &path);
/// Reads vocab.txt into the vocabulary of |spec|: a token on each line, whose id is the number of the line, from 0.
/// White space at the end of a line is dropped. Of equal lines the last one counts.
Status readVocabTxt(const std::string &path, TokenizerSpec &spec);
/// Reads vocab.json, an object from tokens to ids, into the vocabulary of |spec|.
Status readVocabJson(const std::string &path, TokenizerSpec &spec);
/// Reads merges.txt, after the vocabulary: two tokens on each line, with a space between them. Skips lines that begin
/// with "#version". Fails if the vocabulary lacks a token or the string of both.
Status readMergesTxt(const std::string &path, TokenizerSpec &spec);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_VOCABULARYFILES_H
