//===- TargetRegistration.cpp - Dialects and passes of targets -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/TargetRegistration.h"
#include "compiler/Target/KernelBackend.h"
#include "compiler/Target/Target.h"

using namespace attune;

void attune::registerTargetDialects(mlir::DialectRegistry &registry) {
  for (const TargetInfo &info : getTargets())
    info.registerDialects(registry);
  for (const KernelBackendInfo &info : getKernelBackends())
    info.registerDialects(registry);
}

void attune::registerTargetPasses() {
  for (const TargetInfo &info : getTargets())
    info.registerPasses();
  for (const KernelBackendInfo &info : getKernelBackends())
    info.registerPasses();
}
