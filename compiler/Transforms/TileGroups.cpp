//===- TileGroups.cpp - Tile and fuse the linalg ops of each kernel ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects linalg on tensors whose kernels are numbered by `tile.group`. Leaves one scf.forall per kernel: over row blocks and weight
// panels with an inner scf.for over register tiles for a contraction, over row blocks otherwise. Ops of rank 0 and 1 stay as they are.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/RowWise.h"
#include "compiler/Transforms/TileSizes.h"
#include "compiler/Transforms/Work.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace attune {
#define GEN_PASS_DEF_TILEGROUPS
#include "compiler/Transforms/Passes.h.inc"
} // namespace attune

using namespace mlir;
using namespace attune;

/// The number of the group that |op|, which may be null, belongs to.
static std::optional<int64_t> groupOf(Operation *op) { return op ? getGroupNumber(op) : std::nullopt; }

/// Returns true for the contraction of a projection: one reduction, last of three loops, over rows and weights.
static bool isContraction(linalg::LinalgOp op) {
  return op.getNumLoops() == 3 && op.getNumReductionLoops() == 1 && op.getIteratorTypesArray()[2] == utils::IteratorType::reduction &&
         op.getNumDpsInputs() >= 2 && isa<ShapedType>(op.getDpsInputs()[1].getType());
}

/// Whether |contraction| multiplies low-precision operands.
static bool isLowPrecision(linalg::LinalgOp contraction) {
  Type element = getElementTypeOrSelf(contraction.getDpsInputs()[1]);
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() < 32;
}

/// The contraction that |root|'s kernel is about, or null.
static linalg::LinalgOp findContraction(linalg::LinalgOp root) {
  if (isContraction(root))
    return root;
  for (Value input : root->getOperands())
    if (auto producer = input.getDefiningOp<linalg::LinalgOp>(); producer && groupOf(producer) && groupOf(producer) == groupOf(root))
      if (linalg::LinalgOp found = findContraction(producer))
        return found;
  return nullptr;
}

/// Whether all users of |op|'s results belong to other kernels.
static bool isRoot(linalg::LinalgOp op) {
  return llvm::none_of(op->getUsers(), [&](Operation *user) { return groupOf(op) && groupOf(user) == groupOf(op); });
}

/// The arithmetic of |root| and of the producers of its kernel.
static SizeExpr countGroup(linalg::LinalgOp root, DimBounds &bounds) {
  llvm::SetVector<Operation *> ops;
  ops.insert(root);
  SizeExpr total;
  for (size_t i = 0; i < ops.size(); ++i) {
    total = total + countFlops(ops[i], bounds).value_or(SizeExpr(0));
    for (Value input : ops[i]->getOperands())
      if (Operation *producer = input.getDefiningOp(); groupOf(producer) && groupOf(producer) == groupOf(root))
        ops.insert(producer);
  }
  return total;
}

/// Tiles |root| with loops of |type| by |sizes| and fuses the producers of its kernel; returns the tiled root.
static FailureOr<linalg::LinalgOp> tileAndFuse(RewriterBase &rewriter, linalg::LinalgOp root, ArrayRef<OpFoldResult> tileSizes,
                                               scf::SCFTilingOptions::LoopType type) {
  scf::SCFTileAndFuseOptions options;
  options.tilingOptions.setTileSizes(tileSizes).setLoopType(type);
  std::optional<int64_t> group = groupOf(root);
  options.setFusionControlFn(
      [group](tensor::ExtractSliceOp, OpResult producer, bool) -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
        if (!group || groupOf(producer.getOwner()) != group)
          return std::nullopt;
        return scf::SCFTileAndFuseOptions::ControlFnResult{};
      });
  DimBounds bounds;
  bool isKernel = type == scf::SCFTilingOptions::LoopType::ForallOp, rowWise = isKernel && isRowWise(root);
  SizeExpr flops = isKernel ? countGroup(root, bounds) : SizeExpr(0);
  rewriter.setInsertionPoint(root);
  auto result = scf::tileConsumerAndFuseProducersUsingSCF(rewriter, cast<TilingInterface>(root.getOperation()), options);
  if (failed(result))
    return failure();
  for (auto [from, to] : result->replacements)
    rewriter.replaceAllUsesWith(from, to);
  if (auto forall = result->loops.empty() ? scf::ForallOp() : dyn_cast<scf::ForallOp>(result->loops.front().getOperation())) {
    tiles::GroupAttr group = tiles::getGroup(root);
    StringRef text = group ? group.getText() : root->getName().stripDialect();
    forall->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(rewriter.getContext(), text, rowWise));
    if (flops.getConstant() != 0)
      setWork(forall, flops, std::nullopt);
  }
  return cast<linalg::LinalgOp>(result->tiledAndFusedOps.front());
}

