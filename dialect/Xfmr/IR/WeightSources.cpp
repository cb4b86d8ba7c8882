//===- WeightSources.cpp - Types and constraints of weight source expressions -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/IR/ShardVerification.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::xfmr;

/// Returns |type| with dimension |axis| set to |size|.
static RankedTensorType withDim(RankedTensorType type, int64_t axis, int64_t size) {
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = size;
  return type.clone(shape);
}

RankedTensorType mlir::xfmr::getPanelsType(RankedTensorType matrix, int64_t width, int64_t group, int64_t multiple) {
  int64_t panels = llvm::divideCeil(matrix.getDimSize(0), width), depth = llvm::alignTo(matrix.getDimSize(1), multiple);
  return group == 1 ? matrix.clone({panels, depth, width}) : matrix.clone({panels, depth / group, width, group});
}

RankedTensorType mlir::xfmr::getQuantizedPanelsType(RankedTensorType matrix, int64_t width, const WeightFormat &format) {
  int64_t columns = matrix.getDimSize(1), panels = llvm::divideCeil(matrix.getDimSize(0), width);
  auto bytes = IntegerType::get(matrix.getContext(), 8);
  return RankedTensorType::get({panels, format.groups(columns), format.groupBytes(width, columns)}, bytes);
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
      .Case([](StackSourceAttr attr) {
        RankedTensorType type = getSourceType(attr.getSources()[0]);
        SmallVector<int64_t> shape(type.getShape());
        shape.insert(shape.begin(), attr.getSources().size());
        return type.clone(shape);
      })
      .Case([](SliceSourceAttr attr) { return withDim(getSourceType(attr.getSource()), attr.getAxis(), attr.getEnd() - attr.getBegin()); })
      .Case([](ShardSourceAttr attr) { return withDim(getSourceType(attr.getSource()), attr.getAxis(), attr.getSize()); })
      .Case([](SelectSourceAttr attr) { return withDim(getSourceType(attr.getSource()), attr.getAxis(), attr.getIndices().size()); })
      .Case([](TransposeSourceAttr attr) {
        RankedTensorType type = getSourceType(attr.getSource());
        SmallVector<int64_t> shape;
        for (int64_t dim : attr.getPermutation().asArrayRef())
          shape.push_back(type.getDimSize(dim));
        return type.clone(shape);
      })
      .Case([](ReshapeSourceAttr attr) { return getSourceType(attr.getSource()).clone(attr.getShape().asArrayRef()); })
      .Case<ScaleSourceAttr, ShiftSourceAttr>([](auto attr) { return getSourceType(attr.getSource()); })
      .Case([](ProjectSourceAttr attr) { return withDim(getSourceType(attr.getRows()), 1, getSourceType(attr.getMatrix()).getDimSize(0)); })
      .Case([](LayerNormSourceAttr attr) { return getSourceType(attr.getRows()); })
      .Case([](UnitRowsSourceAttr attr) { return getSourceType(attr.getSource()); })
      .Case([](PanelsSourceAttr attr) { return getPanelsType(getSourceType(attr.getSource()), attr.getWidth()); })
      .Case([](GroupedPanelsSourceAttr attr) {
        return getPanelsType(getSourceType(attr.getSource()), attr.getWidth(), attr.getGroup(), attr.getMultiple());
      })
      .Case([](ConvertSourceAttr attr) { return getSourceType(attr.getSource()).clone(attr.getType()); })
      .Case([](RowScalesSourceAttr attr) {
        RankedTensorType type = getSourceType(attr.getSource());
        return type.clone(type.getShape().take_front());
      })
      .Case([](RowQuantizedSourceAttr attr) { return getSourceType(attr.getSource()).clone(IntegerType::get(attr.getContext(), 8)); })
      .Case([](QuantizedPanelsSourceAttr attr) {
        return getQuantizedPanelsType(getSourceType(attr.getSource()), attr.getWidth(), attr.getFormat().getValue());
      })
      .Case([](RowSumsSourceAttr attr) {
        RankedTensorType type = getSourceType(attr.getSource());
        return RankedTensorType::get(type.getShape().take_front(), IntegerType::get(attr.getContext(), 32));
      })
      .Default([](Attribute) { return RankedTensorType(); });
}

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// Succeeds if |source| is a weight source with a dimension |axis|; else emits an error.
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

