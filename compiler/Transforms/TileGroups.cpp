//===- TileGroups.cpp - Tile and fuse the linalg ops of each kernel -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Expects linalg and `tile.grouped_product` on tensors, whose kernels are numbered by `tile.group`. Leaves one
// scf.forall per kernel. The loop of a projection runs over row blocks and weight panels, around an scf.for over
// register tiles; the loop of any other kernel runs over row blocks. Kernels whose last op has fewer than two parallel
// loops are not tiled.
//
//===----------------------------------------------------------------------===//

#include "compiler/Transforms/Passes.h"
#include "compiler/Transforms/PendingOps.h"
#include "compiler/Transforms/RowWise.h"
#include "compiler/Transforms/TileSizes.h"
#include "compiler/Transforms/Work.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/OpRemark.h"
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

static constexpr llvm::StringLiteral kTileGroupsName = "attune-tile-groups";

/// Returns the number of the kernel to which |op| belongs; nullopt if |op| is null or has no number.
static std::optional<int64_t> groupOf(Operation *op) { return op ? getGroupNumber(op) : std::nullopt; }

/// Returns the number of parallel loops of |op|.
static unsigned countParallelLoops(TilingInterface op) { return llvm::count(op.getLoopIteratorTypes(), utils::IteratorType::parallel); }

/// Returns true for the contraction of a projection: an operation on rows and weights with three loops, of which only
/// the last is a reduction.
static bool isContraction(linalg::LinalgOp op) {
  return op.getNumLoops() == 3 && op.getNumReductionLoops() == 1 && op.getIteratorTypesArray()[2] == utils::IteratorType::reduction &&
         op.getNumDpsInputs() >= 2 && isa<ShapedType>(op.getDpsInputs()[1].getType());
}

/// Returns true if |contraction| multiplies low-precision operands. Panels of bf16 or f16 that are widened for products
/// of f32 have rank 3, as panels of f32 do, and do not count.
static bool isLowPrecision(linalg::LinalgOp contraction) {
  auto panels = cast<ShapedType>(contraction.getDpsInputs()[1].getType());
  Type element = panels.getElementType();
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() < 32 && panels.getRank() != 3;
}

namespace {
/// The product of a projection: a linalg contraction, or a `tile.grouped_product` of rows, quantized or floats, and
/// weights that have a scale for each group of columns.
struct Product {
  Operation *op = nullptr;
  /// The number of columns of the result, and the number of products that are added for one element.
  int64_t columns = 0, depth = 0;
  /// |lowPrecision|: operands are of low precision (see isLowPrecision), or |op| is a `tile.grouped_product`.
  /// |grouped|: |op| is a `tile.grouped_product`. |quantizedRows|: it is one, and its rows are integers.
  bool lowPrecision = false, grouped = false, quantizedRows = false;

  explicit operator bool() const { return op != nullptr; }
};
} // namespace

/// Returns the product in the kernel of |root|; a Product without an operation if there is none.
static Product findProduct(Operation *root) {
  if (auto grouped = dyn_cast<tiles::GroupedProductOp>(root))
    return {root,
            cast<ShapedType>(grouped.getDestination().getType()).getDimSize(1),
            cast<ShapedType>(grouped.getRows().getType()).getDimSize(1),
            /*lowPrecision=*/true,
            /*grouped=*/true,
            grouped.hasQuantizedRows()};
  auto op = dyn_cast<linalg::LinalgOp>(root);
  if (!op)
    return {};
  if (isContraction(op))
    return {root, op.getStaticLoopRanges()[1], op.getStaticLoopRanges()[2], isLowPrecision(op), /*grouped=*/false};
  for (Value input : root->getOperands())
    if (Operation *producer = input.getDefiningOp(); groupOf(producer) && groupOf(producer) == groupOf(root))
      if (Product found = findProduct(producer))
        return found;
  return {};
}

/// Returns true if no user of |op|'s results belongs to the kernel of |op|.
static bool isRoot(Operation *op) {
  return llvm::none_of(op->getUsers(), [&](Operation *user) { return groupOf(op) && groupOf(user) == groupOf(op); });
}

