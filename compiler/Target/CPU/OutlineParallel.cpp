//===- OutlineParallel.cpp - Parallel bodies as functions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects scf.forall on buffers, without results. Loops inside other parallel loops, and loops from 0 to the constant
// 1, become scf.for. For each of the remaining loops, leaves a function over a range of the flattened iterations and an
// rt.parallel_call of it. Functions with an operation that calls the runtime (rt.parallel_call, rt.rank,
// rt.all_gather), and their callers, get a pointer to the runtime's structure attune_host as first argument.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/Passes.h"
#include "compiler/Transforms/ParallelLoops.h"
#include "dialect/Rt/IR/RtOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"

namespace attune {
#define GEN_PASS_DEF_OUTLINEPARALLEL
#include "compiler/Target/CPU/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Moves the body of |forall| into a function and replaces |forall| by an rt.parallel_call of it.
static void outline(scf::ForallOp forall, SymbolTable &symbols) {
  auto parent = forall->getParentOfType<func::FuncOp>();
  OpBuilder builder(forall);
  Location loc = forall.getLoc();
  ParallelLoop loop(forall, builder);

  // The body computes the loop's indices from the flattened index; this needs all trip counts but the first.
  auto [captures, repeated] = loop.capture(ArrayRef(loop.counts).drop_front());

  SmallVector<Type> types = llvm::map_to_vector(captures, [](Value v) { return v.getType(); });
  types.append(3, builder.getIndexType());
  auto body = func::FuncOp::create(loc, (parent.getName() + "_parallel").str(), builder.getFunctionType(types, {}));
  body.setPrivate();
  symbols.insert(body, Block::iterator(parent));
  Block *block = body.addEntryBlock();
  IRMapping map;
  map.map(captures.getArrayRef(), block->getArguments().drop_back(3));
  OpBuilder inside = OpBuilder::atBlockBegin(block);
  for (Operation *op : repeated)
    inside.clone(*op, map);
  loop.buildBody(inside, map, block->getArgument(block->getNumArguments() - 3), block->getArgument(block->getNumArguments() - 2),
                 block->getArguments().back());
  inside.setInsertionPointToEnd(block);
  func::ReturnOp::create(inside, loc);

  Value count = loop.counts[0];
  for (Value other : ArrayRef(loop.counts).drop_front())
    count = builder.createOrFold<arith::MulIOp>(loc, count, other);
  Value grain = arith::ConstantIndexOp::create(builder, loc, 1);
  rt::ParallelCallOp::create(builder, loc, parent.getArgument(0), count, grain, body.getName(), captures.getArrayRef());
  forall.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {

struct OutlineParallel : attune::impl::OutlineParallelBase<OutlineParallel> {
  void runOnOperation() override;

private:
  LogicalResult makeSequential(func::FuncOp function);
};

} // namespace

/// Turns parallel loops inside parallel loops, and those that are known to have one iteration, into scf.for, which does
/// not call the runtime. Fails, with an error, if a parallel loop has results.
LogicalResult OutlineParallel::makeSequential(func::FuncOp function) {
  SmallVector<scf::ForallOp> sequential;
  WalkResult walk = function.walk([&](scf::ForallOp loop) -> WalkResult {
    if (failed(verifyOnBuffers(loop)))
      return WalkResult::interrupt();
    std::optional<SmallVector<int64_t>> counts;
    if (loop.isNormalized() && llvm::none_of(loop.getStaticUpperBound(), ShapedType::isDynamic))
      counts = llvm::to_vector(loop.getStaticUpperBound());
    if (loop->getParentOfType<scf::ForallOp>() || (counts && llvm::all_of(*counts, [](int64_t n) { return n == 1; })))
      sequential.push_back(loop);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  IRRewriter rewriter(&getContext());
  for (scf::ForallOp loop : sequential) {
    rewriter.setInsertionPoint(loop);
    if (failed(scf::forallToForLoop(rewriter, loop)))
      return loop.emitError("cannot make this loop sequential");
  }
  return success();
}

void OutlineParallel::runOnOperation() {
  SmallVector<scf::ForallOp> loops;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (failed(makeSequential(function)))
      return signalPassFailure();
    function.walk([&](scf::ForallOp loop) { loops.push_back(loop); });
  }
  SmallVector<Operation *> hostUsers(loops.begin(), loops.end());
  getOperation().walk([&](Operation *op) {
    if (isa<rt::RankOp, rt::AllGatherOp>(op))
      hostUsers.push_back(op);
  });
  if (failed(passHost(getOperation(), hostUsers)))
    return signalPassFailure();
  SymbolTable symbols(getOperation());
  for (scf::ForallOp loop : loops)
    outline(loop, symbols);
  getOperation().walk([](rt::WorkerIdOp id) {
    if (id->getParentOfType<func::FuncOp>()) {
      OpBuilder builder(id);
      Value zero = arith::ConstantIndexOp::create(builder, id.getLoc(), 0);
      id.replaceAllUsesWith(zero);
      id.erase();
    }
  });
}
