//===- RandomSources.cpp - Random expressions of weights -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "test/Weights/RandomSources.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

#include <numeric>

using namespace mlir;
using namespace mlir::xfmr;
using namespace attune;

Attribute SourceGenerator::source(int64_t rank, int depth) {
  int64_t kind = depth == 0 ? pick(0, 1) : pick(0, 13);
  if (kind <= 1 || rank == 0)
    return leaf(rank, kind == 0 && pick(0, 3) == 0);
  if (kind == 8 && rank == 3)
    return PanelsSourceAttr::get(&context, source(2, depth - 1), pick(1, 40));
  if (kind == 9) {
    Attribute inner = source(pick(1, 3), depth - 1);
    return ReshapeSourceAttr::get(&context, inner, builder.getDenseI64ArrayAttr(reshape(getSourceType(inner).getNumElements(), rank)));
  }
  if (kind == 10 && rank > 1) {
    Attribute inner = source(rank - 1, depth - 1);
    return StackSourceAttr::get(&context,
                                builder.getArrayAttr({inner, ScaleSourceAttr::get(&context, inner, builder.getF64FloatAttr(2)), inner}));
  }
  if ((kind == 11 || kind == 12) && rank == 2)
    return ofRows(kind == 11, depth);
  Attribute inner = source(rank, depth - 1);
  int64_t axis = pick(0, rank - 1), size = getSourceType(inner).getDimSize(axis);
  switch (kind) {
  case 2: {
    std::vector<int64_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    return TransposeSourceAttr::get(&context, inner, builder.getDenseI64ArrayAttr(order));
  }
  case 3: {
    int64_t begin = pick(0, size), end = pick(begin, size);
    return SliceSourceAttr::get(&context, inner, axis, begin, std::max(end, std::min(size, begin + 1)));
  }
  case 4: {
    SmallVector<int64_t> indices(pick(1, 5));
    // Indices are random, or ascend by |step| up to the last index.
    int64_t step = pick(0, 1) ? 0 : pick(1, 4);
    for (auto [position, index] : llvm::enumerate(indices))
      index = size == 0 ? 0 : step == 0 ? pick(0, size - 1) : std::min<int64_t>(position * step, size - 1);
    if (size == 0)
      indices.clear();
    return SelectSourceAttr::get(&context, inner, axis, builder.getDenseI64ArrayAttr(indices));
  }
  case 5:
    return ScaleSourceAttr::get(&context, inner, builder.getF64FloatAttr(0.3));
  case 6:
    return ShiftSourceAttr::get(&context, inner, builder.getF64FloatAttr(1));
  default: {
    // The sizes of the parts of a concatenation may differ along |axis| only, so the second part is a slice of the
    // first along |axis|.
    Attribute part = SliceSourceAttr::get(&context, inner, axis, size / 3, size);
    return ConcatSourceAttr::get(&context, axis, builder.getArrayAttr({inner, part, inner}));
  }
  }
}

Attribute SourceGenerator::ofRows(bool projected, int depth) {
  auto tensor = [&](std::vector<int64_t> shape) -> Attribute {
    return TensorSourceAttr::get(&context, tensors.add(shape), RankedTensorType::get(shape, builder.getF32Type()));
  };
  Attribute rows = source(2, depth - 1);
  int64_t columns = getSourceType(rows).getDimSize(1), outputs = pick(1, 20);
  if (!projected && pick(0, 2) == 0)
    return UnitRowsSourceAttr::get(&context, rows);
  if (!projected)
    return LayerNormSourceAttr::get(&context, rows, tensor({columns}), tensor({columns}), builder.getF64FloatAttr(1e-5));
  Attribute bias = pick(0, 1) ? tensor({outputs}) : Attribute();
  return ProjectSourceAttr::get(&context, rows, tensor({outputs, columns}), bias);
}

Attribute SourceGenerator::lowPrecisionSource() {
  Attribute matrix = source(2, 2);
  Attribute quantized = RowQuantizedSourceAttr::get(&context, matrix);
  switch (pick(0, 5)) {
  case 0:
    return ConvertSourceAttr::get(&context, matrix, builder.getBF16Type());
  case 1:
    return RowScalesSourceAttr::get(&context, matrix);
  case 2:
    return quantized;
  case 3:
    return RowSumsSourceAttr::get(&context, quantized);
  case 4:
    return grouped(quantized, 4);
  default:
    return grouped(ConvertSourceAttr::get(&context, matrix, builder.getBF16Type()), 2);
  }
}

Attribute SourceGenerator::grouped(Attribute matrix, int64_t group) {
  return GroupedPanelsSourceAttr::get(&context, matrix, pick(1, 40), group, group * pick(1, 9));
}

Attribute SourceGenerator::leaf(int64_t rank, bool fill) {
  std::vector<int64_t> shape(rank);
  for (int64_t &size : shape)
    size = pick(1, rank == 1 ? 1500 : 45);
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  if (fill)
    return FillSourceAttr::get(&context, builder.getF32FloatAttr(1.25f), type);
  return TensorSourceAttr::get(&context, tensors.add(shape), type);
}

std::vector<int64_t> SourceGenerator::reshape(int64_t count, int64_t rank) {
  std::vector<int64_t> shape(rank, 1);
  for (int64_t factor = 2; count > 1; ++factor)
    for (; count % factor == 0; count /= factor)
      shape[pick(0, rank - 1)] *= factor;
  if (count == 0)
    shape[0] = 0;
  return shape;
}
