//===- TranslateKernel.cpp - Linalg operations of a task as stages --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expects a function of the phase `kernels` with one scf.forall. A task, an iteration of this loop, consists of linalg
// operations on tiles, rotary embeddings, and loops that write keys into panels. Leaves one halide.tile in the body of
// the loop. Every linalg operation becomes a stage with the same loops, except a linalg.fill. The constant of a
// linalg.fill becomes the initial value of the reduction that accumulates into the filled tensor, or replaces loads of
// that tensor.

#include "compiler/Target/Halide/TranslateKernel.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace attune;

namespace {

/// A translator of the operations of one task to a halide.tile.
class TaskTranslator {
public:
  TaskTranslator(scf::ForallOp loop, StringRef name) : loop(loop), builder(loop.getTerminator()), text(builder, name) {}

  LogicalResult run();
  std::string why;

private:
  LogicalResult fail(const Twine &reason) {
    if (why.empty())
      why = reason.str();
    return failure();
  }
  LogicalResult translate(Operation *op);
  LogicalResult translate(linalg::LinalgOp op);
  LogicalResult addResult(tensor::ParallelInsertSliceOp insert);
  LogicalResult findLoops(linalg::LinalgOp op);
  std::string load(linalg::LinalgOp op, OpOperand &operand);
  std::string indexTerm(AffineExpr expr);

  scf::ForallOp loop;
  OpBuilder builder;
  KernelText text;
  /// The names of stages, by the results that they compute.
  DenseMap<Value, std::string> stages;
  /// Extents of the loops of the current operation.
  SmallVector<OpFoldResult> extents;
};

} // namespace

/// Returns the constant with which a linalg.fill fills |tensor|. Returns null if |tensor| is not the result of a
/// linalg.fill, or if its value is not a constant float.
static FloatAttr filledWith(Value tensor) {
  FloatAttr value;
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    matchPattern(fill.getInputs()[0], m_Constant(&value));
  return value;
}

/// Sets |extents|. The extent of a loop of |op| is the size of a dimension that this loop alone indexes, in one of the
/// operands. Destinations are tried first, since they have the sizes of the tile. Fails if a loop indexes no dimension
/// alone.
LogicalResult TaskTranslator::findLoops(linalg::LinalgOp op) {
  extents.assign(op.getNumLoops(), OpFoldResult());
  SmallVector<OpOperand *> operands;
  for (OpOperand &init : op.getDpsInitsMutable())
    operands.push_back(&init);
  llvm::append_range(operands, op.getDpsInputOperands());
  for (OpOperand *operand : operands) {
    if (!isa<RankedTensorType>(operand->get().getType()))
      continue;
    SmallVector<OpFoldResult> sizes = sizesOf(builder, operand->get());
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(operand).getResults()))
      if (auto loopDim = dyn_cast<AffineDimExpr>(expr); loopDim && !extents[loopDim.getPosition()])
        extents[loopDim.getPosition()] = sizes[dim];
  }
  return llvm::all_of(extents, [](OpFoldResult extent) { return bool(extent); })
             ? success()
             : fail("the length of a loop is not the size of an operand");
}

/// Returns |expr|, an index as an expression of the loops of the current operation, as text; "" if it cannot be
/// expressed. If loop d has at most c iterations, d floordiv c is 0 and d mod c is d. So a task within one packed panel
/// of c columns reads panel 0, and the loop is the column in the panel.
std::string TaskTranslator::indexTerm(AffineExpr expr) {
  return affineTerm(expr, [&](AffineExpr part) -> std::string {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      return "d" + std::to_string(dim.getPosition());
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    if (!binary || (part.getKind() != AffineExprKind::FloorDiv && part.getKind() != AffineExprKind::Mod))
      return "";
    auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (!dim || !divisor)
      return "";
    OpFoldResult extent = extents[dim.getPosition()];
    std::optional<int64_t> most = getConstantIntValue(extent);
    if (auto value = dyn_cast<Value>(extent))
      most = mostOf(value);
    if (!most || *most > divisor.getValue())
      return "";
    return part.getKind() == AffineExprKind::Mod ? "d" + std::to_string(dim.getPosition()) : "0";
  });
}

