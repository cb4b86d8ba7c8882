//===- TileHeadOps.cpp - Rotary embeddings and caches as loops ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects `xfmr.rotary`, `xfmr.kv_cache_update` and `xfmr.kv_cache_read` on tensors; leaves one scf.forall for each. An
// update only inserts into slices of the caches, so that bufferization updates the caches in place.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/TileBuilder.h"
#include "compiler/Transforms/Work.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/OpRemark.h"

namespace attune {
#define GEN_PASS_DEF_TILEHEADOPS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Returns the slice of a cache of |type| for one |slot| and |head|: |count| rows or panels from |first| on.
static TensorSlice slotOf(TileBuilder &b, Value slot, Value head, RankedTensorType type, OpFoldResult first, OpFoldResult count) {
  TensorSlice slice;
  slice.add(slot, b.fixed(1)), slice.add(head, b.fixed(1)), slice.add(first, count);
  for (int64_t size : type.getShape().drop_front(3))
    slice.add(b.fixed(0), b.fixed(size));
  return slice;
}

/// Creates an scf.forall over |bounds| with the destinations |outputs| and the description |what| of the kernel. |body|
/// returns for each destination the tensor to insert and its slice.
static scf::ForallOp forall(TileBuilder &b, ArrayRef<OpFoldResult> bounds, ValueRange outputs, const Twine &what,
                            llvm::function_ref<SmallVector<std::pair<Value, TensorSlice>>(ValueRange iteration, ValueRange targets)> body) {
  auto loop = scf::ForallOp::create(b, bounds, outputs, std::nullopt);
  xfmr::passed(loop, "attune-tile-head-ops", "TileHeadOps")
      << remark::metric(xfmr::kRemarkKernel, what.str()) << remark::add("a kernel of its own, in {0} parallel loops", bounds.size());
  loop->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(loop.getContext(), what.str()));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto parts = body(loop.getInductionVars(), loop.getRegionIterArgs());
  b.setInsertionPointToStart(loop.getTerminator().getBody());
  for (auto [part, target] : llvm::zip_equal(parts, loop.getRegionIterArgs()))
    b.insertInParallel(part.first, target, part.second);
  return loop;
}

static void tile(xfmr::RotaryOp op, int64_t block) {
  TileBuilder b(op);
  auto type = op.getInput().getType();
  Value tokens = b.size(op.getInput(), 0);
  Value empty = tensor::EmptyOp::create(b, tensor::getMixedSizes(b, b.getLoc(), op.getInput()), type.getElementType());
  Value blocks = b.affine({tokens}, b.d0.ceilDiv(block));
  auto loop = forall(
      b, {blocks}, {empty}, "rotary of " + Twine(type.getDimSize(1)) + " heads x " + Twine(type.getDimSize(2)),
      [&](ValueRange iteration, ValueRange targets) {
        Value first = b.affine({iteration[0]}, b.d0 * block), count = b.minimum({tokens, first}, {b.d0 - b.d1, b.expr(block)});
        TensorSlice heads, ids;
        heads.add(first, count), heads.add(b.fixed(0), b.fixed(type.getDimSize(1))), heads.add(b.fixed(0), b.fixed(type.getDimSize(2)));
        ids.add(first, count);
        Value target = b.extractSlice(targets[0], heads);
        auto turned = tiles::RotaryTileOp::create(b, TypeRange{target.getType()}, b.extractSlice(op.getInput(), heads),
                                                  b.extractSlice(op.getPositions(), ids), op.getTable(), target, op.getInterleavedAttr());
        return SmallVector<std::pair<Value, TensorSlice>>{{turned.getResult(0), heads}};
      });
  op.getResult().replaceAllUsesWith(loop.getResult(0));
  op.erase();
}

namespace {
/// The rewrite of one update of caches.
class UpdateTiler {
public:
  explicit UpdateTiler(xfmr::KvCacheUpdateOp op)
      : op(op), b(op), keys(op.getKeyCache().getType()), values(op.getValueCache().getType()), width(keys.getDimSize(4)) {}

