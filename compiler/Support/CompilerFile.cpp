//===- CompilerFile.cpp - The file of the compiler ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Support/CompilerFile.h"

#include <filesystem>

using namespace attune;

/// Returns the variable of the path, at first that of the executable.
static std::string &stored() {
  std::error_code ignored;
  static std::string path = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return path;
}

const std::string &attune::compilerFile() { return stored(); }

void attune::setCompilerFile(const std::string &path) { stored() = path; }
