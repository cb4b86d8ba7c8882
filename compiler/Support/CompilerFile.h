//===- CompilerFile.h - The file of the compiler ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_COMPILERFILE_H
#define ATTUNE_COMPILER_SUPPORT_COMPILERFILE_H

#include <string>

namespace attune {

/// Returns the path of the compiler's program: this process's executable, unless setCompilerFile has named another, for
/// a process that has the compiler as a library. The program identifies the build, and other programs are beside it.
const std::string &compilerFile();
/// Names the program of the compiler. Must be called before the first compilation.
void setCompilerFile(const std::string &path);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_COMPILERFILE_H
