//===- KeyPipeline.h - Keys and values on their way to warpgroups -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A ring of stages in shared memory, which one warpgroup fills and others multiply. Both operands lie as rows of 128 bytes whose chunks
// have changed places (a swizzle), in blocks of 64 columns. What a stage is and who fills it depends on how keys lie in memory:
//
//   rows      rounded already: one thread starts TMA loads, a key for 64 components each, of as many keys as registers hold scores of
//   panels    f32, a cache: threads round 64 keys at a time; keys stay as they lie in a panel, a component for 64 keys
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_KEYPIPELINE_H
#define ATTUNE_COMPILER_TARGET_NVVM_KEYPIPELINE_H

#include "compiler/Target/NVVM/TmaLoads.h"
#include "compiler/Target/NVVM/WarpgroupProducts.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// How many keys a stage has, how many stages there are, and the registers of a thread that fills them and of one that multiplies.
struct KeyPipelineSchedule {
  int64_t keys, stages, producerRegisters, consumerRegisters;
};
/// The schedule for |op|, with |others| bytes of shared memory in use beside the stages.
KeyPipelineSchedule getKeyPipelineSchedule(mlir::tiles::AttentionTileOp op, int64_t others);

/// The tensor outside of |loop| that |rows|, keys or values, are loaded from. Null if there is none.
mlir::Value findTmaSource(mlir::Value rows, mlir::scf::ForallOp loop);
/// The TMA descriptor of keys or values that are rows, and whether they are a view of its tensor.
struct TmaOperand {
  mlir::Value map;
  bool areView = false;
};
/// Creates the descriptor for loads of |keys| of |rows| at a time in |loop|, on the host.
TmaOperand createTmaOperand(ThreadBuilder &host, mlir::Value rows, mlir::scf::ForallOp loop, int64_t keys);

/// Emits the ring of one block.
class KeyPipeline {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  /// For tiles like |model|, of which |consumers| are made at once. |operands| are those of keys and of values.
  KeyPipeline(mlir::tiles::AttentionTileOp model, ThreadBuilder &e, int64_t consumers, int64_t others,
              std::pair<TmaOperand, TmaOperand> operands);

  /// Shared memory and barriers, before all threads meet. |words| is the memory of the stages, and |others| bytes behind them.
  void allocate(Value thread);
  /// Whether |thread| of the warpgroup that fills stages has anything to do.
  Value isProducer(Value thread);
  /// What is carried from one filling to the next.
  Values startProducing();
  /// Goes on from |carried| to fill stages with the keys of |tile| from |begin|, a multiple of a stage's, to |end|.
  Values produce(mlir::tiles::AttentionTileOp tile, Value thread, Value begin, Value end, mlir::ValueRange carried);

  PipelineState next(PipelineState place) { return tma.next(place, schedule.stages); }
  /// Waits for the keys or the values at |place| and returns them as a matrix; gives them back, which one thread does.
  SharedMatrix waitForKeys(WarpgroupProducts &products, PipelineState place);
  SharedMatrix waitForValues(WarpgroupProducts &products, PipelineState place);
  void releaseKeys(PipelineState place) { tma.arrive(tma.barrierAt(keys.empty, place.stage)); }
  void releaseValues(PipelineState place) { tma.arrive(tma.barrierAt(values.empty, place.stage)); }
  /// How far component |d| of keys is, and key |i| of values; whether the matrix of keys is transposed, as that of values is.
  int64_t bytesToComponent(int64_t d) const;
  static int64_t bytesToKey(int64_t i) { return i * kRowBytes; }
  bool areKeysTransposed() const { return !areRows; }
  int64_t othersAt() const { return schedule.stages * (keys.bytes + values.bytes); }

  KeyPipelineSchedule schedule;
  Value words;

private:
  /// Stages of one operand, the barriers of those that are full and that are empty, its columns and its TMA operand.
  struct Ring {
    Value full, empty;
    int64_t offset, bytes, columns;
    TmaOperand operand;
  };
  void initialize(Ring &ring, Value thread);
  Value offsetOf(const Ring &ring, PipelineState place) { return e.add(e.mul(place.stage, ring.bytes), ring.offset); }
  Value addressOf(const Ring &ring, PipelineState place) { return e.advance(e.sharedAddress(words), offsetOf(ring, place)); }
  Values produceRows(mlir::tiles::AttentionTileOp tile, Value lane, Value begin, Value end, mlir::ValueRange carried);
  Values producePanels(mlir::tiles::AttentionTileOp tile, Value thread, Value begin, Value end, mlir::ValueRange carried);
  void loadRows(const Ring &ring, PipelineState place, Value rows, Value key, Value barrier);
  void clearRows(PipelineState place, Value lane, Value count);

  ThreadBuilder &e;
  TmaLoads tma;
  bool areRows;
  int64_t consumers, others;
  Value landed;
  Ring keys, values;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_KEYPIPELINE_H
