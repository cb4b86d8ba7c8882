//===- RegisterTargets.cpp - The targets of this build ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CMake writes Targets.def, with a line ATTUNE_TARGET(Name) for each target and each kernel backend. The library of the
// target or backend defines registerName(), such as registerCpuTarget().
//===----------------------------------------------------------------------===//

#include "compiler/Target/All/RegisterTargets.h"

namespace attune {

#define ATTUNE_TARGET(Name) void register##Name();
#include "Targets.def"
#undef ATTUNE_TARGET

void registerAllTargets() {
#define ATTUNE_TARGET(Name) register##Name();
#include "Targets.def"
#undef ATTUNE_TARGET
}

} // namespace attune
