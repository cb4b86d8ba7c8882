//===- CpuFeatures.h - CPU features of this machine -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_RUNTIME_CPUFEATURES_H
#define ATTUNE_RUNTIME_CPUFEATURES_H

#include "attune/runtime.h"

namespace attune {

/// Checks that this machine has every feature that the code of |desc| needs, and calls requestTiles if the code needs
/// AMX. Fails with INCOMPATIBLE; the message lists all missing features, or, if none is missing, all features that this
/// runtime cannot check, or says that requestTiles has failed.
attune_status checkCpuFeatures(const attune_model_desc &desc);

/// Asks the system to allow this process the use of the AMX tile registers, which is forbidden at first. Returns 0 on
/// success and on architectures other than x86-64, else an errno value, also on an x86-64 without AMX.
int requestTiles();

} // namespace attune

#endif // ATTUNE_RUNTIME_CPUFEATURES_H
