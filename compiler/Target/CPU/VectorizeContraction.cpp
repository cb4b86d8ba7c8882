//===- VectorizeContraction.cpp - Projection tiles in registers ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// `C[m, n] = epilogue(sum_k A[m, k] * B[k, n])` for one weight panel B and a few rows: one vector accumulator per row and 16 columns, carried through the k
// loop, which reads A by scalar broadcasts and B once; the epilogue works on the accumulators.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/LaneBody.h"
#include "compiler/Target/CPU/VectorizeTiles.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace attune;

/// Whether |op|'s body is `accumulator + a * b`.
static bool isMultiplyAdd(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  auto add = body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  auto multiply = add ? add.getRhs().getDefiningOp<arith::MulFOp>() : arith::MulFOp();
  return multiply && add.getLhs() == body->getArgument(2) && multiply.getLhs() == body->getArgument(0) && multiply.getRhs() == body->getArgument(1);
}

/// Whether |op| maps `C[m, n] += A[m, k] * B[.., k, ..]` in this order of loops.
static bool hasContractionMaps(linalg::LinalgOp op) {
  AffineExpr m, n, k;
  bindDims(op.getContext(), m, n, k);
  auto map = [&](AffineExpr row, AffineExpr column) { return AffineMap::get(3, 0, {row, column}, op.getContext()); };
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return maps[0] == map(m, k) && maps[2] == map(m, n) && maps[1].getNumResults() == 3 && maps[1].getResult(1) == k;
}

/// Whether |epilogue| can work on the elements of |sum| in registers, as the only reader after |op|.
static bool isEpilogue(linalg::LinalgOp epilogue, linalg::LinalgOp op, Value sum) {
  if (epilogue.getNumLoops() != 2 || epilogue.getNumParallelLoops() != 2 || epilogue.getNumDpsInits() != 1 || epilogue.getDpsInits()[0] == sum ||
      llvm::count(epilogue->getOperands(), sum) != 1)
    return false;
  for (OpOperand &operand : epilogue->getOpOperands())
    if ((operand.get() == sum || epilogue.isDpsInit(&operand)) && !epilogue.getMatchingIndexingMap(&operand).isIdentity())
      return false;
  // The product moves down to the epilogue: nothing between them may touch memory.
  for (Operation *between = op->getNextNode(); between != epilogue; between = between->getNextNode())
    if (!isMemoryEffectFree(between))
      return false;
  OpBuilder builder(epilogue);
  VectorEmitter emitter(builder, epilogue.getLoc());
  return !LaneBody(emitter, epilogue).check();
}

std::optional<ContractionTile> attune::matchContraction(linalg::LinalgOp op) {
  if (op.getNumLoops() != 3 || op.getNumReductionLoops() != 1 || op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || !isMultiplyAdd(op) || !hasContractionMaps(op))
    return std::nullopt;
  Value sum = op.getDpsInits()[0];
  ContractionTile tile{op, nullptr, nullptr};
  SmallVector<Operation *> before, after;
  for (Operation *user : sum.getUsers()) {
    Operation *here = op->getBlock()->findAncestorOpInBlock(*user);
    if (user == op || isa<memref::DimOp>(user))
      continue;
    (here && here->isBeforeInBlock(op) ? before : after).push_back(here == user ? user : nullptr);
    auto fill = here == user ? dyn_cast<linalg::FillOp>(user) : linalg::FillOp();
    if (fill && user->isBeforeInBlock(op) && fill.getDpsInits()[0] == sum)
      tile.fill = fill;
  }
  // What was written before a fill of zeros is lost, and between the two stands nothing else.
  if (!tile.fill || before.size() != 1 || !matchPattern(tile.fill.getDpsInputs()[0], m_AnyZeroFloat()))
    return std::nullopt;
  if (auto epilogue = after.size() == 1 ? dyn_cast_or_null<linalg::LinalgOp>(after[0]) : linalg::LinalgOp(); epilogue && isEpilogue(epilogue, op, sum))
    tile.epilogue = epilogue;
  return tile;
}

/// Steps of the k loop per iteration.
static constexpr int64_t kUnroll = 4;

