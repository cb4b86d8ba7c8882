//===- TensorCores.cpp - Products of fragments -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/TensorCores.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

TensorCores::TensorCores(ThreadBuilder &e, Type element) : e(e), builder(e.builder), element(element) {
  assert((element.isBF16() || element.isF16()) && "16 bits");
}

Value TensorCores::addressOf(Value buffer, ValueRange at) {
  auto type = cast<MemRefType>(buffer.getType());
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(type.getMemorySpace());
  bool isShared = space && space.getValue() == gpu::AddressSpace::Workgroup;
  auto memory = static_cast<unsigned>(isShared ? NVVM::NVVMMemorySpace::Shared : NVVM::NVVMMemorySpace::Global);
  auto parts = memref::ExtractStridedMetadataOp::create(builder, e.loc, buffer);
  Value offset = parts.getOffset();
  for (auto [index, stride] : llvm::zip_equal(at, parts.getStrides()))
    offset = e.add(offset, e.mul(index, stride));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(builder, e.loc, buffer);
  Value number = arith::IndexCastOp::create(builder, e.loc, builder.getI64Type(), base);
  // A generic pointer first: the number is one, and a kernel's arguments are known to be global.
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), isShared ? memory : 0);
  Value address = LLVM::IntToPtrOp::create(builder, e.loc, pointer, number);
  if (!isShared)
    address = LLVM::AddrSpaceCastOp::create(builder, e.loc, LLVM::LLVMPointerType::get(builder.getContext(), memory), address);
  return advance(address, e.mul(offset, type.getElementTypeBitWidth() / 8));
}

void TensorCores::copyChunk(Value to, Value from, Value exists) {
  Value all = arith::ConstantIntOp::create(builder, e.loc, kChunkBytes, 32), none = arith::ConstantIntOp::create(builder, e.loc, 0, 32);
  NVVM::CpAsyncOp::create(builder, e.loc, to, from, kChunkBytes, NVVM::LoadCacheModifierKind::CG, e.select(exists, all, none));
}

void TensorCores::commitCopies() { NVVM::CpAsyncCommitGroupOp::create(builder, e.loc); }
void TensorCores::waitForCopies(int64_t left) { NVVM::CpAsyncWaitGroupOp::create(builder, e.loc, static_cast<int32_t>(left)); }

/// The members of |structure|.
static Values unpack(ThreadBuilder &e, Value structure, int64_t count) {
  Values parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(LLVM::ExtractValueOp::create(e.builder, e.loc, structure, i));
  return parts;
}

Values TensorCores::loadMatrices(Value address, bool transposed) {
  auto words = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, builder.getI32Type()));
  auto shape = NVVM::LdStMatrixShapeAttr::get(builder.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(builder, e.loc, words, address, 4, transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                                          shape, NVVM::LdStMatrixEltType::B16);
  return unpack(e, loaded, 4);
}

Value TensorCores::rowOfA(Value lane, int64_t stride) { return e.add(e.mul(e.div(lane, 16), stride), e.mul(e.rem(lane, 16), kChunkBytes)); }

Value TensorCores::rowOfB(Value lane, int64_t stride) {
  Value column = e.add(e.mul(e.div(lane, 16), 8), e.rem(lane, 8));
  return e.add(e.mul(e.rem(e.div(lane, 8), 2), stride), e.mul(column, kChunkBytes));
}

Value TensorCores::rowOfTransposed(Value lane, int64_t stride) {
  return e.add(e.mul(e.rem(lane, 16), stride), e.mul(e.div(lane, 16), kChunkBytes));
}

Values TensorCores::multiply(ValueRange a, ValueRange b, ValueRange sums) {
  NVVM::MMATypes type = element.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::bf16;
  std::array<NVVM::MMATypes, 2> types{type, type};
  std::array<NVVM::MMALayout, 2> layouts{NVVM::MMALayout::row, NVVM::MMALayout::col};
  // Operands of f16 are pairs of it, those of bf16 words.
  auto pairs = [&](ValueRange words) {
    return llvm::map_to_vector(words, [&](Value word) -> Value {
      return element.isF16() ? LLVM::BitcastOp::create(builder, e.loc, VectorType::get({2}, element), word).getResult() : word;
    });
  };
  auto result = LLVM::LLVMStructType::getLiteral(builder.getContext(), SmallVector<Type>(4, builder.getF32Type()));
  Value product = NVVM::MmaOp::create(builder, e.loc, result, pairs(a), pairs(b), sums, ArrayRef<int64_t>{16, 8, 16}, std::nullopt,
                                      std::nullopt, types, layouts);
  return unpack(e, product, 4);
}

Values TensorCores::loadWords(Value exists, Value buffer, ValueRange at) {
  auto words = VectorType::get({kChunkBytes / 4}, builder.getI32Type());
  Value chunk = e.choose(
      exists,
      [&] {
        Value elements = vector::LoadOp::create(builder, e.loc, VectorType::get({kChunk}, element), buffer, at);
        return Values{vector::BitCastOp::create(builder, e.loc, words, elements)};
      },
      [&] { return Values{arith::ConstantOp::create(builder, e.loc, builder.getZeroAttr(words))}; })[0];
  Values result;
  for (int64_t i = 0; i < kChunkBytes / 4; ++i)
    result.push_back(vector::ExtractOp::create(builder, e.loc, chunk, i));
  return result;
}

Value TensorCores::pack(Value low, Value high) {
  auto name = builder.getStringAttr(element.isF16() ? "llvm.nvvm.ff2f16x2.rn" : "llvm.nvvm.ff2bf16x2.rn");
  Value pair = LLVM::CallIntrinsicOp::create(builder, e.loc, VectorType::get({2}, element), name, ValueRange{high, low})->getResult(0);
  return LLVM::BitcastOp::create(builder, e.loc, builder.getI32Type(), pair);
}
