//===- TileAttention.cpp - Attention as loops around tiles ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects `xfmr.attention` on tensors. Replaces each op by
// - a linalg op that converts its mask to f32 with one element for each key, if the mask has integers or one element
//   for all keys;
// - one scf.forall that transposes the keys of each head into panels, unless keys are a cache (panels already) or
//   rounded already (rows);
// - one scf.forall over (sequence, heads that share keys, query tile) around `tile.attention_tile`.
//
// Each sequence begins a new panel, so that its blocks of keys do not depend on the other sequences of the batch. With
// panels of W keys, the panels of sequence b begin at panel floor(offset[b] / W) + b, where offset[b] is the token of
// its first key.
//
// Registers hold the scores of `query-rows` rows, pairs of a query and a head, at once. The number of rows of an
// attention tile is the smallest multiple of `query-rows` that is divisible by the number of its heads. But if the
// operand `key_length` exceeds one block of keys, and the operand `query_length` exceeds the queries of a tile of up to
// `long-rows` rows, all tiles of the batch have up to `long-rows` rows (or the number above, if that is more), so that
// one read of a block of keys from memory serves all rows of a tile.
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
    const rt::RangedValue fields[] = {{"query-rows", queryRows, rt::FieldRange::PowerOfTwo},
                                      {"long-rows", longRows, rt::FieldRange::Positive},
                                      {"panel-width", panelWidth, rt::FieldRange::MultipleOf16},
                                      {"key-block", keyBlock, rt::FieldRange::Positive}};
    if (failed(rt::verifyRanges([&] { return getOperation().emitError(); }, fields)))
      return signalPassFailure();
    SmallVector<xfmr::AttentionOp> ops;
    getOperation().walk([&](xfmr::AttentionOp op) { ops.push_back(op); });
    for (xfmr::AttentionOp op : ops)
      AttentionTiler(op, {queryRows, longRows, panelWidth, keyBlock, precision}).run();
  }
};
} // namespace
