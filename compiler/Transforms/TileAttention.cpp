//===- TileAttention.cpp - Attention in key-block form ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects `xfmr.attention` on tensors. Leaves, per op: a mask of integers as one of f32; unless keys are a cache, or rounded already and
// rows, one scf.forall that transposes the keys of each head into panels; and one scf.forall over (sequence, heads that share keys, query
// tile) around `tile.attention_tile`. Panels start afresh at each sequence, so that a sequence's key blocks do not depend on what stands
// beside it: sequence b has panels floor(offset[b] / W) + b and following.
//
// A tile has as many rows (pairs of a query and a head) as registers hold. Where keys are more than one block it has up to `longRows`, so
// that a block is read from memory once for all of them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/AttentionTiler.h"
#include "compiler/Transforms/Passes.h"

namespace attune {
#define GEN_PASS_DEF_TILEATTENTION
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

namespace {
struct TileAttention : attune::impl::TileAttentionBase<TileAttention> {
  using TileAttentionBase::TileAttentionBase;
  void runOnOperation() override {
    SmallVector<xfmr::AttentionOp> ops;
    getOperation().walk([&](xfmr::AttentionOp op) { ops.push_back(op); });
    for (xfmr::AttentionOp op : ops)
      AttentionTiler(op, {queryRows, longRows, panelWidth, keyBlock, precision}).run();
  }
};
} // namespace
