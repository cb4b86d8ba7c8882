//===- RowWise.cpp - Kernels that compute row by row ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/RowWise.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace attune;

//===----------------------------------------------------------------------===//
// Before tiling
//===----------------------------------------------------------------------===//

namespace {

/// The operations of one kernel, from the last one to its producers.
class Group {
public:
  explicit Group(std::optional<int64_t> number) : number(number) {}
  /// Adds |op| and its producers in the kernel. Returns true if they are row-wise; |row| is the number of the loop of
  /// |op| over the rows.
  bool add(linalg::LinalgOp op, unsigned row);
  /// Adds |op|, which reads its rows and its destination by rows, and its panels as a whole. Returns false if another
  /// operation reads one of these operands in the other way.
  bool add(tiles::GroupedProductOp op);

private:
  bool addOperand(linalg::LinalgOp op, OpOperand &operand, unsigned row);
  /// Notes that |value| is read by rows or as a whole. Returns false if it is read in the other way, too.
  bool read(Value value, bool byRows) { return operands.try_emplace(value, byRows).first->second == byRows; }

  std::optional<int64_t> number;
  llvm::SmallDenseMap<Value, bool> operands; // true: read by rows; false: as a whole
};

} // namespace

/// Returns true if |map| has loop |row| as its first result and nowhere else.
static bool isByRows(AffineMap map, unsigned row) {
  return map.getNumResults() != 0 && map.getResult(0) == getAffineDimExpr(row, map.getContext()) &&
         llvm::none_of(map.getResults().drop_front(), [&](AffineExpr expr) { return expr.isFunctionOfDim(row); });
}

bool Group::addOperand(linalg::LinalgOp op, OpOperand &operand, unsigned row) {
  Value value = operand.get();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  bool byRows = isByRows(map, row);
  if (!isa<RankedTensorType>(value.getType()))
    return !value.getType().isIndex();
  if (!byRows && map.isFunctionOfDim(row))
    return false;
  Operation *producer = value.getDefiningOp();
  if (!producer || !number || getGroupNumber(producer) != number)
    return read(value, byRows);
  if (auto grouped = dyn_cast<tiles::GroupedProductOp>(producer))
    return byRows && add(grouped);
  auto fused = dyn_cast<linalg::LinalgOp>(producer);
  if (!fused || !byRows)
    return false;
  AffineMap result = fused.getIndexingMapMatchingResult(cast<OpResult>(value));
  auto loop = dyn_cast<AffineDimExpr>(result.getResult(0));
  return loop && add(fused, loop.getPosition());
}

bool Group::add(linalg::LinalgOp op, unsigned row) {
  if (op.getIteratorTypesArray()[row] != utils::IteratorType::parallel)
    return false;
  for (OpOperand &destination : op.getDpsInitsMutable())
    if (!isByRows(op.getMatchingIndexingMap(&destination), row))
      return false;
  // The result must depend neither on the index of the row nor on the number of rows.
  WalkResult walk =
      op->walk([&](linalg::IndexOp index) { return index.getDim() == row ? WalkResult::interrupt() : WalkResult::advance(); });
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  for (Value value : captured)
    if (!matchPattern(value, m_Constant()) && !(isa<RankedTensorType>(value.getType()) && read(value, /*byRows=*/false)))
      return false;
  return !walk.wasInterrupted() && llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) { return addOperand(op, operand, row); });
}

bool Group::add(tiles::GroupedProductOp op) {
  return llvm::all_of(op.getRowInputs(), [&](Value rows) { return read(rows, /*byRows=*/true); }) &&
         read(op.getDestination(), /*byRows=*/true) && read(op.getPanels(), /*byRows=*/false);
}

std::optional<int64_t> attune::getGroupNumber(Operation *op) {
  tiles::GroupAttr group = tiles::getGroup(op);
  return group ? group.getNumber() : std::nullopt;
}

bool attune::isRowWise(Operation *root) {
  Group group(getGroupNumber(root));
  if (auto product = dyn_cast<tiles::GroupedProductOp>(root))
    return group.add(product);
  auto loops = dyn_cast<linalg::LinalgOp>(root);
  return loops && group.add(loops, 0);
}

//===----------------------------------------------------------------------===//
// After outlining
//===----------------------------------------------------------------------===//