LogicalResult StackSourceAttr::verify(EmitError emitError, ArrayAttr sources) {
  if (sources.empty())
    return emitError() << "expects at least one source";
  RankedTensorType first = getSourceType(sources[0]);
  for (Attribute source : sources) {
    RankedTensorType type = getSourceType(source);
    if (!type)
      return emitError() << "expects a weight source, but got " << source;
    if (type != first)
      return emitError() << "expects sources of one type, but got " << first << " and " << type;
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

LogicalResult ShardSourceAttr::verify(EmitError emitError, Attribute source, int64_t axis, int64_t size, DenseI64ArrayAttr begins) {
  if (failed(verifyAxis(emitError, source, axis)))
    return failure();
  return verifyShards(emitError, getSourceType(source).getDimSize(axis), size, begins.asArrayRef());
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

LogicalResult ShiftSourceAttr::verify(EmitError emitError, Attribute source, FloatAttr) {
  if (!getSourceType(source))
    return emitError() << "expects a weight source, but got " << source;
  return success();
}

/// Succeeds if |source| is a weight source of rank 2, of i8 if |quantized| is true, else of floats. Otherwise emits an
/// error.
static LogicalResult verifyMatrix(EmitError emitError, Attribute source, bool quantized) {
  RankedTensorType type = getSourceType(source);
  if (!type || type.getRank() != 2)
    return emitError() << "expects a matrix source, but got " << source;
  if (quantized ? !type.getElementType().isInteger(8) : !isa<FloatType>(type.getElementType()))
    return emitError() << "expects " << (quantized ? "i8" : "float") << " elements, but got " << type;
  return success();
}

static LogicalResult verifyFloats(EmitError emitError, Attribute source) { return verifyMatrix(emitError, source, /*quantized=*/false); }

/// Succeeds if |source| is a weight source of rank 1 with |size| floats; else emits an error.
static LogicalResult verifyVector(EmitError emitError, Attribute source, int64_t size) {
  RankedTensorType type = getSourceType(source);
  if (!type || type.getRank() != 1 || type.getDimSize(0) != size || !isa<FloatType>(type.getElementType()))
    return emitError() << "expects a vector of " << size << " floats, but got " << source;
  return success();
}

LogicalResult ProjectSourceAttr::verify(EmitError emitError, Attribute rows, Attribute matrix, Attribute bias) {
  if (failed(verifyFloats(emitError, rows)) || failed(verifyFloats(emitError, matrix)))
    return failure();
  RankedTensorType type = getSourceType(rows), matrixType = getSourceType(matrix);
  if (type.getDimSize(1) != matrixType.getDimSize(1))
    return emitError() << "expects matrices with equal numbers of columns, but got " << type << " and " << matrixType;
  return bias ? verifyVector(emitError, bias, matrixType.getDimSize(0)) : success();
}

LogicalResult LayerNormSourceAttr::verify(EmitError emitError, Attribute rows, Attribute weight, Attribute bias, FloatAttr) {
  if (failed(verifyFloats(emitError, rows)))
    return failure();
  int64_t columns = getSourceType(rows).getDimSize(1);
  return failure(failed(verifyVector(emitError, weight, columns)) || failed(verifyVector(emitError, bias, columns)));
}

LogicalResult UnitRowsSourceAttr::verify(EmitError emitError, Attribute source) { return verifyFloats(emitError, source); }

LogicalResult PanelsSourceAttr::verify(EmitError emitError, Attribute source, int64_t width) {
  RankedTensorType type = getSourceType(source);
  if (!type || type.getRank() != 2)
    return emitError() << "expects a matrix source, but got " << source;
  if (width <= 0)
    return emitError() << "expects a positive width, but got " << width;
  return success();
}

LogicalResult GroupedPanelsSourceAttr::verify(EmitError emitError, Attribute source, int64_t width, int64_t group, int64_t multiple) {
  if (failed(PanelsSourceAttr::verify(emitError, source, width)))
    return failure();
  if (group <= 1)
    return emitError() << "expects a group of 2 or more, but got " << group;
  if (multiple <= 0 || multiple % group != 0)
    return emitError() << "expects a multiple of the group, " << group << ", but got " << multiple;
  return success();
}

LogicalResult ConvertSourceAttr::verify(EmitError emitError, Attribute source, FloatType) {
  RankedTensorType type = getSourceType(source);
  if (!type || !isa<FloatType>(type.getElementType()))
    return emitError() << "expects a weight source of floats, but got " << source;
  return success();
}

LogicalResult RowScalesSourceAttr::verify(EmitError emitError, Attribute source) { return verifyFloats(emitError, source); }
LogicalResult RowQuantizedSourceAttr::verify(EmitError emitError, Attribute source) { return verifyFloats(emitError, source); }
LogicalResult RowSumsSourceAttr::verify(EmitError emitError, Attribute source) {
  return verifyMatrix(emitError, source, /*quantized=*/true);
}

LogicalResult QuantizedPanelsSourceAttr::verify(EmitError emitError, Attribute source, int64_t width, WeightFormatAttr format) {
  if (failed(verifyFloats(emitError, source)))
    return failure();
  if (format.getValue().isFloat())
    return emitError() << "expects a format with groups, but got " << format.getValue().str();
  if (width <= 0 || width % 16 != 0)
    return emitError() << "expects a width that is a positive multiple of 16, but got " << width;
  if (width > WeightFormat::kMostWidth || getSourceType(source).getDimSize(1) > WeightFormat::kMostColumns)
    return emitError() << "expects a width of at most " << WeightFormat::kMostWidth << " and at most " << WeightFormat::kMostColumns
                       << " columns, but got " << width << " and " << getSourceType(source);
  return success();
}