/// Returns the number of arithmetic operations of |root| and of the producers in its kernel. A number that does not
/// follow from the dims counts as 0, with a remark.
static SizeExpr countGroup(Operation *root, DimBounds &bounds) {
  llvm::SetVector<Operation *> ops;
  ops.insert(root);
  SizeExpr total;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (std::optional<SizeExpr> flops = countFlops(ops[i], bounds))
      total = total + *flops;
    else
      xfmr::missed(root, kTileGroupsName, "CountWork")
          << remark::reason("the arithmetic of {0} does not follow from the dims and counts as 0", ops[i]->getName().getStringRef());
    for (Value input : ops[i]->getOperands())
      if (Operation *producer = input.getDefiningOp(); groupOf(producer) && groupOf(producer) == groupOf(root))
        ops.insert(producer);
  }
  return total;
}

/// Tiles |root| by |tileSizes| with loops of |type| and fuses the producers in its kernel; returns the tiled root. An
/// scf.forall gets `tile.kernel`, and `tile.work` if the kernel has arithmetic.
static FailureOr<TilingInterface> tileAndFuse(RewriterBase &rewriter, TilingInterface root, ArrayRef<OpFoldResult> tileSizes,
                                              scf::SCFTilingOptions::LoopType type) {
  scf::SCFTileAndFuseOptions options;
  options.tilingOptions.setTileSizes(tileSizes).setLoopType(type);
  std::optional<int64_t> group = groupOf(root);
  options.setFusionControlFn(
      [group](tensor::ExtractSliceOp slice, OpResult producer, bool) -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
        if (!group || groupOf(producer.getOwner()) != group || llvm::any_of(slice.getMixedSizes(), isZeroInteger))
          return std::nullopt;
        return scf::SCFTileAndFuseOptions::ControlFnResult{};
      });
  DimBounds bounds;
  bool isKernel = type == scf::SCFTilingOptions::LoopType::ForallOp, rowWise = isKernel && isRowWise(root);
  SizeExpr flops = isKernel ? countGroup(root, bounds) : SizeExpr(0);
  rewriter.setInsertionPoint(root);
  auto result = scf::tileConsumerAndFuseProducersUsingSCF(rewriter, root, options);
  if (failed(result))
    return failure();
  if (isKernel && xfmr::recordsRemarks(root)) {
    tiles::GroupAttr text = tiles::getGroup(root);
    xfmr::passed(root, kTileGroupsName, "FuseIntoKernel")
        << remark::metric(xfmr::kRemarkKernel, text ? text.getText() : root->getName().stripDialect())
        << remark::add("{0} operations are computed tile by tile in one loop nest{1}", result->tiledAndFusedOps.size(),
                       rowWise ? "; it computes each row from the same row of its operands" : "");
  }
  for (auto [from, to] : result->replacements)
    rewriter.replaceAllUsesWith(from, to);
  if (auto forall = result->loops.empty() ? scf::ForallOp() : dyn_cast<scf::ForallOp>(result->loops.front().getOperation())) {
    tiles::GroupAttr group = tiles::getGroup(root);
    StringRef text = group ? group.getText() : root->getName().stripDialect();
    forall->setAttr(tiles::kKernelAttr, tiles::KernelAttr::get(rewriter.getContext(), text, rowWise));
    if (flops.getConstant() != 0)
      setWork(forall, flops, std::nullopt);
  }
  return cast<TilingInterface>(result->tiledAndFusedOps.front());
}

/// Gives |operand|, the destination of an op, memory of its own if it is an empty or filled tensor with other users.
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

/// Merges the copies of producers that fusion made in |loop|, one for each user. Destinations are not merged: sharing
/// one would cost a copy.
static void mergeFused(RewriterBase &rewriter, scf::ForallOp loop) {
  DominanceInfo dominance(loop);
  eliminateCommonSubExpressions(rewriter, dominance, loop);
  SmallVector<DestinationStyleOpInterface> ops;
  loop.walk([&](DestinationStyleOpInterface op) {
    if (isa<linalg::LinalgOp, tiles::GroupedProductOp>(op.getOperation()))
      ops.push_back(op);
  });
  for (DestinationStyleOpInterface op : ops)
    for (OpOperand &destination : op.getDpsInitsMutable())
      unshare(rewriter, destination);
}

static DestinationStyleOpInterface destinationOf(TilingInterface op) { return cast<DestinationStyleOpInterface>(op.getOperation()); }

/// In a block of at most this many register tiles, all tiles have about the same number of rows.
static constexpr int64_t kFewTiles = 3;

namespace {
struct TileGroups : attune::impl::TileGroupsBase<TileGroups> {
  using TileGroupsBase::TileGroupsBase;