namespace {
/// Brings the next weight panel into the L2 cache while the current one is used: panels follow each other in memory and are read from DRAM in a model with
/// many layers. Every iteration of the k loop touches one cache line; the row tiles of a block share the panel among them.
class NextPanelPrefetch {
public:
  NextPanelPrefetch(VectorEmitter &emitter, linalg::LinalgOp op, Value panel, int64_t rows) : emitter(emitter), panel(panel) {
    auto type = cast<MemRefType>(panel.getType());
    auto loop = op->getParentOfType<scf::ForOp>();
    if (!loop || type.isDynamicDim(1))
      return;
    depth = type.getDimSize(1);
    width = type.getStridesAndOffset().first[1];
    // A k loop touches depth / kUnroll of the panel's lines; that many tiles touch all of them.
    int64_t lines = depth * width / kLine, perTile = std::max<int64_t>(1, depth / kUnroll);
    int64_t tiles = std::max<int64_t>(1, (lines + perTile - 1) / perTile);
    Value tile = emitter.remainder(emitter.floorDiv(loop.getInductionVar(), rows), tiles);
    first = emitter.mul(tile, perTile * kLine / width);
  }

  /// Emits the prefetch for the iteration that begins at |k|.
  void emit(Value k) {
    if (!first)
      return;
    OpBuilder &builder = emitter.getBuilder();
    // Iteration k / kUnroll touches line k / kUnroll of the tile's share, which is width / kLine lines per row.
    Value line = emitter.floorDiv(k, kUnroll);
    Value row = emitter.add(first, emitter.floorDiv(line, width / kLine));
    Value column = emitter.mul(emitter.remainder(line, width / kLine), kLine);
    memref::PrefetchOp::create(builder, emitter.getLoc(), panel, ValueRange{emitter.index(1), row, column}, /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
  }

private:
  /// f32 elements of a cache line.
  static constexpr int64_t kLine = 16;
  VectorEmitter &emitter;
  Value panel, first;
  int64_t depth = 0, width = 0;
};

/// Emits one tile. What tiling gives is at most one group of rows and one panel; larger tiles get loops around that.
class RegisterTile {
public:
  RegisterTile(VectorEmitter &emitter, ContractionTile tile, int64_t rows, int64_t width)
      : emitter(emitter), a(tile.contraction.getDpsInputs()[0]), b(tile.contraction.getDpsInputs()[1]),
        output((tile.epilogue ? tile.epilogue : tile.contraction).getDpsInits()[0]), rows(rows), width(width),
        prefetch(emitter, tile.contraction, b, rows) {
    if (!tile.epilogue)
      return;
    body.emplace(emitter, tile.epilogue);
    for (OpOperand *operand : tile.epilogue.getDpsInputOperands())
      if (operand->get() == tile.contraction.getDpsInits()[0])
        accumulatorOperand = operand->getOperandNumber();
  }

  void emit() {
    Value columns = emitter.size(output, 1), zero = emitter.index(0);
    depth = emitter.size(a, 1);
    if (isAtMost(1, width))
      return emitPanel(zero, zero, columns);
    emitter.forLoop(zero, columns, width, {}, [&](Value first, ValueRange) -> VectorEmitter::Values {
      emitPanel(emitter.floorDiv(first, width), first, emitter.sub(columns, first));
      return {};
    });
  }

private:
  /// Whether dimension |dim| of the output is known to be at most |limit|.
  bool isAtMost(int64_t dim, int64_t limit) {
    FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(presburger::BoundType::UB, {output, dim}, /*stopCondition=*/nullptr, /*closedUB=*/true);
    return succeeded(bound) && *bound <= limit;
  }

  /// The columns from |first| on, |columns| or |width| of them, from panel |panel|.
  void emitPanel(Value panel, Value first, Value columns) {
    if (auto known = getConstantIntValue(columns); known && *known <= width)
      return emitRows(panel, first, columns, *known == width);
    Value full = arith::CmpIOp::create(emitter.getBuilder(), emitter.getLoc(), arith::CmpIPredicate::sge, columns, emitter.index(width));
    emitter.choose(
        full, [&]() -> VectorEmitter::Values { return emitRows(panel, first, columns, true), VectorEmitter::Values(); },
        [&]() -> VectorEmitter::Values { return emitRows(panel, first, columns, false), VectorEmitter::Values(); });
  }