/// Returns the text of the element of |operand| that the body of |op| reads; "" on failure.
std::string TaskTranslator::load(linalg::LinalgOp op, OpOperand &operand) {
  if (FloatAttr value = filledWith(operand.get()))
    return floatTerm(value.getValueAsDouble());
  auto refuse = [&](const Twine &reason) { return (void)fail(reason), std::string(); };
  if (!isa<RankedTensorType>(operand.get().getType()))
    return refuse("operand of type " + llvm::to_string(operand.get().getType()));
  std::string source = stages.lookup(operand.get());
  if (source.empty()) {
    Operation *producer = operand.get().getDefiningOp();
    for (Value value = operand.get(); producer && isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(producer);
         producer = value.getDefiningOp())
      value = producer->getOperand(0);
    if (isa_and_nonnull<linalg::LinalgOp>(producer))
      return refuse("a view of a result of the same task is read");
    source = text.addInput(operand.get());
  }
  if (source.empty())
    return refuse("elements of type " + llvm::to_string(getElementTypeOrSelf(operand.get())));
  SmallVector<std::string> operands{source};
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
    operands.push_back(indexTerm(expr));
    if (operands.back().empty())
      return refuse("an index is not a sum of loops");
  }
  return term("load", operands);
}

LogicalResult TaskTranslator::translate(linalg::LinalgOp op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 1)
    return fail("'" + op->getName().getStringRef() + "' has " + Twine(op->getNumResults()) + " results, expected 1");
  if (!getElementTypeOrSelf(op->getResult(0).getType()).isF32())
    return fail("a result of type " + llvm::to_string(op->getResult(0).getType()));
  if (failed(findLoops(op)))
    return failure();
  OpOperand &init = op.getDpsInitsMutable()[0];
  bool isReduction = op.getNumReductionLoops() > 0;
  if (!op.getMatchingIndexingMap(&init).isProjectedPermutation() ||
      !llvm::is_sorted(op.getMatchingIndexingMap(&init).getResults(), [](AffineExpr a, AffineExpr b) {
        return cast<AffineDimExpr>(a).getPosition() < cast<AffineDimExpr>(b).getPosition();
      }))
    return fail("the result is transposed");
  FloatAttr start = isReduction ? filledWith(init.get()) : FloatAttr();
  if (isReduction && !start)
    return fail("a reduction does not start with a constant");

  SmallVector<std::string> loops;
  for (auto [extent, kind] : llvm::zip_equal(extents, op.getIteratorTypesArray()))
    loops.push_back(term(kind == utils::IteratorType::reduction ? "reduce" : "parallel", {text.addSize(extent)}));
  Block *body = op.getBlock();
  DenseMap<Value, std::string> loads;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = body->getArgument(operand.getOperandNumber());
    if (argument.use_empty())
      continue;
    bool isInit = op.isDpsInit(&operand);
    loads[argument] = isInit && isReduction ? "acc" : load(op, operand);
    if (loads[argument].empty())
      return failure();
    if (isInit && !isReduction && !filledWith(operand.get()))
      return fail("a destination is read");
  }
  ScalarTranslator scalars(text, [&](Value value) -> std::string {
    if (value.getParentBlock() == body)
      return loads.lookup(value);
    return value.getType().isIndex() && !matchPattern(value, m_Constant()) ? text.addValue(value) : "";
  });
  std::string result = scalars.translate(body->getTerminator()->getOperand(0));
  if (result.empty())
    return fail(scalars.why);
  stages[op->getResult(0)] = text.addStage(loops, result, start ? floatTerm(start.getValueAsDouble()) : "");
  return success();
}

/// Returns the tensor that |result| overwrites: the initial value of a loop, or the destination of another operation.
/// If that destination is the result of a linalg.fill, returns the destination of the fill. Null if |result| is a block
/// argument or the result of an operation without destinations.
static Value destinationOf(Value result) {
  if (auto loop = result.getDefiningOp<scf::ForOp>())
    return loop.getInitArgs()[0];
  auto op = result.getDefiningOp<DestinationStyleOpInterface>();
  if (!op)
    return Value();
  Value init = op.getDpsInits()[cast<OpResult>(result).getResultNumber()];
  auto fill = init.getDefiningOp<linalg::FillOp>();
  return fill ? fill.getDpsInits()[0] : init;
}

