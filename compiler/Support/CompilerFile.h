//===- CompilerFile.h - The file of the compiler ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_COMPILERFILE_H
#define ATTUNE_COMPILER_SUPPORT_COMPILERFILE_H

#include <string>

namespace attune {

/// Returns the path of the compiler's executable: that of this process, unless a process that loads the compiler as a
/// library has named another by setCompilerFile. The bytes of this file identify the build of the compiler in cache
/// keys; other programs of the compiler are in the same folder.
const std::string &compilerFile();
/// Sets the path that compilerFile returns. Must be called before the first compilation.
void setCompilerFile(const std::string &path);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_COMPILERFILE_H
