//===- ThreadBuilder.cpp - Code that the threads of a block share ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/ThreadBuilder.h"
#include "compiler/Transforms/CacheElements.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;

Value ThreadBuilder::maxf(Value a, Value b) { return arith::MaxNumFOp::create(*this, a, b); }
Value ThreadBuilder::exp2(Value x) { return LLVM::Exp2Op::create(*this, x.getType(), x); }

Value ThreadBuilder::load(Value buffer, ValueRange at) { return memref::LoadOp::create(*this, buffer, at); }
Value ThreadBuilder::loadWide(Value buffer, ValueRange at) { return widen(*this, load(buffer, at)); }
void ThreadBuilder::store(Value value, Value buffer, ValueRange at) { memref::StoreOp::create(*this, value, buffer, at); }

Value ThreadBuilder::allocateShared(Type element, ArrayRef<int64_t> shape, int64_t alignment) {
  auto space = gpu::AddressSpaceAttr::get(getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get(shape, element, MemRefLayoutAttrInterface(), space);
  return memref::AllocOp::create(*this, type, getI64IntegerAttr(alignment));
}

Value ThreadBuilder::sharedAddress(Value buffer) {
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(*this, buffer);
  Value number = toI64(base);
  auto space = static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
  return LLVM::IntToPtrOp::create(*this, LLVM::LLVMPointerType::get(getContext(), space), number);
}

Value ThreadBuilder::addressOf(Value buffer, ValueRange at) {
  auto type = cast<MemRefType>(buffer.getType());
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace());
  bool isShared = space && space.getValue() == gpu::AddressSpace::Workgroup;
  auto memory = static_cast<unsigned>(isShared ? NVVM::NVVMMemorySpace::Shared : NVVM::NVVMMemorySpace::Global);
  auto parts = memref::ExtractStridedMetadataOp::create(*this, buffer);
  Value offset = parts.getOffset();
  for (auto [index, stride] : llvm::zip_equal(at, parts.getStrides()))
    offset = add(offset, mul(index, stride));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(*this, buffer);
  Value number = toI64(base);
  // For a buffer outside of shared memory, which is in global memory, the index is the value of a generic pointer. So
  // it becomes a generic pointer first, then one to global memory.
  auto pointer = LLVM::LLVMPointerType::get(getContext(), isShared ? memory : 0);
  Value address = LLVM::IntToPtrOp::create(*this, pointer, number);
  if (!isShared)
    address = LLVM::AddrSpaceCastOp::create(*this, LLVM::LLVMPointerType::get(getContext(), memory), address);
  return advance(address, mul(offset, type.getElementTypeBitWidth() / 8));
}

Value ThreadBuilder::advance(Value address, Value bytes) {
  Value distance = toI64(bytes);
  return LLVM::GEPOp::create(*this, address.getType(), getI8Type(), address, ArrayRef<LLVM::GEPArg>{distance});
}

Value ThreadBuilder::shuffleXor(Value x, int64_t mask) {
  return gpu::ShuffleOp::create(*this, x, static_cast<int32_t>(mask), kWarp, gpu::ShuffleMode::XOR).getShuffleResult();
}

Value ThreadBuilder::broadcastLane(Value x, int64_t lane) {
  return gpu::ShuffleOp::create(*this, x, static_cast<int32_t>(lane), kWarp, gpu::ShuffleMode::IDX).getShuffleResult();
}

Value ThreadBuilder::broadcastLane(Value x, Value lane) {
  Type i32 = getI32Type();
  Value number = arith::IndexCastOp::create(*this, i32, lane), width = arith::ConstantIntOp::create(*this, kWarp, 32);
  return gpu::ShuffleOp::create(*this, x, number, width, gpu::ShuffleMode::IDX).getShuffleResult();
}

Value ThreadBuilder::reduceLanes(Value x, llvm::function_ref<Value(Value, Value)> join) {
  for (int64_t mask = kWarp / 2; mask > 0; mask /= 2)
    x = join(x, shuffleXor(x, mask));
  return x;
}
