//===- OutputSet.h - Files that belong together -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_OUTPUTSET_H
#define ATTUNE_COMPILER_DRIVER_OUTPUTSET_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Support/OutputFile.h"

namespace attune {

/// The object, its header, its weights files, one for each rank, its .text file and the source of its line tables. The
/// files have no names until all of them are complete.
class OutputSet {
public:
  /// Creates the main file, the header and the weights files for |ranks| ranks, so that an error comes before any work.
  static Result<OutputSet> create(const std::string &output, int64_t ranks = 1);

  /// Returns the names of all files that commit may write for |ranks| ranks; these include the source of line tables if
  /// |hasSource|.
  static std::vector<std::string> listNames(const std::string &output, int64_t ranks, bool hasSource);

  /// Returns the weights file of |rank|, for the packer.
  OutputFile &weights(size_t rank = 0) { return weightsFiles[rank]; }
  /// Drops the weights files of all ranks: the caller writes its own.
  void omitWeights() { weightsFiles.clear(); }
  Status writeHeader(const std::string &text) { return headerFile->write(text.data(), text.size()); }
  /// Writes |bytes|, the compiled tokenizer and chat templates, to STEM.text, where STEM is the path of the main file
  /// without its extension. Fails if the main file itself has this name. Without this call, commit removes an existing
  /// STEM.text if it begins like a compiled tokenizer, since it is from an earlier compilation.
  Status writeText(const std::string &bytes);
  /// Returns the file name of the source of line tables, STEM.vector.mlir, without the folder.
  std::string sourceName() const;
  Status writeSource(const std::string &text);
  /// Writes the main file; a shared object is linked from |code|.
  Status writeCode(const std::string &code, EmitKind kind);
  /// Gives all files their names, the object last. If that fails for one file, none of them keeps its name, and
  /// existing files with these names are restored as far as OutputFile::commitTogether can.
  Status commit();

private:
  std::string output, header;
  std::optional<OutputFile> codeFile, headerFile, textFile, sourceFile;
  std::vector<OutputFile> weightsFiles;
};

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_OUTPUTSET_H
