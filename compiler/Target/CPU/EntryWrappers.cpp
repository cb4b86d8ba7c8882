//===- EntryWrappers.cpp - C functions of entries ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/Passes.h"

namespace attune {
#define GEN_PASS_DEF_ENTRYWRAPPERS
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

namespace {
struct EntryWrappers : attune::impl::EntryWrappersBase<EntryWrappers> {
  void runOnOperation() override {}
};
} // namespace
