//===- AsyncCopies.cpp - Asynchronous copies to shared memory --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/AsyncCopies.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;

Value AsyncCopies::addressOf(Value buffer, ValueRange at) {
  auto type = cast<MemRefType>(buffer.getType());
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace());
  bool isShared = space && space.getValue() == gpu::AddressSpace::Workgroup;
  auto memory = static_cast<unsigned>(isShared ? NVVM::NVVMMemorySpace::Shared : NVVM::NVVMMemorySpace::Global);
  auto parts = memref::ExtractStridedMetadataOp::create(e, buffer);
  Value offset = parts.getOffset();
  for (auto [index, stride] : llvm::zip_equal(at, parts.getStrides()))
    offset = e.add(offset, e.mul(index, stride));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(e, buffer);
  Value number = e.toI64(base);
  // The index is the value of a generic pointer, so it becomes one first. Buffers outside of shared memory are in
  // global memory.
  auto pointer = LLVM::LLVMPointerType::get(e.getContext(), isShared ? memory : 0);
  Value address = LLVM::IntToPtrOp::create(e, pointer, number);
  if (!isShared)
    address = LLVM::AddrSpaceCastOp::create(e, LLVM::LLVMPointerType::get(e.getContext(), memory), address);
  return advance(address, e.mul(offset, type.getElementTypeBitWidth() / 8));
}

void AsyncCopies::copyChunk(Value to, Value from, Value exists) { copy(to, from, exists, kChunkBytes); }
void AsyncCopies::copyWord(Value to, Value from, Value exists) { copy(to, from, exists, 4); }

void AsyncCopies::copy(Value to, Value from, Value exists, int64_t bytes) {
  Value all = arith::ConstantIntOp::create(e, bytes, 32), none = arith::ConstantIntOp::create(e, 0, 32);
  // Only whole chunks can pass by the L1 cache.
  auto caches = bytes == kChunkBytes ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(e, to, from, static_cast<uint32_t>(bytes), caches, e.select(exists, all, none));
}

void AsyncCopies::commitCopies() { NVVM::CpAsyncCommitGroupOp::create(e); }
void AsyncCopies::waitForCopies(int64_t left) { NVVM::CpAsyncWaitGroupOp::create(e, static_cast<int32_t>(left)); }