  void runOnOperation() override {
    if (failed(verifyOptions()))
      return signalPassFailure();
    PendingOps roots;
    WalkResult walk = getOperation().walk([&](TilingInterface op) -> WalkResult {
      auto loops = dyn_cast<linalg::LinalgOp>(op.getOperation());
      if (op->getParentOfType<scf::ForallOp>() || (!loops && !isa<tiles::GroupedProductOp>(op.getOperation())))
        return WalkResult::advance();
      // Upstream's fusion cannot tile a producer that has a loop without iterations.
      if (loops && llvm::is_contained(loops.getStaticLoopRanges(), 0))
        return op->emitError("expects no dimension of size 0");
      if (!isRoot(op))
        return WalkResult::advance();
      if (countParallelLoops(op) >= 2)
        roots.insert(op);
      else
        reportUntiled(op);
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    IRRewriter rewriter(&getContext());
    while (!roots.empty()) {
      auto root = cast<TilingInterface>(roots.takeFirst());
      // Upstream's tiling leaves a loop whole if its tile size is 0, which is the tile size that a dimension of size 0
      // would get.
      rewriter.setInsertionPoint(root);
      if (llvm::any_of(root.getIterationDomain(rewriter), [](const Range &range) { return isZeroInteger(range.size); })) {
        root->emitError("expects no dimension of size 0");
        return signalPassFailure();
      }
      if (failed(tile(rewriter, root))) {
        root->emitError("could not tile this operation");
        return signalPassFailure();
      }
      cleanUp(roots);
    }
    getOperation().walk([&](scf::ForallOp loop) { mergeFused(rewriter, loop); });
  }

private:
  /// Fails, with an error, unless the options are valid fields of a schedule.
  LogicalResult verifyOptions() {
    using rt::FieldRange;
    const rt::RangedValue fields[] = {{"register-rows", registerRows, FieldRange::TileRows},
                                      {"panel-width", panelWidth, FieldRange::MultipleOf16},
                                      {"block-bytes", blockBytes, FieldRange::Positive},
                                      {"max-block-rows", maxBlockRows, FieldRange::Positive},
                                      {"low-precision-rows", lowPrecisionRows, FieldRange::PowerOfTwo},
                                      {"grouped-rows", groupedRows, FieldRange::TileRows},
                                      {"stream-panels", streamPanels, FieldRange::Positive},
                                      {"few-rows", fewRows, FieldRange::NotNegative},
                                      {"few-columns", fewColumns, fewRows != 0 ? FieldRange::MultipleOf16 : FieldRange::NotNegative},
                                      {"wide-rows", wideRows, wideBlocks != 0 ? FieldRange::Positive : FieldRange::NotNegative},
                                      {"wide-columns", wideColumns, wideBlocks != 0 ? FieldRange::Positive : FieldRange::NotNegative},
                                      {"wide-blocks", wideBlocks, FieldRange::NotNegative},
                                      {"row-block", rowBlock, FieldRange::Positive}};
    auto emitError = [&] { return getOperation().emitError(); };
    if (failed(rt::verifyRanges(emitError, fields)))
      return failure();
    if (fewRows != 0 && panelWidth % fewColumns != 0)
      return emitError() << "expects 'few-columns' to divide 'panel-width', but got " << fewColumns.getValue() << " and "
                         << panelWidth.getValue();
    if (wideBlocks != 0 && wideColumns % panelWidth != 0)
      return emitError() << "expects 'wide-columns' to be a multiple of 'panel-width', but got " << wideColumns.getValue() << " and "
                         << panelWidth.getValue();
    return success();
  }

  LogicalResult tile(RewriterBase &rewriter, TilingInterface root) {
    Product product = findProduct(root);
    if (!product)
      return tileRows(rewriter, cast<linalg::LinalgOp>(root.getOperation()));
    bool lowPrecision = product.lowPrecision;
    bool fillsRegisters = product.grouped ? !product.quantizedRows : !lowPrecision;
    bool canWiden = lowPrecision && wideBlocks != 0;
    int64_t tileRows = canWiden ? lowPrecisionRows : fillsRegisters ? registerRows : product.grouped ? groupedRows : lowPrecisionRows;
    int64_t blockRows = std::max<int64_t>(tileRows, blockBytes / 4 / std::max<int64_t>(1, product.depth) / tileRows * tileRows);
    OpFoldResult rows = getBlockRows(rewriter, root, std::min<int64_t>(blockRows, maxBlockRows), tileRows);
    OpFoldResult columns = lowPrecision && fewRows == 0 ? rewriter.getIndexAttr(panelWidth) : getBlockColumns(rewriter, root, product);
    if (canWiden)
      std::tie(rows, columns) = widen(rewriter, root, product, rows, columns);
    reportSizes(root, product, std::min<int64_t>(blockRows, maxBlockRows), tileRows);
    auto block = tileAndFuse(rewriter, root, {rows, columns}, scf::SCFTilingOptions::LoopType::ForallOp);
    if (failed(block))
      return failure();
    bool even = (product.grouped && !canWiden) || !lowPrecision || evenLowPrecisionTiles;
    OpFoldResult tile = even ? getTileRows(rewriter, *block, tileRows) : rewriter.getIndexAttr(tileRows);
    return tileAndFuse(rewriter, *block, {tile, rewriter.getIndexAttr(0)}, scf::SCFTilingOptions::LoopType::ForOp);
  }

  /// Reports that |root| stays as it is, if it has a `tile.group`, which describes the kernel.
  void reportUntiled(TilingInterface root) {
    if (tiles::GroupAttr group = tiles::getGroup(root))
      xfmr::missed(root, kTileGroupsName, "ParallelLoops")
          << remark::metric(xfmr::kRemarkKernel, group.getText())
          << remark::reason("{0} parallel loops, but a kernel needs two: the operation becomes serial loops", countParallelLoops(root));
  }

  /// Reports the tile sizes of |product|, whose blocks have up to |blockRows| rows.
  void reportSizes(TilingInterface root, const Product &product, int64_t blockRows, int64_t tileRows) {
    tiles::GroupAttr group = tiles::getGroup(root);
    StringRef text = group ? group.getText() : root->getName().stripDialect();
    xfmr::passed(root, kTileGroupsName, "TileProduct")
        << remark::metric(xfmr::kRemarkKernel, text)
        << remark::add("register tiles of {0} rows and {1} columns, blocks of up to {2} rows; sums of {3} products", tileRows,
                       panelWidth.getValue(), blockRows, product.depth);
    if (product.columns % panelWidth != 0)
      xfmr::missed(root, kTileGroupsName, "WholePanels")
          << remark::metric(xfmr::kRemarkKernel, text)
          << remark::reason("{0} columns are not a multiple of the panel width {1}: the last panel is padded by zeros", product.columns,
                            panelWidth.getValue());
    if (!product.lowPrecision && fewRows == 0 && product.columns > panelWidth && streamPanels > 1)
      xfmr::passed(root, kTileGroupsName, "StreamPanels")
          << remark::metric(xfmr::kRemarkKernel, text)
          << remark::add("a single row reads {0} panels side by side", streamPanels.getValue());
  }

  /// Returns the rows of a block: a multiple of |tileRows|, or |limit| if |limit| is smaller. Blocks have about the
  /// same size: each block reads the weights once, and a small last block would read them for a few rows.
  OpFoldResult getBlockRows(RewriterBase &rewriter, TilingInterface op, int64_t limit, int64_t tileRows) {
    Location loc = op.getLoc();
    Value even = divideEvenly(rewriter, loc, countRows(rewriter, destinationOf(op)), limit);
    AffineExpr whole = rewriter.getAffineDimExpr(0).ceilDiv(tileRows) * tileRows;
    OpFoldResult rounded = affine::makeComposedFoldedAffineApply(rewriter, loc, AffineMap::get(1, 0, whole), {getAsOpFoldResult(even)});
    return atMost(rewriter, loc, getValueOrCreateConstantIndexOp(rewriter, loc, rounded), limit);
  }

  /// Returns the columns of a block: one weight panel, since the smallest blocks divide best among workers. The time
  /// for a single row is that of reading the weights, and a core reads more bytes per second from several streams than
  /// from one, so a block of one row has several panels side by side. With `fewRows`, a product of up to `fewRows` rows
  /// has blocks of `fewColumns` columns instead. Also marks a product of whole panels (`tile.whole_panels`).
  OpFoldResult getBlockColumns(RewriterBase &rewriter, TilingInterface op, const Product &product) {
    int64_t columns = product.columns;
    if (!product.grouped && columns % panelWidth == 0)
      product.op->setAttr(tiles::kWholePanelsAttr, rewriter.getUnitAttr());
    if (fewRows != 0)
      return chooseByRows(rewriter, destinationOf(op), fewRows, fewColumns, panelWidth);
    if (columns <= panelWidth || streamPanels <= 1)
      return rewriter.getIndexAttr(panelWidth);
    return chooseByRows(rewriter, destinationOf(op), 1, streamPanels * panelWidth, panelWidth);
  }

  /// Returns the rows and columns of wide blocks if the result has more than one panel of columns, more than half of
  /// the rows of a wide block, and at least |wideBlocks| wide blocks; else |rows| and |columns|.
  std::pair<OpFoldResult, OpFoldResult> widen(RewriterBase &rewriter, TilingInterface op, const Product &product, OpFoldResult rows,
                                              OpFoldResult columns) {
    Location loc = op.getLoc();
    int64_t allColumns = product.columns;
    if (allColumns <= panelWidth)
      return {rows, columns};
    int64_t beside = llvm::divideCeil(allColumns, wideColumns.getValue());
    // With more than |least| rows there are |wideBlocks| wide blocks or more; those of the last rows may be partial.
    // |least| is at least half of the rows of a wide block, since otherwise most of the block would be idle.
    int64_t least = std::max<int64_t>(wideRows / 2, (llvm::divideCeil(wideBlocks.getValue(), beside) - 1) * wideRows);
    Value limit = arith::ConstantIndexOp::create(rewriter, loc, least);
    Value isWide = rewriter.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ugt, countRows(rewriter, destinationOf(op)), limit);
    auto choose = [&](int64_t some, OpFoldResult others) {
      Value size = arith::SelectOp::create(rewriter, loc, isWide, arith::ConstantIndexOp::create(rewriter, loc, some),
                                           getValueOrCreateConstantIndexOp(rewriter, loc, others));
      return atMost(rewriter, loc, size, some);
    };
    return {choose(wideRows, rows), choose(wideColumns, columns)};
  }

  /// Returns the rows of a register tile, at most |limit|. If a block has few tiles, they have about the same number of
  /// rows, since each tile waits for the weights once, however many rows it has. The result is even unless it is
  /// |limit|, since attune-vectorize-tiles emits loops for even numbers of rows, for one and for the largest.
  OpFoldResult getTileRows(RewriterBase &rewriter, TilingInterface op, int64_t limit) {
    Location loc = op.getLoc();
    Value rows = countRows(rewriter, destinationOf(op));
    Value most = arith::ConstantIndexOp::create(rewriter, loc, kFewTiles * limit);
    Value few = rewriter.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, rows, most);
    Value two = arith::ConstantIndexOp::create(rewriter, loc, 2);
    Value pairs = rewriter.createOrFold<arith::CeilDivUIOp>(loc, divideEvenly(rewriter, loc, rows, limit), two);
    Value even = rewriter.createOrFold<arith::MulIOp>(loc, pairs, two);
    Value all = arith::ConstantIndexOp::create(rewriter, loc, limit);
    return atMost(rewriter, loc, rewriter.createOrFold<arith::SelectOp>(loc, few, even, all), limit);
  }

