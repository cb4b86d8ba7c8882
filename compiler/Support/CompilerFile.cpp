//===- CompilerFile.cpp - The file of the compiler ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Support/CompilerFile.h"

#include <filesystem>

using namespace attune;

/// Returns the variable behind compilerFile. Its initial value is the path of this process's executable.
static std::string &stored() {
  std::error_code ignored;
  const char *const link = "/proc/self/exe";
  static std::string path = std::filesystem::read_symlink(link, ignored);
  // If the executable was deleted or replaced since this process began, the target of the link names no file any more.
  // Opening the link itself still opens the executable.
  static const bool exists = std::filesystem::exists(path, ignored) || (path = link, false);
  (void)exists;
  return path;
}

const std::string &attune::compilerFile() { return stored(); }

void attune::setCompilerFile(const std::string &path) { stored() = path; }
