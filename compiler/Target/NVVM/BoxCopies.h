//===- BoxCopies.h - Copies that barriers in memory wait for ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_BOXCOPIES_H
#define ATTUNE_COMPILER_TARGET_NVVM_BOXCOPIES_H

#include "compiler/Target/NVVM/ThreadBuilder.h"

namespace attune {

/// Where a ring of stages in shared memory stands: its next stage, and the parity of how often it has gone round.
struct RingPlace {
  mlir::Value stage, parity;
};

/// Emits the instructions of sm_90 by which some threads of a block bring operands and others wait for them.
class BoxCopies {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  explicit BoxCopies(ThreadBuilder &e) : e(e) {}

  /// |count| barriers in shared memory; the address of one.
  Value allocateBarriers(int64_t count);
  Value barrierAt(Value barriers, Value number);
  /// Makes a barrier end its phases when |arrivals| threads have come. Whoever else uses it must have seen the fence.
  void init(Value barrier, int64_t arrivals);
  void fenceInit();
  void arrive(Value barrier);
  /// Arrives, and makes the phase wait for |bytes| of copies.
  void expect(Value barrier, int64_t bytes);
  /// Waits for the end of the phase of |parity|, an index.
  void wait(Value barrier, Value parity);
  /// Starts to copy the box of |map| at |at|, from the innermost dimension on, to |to|.
  void copy(Value to, Value map, Value barrier, llvm::ArrayRef<Value> at);
  /// What this thread has written to shared memory is seen by products and copies that start later.
  void fenceWrites();

  RingPlace next(RingPlace place, int64_t stages);
  /// A place as one value that loops carry, which takes one register: where a ring begins, and to and from.
  Value firstPlace();
  Value pack(RingPlace place);
  RingPlace unpack(Value place);
  Value otherParity(Value parity) { return e.sub(e.index(1), parity); }

  /// Gives the threads of a warpgroup |count| registers each, |more| or fewer than they have.
  void setRegisters(int64_t count, bool more);
  /// A barrier of |threads| threads of the block, one of 1 to 15.
  void meet(Value number, int64_t threads);

private:
  Value word(Value index);

  ThreadBuilder &e;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_BOXCOPIES_H
