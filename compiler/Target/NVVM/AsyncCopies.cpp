//===- AsyncCopies.cpp - Asynchronous copies to shared memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/AsyncCopies.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace attune;

void AsyncCopies::copyChunk(Value to, Value from, Value exists) { copy(to, from, exists, kChunkBytes); }
void AsyncCopies::copyWord(Value to, Value from, Value exists) { copy(to, from, exists, 4); }

void AsyncCopies::copy(Value to, Value from, Value exists, int64_t bytes) {
  Value all = arith::ConstantIntOp::create(e, bytes, 32), none = arith::ConstantIntOp::create(e, 0, 32);
  // Only copies of whole chunks can bypass the L1 cache.
  auto caches = bytes == kChunkBytes ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(e, to, from, static_cast<uint32_t>(bytes), caches, e.select(exists, all, none));
}

void AsyncCopies::commitCopies() { NVVM::CpAsyncCommitGroupOp::create(e); }
void AsyncCopies::waitForCopies(int64_t left) { NVVM::CpAsyncWaitGroupOp::create(e, static_cast<int32_t>(left)); }
