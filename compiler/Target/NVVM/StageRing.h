//===- StageRing.h - Pipeline stages between warpgroups ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A ring of stages in shared memory that one thread fills by TMA loads and consumer warpgroups read:
//
//   producer     wait `empty`; expect the stage's bytes at `full`; start the loads
//   consumer     wait `full`; read the stage; one thread arrives at `empty`
//
// A phase of `full` completes by one arrival and the bytes that it expects, a phase of `empty` by one arrival of each
// consumer. Producer and consumers walk the same series of stages, so phases need no reset.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_STAGERING_H
#define ATTUNE_COMPILER_TARGET_NVVM_STAGERING_H

#include "compiler/Target/NVVM/TmaLoads.h"

namespace attune {

/// The stages of a block whose first warpgroup produces and whose other |consumers| warpgroups consume.
class StageRing {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  /// Allocates |stages| stages of |bytes| bytes, a multiple of 1024 as the 128-byte swizzle requires, and the mbarriers
  /// of the stages. Emits the initialization of the mbarriers and a barrier of the block.
  StageRing(ThreadBuilder &e, int64_t stages, int64_t bytes, int64_t consumers);

  /// Emits |produce| for the first thread of the block and |consume| for the threads of the consumers, which get the
  /// registers that the producer's warpgroup gives up.
  void run(llvm::function_ref<void()> produce, llvm::function_ref<void()> consume);

  /// Return the state before the first stage, and the state after |place|, as loops carry them.
  Value begin() { return tma.initialState(); }
  Value after(PipelineState place) { return tma.pack(tma.next(place, stages)); }
  PipelineState unpack(Value packed) { return tma.unpack(packed); }

  /// Waits until the stage at |place| is empty, and makes barrierOf(|place|) expect the bytes of the stage. Returns the
  /// stage's address. The caller must start loads that fill the whole stage and arrive at barrierOf(|place|).
  Value startFilling(PipelineState place);
  Value barrierOf(PipelineState place) { return tma.barrierAt(full, place.stage); }
  /// Waits until the stage at |place| is full; returns its address.
  Value waitForStage(PipelineState place);
  /// Releases stage number |stage| to the producer. The threads of every consumer must run it; the first thread of each
  /// consumer arrives.
  void release(Value stage);
  /// Returns the number of the stage before |place|.
  Value stageBefore(PipelineState place);

  /// The number of the thread's warpgroup, 0 for the producer, and the number of the thread in its warpgroup.
  Value group, inGroup;
  TmaLoads tma;

private:
  ThreadBuilder &e;
  int64_t stages, bytes;
  /// Addresses in shared memory: of the stages, and of the mbarriers of full and of empty stages.
  Value memory, full, empty;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_STAGERING_H
