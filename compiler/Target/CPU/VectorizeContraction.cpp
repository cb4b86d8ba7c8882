//===- VectorizeContraction.cpp - Projection tiles in registers ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// `C[m, n] = epilogue(sum_k A[m, k] * B[k, n])` for one packed weight panel B and a few rows. The operands of every
// product should be in registers or the L1 cache, but with few rows the code waits for weights from memory. So the sums
// of a register tile stay in registers for all of K, each weight is loaded once for all rows of the tile, and the next
// panel is prefetched meanwhile.
//
//                              panel p, [K, 32]: 2 vectors a step
//                              | b0  | b1  |                     panel p + 1: a share of it is prefetched
//   A, 12 rows   a0[k] ------> | s00 | s01 |                     per iteration (PanelPrefetch.cpp)
//                a1[k] ------> | s10 | s11 |
//                 ..              ..  ..                         24 accumulators + 2 vectors of B + broadcasts of A <= 32
//                a11[k] -----> | s   | s   |                     registers; s += broadcast(a) * b
//                                  |
//                              epilogue in registers: bias, activation, residual -> C
//
// Variants. A whole tile has one k loop, with four steps of k per iteration, for each variant of the prefetch
// (PanelPrefetch). A partial tile has a loop for one row, for each even number of rows and for the largest number; for
// any other number of rows the next loop computes the last row twice. A single row of two to eight panels reads them
// side by side, since several streams get more memory bandwidth than one. Tiling usually leaves one group of rows and
// one panel; larger operands get loops over both.
//
// Weights of bf16 or f16 are widened to f32 when they are loaded, so sums are those of f32 products with rounded
// weights.
//
// Invariants. Sums are fused multiply-adds in the order of k, so neither the variant nor the number of rows changes a
// bit. Columns beyond the matrix are zeros in the panel: they are read and multiplied, but not stored.
//
// Cost. Twelve rows and 32 columns read 14 operands a step (12 broadcasts, 2 vectors) for 24 multiply-adds of vectors.
// The epilogue of a tile of one row works on registers. So does the epilogue of a whole tile, if it is short: if it has
// no functions such as erf. Any other epilogue is a loop over the rows after the k loop, which reads the sums from a
// buffer. Several k loops share such an epilogue, which is less code than an epilogue for each. If the epilogue has
// functions, all k loops of several rows share one. Else the k loops for the only row tile of a block share one, and
// those for the partial last row tile of a larger block share another.
//
// Tried and rejected: loops without masks for whole panels if the last panel is partial (twice the code, no measurable
// gain); a loop for every odd number of rows (twice the code, and the repeated row costs little while the loop waits
// for memory).
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/LaneBody.h"
#include "compiler/Target/CPU/PanelPrefetch.h"
#include "compiler/Target/CPU/VectorizeTiles.h"
#include "compiler/Transforms/CacheElements.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace attune;

/// Steps of k per iteration of the k loop of a whole tile.
static constexpr int64_t kUnroll = 4;
/// The most panels read side by side. With AVX2 and panels of 16 columns, the accumulators of eight fill the registers.
static constexpr int64_t kMostSideBySide = 8;
/// Weights of a panel (columns times steps) per iteration of the k loop of a partial tile: two cache lines of f32. It
/// is less than for whole tiles, since there are many loops for partial tiles.
static constexpr int64_t kColumnsPartial = 32;

/// Returns true if |op| is of the math dialect and not fma: most of these, like erf, become dozens of instructions.
static bool isFunction(Operation &op) { return isa<math::MathDialect>(op.getDialect()) && !isa<math::FmaOp>(op); }

namespace {
/// Emits one tile. Tiling usually leaves at most one group of rows and one panel; larger tiles get loops over both.
class RegisterTile {
public:
  RegisterTile(VectorBuilder &builder, ContractionTile tile, int64_t rows, int64_t width, PrefetchPlan plan)
      : builder(builder), a(tile.contraction.getDpsInputs()[0]), b(tile.contraction.getDpsInputs()[1]),
        output((tile.epilogue ? tile.epilogue : tile.contraction).getDpsInits()[0]), rows(rows), width(width),
        wholePanels(tile.contraction->hasAttr(tiles::kWholePanelsAttr)), prefetch(builder, plan, tile.contraction, b, kUnroll) {
    sum = tile.contraction.getDpsInits()[0];
    if (!tile.epilogue)
      return;
    body.emplace(builder, tile.epilogue);
    hasFunctions = llvm::any_of(tile.epilogue.getBlock()->without_terminator(), isFunction);
    for (OpOperand *operand : tile.epilogue.getDpsInputOperands())
      if (operand->get() == tile.contraction.getDpsInits()[0])
        accumulatorOperand = operand->getOperandNumber();
  }

