//===- ThreadBuilder.h - Code that the threads of a block share -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_THREADBUILDER_H
#define ATTUNE_COMPILER_TARGET_NVVM_THREADBUILDER_H

#include "compiler/Transforms/IndexBuilder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace attune {

/// The number of threads of a warp, and of a block that computes thread-block tiles of projections or attention in a
/// version for all architectures. Blocks of architecture-specific versions have three warpgroups, 384 threads.
inline constexpr int64_t kWarp = 32, kBlockThreads = 128;

/// Creates the code of one thread: scalar arithmetic, shared memory, and operations on the lanes of a warp.
class ThreadBuilder : public IndexBuilder {
public:
  using IndexBuilder::IndexBuilder;

  /// Returns the larger of two floats; if one is NaN, the other one.
  Value maxf(Value a, Value b);
  /// Returns the hardware's approximation of 2^x: 1 at 0, 0 at -infinity.
  Value exp2(Value x);

  Value load(Value buffer, mlir::ValueRange at);
  /// Loads an element of f32, bf16, f16 or i8 as f32.
  Value loadWide(Value buffer, mlir::ValueRange at);
  void store(Value value, Value buffer, mlir::ValueRange at);
  /// Allocates memory that the threads of the block share. |alignment| is in bytes.
  Value allocateShared(mlir::Type element, llvm::ArrayRef<int64_t> shape, int64_t alignment = 128);
  /// Returns the address of |buffer|, a result of allocateShared.
  Value sharedAddress(Value buffer);
  /// Returns the address of element |at| of |buffer|, in shared or global memory like |buffer|.
  Value addressOf(Value buffer, mlir::ValueRange at);
  /// Returns |address| plus |bytes|.
  Value advance(Value address, Value bytes);

  Value thread() { return mlir::gpu::ThreadIdOp::create(*this, mlir::gpu::Dimension::x); }
  void barrier() { mlir::gpu::BarrierOp::create(*this); }
  /// Returns the value of |x| in lane (own lane xor |mask|). All lanes of the warp must execute it.
  Value shuffleXor(Value x, int64_t mask);
  /// Return the value of |x| in lane |lane|. All lanes of the warp must execute it.
  Value broadcastLane(Value x, int64_t lane);
  Value broadcastLane(Value x, Value lane);
  /// Joins |x| of all lanes of the warp in a fixed tree; every lane gets the result.
  Value reduceLanes(Value x, llvm::function_ref<Value(Value, Value)> join);
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_THREADBUILDER_H
