//===- TmaLoads.cpp - TMA loads and the barriers that wait for them -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/TmaLoads.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attune;

/// The longest time that a waiting thread may be suspended before it tests the barrier again, in nanoseconds.
static constexpr int64_t kPatience = 10000000;
static constexpr int64_t kBarrierBytes = 8;

static LLVM::LLVMPointerType pointerTo(OpBuilder &e, NVVM::NVVMMemorySpace space) {
  return LLVM::LLVMPointerType::get(e.getContext(), static_cast<unsigned>(space));
}

Value TmaLoads::word(Value index) { return arith::IndexCastOp::create(e, e.getI32Type(), index); }

Value TmaLoads::allocateBarriers(int64_t count) { return e.sharedAddress(e.allocateShared(e.getI64Type(), {count})); }

Value TmaLoads::barrierAt(Value barriers, Value number) { return e.advance(barriers, e.mul(number, kBarrierBytes)); }

void TmaLoads::init(Value barrier, int64_t arrivals) {
  NVVM::MBarrierInitOp::create(e, barrier, arith::ConstantIntOp::create(e, arrivals, 32), /*predicate=*/Value());
}

void TmaLoads::fenceInit() { NVVM::FenceMbarrierInitOp::create(e); }

void TmaLoads::arrive(Value barrier) { NVVM::MBarrierArriveOp::create(e, Type(), barrier, /*count=*/Value()); }

void TmaLoads::arriveExpectBytes(Value barrier, int64_t bytes) {
  Value count = arith::ConstantIntOp::create(e, bytes, 32);
  NVVM::MBarrierArriveExpectTxOp::create(e, Type(), barrier, count, NVVM::MemScopeKind::CTA, /*relaxed=*/false,
                                         /*predicate=*/Value());
}

void TmaLoads::wait(Value barrier, Value phase) {
  Value ticks = arith::ConstantIntOp::create(e, kPatience, 32);
  NVVM::MBarrierTryWaitParityOp::create(e, barrier, word(phase), ticks);
}

void TmaLoads::load(Value to, Value map, Value barrier, ArrayRef<Value> at) {
  Value cluster = LLVM::AddrSpaceCastOp::create(e, pointerTo(e, NVVM::NVVMMemorySpace::SharedCluster), to);
  auto indices = llvm::map_to_vector(at, [&](Value index) { return word(index); });
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(e, cluster, map, indices, barrier, /*im2colOffsets=*/ValueRange(),
                                                         /*multicastMask=*/Value(), /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE,
                                                         /*isCTAOnly=*/false, /*group=*/nullptr, /*predicate=*/Value());
}

void TmaLoads::fenceAsyncProxy() {
  auto space = NVVM::SharedSpaceAttr::get(e.getContext(), NVVM::SharedSpace::shared_cta);
  NVVM::FenceProxyOp::create(e, NVVM::ProxyKind::async_shared, space);
}

PipelineState TmaLoads::next(PipelineState state, int64_t stages) {
  Value one = e.add(state.stage, 1), wraps = e.compare(arith::CmpIPredicate::eq, one, stages);
  return {e.select(wraps, e.index(0), one), e.select(wraps, otherPhase(state.phase), state.phase)};
}

Value TmaLoads::initialState() { return arith::ConstantIntOp::create(e, 0, 32); }

Value TmaLoads::pack(PipelineState state) { return word(e.add(e.mul(state.stage, 2), state.phase)); }

PipelineState TmaLoads::unpack(Value packed) {
  Value number = arith::IndexCastUIOp::create(e, e.getIndexType(), packed);
  return {e.div(number, 2), e.rem(number, 2)};
}

void TmaLoads::setMaxRegisters(int64_t count, bool more) {
  NVVM::SetMaxRegisterOp::create(e, static_cast<uint32_t>(count),
                                 more ? NVVM::SetMaxRegisterAction::increase : NVVM::SetMaxRegisterAction::decrease);
}

void TmaLoads::namedBarrier(Value number, int64_t threads) {
  NVVM::BarrierOp::create(e, Type(), word(number), arith::ConstantIntOp::create(e, threads, 32), NVVM::BarrierReductionAttr(), Value());
}