/// Adds an output for the tensor that |insert| puts into the loop's result.
LogicalResult TaskTranslator::addResult(tensor::ParallelInsertSliceOp insert) {
  Value source = insert.getSource(), destination = destinationOf(source);
  std::string stage = stages.lookup(source);
  auto op = source.getDefiningOp<linalg::LinalgOp>();
  bool isFill = op && isa<linalg::FillOp>(op);
  if (!destination || (stage.empty() && !(isFill && filledWith(source))))
    return fail("a result is not computed by a linalg operation");
  if (!destination.getDefiningOp<tensor::ExtractSliceOp>() || stridesOf(destination).back() != 1)
    return fail("a result is not written in place");
  // A contraction is computed in the register tiles of an elementwise stage that reads it. So a result that is a
  // contraction itself gets a stage that copies it to the destination. A result that is a fill, which has no stage,
  // gets a stage with the constant.
  if (isFill || (op && op.getNumReductionLoops() > 0 && op.getNumParallelLoops() > 1)) {
    SmallVector<std::string> loops, indices{stage};
    for (auto [dim, size] : llvm::enumerate(sizesOf(builder, destination))) {
      loops.push_back(term("parallel", {text.addSize(size)}));
      indices.push_back("d" + std::to_string(dim));
    }
    stage = text.addStage(loops, isFill ? floatTerm(filledWith(source).getValueAsDouble()) : term("load", indices));
  }
  text.addOutput(stage, destination);
  return success();
}

LogicalResult TaskTranslator::translate(Operation *op) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return translate(linalgOp);
  std::string stage;
  if (auto rotary = dyn_cast<tiles::RotaryTileOp>(op))
    stage = translateRotary(rotary, text, why);
  else if (auto panels = dyn_cast<scf::ForOp>(op))
    stage = translateKeyPanels(panels, text, why);
  else
    return fail("it contains '" + op->getName().getStringRef() + "'");
  if (stage.empty())
    return failure();
  stages[op->getResult(0)] = stage;
  return success();
}

LogicalResult TaskTranslator::run() {
  SmallVector<Operation *> replaced;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isa<linalg::FillOp>(op) || (op.getNumRegions() == 0 && !isa<tiles::TileDialect>(op.getDialect())))
      continue;
    if (failed(translate(&op)))
      return failure();
    replaced.push_back(&op);
  }
  SmallVector<tensor::ParallelInsertSliceOp> results;
  for (Operation &op : loop.getTerminator().getYieldingOps()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
    if (!insert)
      return fail("it contains '" + op.getName().getStringRef() + "'");
    if (failed(addResult(insert)))
      return failure();
    results.push_back(insert);
  }
  auto tile = text.createOp(loop.getLoc());
  for (auto [insert, result] : llvm::zip_equal(results, tile.getResults()))
    insert.getSourceMutable().assign(result);
  for (Operation *op : llvm::reverse(replaced))
    if (op->use_empty())
      op->erase();
  return success();
}

LogicalResult attune::translateToHalideKernel(func::FuncOp kernel, std::string &why) {
  auto loops = llvm::to_vector(kernel.getOps<scf::ForallOp>());
  if (loops.size() != 1) {
    why = "expected one parallel loop, got " + std::to_string(loops.size());
    return failure();
  }
  for (auto loop : llvm::make_early_inc_range(loops[0].getBody()->getOps<scf::ForOp>()))
    (void)mergeTiles(loop);
  auto attentions = llvm::to_vector(loops[0].getBody()->getOps<tiles::AttentionTileOp>());
  if (attentions.size() == 1)
    return translateAttention(attentions[0], ("halide_" + kernel.getName()).str(), why);
  TaskTranslator translator(loops[0], ("halide_" + kernel.getName()).str());
  if (succeeded(translator.run()))
    return success();
  why = translator.why;
  return failure();
}