/// Gives |operand|, the destination of an op, memory of its own if it is an empty or filled tensor that others use, too.
static void unshare(RewriterBase &rewriter, OpOperand &operand) {
  Operation *producer = operand.get().getDefiningOp();
  if (!producer || producer->hasOneUse() || !isa<tensor::EmptyOp, linalg::FillOp>(producer))
    return;
  rewriter.setInsertionPoint(operand.getOwner());
  Operation *clone = rewriter.clone(*producer);
  rewriter.modifyOpInPlace(operand.getOwner(), [&] { operand.set(clone->getResult(0)); });
  if (auto fill = dyn_cast<linalg::FillOp>(clone))
    unshare(rewriter, fill.getDpsInitsMutable()[0]);
}

/// Fusion makes a copy of a producer for each of its users in |loop|: keeps one of each. Destinations stay apart, since sharing one would
/// cost a copy.
static void mergeFused(RewriterBase &rewriter, scf::ForallOp loop) {
  DominanceInfo dominance(loop);
  eliminateCommonSubExpressions(rewriter, dominance, loop);
  SmallVector<linalg::LinalgOp> ops;
  loop.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops)
    for (OpOperand &destination : op.getDpsInitsMutable())
      unshare(rewriter, destination);
}

/// Up to how many register tiles of a block are made even.
static constexpr int64_t kFewTiles = 3;

namespace {
/// The operations that are still to be tiled. Those without users may be erased before their turn.
struct Roots : RewriterBase::Listener {
  llvm::SetVector<Operation *> ops;
  void notifyOperationErased(Operation *op) override { ops.remove(op); }
};

struct TileGroups : attune::impl::TileGroupsBase<TileGroups> {
  using TileGroupsBase::TileGroupsBase;

  void runOnOperation() override {
    Roots roots;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!op->getParentOfType<scf::ForallOp>() && op.getNumParallelLoops() >= 2 && isRoot(op))
        roots.ops.insert(op);
    });
    IRRewriter rewriter(&getContext());
    while (!roots.ops.empty()) {
      auto root = cast<linalg::LinalgOp>(roots.ops.front());
      roots.ops.remove(root);
      if (failed(tile(rewriter, root))) {
        root->emitError("could not tile this operation");
        return signalPassFailure();
      }
      cleanUp(roots);
    }
    getOperation().walk([&](scf::ForallOp loop) { mergeFused(rewriter, loop); });
  }

