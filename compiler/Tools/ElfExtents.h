//===- ElfExtents.h - Completeness check of ELF files ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loader maps the segments of a truncated file without an error; the first access beyond the end of the file is
// then a SIGBUS.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_ELFEXTENTS_H
#define ATTUNE_COMPILER_TOOLS_ELFEXTENTS_H

#include "compiler/Support/MappedFile.h"

namespace attune {

/// Checks that the tables, segments and sections of |file|, which begins with the ELF magic, lie within the file. An
/// error names the file and the number of bytes, or of sections, that was expected and that was found. Succeeds without
/// a check for 32-bit and big-endian files, which the loader rejects.
Status checkElfExtents(const MappedFile &file);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_ELFEXTENTS_H
