//===- RunPtxas.cpp - NVIDIA's assembler -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Support/MemoryFile.h"
#include "compiler/Support/Subprocess.h"
#include "compiler/Target/NVVM/DeviceModule.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

#include <cstdlib>

using namespace attune;

std::string attune::findPtxas() {
  if (const char *given = std::getenv("ATTUNE_PTXAS"))
    return given;
  if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  if (const char *toolkit = std::getenv("CUDA_HOME")) {
    std::string path = std::string(toolkit) + "/bin/ptxas";
    if (llvm::sys::fs::can_execute(path))
      return path;
  }
  return "";
}

Result<std::string> attune::runPtxas(const std::string &ptxas, const std::string &ptx, const GpuArchitecture &gpu) {
  Result<MemoryFile> source = MemoryFile::create("attune-ptxas.ptx", ptx), cubin = MemoryFile::create("attune-ptxas.cubin");
  for (const Result<MemoryFile> *file : {&source, &cubin})
    if (!*file)
      return file->status();
  SubprocessOptions options;
  // ATTUNE_PTXAS may be a name without a slash.
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName(ptxas);
  options.program = program ? *program : ptxas;
  options.arguments = {"--gpu-name=" + gpu.name(), "-O3", source->path(), "-o", cubin->path()};
  options.inherited = {source->descriptor(), cubin->descriptor()};
  if (Status status = Subprocess::runTool(options, "'" + ptxas + "'"); status.failed())
    return status;
  Result<std::string> bytes = cubin->read();
  if (bytes && bytes->empty())
    return Status::error("'" + ptxas + "' wrote nothing");
  return bytes;
}
