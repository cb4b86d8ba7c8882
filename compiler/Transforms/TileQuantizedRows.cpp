//===- TileQuantizedRows.cpp - Loops around quantize_rows -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects the loops of attune-tile-groups and attune-tile-attention, and `tile.quantize_rows` on tensors between them.
// Moves each `tile.quantize_rows` into the loop that produces its rows if that loop writes whole rows, so that rows are
// read while they are in the L1 cache. Otherwise the operation gets a loop of its own.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/PendingOps.h"
#include "compiler/Transforms/RowWise.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/OpRemark.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/RegionUtils.h"

namespace attune {
#define GEN_PASS_DEF_TILEQUANTIZEDROWS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// Returns true if |loop| writes its result |number| in whole rows.
static bool writesWholeRows(scf::ForallOp loop, unsigned number) {
  BlockArgument output = loop.getRegionIterArgs()[number];
  int64_t columns = cast<RankedTensorType>(output.getType()).getShape().back();
  for (Operation *user : loop.getCombiningOps(output)) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(user);
    if (!insert || insert.getSourceType().getRank() != 2 || !isConstantIntValue(insert.getMixedOffsets()[1], 0) ||
        !isConstantIntValue(insert.getMixedSizes()[1], columns))
      return false;
  }
  return true;
}

namespace {
/// Upstream's fusion of consumers fails if a result of the loop has a user in another block. While this object exists,
/// such users use a tensor.cast in the loop's block instead; the destructor removes the casts.
class HiddenNestedUsers {
public:
  HiddenNestedUsers(RewriterBase &rewriter, scf::ForallOp loop) : rewriter(rewriter) {
    Block *block = loop->getBlock();
    auto isNested = [&](OpOperand &use) { return use.getOwner()->getBlock() != block; };
    for (OpResult result : loop.getResults()) {
      Operation *first = nullptr;
      for (OpOperand &use : result.getUses())
        if (isNested(use)) {
          Operation *user = block->findAncestorOpInBlock(*use.getOwner());
          if (!first || user->isBeforeInBlock(first))
            first = user;
        }
      if (!first)
        continue;
      rewriter.setInsertionPoint(first);
      casts.push_back(tensor::CastOp::create(rewriter, loop.getLoc(), result.getType(), result));
      rewriter.replaceUsesWithIf(result, casts.back(), isNested);
    }
  }
  ~HiddenNestedUsers() {
    for (tensor::CastOp cast : casts)
      rewriter.replaceOp(cast, cast.getSource());
  }

private:
  RewriterBase &rewriter;
  SmallVector<tensor::CastOp> casts;
};
} // namespace

/// Returns true if all users of |loop|'s results are in its block or nested in operations of its block.
static bool areUsersInBlock(scf::ForallOp loop) {
  return llvm::all_of(loop->getUsers(), [&](Operation *user) { return loop->getBlock()->findAncestorOpInBlock(*user) != nullptr; });
}

/// Moves |op| into the loop that produces its input. Returns false if that is not possible.
static bool fuse(RewriterBase &rewriter, tiles::QuantizeRowsOp op) {
  auto result = dyn_cast<OpResult>(op.getInput());
  auto loop = result ? dyn_cast<scf::ForallOp>(result.getOwner()) : scf::ForallOp();
  if (!loop || loop->getBlock() != op->getBlock() || !writesWholeRows(loop, result.getResultNumber()) || !areUsersInBlock(loop))
    return false;
  // The destinations of |op| take their sizes from the destination of the loop, so that they can move before it.
  for (OpOperand &use : llvm::make_early_inc_range(result.getUses()))
    if (isa<tensor::DimOp>(use.getOwner()))
      use.set(loop.getOutputs()[result.getResultNumber()]);
  SmallVector<Value> destinations = llvm::to_vector(op.getDestinations());
  DominanceInfo dominance(loop->getParentOp());
  if (failed(moveValueDefinitions(rewriter, destinations, loop, dominance)))
    return false;
  tiles::KernelAttr kernel = tiles::getKernel(loop);
  bool isHalf = cast<ShapedType>(op.getQuantized().getType()).getElementType().isF16();
  StringRef rounded = op.getSums() ? ", int8 in groups" : op.getScales() ? ", int8" : isHalf ? ", f16" : ", bf16";
  SmallVector<LoopLikeOpInterface> loops{cast<LoopLikeOpInterface>(loop.getOperation())};
  HiddenNestedUsers hidden(rewriter, loop);
  rewriter.setInsertionPoint(op);
  if (failed(scf::tileAndFuseConsumer(rewriter, op, loops)))
    return false;
  if (kernel)
    loops.front()->setAttr(tiles::kKernelAttr,
                           tiles::KernelAttr::get(rewriter.getContext(), (kernel.getText() + rounded).str(), kernel.getRowWise()));
  return true;
}

namespace {
struct TileQuantizedRows : attune::impl::TileQuantizedRowsBase<TileQuantizedRows> {
  using TileQuantizedRowsBase::TileQuantizedRowsBase;

  void runOnOperation() override {
    if (failed(rt::verifyRanges([&] { return getOperation().emitError(); }, {{"row-block", rowBlock, rt::FieldRange::Positive}})))
      return signalPassFailure();
    PendingOps ops;
    getOperation().walk([&](tiles::QuantizeRowsOp op) {
      if (!op->getParentOfType<scf::ForallOp>() && op->getNumResults() != 0)
        ops.insert(op);
    });
    IRRewriter rewriter(&getContext());
    while (!ops.empty()) {
      auto op = cast<tiles::QuantizeRowsOp>(ops.takeFirst());
      Location loc = op.getLoc();
      auto options = xfmr::remarkOn(op, "attune-tile-quantized-rows", "FuseQuantization");
      if (fuse(rewriter, op)) {
        remark::passed(loc, options) << remark::add("rows are quantized by the kernel that computes them");
        if (op->use_empty())
          rewriter.eraseOp(op);
      } else if (failed(tile(rewriter, op))) {
        op->emitError("could not tile this operation");
        return signalPassFailure();
      } else {
        remark::missed(loc, options) << remark::reason("no kernel before it writes whole rows, so a kernel of its own quantizes them");
      }
      foldSizes(ops);
    }
  }

private:
  LogicalResult tile(RewriterBase &rewriter, tiles::QuantizeRowsOp op) {
    scf::SCFTilingOptions options;
    SmallVector<OpFoldResult> sizes{rewriter.getIndexAttr(rowBlock)};
    options.setTileSizes(sizes).setLoopType(scf::SCFTilingOptions::LoopType::ForallOp);
    rewriter.setInsertionPoint(op);
    tiles::GroupAttr group = tiles::getGroup(op);
    StringRef text = group ? group.getText() : "kernel";
    auto result = scf::tileUsingSCF(rewriter, cast<TilingInterface>(op.getOperation()), options);
    if (failed(result))
      return failure();
    if (!result->loops.empty())
      result->loops.front()->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(rewriter.getContext(), text, /*rowWise=*/true));
    rewriter.replaceOp(op, result->replacements);
    return success();
  }

  /// Folds sizes of loop results and of empty tensors to the values they come from, so that destinations can move
  /// before a loop. Erases unused operations, also |pending| ones.
  void foldSizes(PendingOps &pending) {
    RewritePatternSet patterns(&getContext());
    scf::ForallOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::DimOp::getCanonicalizationPatterns(patterns, &getContext());
    (void)applyPatternsGreedily(getOperation(), std::move(patterns), GreedyRewriteConfig().setListener(&pending));
  }
};
} // namespace