  void run() {
    OpFoldResult batch = op.getOffsets() ? OpFoldResult(b.affine({b.size(op.getOffsets(), 0)}, b.d0 - 1)) : b.dim(op.getKey(), 0);
    auto loop =
        forall(b, {batch, b.fixed(keys.getDimSize(1))}, {op.getKeyCache(), op.getValueCache()},
               "cache of " + Twine(keys.getDimSize(1)) + " heads x " + Twine(xfmr::getHeadSize(keys, 3)) + xfmr::describeCacheType(keys),
               [&](ValueRange iteration, ValueRange targets) { return updateSlot(iteration[0], iteration[1], targets); });
    DimBounds bounds;
    setWork(loop, std::nullopt, countCacheBytes(op, bounds));
    op.replaceAllUsesWith(loop.getResults());
    op.erase();
  }

private:
  SmallVector<std::pair<Value, TensorSlice>> updateSlot(Value sequence, Value head, ValueRange targets) {
    Value past = b.extractIndex(op.getPast(), sequence);
    Value slot = op.getSlots() ? b.extractIndex(op.getSlots(), sequence) : sequence;
    TokenRange span = op.getOffsets() ? b.tokensOf(op.getOffsets(), sequence) : TokenRange{b.index(0), b.index(b.dim(op.getKey(), 2))};
    TensorSlice rows = slotOf(b, slot, head, values, past, span.length);
    Value value = newRows(op.getValue(), sequence, head, span.begin, span.length, xfmr::getHeadSize(values, 3));
    return {updatePanels(sequence, slot, head, past, span, targets[0]),
            {store(value, b.extractSlice(targets[1], rows, {true, true, false, false})), rows}};
  }

  /// Returns rows |first| ... |first| + |count| - 1 of |tensor|, `[T, G, size]` or `[B, G, L, size]`, for a sequence
  /// and head.
  Value newRows(Value tensor, Value sequence, Value head, OpFoldResult first, OpFoldResult count, int64_t size) {
    TensorSlice slice;
    if (op.getOffsets()) {
      slice.add(first, count), slice.add(head, b.fixed(1)), slice.add(b.fixed(0), b.fixed(size));
      return b.extractSlice(tensor, slice, {false, true, false});
    }
    slice.add(sequence, b.fixed(1)), slice.add(head, b.fixed(1)), slice.add(first, count), slice.add(b.fixed(0), b.fixed(size));
    return b.extractSlice(tensor, slice, {true, true, false, false});
  }

  /// Writes the values |rows|, `[count, E]`, to |target|, converted to the element type of the cache. Returns the
  /// updated |target|.
  Value store(Value rows, Value target) {
    if (getElementTypeOrSelf(rows.getType()) == values.getElementType())
      return linalg::CopyOp::create(b, rows, target).getResult(0);
    return tiles::CacheRowsOp::create(b, TypeRange{target.getType()}, rows, target).getResult(0);
  }

  /// Writes the new keys to the panels that hold them; a panel may begin with old keys. Returns the panels and their
  /// slice.
  std::pair<Value, TensorSlice> updatePanels(Value sequence, Value slot, Value head, Value past, const TokenRange &span, Value cache) {
    Value end = b.affine({past, span.length}, b.d0 + b.d1);
    Value firstPanel = b.affine({past}, b.d0.floorDiv(width));
    Value panels = b.affine({end, firstPanel}, b.d0.ceilDiv(width) - b.d1);
    // The number of panels is 0 if there are no new keys and the old keys fill their panels.
    panels = b.max(panels, b.index(0));
    TensorSlice slice = slotOf(b, slot, head, keys, firstPanel, panels);
    Value cached = b.extractSlice(cache, slice, {true, true, false, false, false});
    auto loop = scf::ForOp::create(b, b.index(0), panels, b.index(1), cached, [&](OpBuilder &, Location, Value panel, ValueRange args) {
      Value panelBegin = b.affine({firstPanel, panel}, (b.d0 + b.d1) * width); // its first key
      Value begin = b.max(panelBegin, past);
      Value column = b.affine({begin, panelBegin}, b.d0 - b.d1);
      Value count = b.min(b.affine({end, begin}, b.d0 - b.d1), b.affine({column}, b.expr(width) - b.d0));
      Value first = b.affine({span.begin, b.affine({begin, past}, b.d0 - b.d1)}, b.d0 + b.d1);
      TensorSlice at;
      at.add(panel, b.fixed(1)), at.add(b.fixed(0), b.fixed(keys.getDimSize(3))), at.add(b.fixed(0), b.fixed(width));
      Value target = b.extractSlice(args[0], at, {true, false, false});
      Value source = newRows(op.getKey(), sequence, head, first, count, xfmr::getHeadSize(keys, 3));
      Value filled = tiles::KeyPanelOp::create(b, TypeRange{target.getType()}, source, column, target).getResult(0);
      scf::YieldOp::create(b, b.insertSlice(filled, args[0], at));
    });
    return {loop.getResult(0), slice};
  }

