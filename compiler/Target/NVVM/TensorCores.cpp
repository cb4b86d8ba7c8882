//===- TensorCores.cpp - Products of fragments -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/TensorCores.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

TensorCores::TensorCores(ThreadBuilder &e, Type element) : AsyncCopies(e), element(element) {
  assert((element.isBF16() || element.isF16()) && "16 bits");
}

/// Returns the |count| members of |structure|.
static Values unpack(ThreadBuilder &e, Value structure, int64_t count) {
  Values parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(LLVM::ExtractValueOp::create(e, structure, i));
  return parts;
}

Values TensorCores::loadMatrices(Value address, bool transposed) {
  auto words = LLVM::LLVMStructType::getLiteral(e.getContext(), SmallVector<Type>(4, e.getI32Type()));
  auto shape = NVVM::LdStMatrixShapeAttr::get(e.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(e, words, address, 4, transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row, shape,
                                          NVVM::LdStMatrixEltType::B16);
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
  // NVVM::MmaOp takes operands of f16 as vectors of two elements, but operands of bf16 as words of 32 bits.
  auto pairs = [&](ValueRange words) {
    return llvm::map_to_vector(words, [&](Value word) -> Value {
      return element.isF16() ? LLVM::BitcastOp::create(e, VectorType::get({2}, element), word).getResult() : word;
    });
  };
  auto result = LLVM::LLVMStructType::getLiteral(e.getContext(), SmallVector<Type>(4, e.getF32Type()));
  Value product =
      NVVM::MmaOp::create(e, result, pairs(a), pairs(b), sums, ArrayRef<int64_t>{16, 8, 16}, std::nullopt, std::nullopt, types, layouts);
  return unpack(e, product, 4);
}

Values TensorCores::loadWords(Value exists, Value buffer, ValueRange at, int64_t count) {
  auto words = VectorType::get({count}, e.getI32Type());
  auto load = [&]() -> Values {
    Value elements = vector::LoadOp::create(e, VectorType::get({2 * count}, element), buffer, at);
    return {vector::BitCastOp::create(e, words, elements)};
  };
  auto zeros = [&]() -> Values { return {arith::ConstantOp::create(e, e.getZeroAttr(words))}; };
  Value loaded = (exists ? e.choose(exists, load, zeros) : load())[0];
  Values result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(vector::ExtractOp::create(e, loaded, i));
  return result;
}

Value TensorCores::pack(Value low, Value high) {
  auto name = e.getStringAttr(element.isF16() ? "llvm.nvvm.ff2f16x2.rn" : "llvm.nvvm.ff2bf16x2.rn");
  Value pair = LLVM::CallIntrinsicOp::create(e, VectorType::get({2}, element), name, ValueRange{high, low})->getResult(0);
  return LLVM::BitcastOp::create(e, e.getI32Type(), pair);
}
