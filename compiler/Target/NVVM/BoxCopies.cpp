//===- BoxCopies.cpp - Copies that barriers in memory wait for -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/BoxCopies.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attune;

/// How long a thread may sleep before it looks again, in nanoseconds.
static constexpr int64_t kPatience = 10000000;
static constexpr int64_t kBarrierBytes = 8;

static LLVM::LLVMPointerType pointerTo(OpBuilder &builder, NVVM::NVVMMemorySpace space) {
  return LLVM::LLVMPointerType::get(builder.getContext(), static_cast<unsigned>(space));
}

Value BoxCopies::word(Value index) { return arith::IndexCastOp::create(builder, e.loc, builder.getI32Type(), index); }

Value BoxCopies::allocateBarriers(int64_t count) { return e.sharedAddress(e.allocateShared(builder.getI64Type(), {count})); }

Value BoxCopies::barrierAt(Value barriers, Value number) { return e.advance(barriers, e.mul(number, kBarrierBytes)); }

void BoxCopies::init(Value barrier, int64_t arrivals) {
  NVVM::MBarrierInitOp::create(builder, e.loc, barrier, arith::ConstantIntOp::create(builder, e.loc, arrivals, 32), /*predicate=*/Value());
}

void BoxCopies::fenceInit() { NVVM::FenceMbarrierInitOp::create(builder, e.loc); }

void BoxCopies::arrive(Value barrier) { NVVM::MBarrierArriveOp::create(builder, e.loc, Type(), barrier, /*count=*/Value()); }

void BoxCopies::expect(Value barrier, int64_t bytes) {
  Value count = arith::ConstantIntOp::create(builder, e.loc, bytes, 32);
  NVVM::MBarrierArriveExpectTxOp::create(builder, e.loc, Type(), barrier, count, NVVM::MemScopeKind::CTA, /*relaxed=*/false,
                                         /*predicate=*/Value());
}

void BoxCopies::wait(Value barrier, Value parity) {
  Value ticks = arith::ConstantIntOp::create(builder, e.loc, kPatience, 32);
  NVVM::MBarrierTryWaitParityOp::create(builder, e.loc, barrier, word(parity), ticks);
}

void BoxCopies::copy(Value to, Value map, Value barrier, ArrayRef<Value> at) {
  Value cluster = LLVM::AddrSpaceCastOp::create(builder, e.loc, pointerTo(builder, NVVM::NVVMMemorySpace::SharedCluster), to);
  auto places = llvm::map_to_vector(at, [&](Value index) { return word(index); });
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(builder, e.loc, cluster, map, places, barrier, /*im2colOffsets=*/ValueRange(),
                                                         /*multicastMask=*/Value(), /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE,
                                                         /*isCTAOnly=*/false, /*group=*/nullptr, /*predicate=*/Value());
}

void BoxCopies::fenceWrites() {
  auto space = NVVM::SharedSpaceAttr::get(builder.getContext(), NVVM::SharedSpace::shared_cta);
  NVVM::FenceProxyOp::create(builder, e.loc, NVVM::ProxyKind::async_shared, space);
}

RingPlace BoxCopies::next(RingPlace place, int64_t stages) {
  Value one = e.add(place.stage, 1), wraps = e.compare(arith::CmpIPredicate::eq, one, e.index(stages));
  return {e.select(wraps, e.index(0), one), e.select(wraps, otherParity(place.parity), place.parity)};
}

Value BoxCopies::firstPlace() { return arith::ConstantIntOp::create(builder, e.loc, 0, 32); }

Value BoxCopies::pack(RingPlace place) { return word(e.add(e.mul(place.stage, 2), place.parity)); }

RingPlace BoxCopies::unpack(Value place) {
  Value number = arith::IndexCastUIOp::create(builder, e.loc, builder.getIndexType(), place);
  return {e.div(number, 2), e.rem(number, 2)};
}

void BoxCopies::setRegisters(int64_t count, bool more) {
  NVVM::SetMaxRegisterOp::create(builder, e.loc, static_cast<uint32_t>(count),
                                 more ? NVVM::SetMaxRegisterAction::increase : NVVM::SetMaxRegisterAction::decrease);
}

void BoxCopies::meet(Value number, int64_t threads) {
  NVVM::BarrierOp::create(builder, e.loc, Type(), word(number), arith::ConstantIntOp::create(builder, e.loc, threads, 32),
                          NVVM::BarrierReductionAttr(), Value());
}
