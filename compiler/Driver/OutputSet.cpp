//===- OutputSet.cpp - Files that belong together --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Driver/OutputSet.h"
#include "compiler/Target/CPU/Emit.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

using namespace attune;

/// |path| with another extension.
static std::string withExtension(llvm::StringRef path, llvm::StringRef extension) {
  llvm::SmallString<128> result(path);
  llvm::sys::path::replace_extension(result, extension);
  return result.str().str();
}

Result<OutputSet> OutputSet::create(const std::string &output) {
  OutputSet files;
  files.output = output;
  files.header = withExtension(output, "h");
  files.weightsPath = withExtension(output, "weights");
  if (output == files.header || output == files.weightsPath)
    return Status::error("-o: '" + output + "' would be overwritten by the header or the weights; give the object another extension");
  if (llvm::sys::fs::is_directory(output))
    return Status::error("-o: expected a file, '" + output + "' is a folder");
  auto create = [](const std::string &path, std::optional<OutputFile> &file) -> Status {
    Result<OutputFile> created = OutputFile::create(path);
    if (!created)
      return created.status();
    file.emplace(std::move(*created));
    llvm::sys::RemoveFileOnSignal(file->temporaryPath());
    return {};
  };
  for (auto [path, file] : {std::pair(&files.output, &files.codeFile), std::pair(&files.header, &files.headerFile),
                            std::pair(&files.weightsPath, &files.weightsFile)})
    if (Status status = create(*path, *file); status.failed())
      return status;
  return files;
}

Status OutputSet::writeCode(const std::string &code, EmitKind kind) {
  if (kind != EmitKind::Shared)
    return codeFile->write(code.data(), code.size());
  // Linkers want files.
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("attune-link", folder))
    return Status::error("cannot create a temporary folder");
  llvm::scope_exit cleanup([&] { llvm::sys::fs::remove_directories(folder); });
  std::string object = (folder + "/model.o").str(), linked = (folder + "/model.so").str();
  Result<OutputFile> file = OutputFile::create(object);
  if (!file)
    return file.status();
  if (Status status = file->write(code.data(), code.size()); status.failed())
    return status;
  if (Status status = file->commit(); status.failed())
    return status;
  if (Status status = linkShared(object, linked); status.failed())
    return status;
  auto buffer = llvm::MemoryBuffer::getFile(linked);
  if (!buffer)
    return Status::error("cannot read '" + linked + "': " + buffer.getError().message());
  return codeFile->write((*buffer)->getBufferStart(), (*buffer)->getBufferSize());
}

Status OutputSet::commit() {
  // The object last: whoever finds it finds its weights.
  std::vector<std::string> named;
  for (auto [path, file] : {std::pair(&weightsPath, &weightsFile), std::pair(&header, &headerFile), std::pair(&output, &codeFile)}) {
    if (!*file)
      continue;
    std::string temporary = (*file)->temporaryPath();
    Status status = (*file)->commit();
    llvm::sys::DontRemoveFileOnSignal(temporary);
    if (status.failed()) {
      for (const std::string &done : named)
        llvm::sys::fs::remove(done);
      return status;
    }
    named.push_back(*path);
  }
  return {};
}
