//===- WeightSources.cpp - Types and constraints of weight source expressions -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/IR/XfmrOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::xfmr;

/// |type| with dimension |axis| set to |size|.
static RankedTensorType withDim(RankedTensorType type, int64_t axis, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = size;
  return type.clone(shape);
}

RankedTensorType mlir::xfmr::getSourceType(Attribute source) {
  return llvm::TypeSwitch<Attribute, RankedTensorType>(source)
      .Case<TensorSourceAttr, FillSourceAttr, ComputedSourceAttr>([](auto attr) { return attr.getType(); })
      .Case([](ConcatSourceAttr attr) {
        int64_t size = 0;
        for (Attribute part : attr.getSources())
          size += getSourceType(part).getDimSize(attr.getAxis());
        return withDim(getSourceType(attr.getSources()[0]), attr.getAxis(), size);
      })
      .Case([](SliceSourceAttr attr) { return withDim(getSourceType(attr.getSource()), attr.getAxis(), attr.getEnd() - attr.getBegin()); })
      .Case([](SelectSourceAttr attr) { return withDim(getSourceType(attr.getSource()), attr.getAxis(), attr.getIndices().size()); })
      .Case([](TransposeSourceAttr attr) {
        RankedTensorType type = getSourceType(attr.getSource());
        SmallVector<int64_t> shape;
        for (int64_t dim : attr.getPermutation().asArrayRef())
          shape.push_back(type.getDimSize(dim));
        return type.clone(shape);
      })
      .Case([](ReshapeSourceAttr attr) { return getSourceType(attr.getSource()).clone(attr.getShape().asArrayRef()); })
      .Case([](ScaleSourceAttr attr) { return getSourceType(attr.getSource()); })
      .Case([](PanelsSourceAttr attr) {
        RankedTensorType type = getSourceType(attr.getSource());
        int64_t width = attr.getWidth();
        return type.clone({(type.getDimSize(0) + width - 1) / width, type.getDimSize(1), width});
      })
      .Default([](Attribute) { return RankedTensorType(); });
}

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// Checks that |source| is a weight source with a dimension |axis|.
static LogicalResult verifyAxis(EmitError emitError, Attribute source, int64_t axis) {
  RankedTensorType type = getSourceType(source);
  if (!type)
    return emitError() << "expects a weight source, but got " << source;
  if (axis < 0 || axis >= type.getRank())
    return emitError() << "expects an axis from 0 to " << type.getRank() - 1 << ", but got " << axis;
  return success();
}

LogicalResult ConcatSourceAttr::verify(EmitError emitError, int64_t axis, ArrayAttr sources) {
  if (sources.empty())
    return emitError() << "expects at least one source";
  for (Attribute source : sources)
    if (failed(verifyAxis(emitError, source, axis)))
      return failure();
  RankedTensorType first = getSourceType(sources[0]);
  for (Attribute source : sources) {
    RankedTensorType type = getSourceType(source);
    if (type.getRank() != first.getRank() || withDim(type, axis, 0) != withDim(first, axis, 0))
      return emitError() << "expects sources that differ only along axis " << axis << ", but got " << first << " and " << type;
  }
  return success();
}

LogicalResult SliceSourceAttr::verify(EmitError emitError, Attribute source, int64_t axis, int64_t begin, int64_t end) {
  if (failed(verifyAxis(emitError, source, axis)))
    return failure();
  int64_t size = getSourceType(source).getDimSize(axis);
  if (begin < 0 || end < begin || end > size)
    return emitError() << "expects 0 <= begin <= end <= " << size << ", but got " << begin << " and " << end;
  return success();
}

LogicalResult SelectSourceAttr::verify(EmitError emitError, Attribute source, int64_t axis, DenseI64ArrayAttr indices) {
  if (failed(verifyAxis(emitError, source, axis)))
    return failure();
  int64_t size = getSourceType(source).getDimSize(axis);
  for (int64_t index : indices.asArrayRef())
    if (index < 0 || index >= size)
      return emitError() << "expects indices from 0 to " << size - 1 << ", but got " << index;
  return success();
}

LogicalResult TransposeSourceAttr::verify(EmitError emitError, Attribute source, DenseI64ArrayAttr permutation) {
  RankedTensorType type = getSourceType(source);
  if (!type)
    return emitError() << "expects a weight source, but got " << source;
  SmallVector<int64_t> sorted(permutation.asArrayRef());
  llvm::sort(sorted);
  if (sorted != llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())))
    return emitError() << "expects a permutation of " << type.getRank() << " dimensions, but got " << permutation;
  return success();
}

LogicalResult ReshapeSourceAttr::verify(EmitError emitError, Attribute source, DenseI64ArrayAttr shape) {
  RankedTensorType type = getSourceType(source);
  if (!type)
    return emitError() << "expects a weight source, but got " << source;
  int64_t count = 1;
  for (int64_t size : shape.asArrayRef())
    if (size < 0 || __builtin_mul_overflow(count, size, &count))
      return emitError() << "expects sizes that are not negative, but got " << shape;
  if (count != type.getNumElements())
    return emitError() << "expects a shape of " << type.getNumElements() << " elements, but got " << count;
  return success();
}

LogicalResult ScaleSourceAttr::verify(EmitError emitError, Attribute source, FloatAttr) {
  if (!getSourceType(source))
    return emitError() << "expects a weight source, but got " << source;
  return success();
}

LogicalResult PanelsSourceAttr::verify(EmitError emitError, Attribute source, int64_t width) {
  RankedTensorType type = getSourceType(source);
  if (!type || type.getRank() != 2)
    return emitError() << "expects a matrix source, but got " << source;
  if (width <= 0)
    return emitError() << "expects a positive width, but got " << width;
  return success();
}
