//===- CompilerFile.h - The file of the compiler ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_COMPILERFILE_H
#define ATTUNE_COMPILER_SUPPORT_COMPILERFILE_H

#include <string>

namespace attune {

/// Returns the path of the compiler's executable: the executable of this process, unless setCompilerFile has named
/// another file, as a process does that loads the compiler as a library. The bytes of the file identify the build of
/// the compiler in cache keys. Programs that the compiler starts, such as attune-halide-gen, are in the same folder.
const std::string &compilerFile();
/// Sets the path that compilerFile returns. The caller must do this before the first compilation.
void setCompilerFile(const std::string &path);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_COMPILERFILE_H