  void emit() {
    Value columns = builder.size(output, 1), zero = builder.index(0);
    depth = builder.size(a, 1);
    std::optional<int64_t> most = getBound(1);
    if (most && *most <= width)
      return emitPanel(zero, zero, columns);
    auto panelByPanel = [&] {
      builder.loop(zero, columns, width, [&](Value first) { emitPanel(builder.div(first, width), first, builder.sub(columns, first)); });
    };
    int64_t panels = most ? llvm::divideCeil(*most, width) : 0;
    if (panels < 2 || panels > kMostSideBySide)
      return panelByPanel();
    Value oneRow = compare(arith::CmpIPredicate::eq, builder.size(output, 0), 1);
    Value all = compare(arith::CmpIPredicate::ugt, columns, (panels - 1) * width);
    choose(builder.both(oneRow, all), [&] { emitSideBySide(panels, columns); }, panelByPanel);
  }

private:
  /// Returns a constant upper bound of dimension |dim| of the output, if there is one.
  std::optional<int64_t> getBound(int64_t dim) {
    FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(presburger::BoundType::UB, {output, dim},
                                                                              /*stopCondition=*/nullptr, /*closedUB=*/true);
    return succeeded(bound) ? std::optional<int64_t>(*bound) : std::nullopt;
  }

  /// Emits the only row of the output for all |panels| panels, which are read side by side: several streams get more
  /// memory bandwidth than one.
  void emitSideBySide(int64_t panels, Value columns) {
    int64_t perPanel = width / VectorBuilder::kLanes, vectors = panels * perPanel;
    Value zero = builder.index(0);
    SmallVector<Value> initial(vectors, builder.splat(0.0));
    auto loadA = [&](int64_t, Value k) { return builder.loadScalar(a, {zero, k}); };
    auto loadB = [&](int64_t chunk, Value k) {
      Value panel = builder.index(chunk / perPanel);
      if (prefetch.isActive() && chunk % perPanel == 0)
        prefetch.emitSideBySide(panel, k, panels);
      return widen(builder, builder.load(b, {panel, k, builder.index(chunk % perPanel * VectorBuilder::kLanes)}));
    };
    VectorBuilder::Values sums = builder.multiply(zero, depth, 1, vectors, 1, initial, loadA, loadB);
    emitEpilogue({zero, zero, columns, wholePanels}, zero, sums);
  }

  /// Emits the columns of panel |panel|. They begin at |first| in the output; their number is the smaller of |columns|
  /// and |width|.
  void emitPanel(Value panel, Value first, Value columns) {
    // Masks have no measurable cost in a whole panel, and loops without masks would double the code.
    auto known = getConstantIntValue(columns);
    emitRows(panel, first, columns, wholePanels || (known && *known >= width));
  }

  void emitRows(Value panel, Value first, Value columns, bool full) {
    Value count = builder.size(output, 0), zero = builder.index(0);
    Panel where{panel, first, columns, full};
    std::optional<int64_t> most = getBound(0);
    if (most && *most <= rows)
      return emitTile(where, zero, count);
    builder.loop(zero, count, rows,
                 [&](Value start) { emitTile(where, start, builder.min(builder.sub(count, start), builder.index(rows))); });
  }

  /// A weight panel: its index, the first column of the output that it computes, and the number of columns of the
  /// output from that one on. |full| is true if these are known to be at least as many as the panel has.
  struct Panel {
    Value index, first, columns;
    bool full;
  };
  using Prefetch = std::optional<PanelPrefetch::Variant>;

  /// Emits the products and epilogues of the |count| rows from |base| on, at most |rows|.
  void emitTile(const Panel &where, Value base, Value count) {
    emitProducts(where, base, count);
    if (hasFunctions)
      finishSeveral(where, base, count);
  }

