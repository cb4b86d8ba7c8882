//===- Seal.h - The checksum at the end of a shared object ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The loader of a system ignores bytes that follow the sections of an ELF file. The compiler writes a seal there, 24
// bytes: the magic `ATTUNES1`, the number of bytes before the seal, and their attune_checksum. So a tool recognizes a
// damaged file before it executes code of it.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_SEAL_H
#define ATTUNE_COMPILER_SUPPORT_SEAL_H

#include "compiler/Support/MappedFile.h"

namespace attune {

/// Appends the seal of |bytes| to them.
void appendSeal(std::string &bytes);

/// Fails if the bytes of |file| do not have the checksum of its seal. A file without a seal at its end, or with one for
/// another number of bytes, is accepted: a linker that the user ran wrote it, or a tool such as strip wrote it again.
Status checkSeal(const MappedFile &file);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_SEAL_H