private:
  LogicalResult tile(RewriterBase &rewriter, linalg::LinalgOp root) {
    linalg::LinalgOp contraction = findContraction(root);
    if (!contraction)
      return tileRows(rewriter, root);
    bool lowPrecision = isLowPrecision(contraction);
    int64_t depth = contraction.getStaticLoopRanges()[2], tileRows = lowPrecision ? lowPrecisionRows : registerRows;
    int64_t blockRows = std::max<int64_t>(tileRows, blockBytes / (4 * std::max<int64_t>(1, depth)) / tileRows * tileRows);
    OpFoldResult rows = getBlockRows(rewriter, root, std::min<int64_t>(blockRows, maxBlockRows), tileRows);
    OpFoldResult columns = lowPrecision && fewRows == 0 ? rewriter.getIndexAttr(panelWidth) : getBlockColumns(rewriter, root, contraction);
    if (lowPrecision && wideBlocks != 0)
      std::tie(rows, columns) = widen(rewriter, root, contraction, rows, columns);
    auto block = tileAndFuse(rewriter, root, {rows, columns}, scf::SCFTilingOptions::LoopType::ForallOp);
    if (failed(block))
      return failure();
    OpFoldResult tile = !lowPrecision || evenLowPrecisionTiles ? getTileRows(rewriter, *block, tileRows) : rewriter.getIndexAttr(tileRows);
    return tileAndFuse(rewriter, *block, {tile, rewriter.getIndexAttr(0)}, scf::SCFTilingOptions::LoopType::ForOp);
  }

  /// Rows of a block, a multiple of |tileRows|: the weights are read once per block, and a small last block would read them for
  /// little.
  OpFoldResult getBlockRows(RewriterBase &rewriter, linalg::LinalgOp op, int64_t limit, int64_t tileRows) {
    Location loc = op.getLoc();
    Value even = divideEvenly(rewriter, loc, countRows(rewriter, op), limit);
    AffineExpr whole = rewriter.getAffineDimExpr(0).ceilDiv(tileRows) * tileRows;
    OpFoldResult rounded = affine::makeComposedFoldedAffineApply(rewriter, loc, AffineMap::get(1, 0, whole), {getAsOpFoldResult(even)});
    return atMost(rewriter, loc, getValueOrCreateConstantIndexOp(rewriter, loc, rounded), limit);
  }

  /// Columns of a block: one weight panel, which is how work is divided best. A single row waits for nothing but weights, and a core gets
  /// more of them from memory out of several places than out of one: it has several panels side by side.
  OpFoldResult getBlockColumns(RewriterBase &rewriter, linalg::LinalgOp op, linalg::LinalgOp contraction) {
    int64_t columns = contraction.getStaticLoopRanges()[1];
    if (columns % panelWidth == 0)
      contraction->setAttr(tiles::kWholePanelsAttr, rewriter.getUnitAttr());
    if (fewRows != 0)
      return chooseByRows(rewriter, op, fewRows, fewColumns, panelWidth);
    if (columns <= panelWidth || streamPanels <= 1)
      return rewriter.getIndexAttr(panelWidth);
    return chooseByRows(rewriter, op, 1, streamPanels * panelWidth, panelWidth);
  }

  /// |rows| and |columns|, or those of wide blocks if there are enough of these.
  std::pair<OpFoldResult, OpFoldResult> widen(RewriterBase &rewriter, linalg::LinalgOp op, linalg::LinalgOp contraction, OpFoldResult rows,
                                              OpFoldResult columns) {
    Location loc = op.getLoc();
    int64_t allColumns = contraction.getStaticLoopRanges()[1];
    if (allColumns <= panelWidth)
      return {rows, columns};
    int64_t beside = llvm::divideCeil(allColumns, wideColumns.getValue());
    // As many blocks above each other, all but the last of them full; more than half a block, of which the rest would be idle.
    int64_t least = std::max<int64_t>(wideRows / 2, (llvm::divideCeil(wideBlocks.getValue(), beside) - 1) * wideRows);
    Value limit = arith::ConstantIndexOp::create(rewriter, loc, least);
    Value isWide = rewriter.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ugt, countRows(rewriter, op), limit);
    auto choose = [&](int64_t some, OpFoldResult others) {
      Value size = arith::SelectOp::create(rewriter, loc, isWide, arith::ConstantIndexOp::create(rewriter, loc, some),
                                           getValueOrCreateConstantIndexOp(rewriter, loc, others));
      return atMost(rewriter, loc, size, some);
    };
    return {choose(wideRows, rows), choose(wideColumns, columns)};
  }

  /// Rows of a register tile, at most |limit|: of a few tiles all have about the same number, since they share the work of waiting for the
  /// weights; an even one, as there are no loops for odd numbers.
  OpFoldResult getTileRows(RewriterBase &rewriter, linalg::LinalgOp op, int64_t limit) {
    Location loc = op.getLoc();
    Value rows = countRows(rewriter, op);
    Value most = arith::ConstantIndexOp::create(rewriter, loc, kFewTiles * limit);
    Value few = rewriter.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, rows, most);
    Value two = arith::ConstantIndexOp::create(rewriter, loc, 2);
    Value pairs = rewriter.createOrFold<arith::CeilDivUIOp>(loc, divideEvenly(rewriter, loc, rows, limit), two);
    Value even = rewriter.createOrFold<arith::MulIOp>(loc, pairs, two);
    Value all = arith::ConstantIndexOp::create(rewriter, loc, limit);
    return atMost(rewriter, loc, rewriter.createOrFold<arith::SelectOp>(loc, few, even, all), limit);
  }

  /// All loops but the last two by 1, the last but one by a block of rows.
  LogicalResult tileRows(RewriterBase &rewriter, linalg::LinalgOp root) {
    SmallVector<OpFoldResult> sizes(root.getNumLoops(), rewriter.getIndexAttr(1));
    sizes.back() = rewriter.getIndexAttr(0);
    sizes[sizes.size() - 2] = rewriter.getIndexAttr(rowBlock);
    return tileAndFuse(rewriter, root, sizes, scf::SCFTilingOptions::LoopType::ForallOp);
  }

  /// Folds slices of slices and of empty tensors and drops what fusion left behind.
  void cleanUp(Roots &roots) {
    RewritePatternSet patterns(&getContext());
    linalg::populateLinalgTilingCanonicalizationPatterns(patterns);
    tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
    tensor::populateFoldTensorEmptyPatterns(patterns);
    scf::ForallOp::getCanonicalizationPatterns(patterns, &getContext());
    // Blocks have no branches to simplify.
    auto config = GreedyRewriteConfig().setListener(&roots).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    (void)applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }
};
} // namespace
