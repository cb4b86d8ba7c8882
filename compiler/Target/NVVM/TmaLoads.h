//===- TmaLoads.h - TMA loads and the barriers that wait for them -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_TMALOADS_H
#define ATTUNE_COMPILER_TARGET_NVVM_TMALOADS_H

#include "compiler/Target/NVVM/ThreadBuilder.h"

namespace attune {

/// The next stage of a ring in shared memory, and the phase of its barriers, which changes with each round.
struct PipelineState {
  mlir::Value stage, phase;
};

/// Emits the TMA loads of sm_90 and the barriers in shared memory by which other threads of the block wait for them.
class TmaLoads {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  explicit TmaLoads(ThreadBuilder &e) : e(e) {}

  /// |count| barriers in shared memory; the address of one.
  Value allocateBarriers(int64_t count);
  Value barrierAt(Value barriers, Value number);
  /// Sets the number of arrivals that end a phase of a barrier. Other threads may use it after fenceInit and a barrier of the block.
  void init(Value barrier, int64_t arrivals);
  void fenceInit();
  void arrive(Value barrier);
  /// Arrives, and makes the phase wait for |bytes| of loads.
  void arriveExpectBytes(Value barrier, int64_t bytes);
  /// Waits for the end of the phase of |phase|, an index.
  void wait(Value barrier, Value phase);
  /// Starts to load the box of |map| at |at|, innermost dimension first, to |to|.
  void load(Value to, Value map, Value barrier, llvm::ArrayRef<Value> at);
  /// Makes the shared memory that this thread has written visible to products and loads that start later.
  void fenceAsyncProxy();

  PipelineState next(PipelineState state, int64_t stages);
  /// The state before the first stage, packed into one i32 that loops carry; to and from such a value.
  Value initialState();
  Value pack(PipelineState state);
  PipelineState unpack(Value packed);
  Value otherPhase(Value phase) { return e.sub(e.index(1), phase); }

  /// Gives the threads of a warpgroup |count| registers each, |more| or fewer than they have.
  void setMaxRegisters(int64_t count, bool more);
  /// A barrier of |threads| threads of the block, one of 1 to 15.
  void namedBarrier(Value number, int64_t threads);

private:
  Value word(Value index);

  ThreadBuilder &e;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_TMALOADS_H
