//===- LowerToLLVM.cpp - Everything left becomes the llvm dialect ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/Passes.h"

namespace attune {
#define GEN_PASS_DEF_LOWERTOLLVM
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

namespace {
struct LowerToLLVM : attune::impl::LowerToLLVMBase<LowerToLLVM> {
  void runOnOperation() override {}
};
} // namespace
