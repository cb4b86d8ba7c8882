//===- CpuFeatures.h - Which instructions this machine has ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_CPUFEATURES_H
#define ATTUNE_RUNTIME_CPUFEATURES_H

#include "attune/runtime.h"

namespace attune {

/// Checks that this machine has every feature the code of |desc| needs. Fails with INCOMPATIBLE, listing all missing
/// ones.
attune_status checkCpuFeatures(const attune_model_desc &desc);

/// Asks the system for the tile registers of AMX, which a process has only after that; 0, as where there are none, or an errno value.
int requestTiles();

} // namespace attune

#endif // ATTUNE_RUNTIME_CPUFEATURES_H
