//===- ThreadBuilder.cpp - Code that the threads of a block share ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

Value ThreadBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
Value ThreadBuilder::f32(double value) { return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value)); }
Value ThreadBuilder::add(Value a, Value b) { return builder.createOrFold<arith::AddIOp>(loc, a, b); }
Value ThreadBuilder::sub(Value a, Value b) { return builder.createOrFold<arith::SubIOp>(loc, a, b); }
Value ThreadBuilder::mul(Value a, Value b) { return builder.createOrFold<arith::MulIOp>(loc, a, b); }
Value ThreadBuilder::div(Value a, Value b) { return builder.createOrFold<arith::DivUIOp>(loc, a, b); }
Value ThreadBuilder::rem(Value a, Value b) { return builder.createOrFold<arith::RemUIOp>(loc, a, b); }
Value ThreadBuilder::min(Value a, Value b) { return builder.createOrFold<arith::MinSIOp>(loc, a, b); }
Value ThreadBuilder::max(Value a, Value b) { return builder.createOrFold<arith::MaxSIOp>(loc, a, b); }
Value ThreadBuilder::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
}
Value ThreadBuilder::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return builder.createOrFold<arith::CmpFOp>(loc, predicate, a, b);
}
Value ThreadBuilder::both(Value a, Value b) { return builder.createOrFold<arith::AndIOp>(loc, a, b); }
Value ThreadBuilder::either(Value a, Value b) { return builder.createOrFold<arith::OrIOp>(loc, a, b); }
Value ThreadBuilder::select(Value condition, Value a, Value b) { return builder.createOrFold<arith::SelectOp>(loc, condition, a, b); }

Value ThreadBuilder::addf(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
Value ThreadBuilder::subf(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
Value ThreadBuilder::mulf(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
Value ThreadBuilder::divf(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
Value ThreadBuilder::maxf(Value a, Value b) { return arith::MaxNumFOp::create(builder, loc, a, b); }
Value ThreadBuilder::fma(Value a, Value b, Value c) { return math::FmaOp::create(builder, loc, a, b, c); }
Value ThreadBuilder::exp2(Value x) { return LLVM::Exp2Op::create(builder, loc, x.getType(), x); }

Value ThreadBuilder::size(Value buffer, int64_t dim) { return builder.createOrFold<memref::DimOp>(loc, buffer, dim); }
Value ThreadBuilder::load(Value buffer, ValueRange at) { return memref::LoadOp::create(builder, loc, buffer, at); }
Value ThreadBuilder::loadWide(Value buffer, ValueRange at) {
  Value element = load(buffer, at);
  return element.getType().isF32() ? element : arith::ExtFOp::create(builder, loc, builder.getF32Type(), element).getResult();
}
void ThreadBuilder::store(Value value, Value buffer, ValueRange at) { memref::StoreOp::create(builder, loc, value, buffer, at); }

Value ThreadBuilder::allocateShared(Type element, ArrayRef<int64_t> shape, int64_t alignment) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space);
  return memref::AllocOp::create(builder, loc, type, builder.getI64IntegerAttr(alignment));
}

Value ThreadBuilder::sharedAddress(Value buffer) {
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
  Value number = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), base);
  auto space = static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
  return LLVM::IntToPtrOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), space), number);
}

Value ThreadBuilder::advance(Value address, Value bytes) {
  Value distance = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), bytes);
  return LLVM::GEPOp::create(builder, loc, address.getType(), builder.getI8Type(), address, ArrayRef<LLVM::GEPArg>{distance});
}

Values ThreadBuilder::loop(Value begin, Value end, Value step, ValueRange initial, LoopBody body) {
  auto loop = scf::ForOp::create(builder, loc, begin, end, step, initial);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!initial.empty())
    scf::YieldOp::create(builder, loc, next);
  return Values(loop.getResults());
}

void ThreadBuilder::ifThen(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(builder, loc, condition);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

Values ThreadBuilder::choose(Value condition, llvm::function_ref<Values()> yes, llvm::function_ref<Values()> no) {
  auto branch = scf::IfOp::create(
      builder, loc, condition,
      [&](OpBuilder &inner, Location) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        scf::YieldOp::create(builder, loc, yes());
      },
      [&](OpBuilder &inner, Location) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        scf::YieldOp::create(builder, loc, no());
      });
  return Values(branch.getResults());
}

Value ThreadBuilder::shuffleXor(Value x, int64_t mask) {
  return gpu::ShuffleOp::create(builder, loc, x, static_cast<int32_t>(mask), kWarp, gpu::ShuffleMode::XOR).getShuffleResult();
}

Value ThreadBuilder::broadcastLane(Value x, int64_t lane) {
  return gpu::ShuffleOp::create(builder, loc, x, static_cast<int32_t>(lane), kWarp, gpu::ShuffleMode::IDX).getShuffleResult();
}

Value ThreadBuilder::broadcastLane(Value x, Value lane) {
  Type i32 = builder.getI32Type();
  Value number = arith::IndexCastOp::create(builder, loc, i32, lane), width = arith::ConstantIntOp::create(builder, loc, kWarp, 32);
  return gpu::ShuffleOp::create(builder, loc, x, number, width, gpu::ShuffleMode::IDX).getShuffleResult();
}

Value ThreadBuilder::reduceLanes(Value x, llvm::function_ref<Value(Value, Value)> join) {
  for (int64_t mask = kWarp / 2; mask > 0; mask /= 2)
    x = join(x, shuffleXor(x, mask));
  return x;
}
