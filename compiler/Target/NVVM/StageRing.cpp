//===- StageRing.cpp - Pipeline stages between warpgroups ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/StageRing.h"
#include "compiler/Target/NVVM/WarpgroupProducts.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

/// The registers of a thread of the producer and of a consumer. With two consumers all threads start with 168: 65536
/// registers divided by 384 threads, rounded down to a multiple of 8.
static constexpr int64_t kProducerRegisters = 40, kConsumerRegisters = 232;

StageRing::StageRing(ThreadBuilder &e, int64_t stages, int64_t bytes, int64_t consumers) : tma(e), e(e), stages(stages), bytes(bytes) {
  Value thread = e.thread();
  group = e.div(thread, kWarpgroup), inGroup = e.rem(thread, kWarpgroup);
  // The swizzle depends on address bits, so every eight rows of 128 bytes must begin at a multiple of 1024.
  memory = e.sharedAddress(e.allocateShared(e.getI8Type(), {stages * bytes}, /*alignment=*/1024));
  full = tma.allocateBarriers(stages);
  empty = tma.allocateBarriers(stages);
  e.ifThen(e.compare(arith::CmpIPredicate::eq, thread, 0), [&] {
    e.loop(e.index(0), e.index(stages), 1, [&](Value stage) {
      tma.init(tma.barrierAt(full, stage), 1);
      tma.init(tma.barrierAt(empty, stage), consumers);
    });
    tma.fenceInit();
  });
  e.barrier();
}

void StageRing::run(llvm::function_ref<void()> produce, llvm::function_ref<void()> consume) {
  auto producer = [&]() -> Values {
    tma.setMaxRegisters(kProducerRegisters, /*more=*/false);
    e.ifThen(e.compare(arith::CmpIPredicate::eq, inGroup, 0), produce);
    return {};
  };
  auto consumer = [&]() -> Values {
    tma.setMaxRegisters(kConsumerRegisters, /*more=*/true);
    consume();
    return {};
  };
  e.choose(e.compare(arith::CmpIPredicate::eq, group, 0), producer, consumer);
}

Value StageRing::startFilling(PipelineState place) {
  tma.wait(tma.barrierAt(empty, place.stage), tma.otherPhase(place.phase));
  tma.arriveExpectBytes(barrierOf(place), bytes);
  return e.advance(memory, e.mul(place.stage, bytes));
}

Value StageRing::waitForStage(PipelineState place) {
  tma.wait(barrierOf(place), place.phase);
  return e.advance(memory, e.mul(place.stage, bytes));
}

void StageRing::release(Value stage) {
  e.ifThen(e.compare(arith::CmpIPredicate::eq, inGroup, 0), [&] { tma.arrive(tma.barrierAt(empty, stage)); });
}

Value StageRing::stageBefore(PipelineState place) {
  Value isZero = e.compare(arith::CmpIPredicate::eq, place.stage, 0);
  return e.select(isZero, e.index(stages - 1), e.add(place.stage, -1));
}
