//===- EmitShared.cpp - Linking a shared object ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Object/Emit.h"
#include "compiler/Support/MemoryFile.h"
#include "compiler/Support/Subprocess.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Program.h"

using namespace attune;

/// Returns the path of a linker, or "" if there is none. |isCompiler| becomes true if it is a C compiler. Debian's
/// packages name ld.lld with the version of LLVM at its end.
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

Result<std::string> attune::linkShared(const std::string &object) {
  bool isCompiler;
  SubprocessOptions options;
  options.program = findLinker(isCompiler);
  if (options.program.empty())
    return Status::error("--emit=shared needs a linker, but neither ld.lld nor cc is on the PATH");
  Result<MemoryFile> input = MemoryFile::create("attune-link.o", object), output = MemoryFile::create("attune-link.so");
  for (const Result<MemoryFile> *file : {&input, &output})
    if (!*file)
      return file->status();
  // The object is the only input, so the result of either linker needs no library; the process that loads it has
  // memcpy. LLD creates its output beside the given name and renames it, which does not work for a file without a name,
  // so it writes to standard output instead.
  if (isCompiler)
    options.arguments = {"-shared", "-nostdlib", "-Wl,-z,noexecstack", "-Wl,--build-id=none", "-o", output->path(), input->path()};
  else
    options.arguments = {"-shared", "-z", "noexecstack", "--build-id=none", "-o", "-", input->path()};
  options.inherited = {input->descriptor(), output->descriptor()};
  if (!isCompiler)
    options.output = output->descriptor();
  if (Status status = Subprocess::runTool(options, options.program); status.failed())
    return status;
  return output->read();
}
