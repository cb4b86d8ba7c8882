//===- EmitShared.cpp - Linking a shared object ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/Emit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

using namespace attune;

/// A linker, or nothing. Versioned names are what Debian installs when the plain one belongs to another version.
static std::string findLinker(bool &isCompiler) {
  isCompiler = false;
  for (const std::string &name : {std::string("ld.lld"), "ld.lld-" + std::to_string(LLVM_VERSION_MAJOR)}) {
    if (auto found = llvm::sys::findProgramByName(name))
      return *found;
    if (auto found = llvm::sys::findProgramByName(name, {ATTUNE_LLVM_TOOLS_DIR}))
      return *found;
  }
  isCompiler = true;
  for (const char *name : {"cc", "gcc", "clang"})
    if (auto found = llvm::sys::findProgramByName(name))
      return *found;
  return "";
}

/// The first line of |path|, which a linker wrote its errors to.
static std::string firstLine(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().trim().split('\n').first.str() : "";
}

Status attune::linkShared(const std::string &objectPath, const std::string &outPath) {
  bool isCompiler;
  std::string linker = findLinker(isCompiler);
  if (linker.empty())
    return Status::error("--emit=shared needs a linker, but neither ld.lld nor cc is on the PATH");
  // Nothing but the object goes in, so both linkers give a file that needs no library; the process that loads it has memcpy.
  llvm::SmallVector<llvm::StringRef> arguments = {linker, "-shared"};
  if (isCompiler)
    arguments.append({"-nostdlib", "-Wl,-z,noexecstack", "-Wl,--build-id=none"});
  else
    arguments.append({"-z", "noexecstack", "--build-id=none"});
  arguments.append({"-o", outPath, objectPath});
  llvm::SmallString<128> log;
  if (llvm::sys::fs::createTemporaryFile("attune-link", "log", log))
    return Status::error("cannot create a temporary file");
  std::string error;
  int status = llvm::sys::ExecuteAndWait(linker, arguments, std::nullopt, {llvm::StringRef(""), llvm::StringRef(log), llvm::StringRef(log)},
                                         0, 0, &error);
  std::string line = firstLine(log);
  llvm::sys::fs::remove(log);
  if (status == 0)
    return {};
  return Status::error(linker + " failed: " + (!line.empty() ? line : !error.empty() ? error : "status " + std::to_string(status)));
}