  xfmr::KvCacheUpdateOp op;
  TileBuilder b;
  RankedTensorType keys, values;
  int64_t width;
};
} // namespace

static void tile(xfmr::KvCacheReadOp op) {
  TileBuilder b(op);
  auto keys = op.getKeyCache().getType(), values = op.getValueCache().getType();
  int64_t heads = keys.getDimSize(1), headDim = keys.getDimSize(3), width = keys.getDimSize(4), valueDim = values.getDimSize(3);
  OpFoldResult batch = b.dim(op.getKeyCache(), 0);
  auto empty = [&](int64_t size) -> Value {
    return tensor::EmptyOp::create(b, SmallVector<OpFoldResult>{batch, b.fixed(heads), op.getLength(), b.fixed(size)},
                                   keys.getElementType());
  };
  auto slotOfResult = [&](Value slot, Value head, int64_t size) {
    TensorSlice slice;
    slice.add(slot, b.fixed(1)), slice.add(head, b.fixed(1)), slice.add(b.fixed(0), op.getLength()), slice.add(b.fixed(0), b.fixed(size));
    return slice;
  };
  SmallVector<bool> slotAndHead{true, true, false, false};
  Value panels = b.affine({op.getLength()}, b.d0.ceilDiv(width));
  auto readKeys = [&](Value slot, Value head, Value target) {
    Value source = b.extractSlice(op.getKeyCache(), slotOf(b, slot, head, keys, b.fixed(0), panels), {true, true, false, false, false});
    return scf::ForOp::create(b, b.index(0), panels, b.index(1), target,
                              [&](OpBuilder &, Location, Value panel, ValueRange args) {
                                Value first = b.affine({panel}, b.d0 * width),
                                      count = b.minimum({op.getLength(), first}, {b.d0 - b.d1, b.expr(width)});
                                TensorSlice from, to;
                                from.add(panel, b.fixed(1)), from.add(b.fixed(0), b.fixed(headDim)), from.add(b.fixed(0), b.fixed(width));
                                to.add(first, count), to.add(b.fixed(0), b.fixed(headDim));
                                Value rows = b.extractSlice(args[0], to);
                                auto read = tiles::UnpackKeysOp::create(b, TypeRange{rows.getType()},
                                                                        b.extractSlice(source, from, {true, false, false}), rows);
                                scf::YieldOp::create(b, b.insertSlice(read.getResult(0), args[0], to));
                              })
        .getResult(0);
  };
  auto loop = forall(b, {batch, b.fixed(heads)}, {empty(headDim), empty(valueDim)},
                     "read cache of " + Twine(heads) + " heads x " + Twine(headDim), [&](ValueRange iteration, ValueRange targets) {
                       Value slot = iteration[0], head = iteration[1];
                       TensorSlice keySlice = slotOfResult(slot, head, headDim), valueSlice = slotOfResult(slot, head, valueDim);
                       Value source =
                           b.extractSlice(op.getValueCache(), slotOf(b, slot, head, values, b.fixed(0), op.getLength()), slotAndHead);
                       Value copied = linalg::CopyOp::create(b, source, b.extractSlice(targets[1], valueSlice, slotAndHead)).getResult(0);
                       return SmallVector<std::pair<Value, TensorSlice>>{
                           {readKeys(slot, head, b.extractSlice(targets[0], keySlice, slotAndHead)), keySlice}, {copied, valueSlice}};
                     });
  DimBounds bounds;
  setWork(loop, std::nullopt, countCacheBytes(op, bounds));
  op.replaceAllUsesWith(loop.getResults());
  op.erase();
}

namespace {
struct TileHeadOps : attune::impl::TileHeadOpsBase<TileHeadOps> {
  using TileHeadOpsBase::TileHeadOpsBase;
  void runOnOperation() override {
    if (failed(rt::verifyRanges([&] { return getOperation().emitError(); }, {{"row-block", rowBlock, rt::FieldRange::Positive}})))
      return signalPassFailure();
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      if (auto rotary = dyn_cast<xfmr::RotaryOp>(op))
        tile(rotary, rowBlock);
      else if (auto update = dyn_cast<xfmr::KvCacheUpdateOp>(op))
        UpdateTiler(update).run();
      else if (auto read = dyn_cast<xfmr::KvCacheReadOp>(op))
        tile(read);
    }
  }
};
} // namespace