  /// Emits the products of the |count| rows from |base| on and, unless there are several rows and the epilogue has
  /// functions, their epilogues.
  void emitProducts(const Panel &where, Value base, Value count) {
    if (!prefetch.isActive())
      return emitAny(where, base, count, rows, std::nullopt);
    SmallVector<PanelPrefetch::Variant> variants = prefetch.getVariants();
    Value alone = compare(arith::CmpIPredicate::ule, prefetch.getTiles(), 1);
    choose(
        alone, [&] { emitAny(where, base, count, rows, variants[0]); },
        [&] {
          // Whole tiles have a loop per variant; the partial tile at the end of a block has the loops of one variant.
          choose(
              compare(arith::CmpIPredicate::eq, count, rows), [&] { emitVariants(where, base, ArrayRef(variants).drop_front()); },
              [&] { emitAny(where, base, count, rows - 1, variants[1]); });
        });
  }

  /// Emits a whole tile once per variant of |variants|; the number of row tiles chooses one at run time.
  void emitVariants(const Panel &where, Value base, ArrayRef<PanelPrefetch::Variant> variants) {
    if (variants.size() == 1)
      return emitGroup(where, base, rows, variants[0]);
    choose(
        compare(arith::CmpIPredicate::ule, prefetch.getTiles(), variants[0].maxTiles), [&] { emitGroup(where, base, rows, variants[0]); },
        [&] { emitVariants(where, base, variants.drop_front()); });
  }

  /// Emits the products of the |count| rows from |base| on, at most |most|, and their epilogues unless the epilogue has
  /// functions and there are several rows. If |count| is a run-time value that is odd, above one and below |most|, the
  /// last row is computed twice.
  void emitAny(const Panel &where, Value base, Value count, int64_t most, Prefetch variant) {
    builder.forEvenRows(count, most, [&](int64_t rows, Value existing) { emitGroup(where, base, rows, variant, existing); });
    std::optional<int64_t> known = getConstantIntValue(count);
    if (body && !hasFunctions && !(known && finishesAtOnce(*known, *known == rows)))
      finishSeveral(where, base, count);
  }

  /// Returns true if the epilogue of |count| rows takes the sums from registers; else finishSeveral takes them from the
  /// buffer. |whole| is true if the rows are known to be a whole tile. A single row does not go through the buffer:
  /// some CPUs would wait for its sums at each panel.
  bool finishesAtOnce(int64_t count, bool whole) const { return count == 1 || (whole && !hasFunctions); }

  /// Emits |count| rows from |base| on of one panel: the product in registers, then the epilogue, or stores of the sums
  /// for finishSeveral. If only |existing| rows exist, |count| or |count| - 1, the last existing row stands in for the
  /// missing one.
  void emitGroup(const Panel &where, Value base, int64_t count, Prefetch variant, Value existing = Value()) {
    bool whole = count == rows && !existing;
    int64_t vectors = width / VectorBuilder::kLanes, steps = 0;
    int64_t unroll = whole ? kUnroll : std::max<int64_t>(1, kColumnsPartial / width);
    SmallVector<Value> indices, initial(count * vectors, builder.splat(0.0));
    for (int64_t row = 0; row < count; ++row)
      indices.push_back(builder.add(base, row));
    if (existing)
      indices.back() = builder.add(base, builder.sub(existing, builder.index(1)));
    if (whole && body)
      for (Value row : indices)
        for (int64_t chunk = 0; chunk < vectors; ++chunk)
          body->prefetch({{row}, builder.add(where.first, chunk * VectorBuilder::kLanes)}, accumulatorOperand);
    auto loadA = [&](int64_t row, Value k) { return builder.loadScalar(a, {indices[row], k}); };
    auto loadB = [&](int64_t chunk, Value k) {
      if (variant && chunk == 0 && steps++ % unroll == 0)
        prefetch.emit(*variant, where.index, k, unroll);
      return widen(builder, builder.load(b, {where.index, k, builder.index(chunk * VectorBuilder::kLanes)}));
    };
    VectorBuilder::Values sums = builder.multiply(builder.index(0), depth, count, vectors, unroll, initial, loadA, loadB);
    bool atOnce = finishesAtOnce(count, whole);
    for (int64_t row = 0; row < count; ++row) {
      ArrayRef<Value> ofRow = ArrayRef(sums).slice(row * vectors, vectors);
      atOnce ? emitEpilogue(where, indices[row], ofRow) : storeSums(where, indices[row], ofRow);
    }
  }

