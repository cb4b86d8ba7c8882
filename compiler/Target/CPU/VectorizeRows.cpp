//===- VectorizeRows.cpp - Row-wise linalg ops as loops over 16 lanes ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Elementwise ops become loops over chunks of 16 columns; reductions over the last loop keep 16 partial results, which
// a fixed tree joins. The caller lowers other ops to scalar loops, with a remark.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/LaneBody.h"
#include "compiler/Target/CPU/VectorizeTiles.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;

namespace {
enum class Combiner { None, Sum, Maximum, MaxNum };

/// Returns the kind of the reduction |op|: how its body combines the accumulator, its last argument, with a new value;
/// None if it yields neither a sum nor a maximum.
Combiner combinerOf(linalg::LinalgOp op) {
  Value accumulator = op.getBlock()->getArguments().back();
  Operation *yielded = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!yielded || !accumulator.hasOneUse() || *accumulator.user_begin() != yielded)
    return Combiner::None;
  if (isa<arith::AddFOp>(yielded) || (isa<math::FmaOp>(yielded) && yielded->getOperand(2) == accumulator))
    return Combiner::Sum;
  if (isa<arith::MaximumFOp>(yielded))
    return Combiner::Maximum;
  return isa<arith::MaxNumFOp>(yielded) ? Combiner::MaxNum : Combiner::None;
}

/// Emits the loops of one op.
class RowLoops {
public:
  RowLoops(VectorBuilder &builder, linalg::LinalgOp op) : builder(builder), op(op), body(builder, op) {}

  const char *check() {
    if (const char *reason = body.check())
      return reason;
    if (op.getNumReductionLoops() == 0)
      return nullptr;
    if (op.getNumReductionLoops() > 1 || op.getIteratorTypesArray().back() != utils::IteratorType::reduction)
      return "it reduces over other loops than the last";
    return combinerOf(op) == Combiner::None ? "its reduction is neither a sum nor a maximum" : nullptr;
  }

  void emit() {
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      extents.push_back(extent(loop));
    outerLoop(0);
  }

private:
  /// Returns the number of iterations of |loop|: the size of a dimension of an operand that |loop| alone indexes.
  Value extent(unsigned loop) {
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<MemRefType>(operand.get().getType()))
        continue;
      for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
        if (auto found = dyn_cast<AffineDimExpr>(expr); found && found.getPosition() == loop)
          return builder.size(operand.get(), dim);
    }
    llvm_unreachable("verified linalg ops index something with each loop");
  }

  void outerLoop(unsigned loop) {
    if (loop + 1 == op.getNumLoops()) {
      body.prepare(point.outer);
      return op.getNumReductionLoops() ? reduceRow() : mapRow();
    }
    builder.loop(builder.index(0), extents[loop], 1, [&](Value iteration) {
      point.outer.push_back(iteration);
      outerLoop(loop + 1);
      point.outer.pop_back();
    });
  }

  /// Emits a loop over chunks of 16 columns, and code for the columns that remain. |chunk| emits the code for the
  /// columns and lanes of |point|; it gets the values of the chunk before, |values| for the first one, and returns new
  /// values. Returns the values after the last chunk.
  VectorBuilder::Values chunks(VectorBuilder::Values values, llvm::function_ref<VectorBuilder::Values(ValueRange)> chunk) {
    Value end = extents.back();
    Value full = builder.mul(builder.div(end, VectorBuilder::kLanes), VectorBuilder::kLanes);
    point.lanes = Lanes::all();
    values = builder.loop(builder.index(0), full, VectorBuilder::kLanes, values, [&](Value column, ValueRange carried) {
      point.inner = column;
      return chunk(carried);
    });
    auto tail = [&] {
      point.inner = full;
      return chunk(values);
    };
    if (auto size = getConstantIntValue(end)) {
      point.lanes = Lanes::first(*size % VectorBuilder::kLanes);
      return *size % VectorBuilder::kLanes ? tail() : values;
    }
    Value rest = builder.sub(end, full);
    point.lanes = Lanes::first(rest);
    Value any = builder.compare(arith::CmpIPredicate::ne, rest, 0);
    return builder.choose(any, tail, [&] { return values; });
  }

  void mapRow() {
    chunks({}, [&](ValueRange) -> VectorBuilder::Values {
      body.store(body.evaluate(point), point);
      return {};
    });
  }

  void reduceRow() {
    Combiner combiner = combinerOf(op);
    bool sum = combiner == Combiner::Sum;
    auto join = [&](Value a, Value b) -> Value {
      if (sum)
        return builder.addf(a, b);
      // The same operation as in the body: maximumf returns a NaN operand, maxnumf ignores it.
      if (combiner == Combiner::Maximum)
        return arith::MaximumFOp::create(builder, a, b);
      return arith::MaxNumFOp::create(builder, a, b);
    };
    OpOperand &output = *op.getDpsInitOperand(0);
    Value identity = builder.splat(sum ? 0.0 : -std::numeric_limits<double>::infinity());
    Value partial = chunks({identity}, [&](ValueRange carried) -> VectorBuilder::Values {
      llvm::DenseMap<unsigned, Value> given{{output.getOperandNumber(), carried[0]}};
      return {builder.keep(body.widen(body.evaluate(point, given)), point.lanes, carried[0])};
    })[0];
    Value total = builder.reduceLanes(partial, join);
    SmallVector<Value> indices;
    for (AffineExpr expr : op.getMatchingIndexingMap(&output).getResults())
      indices.push_back(isa<AffineDimExpr>(expr) ? point.outer[cast<AffineDimExpr>(expr).getPosition()]
                                                 : builder.index(cast<AffineConstantExpr>(expr).getValue()));
    Value initial = builder.loadScalar(output.get(), indices);
    memref::StoreOp::create(builder, join(initial, total), output.get(), indices);
  }

  VectorBuilder &builder;
  linalg::LinalgOp op;
  LaneBody body;
  LanePoint point;
  SmallVector<Value> extents;
};
} // namespace

const char *attune::vectorizeRows(VectorBuilder &builder, linalg::LinalgOp op) {
  RowLoops loops(builder, op);
  if (const char *reason = loops.check())
    return reason;
  loops.emit();
  return nullptr;
}
