//===- CountFlops.cpp - Arithmetic of every entry ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"

namespace attune {
#define GEN_PASS_DEF_COUNTFLOPS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

namespace {
struct CountFlops : attune::impl::CountFlopsBase<CountFlops> {
  void runOnOperation() override {}
};
} // namespace
