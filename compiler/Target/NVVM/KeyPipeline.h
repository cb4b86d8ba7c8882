//===- KeyPipeline.h - Keys and values on their way to warpgroups -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The pipeline of keys and values between the warpgroups of attention. Memory latency is many times a product's
// duration, so keys and values are loaded several stages ahead of their use, into a ring in shared memory: one
// warpgroup fills the stages, two multiply them. Keys and values have separate stages, because the product with the
// keys ends earlier.
//
//             stage 0   stage 1   stage 2                 state = (stage, phase); the phase flips with each round
//   keys      | K 3   |  K 1    |  K 2   |   full, empty      producer: wait empty(stage), opposite phase; load; full
//   values    | V 0   |  V 1    |  V 2   |   full, empty      consumer: wait full(stage), phase; multiply; arrive empty
//                 ^ V 0 is still multiplied while K 3 loads
//
// Both operands are rows of 128 bytes with the 128-byte swizzle, in blocks of 64 columns, as wgmma reads them. The
// layout of the keys in memory determines the size of a stage and the threads that fill it:
//
//   rows      already bf16 or f16: one warp; its first lane starts TMA loads of 64 components of 128 (or 64) keys each
//             key block [key][64 components]                             full: 1 arrival with the bytes
//   panels    a cache, of any element type: 128 threads convert 64 keys at a time (ConvertingCopy), which TMA cannot
//             key block [component][64 keys], multiplied as transposed   full: 128 arrivals
//
// Invariants. A stage is filled only after every consumer has arrived at its `empty`. Rows past the last key of a
// sequence are cleared in the stage of the values before `full` completes: their probability is 0, but 0 x NaN is NaN.
// Only the last stage of a tile has such rows. So only for this stage the producer waits for the loads (at the barrier
// `landed`) and then clears the rows. Stage and phase are one i32 in a register and run on from tile to tile, so
// nothing is reset.
//
// Cost. 2 x keys x (D + E) bytes a stage, for keys of D and values of E components. There are as many stages as fit
// beside the queries, at most four; two for caches.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_KEYPIPELINE_H
#define ATTUNE_COMPILER_TARGET_NVVM_KEYPIPELINE_H

#include "compiler/Target/NVVM/TmaLoads.h"
#include "compiler/Target/NVVM/WarpgroupProducts.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// The number of keys of a stage, the number of stages, and the registers of a producing and of a consuming thread.
struct KeyPipelineSchedule {
  int64_t keys, stages, producerRegisters, consumerRegisters;
};
/// Returns the schedule for |op|. A block needs |others| bytes of shared memory beside the stages, for queries.
KeyPipelineSchedule getKeyPipelineSchedule(mlir::tiles::AttentionTileOp op, int64_t others);

/// Returns the buffer outside of |loop| from which TMA can load |rows|, keys or values: |rows| itself or the buffer of
/// which it is a slice. Returns null if TMA cannot load from it.
mlir::Value findTmaSource(mlir::Value rows, mlir::scf::ForallOp loop);
/// The TMA descriptor of keys or values stored as rows. |areView| is true if these rows are a slice of the descriptor's
/// buffer.
struct TmaOperand {
  mlir::Value map;
  bool areView = false;
};
/// Creates, in host code, the TMA descriptor by which |loop| loads |keys| rows and 64 columns of |rows| at a time.
/// Expects that findTmaSource(|rows|, |loop|) is not null.
TmaOperand createTmaOperand(ThreadBuilder &host, mlir::Value rows, mlir::scf::ForallOp loop, int64_t keys);

/// Emits the pipeline of one thread block.
class KeyPipeline {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  /// Plans stages for tiles with the shapes of |model|; |consumers| warpgroups compute one tile each at a time.
  /// |others| bytes of shared memory follow the stages. |operands| are the TMA operands of keys and values, if these
  /// are rows.
  KeyPipeline(mlir::tiles::AttentionTileOp model, ThreadBuilder &e, int64_t consumers, int64_t others,
              std::pair<TmaOperand, TmaOperand> operands);

  /// Allocates the shared memory |words| for the stages and |others| bytes after them, and initializes the mbarriers. A
  /// barrier of the block must follow.
  void allocate(Value thread);
  /// Returns an i1, which is true if |thread|, a number in the producing warpgroup, takes part in filling stages.
  Value isProducer(Value thread);
  /// Returns the values |carried| for the first call of `produce`.
  Values startProducing();
  /// Fills stages with the keys [begin, end) of |tile| and their values; |begin| is a multiple of a stage's keys.
  /// Returns the values |carried| for the next tile.
  Values produce(mlir::tiles::AttentionTileOp tile, Value thread, Value begin, Value end, mlir::ValueRange carried);

  PipelineState next(PipelineState place) { return tma.next(place, schedule.stages); }
  /// Wait for the keys or the values of the stage at |place| and return them as a matrix. After the last use of the
  /// matrix, one thread of each consumer must execute the code of releaseKeys or releaseValues.
  SharedMatrix waitForKeys(WarpgroupProducts &products, PipelineState place);
  SharedMatrix waitForValues(WarpgroupProducts &products, PipelineState place);
  void releaseKeys(PipelineState place) { tma.arrive(tma.barrierAt(keys.empty, place.stage)); }
  void releaseValues(PipelineState place) { tma.arrive(tma.barrierAt(values.empty, place.stage)); }
  /// Return the byte offsets of component |d| in a stage of keys and of key |i| in a stage of values.
  int64_t bytesToComponent(int64_t d) const;
  static int64_t bytesToKey(int64_t i) { return i * kRowBytes; }
  /// Returns true if the matrix of keys is transposed; the matrix of values always is.
  bool areKeysTransposed() const { return !areRows; }
  /// Returns the byte offset in |words| of the memory after the stages.
  int64_t othersAt() const { return schedule.stages * (keys.bytes + values.bytes); }

  KeyPipelineSchedule schedule;
  Value words;

private:
  /// The stages of one operand: the mbarriers of full and of empty stages, the byte offset of the first stage, the
  /// bytes of a stage, the components of a key or value, and the TMA descriptor if keys and values are rows.
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
