//===- AmxContraction.cpp - Low-precision products in AMX tiles -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The sums of 32 rows and 32 columns are in two by two AMX tiles of 16 x 16. A step takes 64 bytes of each input row,
// 32 bf16 or 64 i8 of K, and loads two tiles of the input and two of the panel. The epilogue works on vectors, so it
// reads the sums from a buffer on the stack. A group of up to 16 rows needs only one row of tiles. The code reads and
// multiplies 16 or 32 rows even if fewer exist, since tiles of fewer rows would need other tile configurations; it does
// not store the sums of the rows that do not exist. Memory planning leaves room for the reads.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/LowPrecisionContraction.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace attune;

/// The rows of an AMX tile, and the bytes of a row of it.
static constexpr int64_t kTileRows = 16, kTileBytes = 64;
/// Rows of sums that are in registers at once.
static constexpr int64_t kGroupRows = 2 * kTileRows;
/// The most shares into which the next panel is divided for the prefetch (ProductTile::forShares).
static constexpr int64_t kShares = 4;

namespace {
class AmxKernel {
public:
  explicit AmxKernel(LowPrecisionTile &tile)
      : tile(tile), builder(tile.builder), element(tile.inputType.getElementType()),
        stepElements(kTileBytes * 8 / element.getIntOrFloatBitWidth()),
        sumType(element.isBF16() ? Type(builder.getF32Type()) : builder.getI32Type()) {}

  /// Returns null if AMX tiles can multiply the operands, else the reason why not.
  const char *check() const {
    if (tile.width != 2 * VectorBuilder::kLanes)
      return "its panels are not two tiles wide";
    if (tile.depth % stepElements != 0)
      return "its low-precision rows are not a multiple of 64 bytes";
    return tile.group * element.getIntOrFloatBitWidth() == 32 ? nullptr : "its panels have no groups of four bytes";
  }

  void emit() {
    auto type = MemRefType::get({kGroupRows, tile.width}, sumType);
    buffer = memref::AllocaOp::create(builder, type, builder.getI64IntegerAttr(64));
    tile.forEachGroup([&](Value panel, Value firstColumn, Value columns, Value firstRow, Value rows) {
      auto tiles = [&](int64_t count) {
        // Groups of up to 16 rows are usually the only group of their block, so they prefetch the whole next panel.
        if (count == 1)
          tile.forShares(1, [&](int64_t shares) { multiply(panel, firstRow, count, shares); });
        else
          tile.forShares(kShares, [&](int64_t shares) { multiply(panel, firstRow, count, shares); });
        return VectorBuilder::Values();
      };
      if (std::optional<int64_t> known = getConstantIntValue(rows)) {
        tiles(*known > kTileRows ? 2 : 1);
      } else {
        Value many = builder.compare(arith::CmpIPredicate::sgt, rows, kTileRows);
        builder.choose(many, [&] { return tiles(2); }, [&] { return tiles(1); });
      }
      finish(firstColumn, columns, firstRow, rows);
    });
  }

private:
  /// Emits the products of |rowTiles| * 16 rows from |firstRow| on by the panel with index |panel|, and the stores of
  /// the sums to the buffer. |shares| is that of ProductTile::prefetch.
  void multiply(Value panel, Value firstRow, int64_t rowTiles, int64_t shares) {
    constexpr int64_t kColumnTiles = 2;
    auto sums = amx::TileType::get({kTileRows, kTileRows}, sumType);
    auto inputs = amx::TileType::get({kTileRows, stepElements}, element),
         weights = amx::TileType::get({kTileRows, stepElements}, tile.panelType.getElementType());
    VectorBuilder::Values initial;
    for (int64_t i = 0; i < rowTiles * kColumnTiles; ++i)
      initial.push_back(amx::TileZeroOp::create(builder, sums));
    int64_t steps = tile.depth / stepElements;
    VectorBuilder::Values done = builder.loop(builder.index(0), builder.index(steps), 1, initial, [&](Value step, ValueRange carried) {
      tile.prefetch(shares, panel, step, steps);
      VectorBuilder::Values next(carried), a, b;
      Value k = builder.mul(step, stepElements), group = builder.mul(step, kTileRows);
      for (int64_t i = 0; i < rowTiles; ++i)
        a.push_back(amx::TileLoadOp::create(builder, inputs, tile.input, ValueRange{builder.add(firstRow, i * kTileRows), k}));
      for (int64_t j = 0; j < kColumnTiles; ++j)
        b.push_back(amx::TileLoadOp::create(builder, weights, tile.panels, ValueRange{panel, group, builder.index(j * stepElements)}));
      for (int64_t i = 0; i < rowTiles; ++i)
        for (int64_t j = 0; j < kColumnTiles; ++j)
          next[i * kColumnTiles + j] = multiplyAdd(a[i], b[j], next[i * kColumnTiles + j]);
      return next;
    });
    for (int64_t i = 0; i < rowTiles; ++i)
      for (int64_t j = 0; j < kColumnTiles; ++j)
        amx::TileStoreOp::create(builder, buffer, ValueRange{builder.index(i * kTileRows), builder.index(j * kTileRows)},
                                 done[i * kColumnTiles + j]);
  }

  Value multiplyAdd(Value a, Value b, Value sum) {
    if (element.isBF16())
      return amx::TileMulFOp::create(builder, sum.getType(), a, b, sum);
    return amx::TileMulIOp::create(builder, sum.getType(), a, b, sum, /*isZextLhs=*/builder.getUnitAttr(), /*isZextRhs=*/UnitAttr());
  }

  /// Emits the epilogue as a loop over the |rows| rows from |firstRow| on, whose sums begin at row 0 of the buffer.
  void finish(Value firstColumn, Value columns, Value firstRow, Value rows) {
    builder.loop(builder.index(0), rows, 1, [&](Value row) {
      Value output = builder.add(firstRow, row);
      tile.prepareRow(output);
      for (int64_t chunk = 0; chunk < tile.width / VectorBuilder::kLanes; ++chunk)
        tile.finish(builder.load(buffer, {row, builder.index(chunk * VectorBuilder::kLanes)}), output, firstColumn, chunk, columns);
    });
  }

  LowPrecisionTile &tile;
  VectorBuilder &builder;
  Type element;
  int64_t stepElements;
  Type sumType;
  Value buffer;
};
} // namespace

const char *attune::emitAmxContraction(VectorBuilder &builder, ContractionTile tile, PrefetchPlan plan) {
  LowPrecisionTile dots(builder, tile, kGroupRows, plan);
  if (const char *reason = dots.check())
    return reason;
  AmxKernel kernel(dots);
  if (const char *reason = kernel.check())
    return reason;
  kernel.emit();
  return nullptr;
}
