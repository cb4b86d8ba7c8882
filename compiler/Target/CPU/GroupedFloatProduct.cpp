//===- GroupedFloatProduct.cpp - Products of float rows by groups of weights =//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Code for `tile.grouped_product` of rows of f32 or bf16: integers of weights are converted in registers, multiplied by
// the rows and summed in blocks of 32 columns (of 16 if a group has 16); the sum of a block is multiplied by the scale
// of its group. So a weight costs one multiply-add beside its conversion, and a scale costs one multiply-add for each
// block. With q[n, k] the integer of output n and column k, x[r, k] the row r, and g the group of the block:
//
//   for each block of columns
//     sum[r, n] = 0
//     for each column k of the block              sum[r, n] = fma(float(q[n, k]), x[r, k], sum[r, n])
//     acc[r, n] = fma(scale[n, g], sum[r, n], acc[r, n])
//     acc[r, n] = fma(minimum[n, g], sum of x[r, k], acc[r, n])            only in formats with minima
//
// A vector of 16 words of a panel has a word of 32 bits for each of 16 outputs. A word has the integers of four
// neighbors in K in int8, and of eight in int4:
//
//   word of output n, int4   | k+7 k+3 | k+6 k+2 | k+5 k+1 | k+4 k |       4 bits each, most significant first
//   word of output n, int8   |   k+3   |   k+2   |   k+1   |   k   |
//
// Conversions to f32. int4 with AVX-512: a shift moves the four bits of two columns to the low ends of the halves of
// each word, vpermw replaces the halves by bf16 of a table of 16, and a shift of the low half or a mask of the high
// half makes f32 of them. Otherwise, and for int8: shifts, or with minima a shift and a mask, extend the integer to a
// word, which is converted to f32. Conversions to bf16, for vdpbf16ps, which multiplies pairs of neighbors: int4 by the
// same table, after one shuffle that brings neighbors to the two halves of a word; int8 as to f32, whose upper halves
// are the bf16.
//
// Schedule. A loop over blocks keeps the accumulators. For one row a block is straight code; as the sum of a block does
// not depend on the block before, the CPU begins a block while it still computes the one before. For several rows a
// loop of 8 columns per iteration converts each weight once for all rows. The sums of the block fill the registers; the
// accumulators are used once a block and may be in memory.
//
// Invariants. The order of additions does not depend on the number of rows. With rows of f32 all operations are f32
// multiply-adds and exact conversions, so the bits are the same for all machines, too.
//
// Tried and rejected: scale * q as an f32 weight, multiplied by x in the order of all K (two multiplications for a
// weight, and one chain of dependent additions for each output over all of K; in prototypes one row of int4 was slower
// by a fifth); blocks of 16 columns (several rows 3 % slower, one row the same); the columns of two or more blocks in
// turns (one row up to 15 % slower, as registers do not suffice).
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/GroupedProduct.h"
#include "compiler/Target/CPU/GroupedTile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

using namespace mlir;
using namespace attune;

namespace {

/// Emits products of rows of floats.
class GroupedFloatKernel {
public:
  GroupedFloatKernel(GroupedTile &tile, DotUnit unit)
      : tile(tile), builder(tile.builder), bf16(getElementTypeOrSelf(tile.op.getRows()).isBF16()), narrow(tile.format.bits == 4),
        hasTables(unit == DotUnit::Avx512 || unit == DotUnit::Amx), convertsHalves(unit != DotUnit::Portable),
        vectors(tile.width / VectorBuilder::kLanes), depth(cast<ShapedType>(tile.op.getRows().getType()).getDimSize(1)),
        blockColumns(std::min(tile.op.getGroupColumns(), kBlock)), stepColumns(narrow ? 8 : 4),
        words(VectorType::get({VectorBuilder::kLanes}, builder.getI32Type())) {}

  void emit() {
    tile.forEachTile([&](const ProductTile::Tile &part) { emitRows(part); });
  }

private:
  using Values = VectorBuilder::Values;

