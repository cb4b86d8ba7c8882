//===- PhaseDump.h - Writing the text of a phase ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_PHASEDUMP_H
#define ATTUNE_COMPILER_DRIVER_PHASEDUMP_H

#include "compiler/Pipelines/Pipelines.h"
#include "compiler/Support/Status.h"

namespace attune {

/// Writes |text| to the file |path|, which appears only when it is complete, or to standard output if |path| is empty
/// or "-".
Status writeText(const std::string &path, const std::string &text);

/// Fails as writeText would if it cannot create the file |path|, for example because a folder is missing.
Status checkWritable(const std::string &path);

/// Returns the path of the file of |phase| in |folder|: "03-linalg.mlir", "09-llvm.ll", "10-object.s".
std::string phaseFile(llvm::StringRef folder, Phase phase);

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_PHASEDUMP_H
