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
/// Returns the lines of the file |path| without their line ends, "\n" or "\r\n", which the last line may lack. Fails if
/// a line is not UTF-8.
Result<std::vector<std::string>> readTextLines(const std::string &path);
/// Reads vocab.txt into the vocabulary of |spec|. Each line has a token; the id of the token is the number of its line,
/// from 0. White space at the end of a line is dropped. Of equal lines the last one counts. Fails for an empty file.
Status readVocabTxt(const std::string &path, TokenizerSpec &spec);
/// Reads vocab.json, an object from tokens to ids, into the vocabulary of |spec|.
Status readVocabJson(const std::string &path, TokenizerSpec &spec);
/// Reads merges.txt into the merges of |spec|, whose vocabulary must be there: two tokens on each line, with a space
/// between them. Skips lines that begin with "#version"; fails for other lines. Fails if the vocabulary lacks one of
/// the tokens or the token that they make together.
Status readMergesTxt(const std::string &path, TokenizerSpec &spec);

} // namespace attune::text

#endif // ATTUNE_COMPILER_TEXT_VOCABULARYFILES_H
