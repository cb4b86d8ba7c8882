//===- TranslateKernel.cpp - Linalg operations of a task as stages --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expects a kernel of the phase `kernels`: one scf.forall whose tasks are linalg operations on tiles. Leaves one halide.tile per task.
// Every linalg operation becomes a stage of the same loops; fills become initial values.
//===----------------------------------------------------------------------===//

#include "compiler/Target/Halide/TranslateKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace attune;

namespace {

/// Translates what one task computes.
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
  LogicalResult translate(linalg::LinalgOp op);
  LogicalResult findLoops(linalg::LinalgOp op);
  std::string load(linalg::LinalgOp op, OpOperand &operand);
  std::string indexTerm(AffineExpr expr);

  scf::ForallOp loop;
  OpBuilder builder;
  KernelText text;
  /// Stages by the results they stand for.
  DenseMap<Value, std::string> stages;
  /// Extents of the loops of the operation at hand.
  SmallVector<OpFoldResult> extents;
};

} // namespace

/// The constant that fills |tensor|, or null.
static FloatAttr filledWith(Value tensor) {
  FloatAttr value;
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>())
    matchPattern(fill.getInputs()[0], m_Constant(&value));
  return value;
}

/// The extent of every loop is the size of an operand that the loop alone runs over: results first, whose sizes are the tile's.
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

/// |expr| of loops as text. Within one panel a panel's number is 0 and a column's is the loop's.
std::string TaskTranslator::indexTerm(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return "d" + std::to_string(dim.getPosition());
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::to_string(constant.getValue());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || expr.getKind() == AffineExprKind::CeilDiv)
    return "";
  auto dim = dyn_cast<AffineDimExpr>(binary.getLHS());
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  bool divides = expr.getKind() == AffineExprKind::FloorDiv || expr.getKind() == AffineExprKind::Mod;
  if (dim && divisor && divides) {
    OpFoldResult extent = extents[dim.getPosition()];
    std::optional<int64_t> most = getConstantIntValue(extent);
    if (auto value = dyn_cast<Value>(extent))
      most = mostOf(value);
    if (most && *most <= divisor.getValue())
      return expr.getKind() == AffineExprKind::Mod ? indexTerm(dim) : "0";
  }
  std::string left = indexTerm(binary.getLHS()), right = indexTerm(binary.getRHS());
  StringRef word = divides                                 ? (expr.getKind() == AffineExprKind::Mod ? "mod" : "div")
                   : expr.getKind() == AffineExprKind::Add ? "add"
                                                           : "mul";
  return left.empty() || right.empty() ? "" : term(word, {left, right});
}

/// What a body reads of |operand|; empty on failure.
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

LogicalResult TaskTranslator::run() {
  Block *body = loop.getBody();
  SmallVector<Operation *> replaced;
  for (Operation &op : body->without_terminator()) {
    if (isa<linalg::FillOp>(op))
      continue;
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      if (failed(translate(linalgOp)))
        return failure();
      replaced.push_back(&op);
    } else if (op.getNumRegions() != 0 || isa<xfmr::XfmrDialect>(op.getDialect())) {
      return fail("it contains '" + op.getName().getStringRef() + "'");
    }
  }
  SmallVector<std::pair<tensor::ParallelInsertSliceOp, Value>> results;
  for (Operation &op : loop.getTerminator().getYieldingOps()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
    if (!insert || !stages.contains(insert.getSource()))
      return fail("a result is not computed by a linalg operation");
    auto producer = insert.getSource().getDefiningOp<linalg::LinalgOp>();
    Value destination = producer.getDpsInits()[0];
    if (!destination.getDefiningOp<tensor::ExtractSliceOp>() || stridesOf(destination).back() != 1)
      return fail("a result is not written in place");
    text.addOutput(stages[insert.getSource()], destination);
    results.push_back({insert, destination});
  }
  if (results.size() != 1)
    return fail(Twine(results.size()) + " results, expected 1");
  auto tile = text.createOp(loop.getLoc());
  for (auto [index, result] : llvm::enumerate(results))
    result.first.getSourceMutable().assign(tile.getResult(index));
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
  auto attentions = llvm::to_vector(loops[0].getBody()->getOps<xfmr::AttentionTileOp>());
  if (attentions.size() == 1)
    return translateAttention(attentions[0], ("halide_" + kernel.getName()).str(), why);
  TaskTranslator translator(loops[0], ("halide_" + kernel.getName()).str());
  if (succeeded(translator.run()))
    return success();
  why = translator.why;
  return failure();
}
