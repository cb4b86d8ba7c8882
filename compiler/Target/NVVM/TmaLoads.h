//===- TmaLoads.h - TMA loads and the barriers that wait for them -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_TMALOADS_H
#define ATTUNE_COMPILER_TARGET_NVVM_TMALOADS_H

#include "compiler/Target/NVVM/ThreadBuilder.h"

namespace attune {

/// The position of a thread in a pipeline: the number of its next stage, and the phase of that stage's mbarriers, 0 or
/// 1, which flips with each round through the stages.
struct PipelineState {
  mlir::Value stage, phase;
};

/// Emits sm_90's TMA loads, the mbarriers by which threads of the block wait for them, named barriers and setmaxnreg.
class TmaLoads {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  explicit TmaLoads(ThreadBuilder &e) : e(e) {}

  /// Allocates |count| mbarriers in shared memory; returns the address of the first one.
  Value allocateBarriers(int64_t count);
  /// Returns the address of mbarrier |number| of those that begin at |barriers|.
  Value barrierAt(Value barriers, Value number);
  /// Initializes an mbarrier for |arrivals| arrivals per phase. Other threads may use it after fenceInit and a barrier
  /// of the block.
  void init(Value barrier, int64_t arrivals);
  void fenceInit();
  void arrive(Value barrier);
  /// Arrives at |barrier| and adds |bytes| to the bytes of loads that must arrive before its phase completes.
  void arriveExpectBytes(Value barrier, int64_t bytes);
  /// Waits until the phase with parity |phase|, an index, has completed. After init, a wait for parity 1 returns at
  /// once.
  void wait(Value barrier, Value phase);
  /// Starts the TMA load of a tile to |to|. |map| is the TMA descriptor; |at| are the coordinates of the tile's first
  /// element, innermost dimension first. The load's bytes arrive at |barrier|.
  void load(Value to, Value map, Value barrier, llvm::ArrayRef<Value> at);
  /// Makes this thread's writes to shared memory visible to wgmma products and TMA loads that start later.
  void fenceAsyncProxy();

  PipelineState next(PipelineState state, int64_t stages);
  /// Return the initial state packed into one i32, which loops carry, and convert states to and from this form.
  Value initialState();
  Value pack(PipelineState state);
  PipelineState unpack(Value packed);
  Value otherPhase(Value phase) { return e.sub(e.index(1), phase); }

  /// Sets the number of registers of each thread of a warpgroup to |count|. |more| must be true if that is an increase,
  /// false if it is a decrease.
  void setMaxRegisters(int64_t count, bool more);
  /// Waits at named barrier |number|, 1 to 15, for |threads| threads of the block.
  void namedBarrier(Value number, int64_t threads);

private:
  Value word(Value index);

  ThreadBuilder &e;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_TMALOADS_H