  /// Tiles |root|, the root of a kernel without a product: the last loop but one by blocks of |rowBlock| rows, the
  /// loops before it by 1. The last loop stays whole.
  LogicalResult tileRows(RewriterBase &rewriter, linalg::LinalgOp root) {
    SmallVector<OpFoldResult> sizes(root.getNumLoops(), rewriter.getIndexAttr(1));
    sizes.back() = rewriter.getIndexAttr(0);
    sizes[sizes.size() - 2] = rewriter.getIndexAttr(rowBlock);
    return tileAndFuse(rewriter, cast<TilingInterface>(root.getOperation()), sizes, scf::SCFTilingOptions::LoopType::ForallOp);
  }

  /// Folds slices of slices and of empty tensors, and erases operations that fusion left without users, also from
  /// |roots|.
  void cleanUp(PendingOps &roots) {
    RewritePatternSet patterns(&getContext());
    linalg::populateLinalgTilingCanonicalizationPatterns(patterns);
    tensor::populateMergeConsecutiveInsertExtractSlicePatterns(patterns);
    tensor::populateFoldTensorEmptyPatterns(patterns);
    scf::ForallOp::getCanonicalizationPatterns(patterns, &getContext());
    // The IR has no branches between blocks, so there is no control flow to simplify.
    auto config = GreedyRewriteConfig().setListener(&roots).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    (void)applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }
};
} // namespace
