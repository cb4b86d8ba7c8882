//===- ElfExtents.h - Whether an ELF file is whole ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loader maps the segments of a file that was cut short without an error; the first access behind its end is then a SIGBUS.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_ELFEXTENTS_H
#define ATTUNE_COMPILER_TOOLS_ELFEXTENTS_H

#include "compiler/Support/MappedFile.h"

namespace attune {

/// Checks that the tables, segments and sections of |file|, which begins with the magic of ELF, lie within it. An error names the file, the
/// bytes expected and the bytes found. 32-bit and big-endian files are not looked into: the loader refuses them.
Status checkElfExtents(const MappedFile &file);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_ELFEXTENTS_H
