//===- ThreadLinalg.cpp - Linalg as loops of threads -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The points of the parallel dimensions are divided among the threads, and each thread computes the reductions of its
// points alone, with accumulators in registers. For a few long rows that would leave most threads idle, so the lanes of
// a warp share the reduction of a matrix row to one sum or maximum.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/DistributeOps.h"
#include "compiler/Target/NVVM/LinalgBody.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

namespace {

/// The number of elements of a row that a lane can load before it joins the first of them to its accumulator.
constexpr int64_t kElementsAtOnce = 8;

/// Emits the code of one thread for a linalg operation.
class LinalgEmitter {
public:
  LinalgEmitter(linalg::LinalgOp op, const ThreadLoops &loops) : op(op), loops(loops), e(op->getLoc(), op), body(op, e) {
    for (auto [dim, type] : llvm::enumerate(op.getIteratorTypesArray()))
      (type == utils::IteratorType::parallel ? parallel : reduction).push_back(dim);
    for (Range range : op.createLoopRanges(e, op->getLoc()))
      sizes.push_back(e.index(range.size));
  }

  void run() {
    if (Operation *join = findJoin())
      return emitWarps(join);
    loops.forEach(e, pick(parallel), getPointsAtOnce(), [&](ValueRange point) { return emitPoint(point); });
  }

private:
  SmallVector<Value> pick(ArrayRef<unsigned> dims) {
    return llvm::map_to_vector(dims, [&](unsigned dim) { return sizes[dim]; });
  }
  int64_t getPointsAtOnce();
  bool areBodiesIndependent();
  Operation *findJoin();
  std::function<void()> emitPoint(ValueRange point);
  void emitWarps(Operation *join);
  Values reduce(unsigned next, Values carried);
  Value join(Operation *op, Value a, Value b);

  linalg::LinalgOp op;
  const ThreadLoops &loops;
  ThreadBuilder e;
  LinalgBody body;
  SmallVector<unsigned> parallel, reduction;
  SmallVector<Value> sizes;
};

} // namespace

/// Returns the number of points that a thread computes at once: up to kPointsAtOnce, but fewer with many operands,
/// whose addresses need registers; 1 for a reduction, which has several loads of its own in flight, and if
/// areBodiesIndependent is false.
int64_t LinalgEmitter::getPointsAtOnce() {
  constexpr int64_t kAddresses = 2 * kPointsAtOnce;
  return reduction.empty() && areBodiesIndependent() ? std::clamp<int64_t>(kAddresses / op->getNumOperands(), 1, kPointsAtOnce) : 1;
}

/// Returns true if the body can be evaluated with the elements of the last point in the place of a point past it, even
/// if another thread has overwritten the outputs of the last point: the body writes nothing, and no index of its loads
/// can come from an output.
bool LinalgEmitter::areBodiesIndependent() {
  Region &body = op->getRegion(0);
  if (llvm::all_of(body.front(), [](Operation &inner) { return isMemoryEffectFree(&inner); }))
    return true;
  if (!llvm::all_of(body.front(), [](Operation &inner) { return isMemoryEffectFree(&inner) || isa<memref::LoadOp>(inner); }))
    return false;
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    Type element = getElementTypeOrSelf(init.get().getType());
    return op.getMatchingBlockArgument(&init).use_empty() &&
           llvm::none_of(op.getDpsInputs(), [&](Value input) { return getElementTypeOrSelf(input.getType()) == element; });
  });
}

/// Emits the loops over reduction dimensions from number |next| on, and the body; returns the accumulators.
Values LinalgEmitter::reduce(unsigned next, Values carried) {
  if (next == reduction.size())
    return body.evaluate(carried);
  return e.loop(e.index(0), sizes[reduction[next]], e.index(1), carried, [&](Value i, ValueRange inner) -> Values {
    body.at[reduction[next]] = i;
    return reduce(next + 1, Values(inner));
  });
}

std::function<void()> LinalgEmitter::emitPoint(ValueRange point) {
  for (auto [dim, value] : llvm::zip_equal(parallel, point))
    body.at[dim] = value;
  return [this, at = body.at, values = reduce(0, body.loadOutputs())] {
    body.at = at;
    body.storeOutputs(values);
  };
}

/// Returns the operation that adds to the accumulator, or takes the maximum, if |op| reduces rows of a matrix to one
/// f32 output each; else null.
Operation *LinalgEmitter::findJoin() {
  if (op.getNumDpsInits() != 1 || reduction.size() != 1 || parallel.size() != 1 || reduction[0] != 1)
    return nullptr;
  Value argument = op.getBlock()->getArguments().back();
  Operation *join = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!join || !argument.getType().isF32() || !argument.hasOneUse() || *argument.getUsers().begin() != join)
    return nullptr;
  if (auto fma = dyn_cast<math::FmaOp>(join))
    return fma.getC() == argument ? join : nullptr;
  return isa<arith::AddFOp, arith::MaximumFOp, arith::MaxNumFOp>(join) ? join : nullptr;
}

Value LinalgEmitter::join(Operation *op, Value a, Value b) {
  if (isa<arith::MaximumFOp>(op))
    return arith::MaximumFOp::create(e, a, b);
  return isa<arith::MaxNumFOp>(op) ? e.maxf(a, b) : e.addf(a, b);
}

void LinalgEmitter::emitWarps(Operation *how) {
  bool isMaximum = isa<arith::MaximumFOp, arith::MaxNumFOp>(how);
  loops.forEachWarp(e, sizes[0], [&](Value row, Value lane) {
    body.at[0] = row;
    Value none = e.f32(isMaximum ? -std::numeric_limits<double>::infinity() : 0.0);
    // Two loops join the elements of a lane, both in the order of their columns. An iteration of the first loop has
    // kElementsAtOnce elements and can load all of them before it needs one; the second loop has the elements that
    // remain.
    auto joinFrom = [&](Value first, Value end, int64_t atOnce, Value part) {
      return e.loop(first, end, e.index(atOnce * kWarp), part, [&](Value column, ValueRange carried) {
        Values sum(carried);
        for (int64_t i = 0; i < atOnce; ++i) {
          body.at[1] = e.add(column, i * kWarp);
          sum = body.evaluate(sum);
        }
        return sum;
      })[0];
    };
    Value several = e.mul(e.div(sizes[1], kElementsAtOnce * kWarp), kElementsAtOnce * kWarp);
    Value part = isConstantIntValue(several, 0) ? none : joinFrom(lane, several, kElementsAtOnce, none);
    if (!isEqualConstantIntOrValue(several, sizes[1]))
      part = joinFrom(e.add(several, lane), sizes[1], 1, part);
    Value whole = e.reduceLanes(part, [&](Value a, Value b) { return join(how, a, b); });
    e.ifThen(e.compare(arith::CmpIPredicate::eq, lane, 0), [&] { body.storeOutputs(join(how, body.loadOutputs()[0], whole)); });
  });
}

LogicalResult attune::emitLinalg(linalg::LinalgOp op, const ThreadLoops &loops) {
  if (!op.hasPureBufferSemantics())
    return op->emitError("expects an operation on buffers");
  LinalgEmitter(op, loops).run();
  return success();
}
