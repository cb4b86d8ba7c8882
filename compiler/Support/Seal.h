//===- Seal.h - The checksum at the end of a shared object ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dynamic loader ignores bytes that follow the sections of an ELF file. There the compiler writes a seal of 24
// bytes: the magic `ATTUNES1`, the number of bytes before the seal, and the attune_checksum of these bytes
// (attune/abi.h). By the seal, a tool recognizes a damaged file before it executes the file's code.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_SUPPORT_SEAL_H
#define ATTUNE_COMPILER_SUPPORT_SEAL_H

#include "compiler/Support/MappedFile.h"

namespace attune {

/// Appends the seal of |bytes|, the content of a file, to |bytes|.
void appendSeal(std::string &bytes);

/// Fails if the bytes of |file| before its seal do not have the checksum in the seal. Accepts a file without a seal at
/// its end, or with a seal for another number of bytes: such a file comes from a linker that the user ran, or from a
/// tool such as strip, which changed it.
Status checkSeal(const MappedFile &file);

} // namespace attune

#endif // ATTUNE_COMPILER_SUPPORT_SEAL_H
