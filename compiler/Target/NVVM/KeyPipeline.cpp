//===- KeyPipeline.cpp - Keys and values on their way to warpgroups -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/KeyPipeline.h"
#include "compiler/Target/NVVM/ConvertingCopy.h"
#include "compiler/Target/NVVM/TensorCores.h"
#include "dialect/Rt/IR/RtOps.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

/// Shared memory that a block may have, in bytes, and the part of it reserved for mbarriers.
static constexpr int64_t kBlockBytes = 227 << 10, kBarrierRoom = 2 << 10;
/// The largest number of stages; more would not hide more latency.
static constexpr int64_t kMostStages = 4;

static int64_t sizeOf(Value rows) { return cast<MemRefType>(rows.getType()).getShape().back(); }

KeyPipelineSchedule attune::getKeyPipelineSchedule(tiles::AttentionTileOp op, int64_t others) {
  if (!op.hasKeyRows())
    return {64, 2, 56, 224};
  // Scores of 128 keys beside results of 128 components leave no registers for a distance bias.
  int64_t keys = op.getDistanceBias() && sizeOf(op.getValue()) > 64 ? 64 : 128,
          stage = keys * 2 * (sizeOf(op.getKey()) + sizeOf(op.getValue()));
  return {keys, std::min(kMostStages, (kBlockBytes - kBarrierRoom - others) / stage), 40, 232};
}

