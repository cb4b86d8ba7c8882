//===- ThreadBuilder.h - Code that the threads of a block share -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_THREADBUILDER_H
#define ATTUNE_COMPILER_TARGET_NVVM_THREADBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"

namespace attune {

/// Threads of a warp, and of a block that makes tiles of projections or of attention.
inline constexpr int64_t kWarp = 32, kBlockThreads = 128;

/// Emits scalar code on indices and f32, loops over what threads share, and what the lanes of a warp do together.
class ThreadBuilder {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;
  using LoopBody = llvm::function_ref<Values(Value index, mlir::ValueRange carried)>;

  ThreadBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  Value index(int64_t value);
  Value f32(double value);
  Value add(Value a, Value b);
  Value add(Value a, int64_t b) { return b == 0 ? a : add(a, index(b)); }
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value mul(Value a, int64_t b) { return b == 1 ? a : mul(a, index(b)); }
  Value div(Value a, Value b);
  Value div(Value a, int64_t b) { return b == 1 ? a : div(a, index(b)); }
  Value rem(Value a, Value b);
  Value rem(Value a, int64_t b) { return rem(a, index(b)); }
  Value min(Value a, Value b);
  Value max(Value a, Value b);
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b);
  Value compare(mlir::arith::CmpFPredicate predicate, Value a, Value b);
  Value no() { return mlir::arith::ConstantIntOp::create(builder, loc, 0, 1); }
  Value yes() { return mlir::arith::ConstantIntOp::create(builder, loc, 1, 1); }
  Value both(Value a, Value b);
  Value either(Value a, Value b);
  Value select(Value condition, Value a, Value b);

  Value addf(Value a, Value b);
  Value subf(Value a, Value b);
  Value mulf(Value a, Value b);
  Value divf(Value a, Value b);
  Value maxf(Value a, Value b);
  Value fma(Value a, Value b, Value c);
  /// 2^x as the hardware has it: 1 at 0, 0 at -infinity.
  Value exp2(Value x);

  Value size(Value buffer, int64_t dim);
  Value load(Value buffer, mlir::ValueRange at);
  /// The same of f32, bf16 or f16, as f32.
  Value loadWide(Value buffer, mlir::ValueRange at);
  void store(Value value, Value buffer, mlir::ValueRange at);
  /// Memory that the threads of the block share.
  Value allocateShared(mlir::Type element, llvm::ArrayRef<int64_t> shape, int64_t alignment = 128);
  /// Where such memory is, and what is |bytes| beyond an address.
  Value sharedAddress(Value buffer);
  Value advance(Value address, Value bytes);

  /// A loop from |begin| to |end|; returns what it carries.
  Values loop(Value begin, Value end, Value step, mlir::ValueRange initial, LoopBody body);
  void ifThen(Value condition, llvm::function_ref<void()> body);
  /// The values of one of two branches.
  Values choose(Value condition, llvm::function_ref<Values()> yes, llvm::function_ref<Values()> no);

  Value thread() { return mlir::gpu::ThreadIdOp::create(builder, loc, mlir::gpu::Dimension::x); }
  void barrier() { mlir::gpu::BarrierOp::create(builder, loc); }
  /// The value of |x| in the lane whose number differs in the bits |mask|; all lanes of the warp take part.
  Value shuffleXor(Value x, int64_t mask);
  /// The value of |x| in lane |lane|.
  Value broadcastLane(Value x, int64_t lane);
  Value broadcastLane(Value x, Value lane);
  /// |x| of all lanes of the warp joined, in a fixed tree; every lane has the result.
  Value reduceLanes(Value x, llvm::function_ref<Value(Value, Value)> join);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_THREADBUILDER_H