  /// The most columns of a block.
  static constexpr int64_t kBlock = 32;
  /// Columns of an iteration of the loop over a block for several rows.
  static constexpr int64_t kLoopColumns = 8;

  /// The location of a block: its group, the byte in the group's part of a panel at which its integers begin, and its
  /// first column in the rows.
  struct Block {
    Value group, byte, column;
  };

  /// Emits the products of one register tile and the epilogue of each of its rows.
  void emitRows(const ProductTile::Tile &part) {
    int64_t blocks = depth / blockColumns;
    Values acc(part.rows.size() * vectors, builder.splat(0.0));
    if (blocks > 0)
      acc = builder.loop(builder.index(0), builder.index(blocks), 1, acc, [&](Value block, ValueRange carried) {
        Values next(carried);
        addBlock(part, block, blockColumns, next);
        return next;
      });
    if (int64_t columns = depth % blockColumns)
      addBlock(part, builder.index(blocks), columns, acc);
    tile.finishRows(part, acc);
  }

  Block locate(Value index) {
    int64_t groupColumns = tile.op.getGroupColumns(), perGroup = groupColumns / blockColumns, head = tile.format.headBytes(tile.width);
    Block block{index, builder.index(head), builder.mul(index, blockColumns)};
    if (perGroup == 1)
      return block;
    bool single = groupColumns >= depth;
    block.group = single ? builder.index(0) : builder.div(index, perGroup);
    Value inGroup = single ? index : builder.rem(index, perGroup);
    block.byte = builder.add(builder.mul(inGroup, tile.width * blockColumns * tile.format.bits / 8), head);
    return block;
  }

  /// Adds the products of the |columns| columns of block |index| to the accumulators |acc|: |vectors| vectors of the
  /// first row, then those of the next one, and so on.
  void addBlock(const ProductTile::Tile &part, Value index, int64_t columns, Values &acc) {
    Block block = locate(index);
    Value panel = part.panel.index;
    if (tile.prefetches(part.rows))
      tile.prefetch(part.shares, panel, index, llvm::divideCeil(depth, blockColumns));
    Values sums(acc.size(), builder.splat(0.0));
    int64_t looped = part.rows.size() > 1 ? columns / kLoopColumns * kLoopColumns : 0;
    if (looped > 0)
      sums = builder.loop(builder.index(0), builder.index(looped), kLoopColumns, sums, [&](Value column, ValueRange carried) {
        Values next(carried);
        for (int64_t step = 0; step < kLoopColumns; step += stepColumns)
          addStep(panel, block, builder.add(column, step), stepColumns, part.rows, next);
        return next;
      });
    for (int64_t column = looped; column < columns; column += stepColumns)
      addStep(panel, block, builder.index(column), std::min(stepColumns, columns - column), part.rows, sums);
    rescale(panel, block, columns, part.rows, sums, acc);
  }

  /// Multiplies the sums of a block by the scales of its group and adds them, and the terms of minima, to |acc|.
  void rescale(Value panel, const Block &block, int64_t columns, ArrayRef<Value> rows, ArrayRef<Value> sums, Values &acc) {
    Values scales, minima;
    for (int64_t vector = 0; vector < vectors; ++vector) {
      scales.push_back(tile.loadNumbers(panel, block.group, vector, VectorBuilder::kLanes, convertsHalves));
      if (tile.format.minima)
        minima.push_back(tile.loadNumbers(panel, block.group, vectors + vector, VectorBuilder::kLanes, convertsHalves));
    }
    for (auto [index, row] : llvm::enumerate(rows)) {
      Value total = tile.format.minima ? builder.splat(sumRow(row, block.column, columns)) : Value();
      for (int64_t vector = 0; vector < vectors; ++vector) {
        Value &sum = acc[index * vectors + vector];
        sum = builder.fma(scales[vector], sums[index * vectors + vector], sum);
        if (total)
          sum = builder.fma(minima[vector], total, sum);
      }
    }
  }

