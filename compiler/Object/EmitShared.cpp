//===- EmitShared.cpp - Linking a shared object ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Object/Emit.h"
#include "compiler/Support/MemoryFile.h"
#include "compiler/Support/Subprocess.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Program.h"

using namespace attune;

/// Returns the path of ld.lld or of a C compiler that can link, or "" if there is neither. Sets |isCompiler| to false
/// only for ld.lld, which Debian's packages call `ld.lld-VERSION`.
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
  // The object is the only input, so the shared object depends on no library, with either linker; memcpy, memmove and
  // memset come from the process that loads it. LLD writes a new file in the folder of its output and renames the file.
  // This does not work for a MemoryFile, which has no name, so LLD writes to standard output instead.
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
