//===- PlainBuffer.cpp - A tensor that a reference function reads or writes ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Plain/PlainBuffer.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"

using namespace attune;

std::optional<ElementKind> attune::getElementKind(mlir::Type type, bool wide) {
  if (type.isF32())
    return wide ? ElementKind::F64 : ElementKind::F32;
  if (type.isF64())
    return ElementKind::F64;
  if (type.isBF16())
    return ElementKind::BF16;
  if (type.isF16())
    return ElementKind::F16;
  if (type.isInteger(64) || type.isIndex())
    return ElementKind::I64;
  if (type.isInteger(32))
    return ElementKind::I32;
  if (type.isInteger(16))
    return ElementKind::I16;
  if (type.isInteger(8))
    return ElementKind::I8;
  if (type.isInteger(1))
    return ElementKind::I1;
  return std::nullopt;
}

int64_t attune::getElementBytes(ElementKind kind) {
  switch (kind) {
  case ElementKind::F64:
  case ElementKind::I64:
    return 8;
  case ElementKind::F32:
  case ElementKind::I32:
    return 4;
  case ElementKind::BF16:
  case ElementKind::F16:
  case ElementKind::I16:
    return 2;
  case ElementKind::I8:
  case ElementKind::I1:
    return 1;
  }
  return 1;
}

float attune::roundToBf16(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  bool isNaN = (bits & 0x7fffffff) > 0x7f800000;
  bits = isNaN ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
  bits &= 0xffff0000;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

uint16_t attune::toHalf(float value) {
  llvm::APFloat number(value);
  bool exact;
  number.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &exact);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

float attune::fromHalf(uint16_t bits) {
  llvm::APFloat number(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
  bool exact;
  number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &exact);
  return number.convertToFloat();
}

int64_t PlainBuffer::elements() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

llvm::SmallVector<int64_t, 5> PlainBuffer::indicesOf(int64_t number) const {
  llvm::SmallVector<int64_t, 5> indices(sizes.size());
  for (size_t dim = sizes.size(); dim-- > 0; number /= sizes[dim])
    indices[dim] = number % sizes[dim];
  return indices;
}

char *PlainBuffer::reportIndex(size_t dim, int64_t index) const {
  if (faults)
    faults->add(owner.str() + ": index " + std::to_string(index) + " of " + std::to_string(sizes[dim]) + " in dimension " +
                std::to_string(dim));
  return nullptr;
}
