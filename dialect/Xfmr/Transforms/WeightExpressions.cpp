//===- WeightExpressions.cpp - Questions about weights in the IR ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The only file that maps weight expressions, operations on weights, to the source attributes of their results.
//
//===----------------------------------------------------------------------===//

#include "dialect/Xfmr/Transforms/WeightExpressions.h"
#include "dialect/Xfmr/IR/EntryAttrs.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::xfmr;

bool mlir::xfmr::isWeightExpression(Operation *op) {
  return isa<WeightQuantizeOp, WeightQuantizePanelsOp, WeightConcatOp, WeightConvertOp, WeightDistancePanelsOp, WeightPackOp,
             WeightScalesOp, WeightShardOp, WeightSliceOp, WeightRowSumsOp, WeightTransposeOp>(op);
}

bool mlir::xfmr::isWeightArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !argument.getOwner()->isEntryBlock())
    return false;
  auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && isMarkedWeight(function, argument.getArgNumber());
}

bool mlir::xfmr::isWeight(Value value) {
  if (isWeightArgument(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (auto select = dyn_cast_or_null<WeightSelectOp>(op))
    return isWeight(select.getStack());
  return op && (isa<WeightRefOp>(op) || (isWeightExpression(op) && llvm::all_of(op->getOperands(), isWeight)));
}

/// Returns the sources of the elements, mostly matrices, of a stack whose source is |source|, in order.
static SmallVector<Attribute> matricesOf(Attribute source) {
  if (auto stack = dyn_cast<StackSourceAttr>(source))
    return llvm::to_vector(stack.getSources());
  RankedTensorType type = getSourceType(source);
  auto shape = DenseI64ArrayAttr::get(source.getContext(), type.getShape().drop_front());
  return llvm::map_to_vector(llvm::seq(type.getDimSize(0)), [&](int64_t i) -> Attribute {
    return ReshapeSourceAttr::get(source.getContext(), SliceSourceAttr::get(source.getContext(), source, /*axis=*/0, i, i + 1), shape);
  });
}

/// Returns the source of the result of |op|, an expression whose operands have |sources|. If the only operand of |op|
/// is a stack, |sources| may be the source of one matrix of the stack. Then returns the source of the result for this
/// matrix, whose axes have numbers smaller by 1 than those in |op|.
static Attribute composeMatrixSource(Operation *op, ArrayRef<Attribute> sources) {
  MLIRContext *context = op->getContext();
  int64_t stacked = cast<RankedTensorType>(op->getOperand(0).getType()).getRank() - getSourceType(sources[0]).getRank();
  return llvm::TypeSwitch<Operation *, Attribute>(op)
      .Case([&](WeightConcatOp concat) -> Attribute {
        return ConcatSourceAttr::get(context, static_cast<int64_t>(concat.getAxis()) - stacked, ArrayAttr::get(context, sources));
      })
      .Case([&](WeightPackOp pack) -> Attribute {
        if (pack.getGroup() == 1)
          return PanelsSourceAttr::get(context, sources[0], pack.getWidth());
        return GroupedPanelsSourceAttr::get(context, sources[0], pack.getWidth(), pack.getGroup(), pack.getMultiple());
      })
      .Case([&](WeightConvertOp convert) -> Attribute {
        return ConvertSourceAttr::get(context, sources[0], cast<FloatType>(getElementTypeOrSelf(convert.getType())));
      })
      .Case([&](WeightQuantizeOp) -> Attribute { return RowQuantizedSourceAttr::get(context, sources[0]); })
      .Case([&](WeightQuantizePanelsOp panels) -> Attribute {
        return QuantizedPanelsSourceAttr::get(context, sources[0], panels.getWidth(), panels.getFormat());
      })
      .Case([&](WeightScalesOp) -> Attribute { return RowScalesSourceAttr::get(context, sources[0]); })
      .Case([&](WeightRowSumsOp) -> Attribute { return RowSumsSourceAttr::get(context, sources[0]); })
      .Case([&](WeightDistancePanelsOp panels) -> Attribute {
        int64_t count = panels.getTable().getType().getDimSize(0);
        SmallVector<int64_t> rows;
        for (int64_t row = count - 1 + kDistancePadding; row >= -kDistancePadding; --row)
          rows.push_back(std::clamp<int64_t>(row, 0, count - 1));
        Attribute table = sources[0];
        if (auto inner = dyn_cast<SelectSourceAttr>(table); inner && inner.getAxis() == 0) {
          for (int64_t &row : rows)
            row = inner.getIndices()[row];
          table = inner.getSource();
        }
        Attribute selected = SelectSourceAttr::get(context, table, 0, DenseI64ArrayAttr::get(context, rows));
        Attribute columns = TransposeSourceAttr::get(context, selected, DenseI64ArrayAttr::get(context, {1, 0}));
        return ReshapeSourceAttr::get(context, columns, DenseI64ArrayAttr::get(context, panels.getType().getShape()));
      })
      .Case([&](WeightShardOp shard) -> Attribute {
        return ShardSourceAttr::get(context, sources[0], static_cast<int64_t>(shard.getAxis()) - stacked,
                                    shard.getType().getDimSize(shard.getAxis()), shard.getBeginsAttr());
      })
      .Case([&](WeightSliceOp slice) -> Attribute {
        return SliceSourceAttr::get(context, sources[0], /*axis=*/1, slice.getBegin(), slice.getEnd());
      })
      .Case([&](WeightTransposeOp) -> Attribute {
        return TransposeSourceAttr::get(context, sources[0], DenseI64ArrayAttr::get(context, {1, 0}));
      })
      .Default([](Operation *) { return Attribute(); });
}

/// Returns true if |op| joins or divides its operands along axis 0. In a stack this axis counts the matrices, so |op|
/// then does not apply to single matrices.
static bool isAlongFirstAxis(Operation *op) {
  if (auto concat = dyn_cast<WeightConcatOp>(op))
    return concat.getAxis() == 0;
  auto shard = dyn_cast<WeightShardOp>(op);
  return shard && shard.getAxis() == 0;
}

Attribute mlir::xfmr::composeSource(Operation *op, ArrayRef<Attribute> sources) {
  bool isStack = op->getNumOperands() == 1 && cast<RankedTensorType>(op->getOperand(0).getType()).getRank() > 2;
  if (!isStack || isAlongFirstAxis(op))
    return composeMatrixSource(op, sources);
  SmallVector<Attribute> composed =
      llvm::map_to_vector(matricesOf(sources[0]), [&](Attribute one) { return composeMatrixSource(op, one); });
  return StackSourceAttr::get(op->getContext(), ArrayAttr::get(op->getContext(), composed));
}

StringRef mlir::xfmr::weightNameSuffix(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](WeightConcatOp) { return ".concat"; })
      .Case([](WeightPackOp) { return ".panels"; })
      .Case([](WeightConvertOp) { return ".converted"; })
      .Case([](WeightQuantizeOp) { return ".quantized"; })
      .Case([](WeightQuantizePanelsOp) { return ".quantized"; })
      .Case([](WeightScalesOp) { return ".scales"; })
      .Case([](WeightRowSumsOp) { return ".sums"; })
      .Case([](WeightDistancePanelsOp) { return ".distances"; })
      .Case([](WeightShardOp) { return ".shard"; })
      .Case([](WeightSliceOp) { return ".slice"; })
      .Case([](WeightTransposeOp) { return ".transposed"; })
      .Default([](Operation *) { return ""; });
}