  /// Returns the sum of |columns| elements of |row| from |column| on.
  Value sumRow(Value row, Value column, int64_t columns) {
    Value total;
    VectorBuilder::forChunks(columns, [&](int64_t begin, Lanes lanes) {
      Value part = builder.load(tile.op.getRows(), {row, builder.add(column, begin)}, lanes);
      if (bf16)
        part = arith::ExtFOp::create(builder, builder.getType(), part);
      total = total ? builder.addf(total, part) : part;
    });
    return builder.sumLanes(total);
  }

  /// Adds the products of |columns| columns, from column |column| of |block| on, to |sums|.
  void addStep(Value panel, const Block &block, Value column, int64_t columns, ArrayRef<Value> rows, Values &sums) {
    Value byte = builder.add(block.byte, builder.mul(column, tile.width * tile.format.bits / 8));
    Values raw;
    for (int64_t vector = 0; vector < vectors; ++vector)
      raw.push_back(prepare(tile.load(panel, block.group, builder.add(byte, vector * 64), 64)));
    for (int64_t k = 0; k < columns; k += bf16 ? 2 : 1) {
      Values weights = llvm::map_to_vector(raw, [&](Value word) { return bf16 ? toPair(word, k) : toF32(word, k); });
      for (auto [index, row] : llvm::enumerate(rows)) {
        Value x = loadRow(row, builder.add(builder.add(block.column, column), k));
        for (int64_t vector = 0; vector < vectors; ++vector) {
          Value &sum = sums[index * vectors + vector];
          sum = bf16 ? x86vector::DotBF16Op::create(builder, builder.getType(), sum, weights[vector], x).getResult()
                     : builder.fma(weights[vector], x, sum);
        }
      }
    }
  }

  /// Loads element |k| of |row| to all lanes, or, with rows of bf16, the pair of elements from |k| on.
  Value loadRow(Value row, Value k) {
    if (!bf16)
      return builder.splat(builder.loadScalar(tile.op.getRows(), {row, k}));
    Value pair = vector::LoadOp::create(builder, VectorType::get({2}, builder.getBF16Type()), tile.op.getRows(), ValueRange{row, k});
    Value word = vector::BitCastOp::create(builder, VectorType::get({1}, builder.getI32Type()), pair);
    Value all = vector::BroadcastOp::create(builder, words, vector::ExtractOp::create(builder, word, int64_t(0)));
    return vector::BitCastOp::create(builder, pairType(), all);
  }

  //===--------------------------------------------------------------------===//
  // Conversions of integers
  //===--------------------------------------------------------------------===//

  VectorType pairType() { return VectorType::get({2 * VectorBuilder::kLanes}, builder.getBF16Type()); }
  Value constant(int64_t value) { return tile.splatOf(words, value); }
  Value shiftRight(Value word, int64_t bits) {
    return bits == 0 ? word : arith::ShRUIOp::create(builder, word, tile.splatOf(cast<VectorType>(word.getType()), bits)).getResult();
  }

  /// Returns |bytes| as words, prepared for toF32 and toPair. Signed integers, which are stored with a bias, become
  /// two's complement unless a table subtracts the bias. If int4 become pairs of bf16, the second and third byte of
  /// each word change places.
  Value prepare(Value bytes) {
    if (bf16 && narrow) {
      SmallVector<int64_t> order;
      for (int64_t byte = 0; byte < 4 * VectorBuilder::kLanes; byte += 4)
        order.append({byte, byte + 2, byte + 1, byte + 3});
      bytes = vector::ShuffleOp::create(builder, bytes, bytes, order);
    }
    Value word = vector::BitCastOp::create(builder, words, bytes);
    if (tile.format.minima || (narrow && hasTables))
      return word;
    return arith::XOrIOp::create(builder, word, constant(narrow ? 0x88888888 : 0x80808080));
  }