  void emitRows(Value panel, Value first, Value columns, bool full) {
    Value count = emitter.size(output, 0), zero = emitter.index(0);
    auto group = [&](Value base, int64_t count) { emitGroup(panel, first, columns, full, base, count); };
    if (getConstantIntValue(count) || isAtMost(0, rows))
      return emitter.forRows(count, rows, group);
    emitter.forLoop(zero, count, rows, {}, [&](Value start, ValueRange) -> VectorEmitter::Values {
      Value rest = emitter.min(emitter.sub(count, start), emitter.index(rows));
      emitter.forRows(rest, rows, [&](Value base, int64_t count) { group(emitter.add(start, base), count); });
      return {};
    });
  }

  /// |count| rows from |base| on of one panel: the product in registers, then the epilogue.
  void emitGroup(Value panel, Value first, Value columns, bool full, Value base, int64_t count) {
    int64_t vectors = width / VectorEmitter::kLanes, steps = 0;
    SmallVector<Value> indices, initial(count * vectors, emitter.splat(0.0));
    for (int64_t row = 0; row < count; ++row)
      indices.push_back(emitter.add(base, row));
    auto loadA = [&](int64_t row, Value k) { return emitter.loadScalar(a, {indices[row], k}); };
    auto loadB = [&](int64_t chunk, Value k) {
      if (chunk == 0 && steps++ % kUnroll == 0 && count == rows)
        prefetch.emit(k);
      return emitter.load(b, {panel, k, emitter.index(chunk * VectorEmitter::kLanes)});
    };
    VectorEmitter::Values sums = emitter.multiply(emitter.index(0), depth, count, vectors, kUnroll, initial, loadA, loadB);
    for (int64_t row = 0; row < count; ++row) {
      if (body)
        body->prepare({indices[row]});
      for (int64_t chunk = 0; chunk < vectors; ++chunk) {
        int64_t column = chunk * VectorEmitter::kLanes;
        Lanes lanes = full ? Lanes::all() : Lanes::first(emitter.sub(columns, emitter.index(column)));
        LanePoint point{{indices[row]}, emitter.add(first, column), lanes};
        Value sum = sums[row * vectors + chunk];
        if (body)
          body->store(body->evaluate(point, llvm::DenseMap<unsigned, Value>{{accumulatorOperand, sum}}), point);
        else
          emitter.store(sum, output, {indices[row], point.inner}, lanes);
      }
    }
  }

  VectorEmitter &emitter;
  Value a, b, output, depth;
  int64_t rows, width;
  NextPanelPrefetch prefetch;
  std::optional<LaneBody> body;
  unsigned accumulatorOperand = 0;
};
} // namespace

const char *attune::vectorizeContraction(OpBuilder &builder, ContractionTile tile, int64_t rows) {
  linalg::LinalgOp op = tile.contraction;
  VectorEmitter emitter(builder, op.getLoc());
  Value a = op.getDpsInputs()[0], b = op.getDpsInputs()[1];
  auto aType = cast<MemRefType>(a.getType()), bType = cast<MemRefType>(b.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (aType.getRank() != 2 || bType.getRank() != 3 || failed(bType.getStridesAndOffset(strides, offset)))
    return "its operands are not a row block and a weight panel";
  // The panel is as wide as its rows are apart; columns beyond the matrix are zero and are read, but not stored.
  int64_t width = strides[1];
  if (ShapedType::isDynamic(width) || width % VectorEmitter::kLanes != 0 || strides[2] != 1 || !aType.isLastDimUnitStride())
    return "its panel width is not a known multiple of 16";
  AffineExpr column = builder.getAffineDimExpr(1);
  AffineMap panelMap = op.getMatchingIndexingMap(op.getDpsInputOperand(1));
  if (panelMap.getResult(0) != column.floorDiv(width) || panelMap.getResult(2) != column % width)
    return "its panels are not as wide as their rows are apart";
  linalg::LinalgOp last = tile.epilogue ? tile.epilogue : op;
  Value output = last.getDpsInits()[0];
  if (!cast<MemRefType>(output.getType()).isLastDimUnitStride())
    return "its output rows are not contiguous";
  RegisterTile(emitter, tile, rows, width).emit();
  return nullptr;
}
