//===- PlainBuffer.cpp - A tensor that a reference function reads or writes ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Plain/PlainBuffer.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace attune;

std::optional<ElementKind> attune::getElementKind(mlir::Type type, bool wide) {
  if (type.isF32())
    return wide ? ElementKind::F64 : ElementKind::F32;
  if (type.isF64())
    return ElementKind::F64;
  if (type.isInteger(64) || type.isIndex())
    return ElementKind::I64;
  if (type.isInteger(32))
    return ElementKind::I32;
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
  case ElementKind::I8:
  case ElementKind::I1:
    return 1;
  }
  return 1;
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
