//===- PlanMemory.cpp - Every buffer in one workspace ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"

namespace attune {
#define GEN_PASS_DEF_PLANMEMORY
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

namespace {
struct PlanMemory : attune::impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {}
};
} // namespace
