//===- OutputSet.cpp - Files that belong together -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/OutputSet.h"
#include "compiler/Object/Emit.h"
#include "compiler/Support/FileKind.h"
#include "compiler/Support/Seal.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace attune;

/// Returns |path| with another extension.
static std::string withExtension(llvm::StringRef path, llvm::StringRef extension) {
  llvm::SmallString<128> result(path);
  llvm::sys::path::replace_extension(result, extension);
  return result.str().str();
}

/// Returns the path of the weights of |rank|: OUT.weights, or OUT.rank0.weights, … for several ranks.
static std::string weightsPath(llvm::StringRef output, int64_t rank, int64_t ranks) {
  return withExtension(output, ranks == 1 ? "weights" : "rank" + std::to_string(rank) + ".weights");
}

std::vector<std::string> OutputSet::listNames(const std::string &output, int64_t ranks, bool hasSource) {
  std::vector<std::string> names = {output, withExtension(output, "h"), withExtension(output, "text")};
  if (hasSource)
    names.push_back(withExtension(output, "vector.mlir"));
  for (int64_t rank = 0; rank != ranks; ++rank)
    names.push_back(weightsPath(output, rank, ranks));
  return names;
}

Result<OutputSet> OutputSet::create(const std::string &output, int64_t ranks) {
  OutputSet files;
  files.output = output;
  files.header = withExtension(output, "h");
  if (output == files.header || output == weightsPath(output, 0, 1))
    return Status::error("-o: '" + output + "' would be overwritten by the header or the weights; give the object another extension");
  if (llvm::sys::fs::is_directory(output))
    return Status::error("-o: expected a file, '" + output + "' is a folder");
  for (auto [path, file] : {std::pair(&files.output, &files.codeFile), std::pair(&files.header, &files.headerFile)}) {
    Result<OutputFile> created = OutputFile::create(*path);
    if (!created)
      return created.status();
    file->emplace(std::move(*created));
  }
  for (int64_t rank = 0; rank != ranks; ++rank) {
    Result<OutputFile> created = OutputFile::create(weightsPath(output, rank, ranks));
    if (!created)
      return created.status();
    files.weightsFiles.push_back(std::move(*created));
  }
  return files;
}

Status OutputSet::writeText(const std::string &bytes) {
  const std::string path = withExtension(output, "text");
  if (path == output)
    return Status::error("-o: '" + output + "' would be overwritten by the .text file; give the object another extension");
  Result<OutputFile> created = OutputFile::create(path);
  if (!created)
    return created.status();
  textFile.emplace(std::move(*created));
  return textFile->write(bytes.data(), bytes.size());
}

std::string OutputSet::sourceName() const { return llvm::sys::path::filename(withExtension(output, "vector.mlir")).str(); }

Status OutputSet::writeSource(const std::string &text) {
  Result<OutputFile> created = OutputFile::create(withExtension(output, "vector.mlir"));
  if (!created)
    return created.status();
  sourceFile.emplace(std::move(*created));
  return sourceFile->write(text.data(), text.size());
}

Status OutputSet::writeCode(const std::string &code, EmitKind kind) {
  if (kind != EmitKind::Shared)
    return codeFile->write(code.data(), code.size());
  Result<std::string> linked = linkShared(code);
  if (!linked)
    return linked.status();
  appendSeal(*linked);
  return codeFile->write(linked->data(), linked->size());
}

Status OutputSet::commit() {
  // The object is last, so that a process that finds it also finds its weights.
  std::vector<OutputFile *> files;
  for (OutputFile &file : weightsFiles)
    files.push_back(&file);
  for (std::optional<OutputFile> *file : {&textFile, &sourceFile, &headerFile, &codeFile})
    if (*file)
      files.push_back(&**file);
  if (Status status = OutputFile::commitTogether(files); status.failed())
    return status;
  // Removes the .text file of an earlier compilation: tools would take its tokenizer for that of this model. Leaves a
  // file of this name alone that is no compiled tokenizer.
  const std::string text = withExtension(output, "text");
  if (!textFile && text != output && identifyFile(text) == FileKind::CompiledText)
    (void)llvm::sys::fs::remove(text);
  return {};
}
