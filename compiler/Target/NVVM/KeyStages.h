//===- KeyStages.h - Keys and values on their way to warpgroups -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A ring of stages in shared memory, which one warpgroup fills and others multiply. Both operands lie as rows of 128 bytes whose chunks
// have changed places (a swizzle), in blocks of 64 columns. What a stage is and who fills it depends on how keys lie in memory:
//
//   rows      rounded already: one thread copies boxes, a key for 64 components each, of as many keys as registers hold scores of
//   panels    f32, a cache: threads round 64 keys at a time; keys stay as they lie in a panel, a component for 64 keys
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_KEYSTAGES_H
#define ATTUNE_COMPILER_TARGET_NVVM_KEYSTAGES_H

#include "compiler/Target/NVVM/BoxCopies.h"
#include "compiler/Target/NVVM/WarpgroupProducts.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// How many keys a stage has, how many stages there are, and the registers of a thread that fills them and of one that multiplies.
struct KeySchedule {
  int64_t keys, stages, producerRegisters, consumerRegisters;
};
/// The schedule for |op|, with |others| bytes of shared memory in use beside the stages.
KeySchedule getKeySchedule(mlir::tiles::AttentionTileOp op, int64_t others);

/// Where in memory boxes of |op|'s keys or values (|rows|) come from: a tensor that is there before |loop|. Null if there is none.
mlir::Value findBoxSource(mlir::Value rows, mlir::scf::ForallOp loop);
/// What boxes of keys or values are copied by, if they are rows: the map of the tensor, and whether they are a view of it.
struct KeyBoxes {
  mlir::Value map;
  bool areView = false;
};
/// Those of |keys| of |rows| at a time in |loop|; made by the host.
KeyBoxes makeKeyBoxes(ThreadBuilder &host, mlir::Value rows, mlir::scf::ForallOp loop, int64_t keys);

/// Emits the ring of one block.
class KeyStages {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  /// For tiles like |model|, of which |consumers| are made at once. |boxes| are those of keys and of values.
  KeyStages(mlir::tiles::AttentionTileOp model, ThreadBuilder &e, int64_t consumers, int64_t others, std::pair<KeyBoxes, KeyBoxes> boxes);

  /// Shared memory and barriers, before all threads meet. |words| is the memory of the stages, and |others| bytes behind them.
  void allocate(Value thread);
  /// Whether |thread| of the warpgroup that fills stages has anything to do.
  Value isProducer(Value thread);
  /// What is carried from one filling to the next.
  Values startProducing();
  /// Goes on from |carried| to fill stages with the keys of |tile| from |begin|, a multiple of a stage's, to |end|.
  Values produce(mlir::tiles::AttentionTileOp tile, Value thread, Value begin, Value end, mlir::ValueRange carried);

  RingPlace next(RingPlace place) { return copies.next(place, schedule.stages); }
  /// Waits for the keys or the values at |place| and returns them as a matrix; gives them back, which one thread does.
  SharedMatrix waitForKeys(WarpgroupProducts &products, RingPlace place);
  SharedMatrix waitForValues(WarpgroupProducts &products, RingPlace place);
  void releaseKeys(RingPlace place) { copies.arrive(copies.barrierAt(keys.empty, place.stage)); }
  void releaseValues(RingPlace place) { copies.arrive(copies.barrierAt(values.empty, place.stage)); }
  /// How far component |d| of keys is, and key |i| of values; whether the matrix of keys is transposed, as that of values is.
  int64_t bytesToComponent(int64_t d) const;
  static int64_t bytesToKey(int64_t i) { return i * kRowBytes; }
  bool areKeysTransposed() const { return !areRows; }
  int64_t othersAt() const { return schedule.stages * (keys.bytes + values.bytes); }

  KeySchedule schedule;
  Value words;

private:
  /// Stages of one operand, the barriers of those that are full and that are empty, its columns and what it is copied by.
  struct Ring {
    Value full, empty;
    int64_t offset, bytes, columns;
    KeyBoxes boxes;
  };
  void initialize(Ring &ring, Value thread);
  Value offsetOf(const Ring &ring, RingPlace place) { return e.add(e.mul(place.stage, ring.bytes), ring.offset); }
  Value addressOf(const Ring &ring, RingPlace place) { return e.advance(e.sharedAddress(words), offsetOf(ring, place)); }
  Values produceRows(mlir::tiles::AttentionTileOp tile, Value lane, Value begin, Value end, mlir::ValueRange carried);
  Values producePanels(mlir::tiles::AttentionTileOp tile, Value thread, Value begin, Value end, mlir::ValueRange carried);
  void copyBoxes(const Ring &ring, RingPlace place, Value rows, Value key, Value barrier);
  void clearRows(RingPlace place, Value lane, Value count);

  ThreadBuilder &e;
  BoxCopies copies;
  bool areRows;
  int64_t consumers, others;
  Value landed;
  Ring keys, values;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_KEYSTAGES_H