Value attune::findTmaSource(Value rows, scf::ForallOp loop) {
  if (auto view = rows.getDefiningOp<memref::SubViewOp>(); view && !loop.isDefinedOutsideOfLoop(rows) && view.hasUnitStride())
    rows = view.getSource();
  auto type = cast<MemRefType>(rows.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!loop.isDefinedOutsideOfLoop(rows) || failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return {};
  auto isWhole = [](int64_t stride) { return stride != ShapedType::kDynamic && stride % 8 == 0; };
  return llvm::all_of(ArrayRef(strides).drop_back(), isWhole) && llvm::none_of(type.getShape().drop_front(), ShapedType::isDynamic)
             ? rows
             : Value();
}

TmaOperand attune::createTmaOperand(ThreadBuilder &host, Value rows, scf::ForallOp loop, int64_t keys) {
  Value source = findTmaSource(rows, loop);
  auto type = cast<MemRefType>(source.getType());
  SmallVector<int64_t> strides, box(type.getRank(), 1);
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  Values sizes, steps;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sizes.push_back(host.size(source, dim));
  for (int64_t stride : ArrayRef(strides).drop_back())
    steps.push_back(host.index(stride));
  box.front() = keys, box.back() = kRowComponents;
  auto pointer = LLVM::LLVMPointerType::get(host.getContext());
  return {rt::TensorMapOp::create(host, pointer, source, sizes, steps, box, 2, 128), source != rows};
}

KeyPipeline::KeyPipeline(tiles::AttentionTileOp model, ThreadBuilder &e, int64_t consumers, int64_t others,
                         std::pair<TmaOperand, TmaOperand> operands)
    : schedule(getKeyPipelineSchedule(model, others)), e(e), tma(e), areRows(model.hasKeyRows()), consumers(consumers), others(others) {
  keys.operand = operands.first, values.operand = operands.second;
  int64_t headDim = sizeOf(model.getQuery()), valueDim = model.getValueDim();
  keys.columns = headDim, values.columns = valueDim;
  keys.bytes = schedule.keys * headDim * 2, values.bytes = schedule.keys * valueDim * 2;
  keys.offset = 0, values.offset = schedule.stages * keys.bytes;
}

void KeyPipeline::initialize(Ring &ring, Value thread) {
  ring.full = tma.allocateBarriers(schedule.stages);
  ring.empty = tma.allocateBarriers(schedule.stages);
  e.ifThen(e.compare(arith::CmpIPredicate::eq, thread, 0), [&] {
    for (int64_t stage = 0; stage < schedule.stages; ++stage) {
      tma.init(tma.barrierAt(ring.full, e.index(stage)), areRows ? 1 : kWarpgroup);
      tma.init(tma.barrierAt(ring.empty, e.index(stage)), consumers);
    }
  });
}

void KeyPipeline::allocate(Value thread) {
  words = e.allocateShared(e.getI32Type(), {(othersAt() + others) / 4}, /*alignment=*/1024);
  initialize(keys, thread), initialize(values, thread);
  if (areRows) {
    landed = tma.allocateBarriers(1);
    e.ifThen(e.compare(arith::CmpIPredicate::eq, thread, 0), [&] { tma.init(landed, 1); });
  }
  tma.fenceInit();
}

int64_t KeyPipeline::bytesToComponent(int64_t d) const {
  return areRows ? d / kRowComponents * schedule.keys * kRowBytes + d % kRowComponents * 2 : d * kRowBytes;
}

SharedMatrix KeyPipeline::waitForKeys(WarpgroupProducts &products, PipelineState place) {
  tma.wait(tma.barrierAt(keys.full, place.stage), place.phase);
  MatrixLayout layout{areKeysTransposed(), /*isSwizzled=*/true, /*leading=*/keys.columns * kRowBytes, /*stride=*/8 * kRowBytes};
  return products.matrix(addressOf(keys, place), layout);
}

SharedMatrix KeyPipeline::waitForValues(WarpgroupProducts &products, PipelineState place) {
  tma.wait(tma.barrierAt(values.full, place.stage), place.phase);
  MatrixLayout layout{/*isTransposed=*/true, /*isSwizzled=*/true, /*leading=*/schedule.keys * kRowBytes, /*stride=*/8 * kRowBytes};
  return products.matrix(addressOf(values, place), layout);
}

Value KeyPipeline::isProducer(Value thread) {
  // One warp fills stages by TMA; its first lane starts the loads.
  return areRows ? e.compare(arith::CmpIPredicate::slt, thread, kWarp) : e.yes();
}

Values KeyPipeline::startProducing() {
  Values values{tma.initialState()};
  if (areRows)
    values.push_back(e.index(0));
  return values;
}

Values KeyPipeline::produce(tiles::AttentionTileOp tile, Value thread, Value begin, Value end, ValueRange carried) {
  return areRows ? produceRows(tile, thread, begin, end, carried) : producePanels(tile, thread, begin, end, carried);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Starts the TMA loads of |rows| from row |key| on to the stage at |place|. They complete at |barrier|, which expects
/// their bytes.
void KeyPipeline::loadRows(const Ring &ring, PipelineState place, Value rows, Value key, Value barrier) {
  // Coordinates from the innermost dimension on: component, head (if the tensor has this dimension), row.
  SmallVector<Value> at(cast<MemRefType>(rows.getType()).getRank(), e.index(0));
  if (ring.operand.areView) {
    at.clear();
    for (OpFoldResult offset : llvm::reverse(rows.getDefiningOp<memref::SubViewOp>().getMixedOffsets()))
      at.push_back(e.index(offset));
  }
  at.back() = e.add(at.back(), key);
  tma.arriveExpectBytes(barrier, ring.bytes);
  Value to = addressOf(ring, place), first = at.front();
  for (int64_t d = 0; d < ring.columns; d += kRowComponents) {
    at.front() = e.add(first, d);
    tma.load(e.advance(to, e.index(d * schedule.keys * 2)), ring.operand.map, barrier, at);
  }
}

/// Sets the values of the stage at |place| to 0 from row |count| on; the lanes of the warp share the work.
void KeyPipeline::clearRows(PipelineState place, Value lane, Value count) {
  constexpr int64_t kRowChunks = kRowBytes / kChunkBytes;
  auto type = VectorType::get({kChunkBytes / 4}, e.getI32Type());
  Value zeros = arith::ConstantOp::create(e, e.getZeroAttr(type));
  for (int64_t d = 0; d < values.columns; d += kRowComponents) {
    Value block = e.add(offsetOf(values, place), d * schedule.keys * 2);
    e.loop(e.add(e.mul(count, kRowChunks), lane), e.index(schedule.keys * kRowChunks), kWarp,
           [&](Value chunk) { vector::StoreOp::create(e, zeros, words, e.div(e.add(block, e.mul(chunk, kChunkBytes)), 4)); });
  }
}

/// Fills stages with keys and values stored as rows. Rows past a sequence's last key belong to the next sequence or are
/// uninitialized. Their scores are ignored and their probability is 0, but 0 times NaN is NaN, so their values are
/// set to 0 before they are multiplied. Only the last stage of a tile may have such rows; then its loads of values
/// complete the barrier |landed| instead of `full`. The loop carries the pipeline state and the phase of |landed|.
Values KeyPipeline::produceRows(tiles::AttentionTileOp tile, Value lane, Value begin, Value end, ValueRange carried) {
  Value keyCount = e.size(tile.getValue(), 0), leads = e.compare(arith::CmpIPredicate::eq, lane, 0);
  return e.loop(begin, end, e.index(schedule.keys), carried, [&](Value key, ValueRange carried) -> Values {
    PipelineState place = tma.unpack(carried[0]);
    auto start = [&](const Ring &ring, Value rows, Value barrier) {
      e.ifThen(leads, [&] {
        tma.wait(tma.barrierAt(ring.empty, place.stage), tma.otherPhase(place.phase));
        loadRows(ring, place, rows, key, barrier);
      });
    };
    start(keys, tile.getKey(), tma.barrierAt(keys.full, place.stage));
    Value full = tma.barrierAt(values.full, place.stage), left = e.sub(keyCount, key), phase = carried[1];
    auto whole = [&]() -> Values {
      start(values, tile.getValue(), full);
      return {phase};
    };
    auto part = [&]() -> Values {
      start(values, tile.getValue(), landed);
      tma.wait(landed, phase);
      clearRows(place, lane, left);
      tma.fenceAsyncProxy();
      NVVM::SyncWarpOp::create(e, arith::ConstantIntOp::create(e, -1, 32));
      e.ifThen(leads, [&] { tma.arrive(full); });
      return {tma.otherPhase(phase)};
    };
    phase = e.choose(e.compare(arith::CmpIPredicate::sge, left, schedule.keys), whole, part)[0];
    return {tma.pack(next(place)), phase};
  });
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

Values KeyPipeline::producePanels(tiles::AttentionTileOp tile, Value thread, Value begin, Value end, ValueRange carried) {
  Value zero = e.index(0), keyCount = e.size(tile.getValue(), 0);
  ConvertingCopy rows(e, tile.getPrecision(), words, thread);
  return e.loop(begin, end, e.index(schedule.keys), carried, [&](Value key, ValueRange carried) -> Values {
    PipelineState place = tma.unpack(carried[0]);
    auto fill = [&](const Ring &ring, llvm::function_ref<void(Value to)> copy) {
      tma.wait(tma.barrierAt(ring.empty, place.stage), tma.otherPhase(place.phase));
      copy(offsetOf(ring, place));
      tma.fenceAsyncProxy();
      tma.arrive(tma.barrierAt(ring.full, place.stage));
    };
    fill(keys, [&](Value to) {
      rows.copy(to, tile.getKey(), {e.div(key, schedule.keys), zero}, e.index(keys.columns), keys.columns, schedule.keys);
    });
    fill(values, [&](Value to) { rows.copy(to, tile.getValue(), {key}, e.sub(keyCount, key), schedule.keys, values.columns); });
    return {tma.pack(next(place))};
  });
}
