//===- RunPtxas.cpp - NVIDIA's assembler -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/DeviceModule.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

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

static std::string readFile(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

Result<std::string> attune::runPtxas(const std::string &ptxas, const std::string &ptx, const GpuArchitecture &gpu) {
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("attune-ptxas", folder))
    return Status::error("cannot create a temporary folder");
  llvm::scope_exit cleanup([&] { llvm::sys::fs::remove_directories(folder); });
  std::string source = (folder + "/kernels.ptx").str(), cubin = (folder + "/kernels.cubin").str(), log = (folder + "/log").str();
  std::error_code error;
  llvm::raw_fd_ostream stream(source, error);
  stream << ptx;
  stream.close();
  if (error || stream.has_error())
    return Status::error("cannot write '" + source + "'");
  std::string arch = "--gpu-name=" + gpu.name();
  llvm::StringRef arguments[] = {ptxas, arch, "-O3", source, "-o", cubin}, output = log;
  std::string problem;
  int status = llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt, {std::nullopt, output, output}, 0, 0, &problem);
  if (status != 0)
    return Status::error("'" + ptxas + "' failed: " + (problem.empty() ? llvm::StringRef(readFile(log)).split('\n').first.str() : problem));
  std::string bytes = readFile(cubin);
  if (bytes.empty())
    return Status::error("'" + ptxas + "' wrote nothing");
  return bytes;
}