  /// Returns the f32 of column |k| of the prepared |word|.
  Value toF32(Value word, int64_t k) {
    int64_t bits = tile.format.bits, bit = k % 4 * 8 + k / 4 * 4;
    if (narrow && hasTables) {
      Value halves = vector::BitCastOp::create(builder, words, readTable(word, bit % 16));
      Value upper = bit < 16 ? arith::ShLIOp::create(builder, halves, constant(16)).getResult()
                             : arith::AndIOp::create(builder, halves, constant(0xffff0000)).getResult();
      return vector::BitCastOp::create(builder, builder.getType(), upper);
    }
    Value integer;
    if (tile.format.minima) {
      integer = shiftRight(word, bit);
      if (bit + bits < 32)
        integer = arith::AndIOp::create(builder, integer, constant((1 << bits) - 1));
    } else {
      integer = bit + bits < 32 ? arith::ShLIOp::create(builder, word, constant(32 - bits - bit)).getResult() : word;
      integer = arith::ShRSIOp::create(builder, integer, constant(32 - bits));
    }
    return arith::SIToFPOp::create(builder, builder.getType(), integer);
  }

  /// Returns the bf16 of columns |k| and |k| + 1 of the prepared |word|.
  Value toPair(Value word, int64_t k) {
    if (narrow)
      return vector::BitCastOp::create(builder, pairType(), readTable(word, k % 4 / 2 * 8 + k / 4 * 4));
    auto bitsOf = [&](int64_t k) -> Value { return vector::BitCastOp::create(builder, words, toF32(word, k)); };
    Value low = shiftRight(bitsOf(k), 16), high = arith::AndIOp::create(builder, bitsOf(k + 1), constant(0xffff0000));
    return vector::BitCastOp::create(builder, pairType(), arith::OrIOp::create(builder, low, high));
  }

  /// Returns, in each 16-bit half of |word|, the bits of a bf16: the value of the 4-bit integer that begins at bit
  /// |bit| of that half.
  Value readTable(Value word, int64_t bit) {
    VectorType halves = VectorType::get({2 * VectorBuilder::kLanes}, builder.getI16Type());
    // The instruction indexes a table of 32; the bit above the integer does not matter if both halves of the table
    // agree.
    SmallVector<int16_t> table;
    for (int64_t stored = 0; stored < 2 * VectorBuilder::kLanes; ++stored)
      table.push_back(static_cast<int16_t>(llvm::bit_cast<uint32_t>(static_cast<float>(stored % 16 - tile.format.zero())) >> 16));
    Value constants = arith::ConstantOp::create(builder, DenseElementsAttr::get(halves, ArrayRef(table)));
    Value index = shiftRight(vector::BitCastOp::create(builder, halves, word), bit);
    return LLVM::CallIntrinsicOp::create(builder, halves, builder.getStringAttr("llvm.x86.avx512.permvar.hi.512"),
                                         ValueRange{constants, index})
        .getResult(0);
  }

  GroupedTile &tile;
  VectorBuilder &builder;
  /// True if rows are bf16, and if integers have 4 bits.
  bool bf16, narrow;
  /// True if the CPU has vpermw, the instruction that reads tables, and if it has an instruction that converts f16.
  bool hasTables, convertsHalves;
  /// The number of vectors in the width of a panel, and the number of columns of a row (K).
  int64_t vectors, depth;
  /// Columns of a block, and columns whose integers are in one word of a panel: 8 of int4, 4 of int8.
  int64_t blockColumns, stepColumns;
  VectorType words;
};

} // namespace

const char *attune::vectorizeGroupedFloatProduct(VectorBuilder &builder, tiles::GroupedProductOp op, linalg::LinalgOp epilogue,
                                                 int64_t rows, DotUnit unit, PrefetchPlan plan) {
  GroupedTile tile(builder, op, epilogue, rows, plan);
  if (getElementTypeOrSelf(op.getRows()).isBF16() && unit != DotUnit::Avx512 && unit != DotUnit::Amx)
    return "its rows are bf16, which only AVX-512 multiplies";
  if (getElementTypeOrSelf(op.getRows()).isF16())
    return "its rows are f16, which only GPUs multiply";
  if (const char *reason = tile.check())
    return reason;
  GroupedFloatKernel(tile, unit).emit();
  return nullptr;
}