  /// Emits the epilogue of the |count| rows from |base| on, whose sums are in the buffer. Does nothing if |count| is 1.
  void finishSeveral(const Panel &where, Value base, Value count) {
    std::optional<int64_t> known = getConstantIntValue(count);
    if (known && *known <= 1)
      return;
    if (!known)
      count = builder.select(compare(arith::CmpIPredicate::ugt, count, 1), count, builder.index(0));
    builder.loop(base, builder.add(base, count), 1, [&](Value row) {
      VectorBuilder::Values sums;
      for (int64_t chunk = 0; chunk < width / VectorBuilder::kLanes; ++chunk)
        sums.push_back(builder.load(sum, {row, builder.add(where.first, chunk * VectorBuilder::kLanes)}, lanesOf(where, chunk)));
      emitEpilogue(where, row, sums);
    });
  }

  /// Returns the lanes of vector |chunk| of the panel that are columns of the output.
  Lanes lanesOf(const Panel &where, int64_t chunk) {
    return where.full ? Lanes::all() : Lanes::first(builder.sub(where.columns, builder.index(chunk * VectorBuilder::kLanes)));
  }

  /// Stores |sums|, the sums of one row, to the buffer of the contraction.
  void storeSums(const Panel &where, Value row, ArrayRef<Value> sums) {
    for (auto [chunk, value] : llvm::enumerate(sums))
      builder.store(value, sum, {row, builder.add(where.first, chunk * VectorBuilder::kLanes)}, lanesOf(where, chunk));
  }

  /// Evaluates the epilogue of |sums|, the sums of one row, and stores the result to the output. Without an epilogue the
  /// sums are the result.
  void emitEpilogue(const Panel &where, Value row, ArrayRef<Value> sums) {
    if (!body)
      return storeSums(where, row, sums);
    body->prepare({row});
    for (auto [chunk, value] : llvm::enumerate(sums)) {
      LanePoint point{{row}, builder.add(where.first, chunk * VectorBuilder::kLanes), lanesOf(where, chunk)};
      body->store(body->evaluate(point, llvm::DenseMap<unsigned, Value>{{accumulatorOperand, value}}), point);
    }
  }

  Value compare(arith::CmpIPredicate predicate, Value a, int64_t b) { return builder.compare(predicate, a, builder.index(b)); }
  /// Emits only the side that is taken if |condition| is a constant, else both.
  void choose(Value condition, llvm::function_ref<void()> yes, llvm::function_ref<void()> no) {
    if (auto known = getConstantIntValue(condition))
      return *known ? yes() : no();
    builder.choose(
        condition, [&]() -> VectorBuilder::Values { return yes(), VectorBuilder::Values(); },
        [&]() -> VectorBuilder::Values { return no(), VectorBuilder::Values(); });
  }

  VectorBuilder &builder;
  Value a, b, sum, output, depth;
  int64_t rows, width;
  bool wholePanels;
  PanelPrefetch prefetch;
  std::optional<LaneBody> body;
  unsigned accumulatorOperand = 0;
  /// True if the epilogue has an operation for which isFunction holds.
  bool hasFunctions = false;
};
} // namespace

const char *attune::vectorizeContraction(VectorBuilder &builder, ContractionTile tile, int64_t rows, PrefetchPlan plan) {
  linalg::LinalgOp op = tile.contraction;
  Value a = op.getDpsInputs()[0], b = op.getDpsInputs()[1];
  auto aType = cast<MemRefType>(a.getType()), bType = cast<MemRefType>(b.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (aType.getRank() != 2 || bType.getRank() != 3 || failed(bType.getStridesAndOffset(strides, offset)))
    return "its operands are not a row block and a weight panel";
  // The panel's width is the stride of its rows; columns beyond the matrix are zeros, which are read, but not stored.
  int64_t width = strides[1];
  if (ShapedType::isDynamic(width) || width % VectorBuilder::kLanes != 0)
    return "its panel width is not a known multiple of 16";
  if (strides[2] != 1 || !aType.isLastDimUnitStride())
    return "the rows of an operand are not contiguous";
  AffineExpr column = builder.getAffineDimExpr(1);
  AffineMap panelMap = op.getMatchingIndexingMap(op.getDpsInputOperand(1));
  if (panelMap.getResult(0) != column.floorDiv(width) || panelMap.getResult(2) != column % width)
    return "its panels are not as wide as their rows are apart";
  linalg::LinalgOp last = tile.epilogue ? tile.epilogue : op;
  Value output = last.getDpsInits()[0];
  if (!cast<MemRefType>(output.getType()).isLastDimUnitStride())
    return "its output rows are not contiguous";
  RegisterTile(builder, tile, rows, width, plan).emit();
  return nullptr;
}