/// Returns true if |value| is computed from |variable|.
static bool dependsOn(OpFoldResult value, Value variable) {
  auto computed = dyn_cast<Value>(value);
  if (!computed || computed == variable)
    return computed == variable;
  Operation *op = computed.getDefiningOp();
  return isa_and_nonnull<affine::AffineDialect, arith::ArithDialect>(op ? op->getDialect() : nullptr) &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return dependsOn(operand, variable); });
}

/// Returns true if |value| is computed from a scalar argument of |kernel|. Sizes of tensors do not count.
static bool dependsOnScalar(OpFoldResult value, func::FuncOp kernel) {
  auto computed = dyn_cast<Value>(value);
  if (!computed || computed.getDefiningOp<tensor::DimOp>())
    return false;
  if (auto argument = dyn_cast<BlockArgument>(computed))
    return argument.getOwner() == &kernel.getBody().front();
  return llvm::any_of(computed.getDefiningOp()->getOperands(), [&](Value operand) { return dependsOnScalar(operand, kernel); });
}

namespace {
/// The ways in which a kernel accesses a tensor, as flags: by rows (reads or writes), as a whole (reads), only its
/// size, or in an unknown way.
enum Access : unsigned { kRows = 1, kWhole = 2, kSize = 4, kUnknown = 8 };
} // namespace

/// Returns the accesses of |loop| and of the operations before it to |tensor|, an argument of the kernel or a view of
/// one.
static unsigned accessesTo(Value tensor, scf::ForallOp loop) {
  unsigned result = 0;
  auto addView = [&](Value view, bool keepsRows) {
    unsigned inside = accessesTo(view, loop);
    result |= (inside & kRows) && !keepsRows ? kUnknown : inside;
  };
  for (Operation *user : tensor.getUsers()) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user)) {
      if (loop->isProperAncestor(user))
        // With an offset that the caller passes, row i of a result is not computed from row i of the operand.
        result |= !dependsOn(slice.getMixedOffsets()[0], loop.getInductionVar(0))                      ? kWhole
                  : dependsOnScalar(slice.getMixedOffsets()[0], loop->getParentOfType<func::FuncOp>()) ? kUnknown
                                                                                                       : kRows;
      else
        addView(slice, isConstantIntValue(slice.getMixedOffsets()[0], 0) && isConstantIntValue(slice.getMixedStrides()[0], 1));
    } else if (auto view = dyn_cast<tensor::ExpandShapeOp>(user)) {
      addView(view, view.getReassociationIndices()[0].size() == 1);
    } else if (auto view = dyn_cast<tensor::CollapseShapeOp>(user)) {
      addView(view, view.getReassociationIndices()[0].size() == 1);
    } else if (user == loop) {
      result |= kRows;
    } else if (isa<tensor::DimOp>(user)) {
      result |= kSize;
    } else {
      result |= isa<linalg::LinalgOp, tensor::ExtractOp>(user) || isa<tiles::TileDialect, xfmr::XfmrDialect>(user->getDialect()) ? kWhole
                                                                                                                                 : kUnknown;
    }
  }
  return result;
}

void attune::markRows(func::FuncOp kernel, scf::ForallOp loop) {
  auto bound = dyn_cast<Value>(loop.getMixedUpperBound()[0]);
  auto count = bound ? bound.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  if (!count || count.getConstantIndex() != 0 || !llvm::is_contained(loop.getOutputs(), count.getSource()) ||
      !isConstantIntValue(loop.getMixedLowerBound()[0], 0))
    return;
  SmallVector<unsigned> marked;
  for (BlockArgument argument : kernel.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    unsigned accesses = type ? accessesTo(argument, loop) : 0;
    bool byRows = accesses & kRows;
    if (byRows)
      marked.push_back(argument.getArgNumber());
    // The size of a tensor that is not read by rows may be the number of rows.
    bool isKnown = byRows ? !(accesses & (kWhole | kUnknown)) && type.isDynamicDim(0)
                          : !(accesses & (kSize | kUnknown)) && !argument.getType().isIndex();
    if (!isKnown)
      return;
  }
  for (unsigned index : marked)
    kernel.setArgAttr(index, tiles::kRowsAttr, UnitAttr::get(kernel.getContext()));
}
