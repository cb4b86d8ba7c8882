//===- ProductTile.cpp - Register tiles of products and their epilogues ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/ProductTile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

#include <functional>

using namespace mlir;
using namespace attune;

ProductTile::ProductTile(VectorBuilder &builder, Operation *product, Value sums, linalg::LinalgOp epilogue, int64_t rows, PrefetchPlan plan)
    : builder(builder), output(epilogue ? epilogue.getDpsInits()[0] : sums), rows(rows), sums(sums), epilogue(epilogue), plan(plan) {
  auto loop = product->getParentOfType<scf::ForOp>();
  if (!loop)
    return;
  Value before = builder.sub(loop.getInductionVar(), loop.getLowerBound()), all = builder.sub(loop.getUpperBound(), loop.getLowerBound());
  rowTile = builder.div(before, loop.getStep());
  rowTiles = builder.ceilDiv(all, loop.getStep());
}

const char *ProductTile::checkOutput() {
  if (!cast<MemRefType>(output.getType()).isLastDimUnitStride())
    return "its output rows are not contiguous";
  if (!epilogue)
    return nullptr;
  body.emplace(builder, epilogue);
  for (OpOperand *operand : epilogue.getDpsInputOperands())
    if (operand->get() == sums)
      accumulatorOperand = operand->getOperandNumber();
  return nullptr;
}

/// Returns true if dimension |dim| of the output is known to be at most |limit|.
bool ProductTile::isAtMost(int64_t dim, int64_t limit) {
  FailureOr<int64_t> bound = ValueBoundsConstraintSet::computeConstantBound(presburger::BoundType::UB, {output, dim},
                                                                            /*stopCondition=*/nullptr, /*closedUB=*/true);
  return succeeded(bound) && *bound <= limit;
}

void ProductTile::forEachGroup(llvm::function_ref<void(Value, Value, Value, Value, Value)> emitGroup) {
  Value columns = builder.size(output, 1), count = builder.size(output, 0), zero = builder.index(0);
  auto emitPanel = [&](Value panel, Value first, Value columns) {
    if (isAtMost(0, rows))
      return emitGroup(panel, first, columns, zero, count);
    builder.loop(zero, count, rows,
                 [&](Value row) { emitGroup(panel, first, columns, row, builder.min(builder.sub(count, row), builder.index(rows))); });
  };
  if (isAtMost(1, width))
    return emitPanel(zero, zero, columns);
  builder.loop(zero, columns, width, [&](Value first) { emitPanel(builder.div(first, width), first, builder.sub(columns, first)); });
}

void ProductTile::forEachTile(llvm::function_ref<void(const Tile &)> emit) {
  // The most shares into which the next panel is divided.
  constexpr int64_t kShares = 8;
  forEachGroup([&](Value panel, Value firstColumn, Value columns, Value firstRow, Value groupRows) {
    builder.forEvenRows(groupRows, rows, [&](int64_t count, Value existing) {
      // Whole tiles have a loop for each number of shares. Partial tiles are the last or the only ones of a block, so
      // two variants suffice.
      forShares(count == rows ? kShares : 2, [&](int64_t shares) {
        Tile tile{{panel, firstColumn, columns}, {}, existing, shares};
        for (int64_t row = 0; row < count; ++row)
          tile.rows.push_back(builder.add(firstRow, row));
        if (existing)
          tile.rows.back() = builder.add(firstRow, builder.sub(existing, builder.index(1)));
        emit(tile);
      });
    });
  });
}

void ProductTile::prepareRow(Value row) {
  if (body)
    body->prepare({row});
}

void ProductTile::finish(Value sums, Value row, Value firstColumn, int64_t chunk, Value columns) {
  int64_t column = chunk * VectorBuilder::kLanes;
  std::optional<int64_t> known = getConstantIntValue(columns);
  if (known && *known <= column)
    return;
  Lanes lanes = known ? Lanes::first(*known - column) : Lanes::first(builder.sub(columns, builder.index(column)));
  LanePoint point{{row}, builder.add(firstColumn, column), lanes};
  if (body)
    body->store(body->evaluate(point, llvm::DenseMap<unsigned, Value>{{accumulatorOperand, sums}}), point);
  else
    builder.store(sums, output, {row, point.inner}, lanes);
}

void ProductTile::finishRows(const Tile &tile, ValueRange sums) {
  int64_t count = tile.rows.size(), vectors = sums.size() / count;
  auto finishRow = [&](int64_t row) {
    prepareRow(tile.rows[row]);
    for (int64_t chunk = 0; chunk < vectors; ++chunk)
      finish(sums[row * vectors + chunk], tile.rows[row], tile.panel.firstColumn, chunk, tile.panel.columns);
  };
  for (int64_t row = 0; row + 1 < count; ++row)
    finishRow(row);
  // An epilogue may read the elements that it overwrites, so it must not run twice for a row.
  if (!tile.existing)
    return finishRow(count - 1);
  builder.ifThen(builder.compare(arith::CmpIPredicate::eq, tile.existing, count), [&] { finishRow(count - 1); });
}

void ProductTile::forShares(int64_t most, llvm::function_ref<void(int64_t)> emit) {
  if (!rowTile)
    return emit(0);
  auto side = [&](int64_t shares) {
    emit(shares);
    return VectorBuilder::Values();
  };
  std::function<VectorBuilder::Values(int64_t)> from = [&](int64_t shares) -> VectorBuilder::Values {
    if (shares >= most)
      return side(shares);
    Value few = builder.compare(arith::CmpIPredicate::ult, rowTiles, 2 * shares);
    if (std::optional<int64_t> known = getConstantIntValue(few))
      return *known ? side(shares) : from(2 * shares);
    return builder.choose(few, [&] { return side(shares); }, [&] { return from(2 * shares); });
  };
  (void)from(1);
}

void ProductTile::prefetch(int64_t shares, Value panel, Value iteration, int64_t iterations) {
  if (shares != 0)
    emitPanelPrefetch(builder, plan, panels, panel, rowTile, shares, iteration, iterations);
}
