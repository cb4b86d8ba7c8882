//===- OutlineParallel.cpp - Parallel bodies as functions ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/Passes.h"

namespace attune {
#define GEN_PASS_DEF_OUTLINEPARALLEL
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

namespace {
struct OutlineParallel : attune::impl::OutlineParallelBase<OutlineParallel> {
  void runOnOperation() override {}
};
} // namespace
