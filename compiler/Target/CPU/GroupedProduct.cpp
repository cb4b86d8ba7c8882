//===- GroupedProduct.cpp - Products of quantized rows by groups of weights ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Code for `tile.grouped_product` of quantized rows: products of int8 rows by panels of int4 or int8 weights. The
// weights of a panel are one stream of bytes, in which the scales and minima of each group of columns precede its
// integers. A register tile keeps an f32 accumulator acc and an i32 sum of the current group for each row r and output
// n:
//
//   for each group g of columns
//     sum[r, n] = (base - zero) * sums[r, g]                 zero: the stored weight that means 0 (stored unsigned)
//                                                            base: the stored weight that the unit multiplies as 0
//                                                            sums: an operand, the sum of row r's integers in group g
//     for each quad of columns                               sum[r, n] += 4 products of bytes
//     acc[r, n] = fma(f32(sum[r, n]), rowScale[r, g] * scale[n, g], acc[r, n])
//     acc[r, n] = fma(minimum[n, g], rowScale[r, g] * f32(sums[r, g]), acc[r, n])      only in formats with minima
//
//   memory        | scales g | quads of g ...            | scales g + 1 | ...         one stream per panel
//   quad          | n0: k0 k1 k2 k3 | n1: k0 k1 k2 k3 | ...                           a vector; a row's quad is broadcast
//
// Units. vpdpbusd multiplies unsigned weights by signed bytes of the row and adds four products in 32 bits. Without it,
// vpmaddubsw adds two products in 16 bits with saturation. Of int4 weights, sixteen products of at most 15 * 127 fit in
// 16 bits, so they are added before they are widened. Of int8 weights, only two products of at most 128 * 127 fit; for
// them, signs move from the weights to the row (vpsignb), which leaves the weights unsigned. The portable unit widens
// bytes to 32 bits.
//
// Invariants. Integer sums are exact, in any order and for any unit, as long as a group has at most 65536 columns. For
// any number of rows, the accumulator adds the groups in order, by one FMA each (two with minima). So the bits of a
// result are the same for all machines, threads and batches.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/GroupedProduct.h"
#include "compiler/Target/CPU/GroupedTile.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;

ByteUnit attune::getByteUnit(DotUnit unit, bool vnni) {
  if (unit == DotUnit::Portable)
    return ByteUnit::Portable;
  if (!vnni)
    return ByteUnit::Avx2;
  return unit == DotUnit::Avx2 ? ByteUnit::Vnni256 : ByteUnit::Vnni512;
}

namespace {

/// Emits products of quantized rows.
class GroupedKernel {
public:
  GroupedKernel(GroupedTile &tile, ByteUnit unit)
      : tile(tile), builder(tile.builder), unit(unit), lanes(unit == ByteUnit::Portable || unit == ByteUnit::Vnni512 ? 16 : 8),
        vectors(tile.width / lanes), groupColumns(tile.op.getGroupColumns()),
        signedWeights(unit == ByteUnit::Avx2 && tile.format.bits == 8), i8(builder.getI8Type()), i16(builder.getI16Type()),
        i32(builder.getI32Type()), f32(builder.getF32Type()) {}

  void emit() {
    tile.forEachTile([&](const ProductTile::Tile &part) { emitRows(part); });
  }

private:
  using Values = VectorBuilder::Values;

  VectorType vectorOf(int64_t size, Type type) { return VectorType::get({size}, type); }
  Value splat(Value scalar) { return vector::BroadcastOp::create(builder, vectorOf(lanes, scalar.getType()), scalar); }
  Value splatOf(VectorType type, int64_t value) { return tile.splatOf(type, value); }

  /// Emits the products of one register tile and the epilogue of each of its rows.
  void emitRows(const ProductTile::Tile &part) {
    int64_t count = part.rows.size();
    int64_t groups = cast<MemRefType>(tile.panels.getType()).getDimSize(1);
    Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(vectorOf(lanes, f32)));
    Values none(count * vectors, zero);
    Values sums = builder.loop(builder.index(0), builder.index(groups), 1, none, [&](Value group, ValueRange carried) {
      Values next(carried);
      // A group of many columns prefetches in the loop over its columns.
      if (!hasLoop() && tile.prefetches(part.rows))
        tile.prefetch(part.shares, part.panel.index, group, groups);
      addGroup(part.panel.index, group, groups, part.rows, part.shares, next);
      return next;
    });
    tile.finishRows(part, join(sums));
  }

  /// Columns of a step. With int4 weights and vpmaddubsw, each lane of 16 bits adds the products of half of the
  /// columns, which fit: 16 * 15 * 127 < 2^15.
  static constexpr int64_t kStep = 32;
  /// Returns true if the steps of a group are a loop.
  bool hasLoop() const { return groupColumns > 2 * kStep; }

  /// Adds the products of |group|, one of |groups|, to the accumulators |acc|: |vectors| vectors of the first row, then
  /// those of the next one, and so on.
  void addGroup(Value panel, Value group, int64_t groups, ArrayRef<Value> rows, int64_t shares, Values &acc) {
    int64_t head = tile.format.headBytes(tile.width), bias = (signedWeights ? 128 : 0) - tile.format.zero();
    Values rowSums, sums;
    for (Value row : rows) {
      rowSums.push_back(memref::LoadOp::create(builder, tile.op.getSums(), ValueRange{row, group}));
      Value start = arith::MulIOp::create(builder, rowSums.back(), arith::ConstantIntOp::create(builder, bias, 32));
      sums.append(vectors, bias == 0 ? splatOf(vectorOf(lanes, i32), 0) : splat(start));
    }
    Value first = builder.mul(group, groupColumns);
    int64_t steps = groupColumns / kStep;
    // Emits the step that begins at |column| of the group.
    auto step = [&](Value column, int64_t columns, Values &sums) {
      Value byte = builder.add(builder.mul(column, tile.width * tile.format.bits / 8), head);
      addStep(panel, group, byte, builder.add(first, column), columns, rows, sums);
    };
    if (hasLoop()) {
      sums = builder.loop(builder.index(0), builder.index(steps * kStep), kStep, sums, [&](Value column, ValueRange carried) {
        Values next(carried);
        Value iteration = builder.add(builder.mul(group, steps), builder.div(column, kStep));
        if (tile.prefetches(rows))
          tile.prefetch(shares, panel, iteration, groups * steps);
        step(column, kStep, next);
        return next;
      });
    } else {
      for (int64_t column = 0; column < steps * kStep; column += kStep)
        step(builder.index(column), kStep, sums);
    }
    if (groupColumns % kStep != 0)
      step(builder.index(steps * kStep), groupColumns % kStep, sums);
    rescale(panel, group, rows, rowSums, sums, acc);
  }

  /// Multiplies the sums of a group by the scales and adds them, and the terms of minima, to |acc|.
  void rescale(Value panel, Value group, ArrayRef<Value> rows, ArrayRef<Value> rowSums, ArrayRef<Value> sums, Values &acc) {
    Values scales, minima;
    for (int64_t vector = 0; vector < vectors; ++vector) {
      scales.push_back(tile.loadNumbers(panel, group, vector, lanes, unit != ByteUnit::Portable));
      if (tile.format.minima)
        minima.push_back(tile.loadNumbers(panel, group, vectors + vector, lanes, unit != ByteUnit::Portable));
    }
    for (auto [index, row] : llvm::enumerate(rows)) {
      Value rowScale = memref::LoadOp::create(builder, tile.op.getScales(), ValueRange{row, group});
      Value all = splat(rowScale), rowSum;
      if (tile.format.minima)
        rowSum = splat(builder.mulf(rowScale, arith::SIToFPOp::create(builder, f32, rowSums[index])));
      for (int64_t vector = 0; vector < vectors; ++vector) {
        Value &sum = acc[index * vectors + vector];
        Value exact = arith::SIToFPOp::create(builder, vectorOf(lanes, f32), sums[index * vectors + vector]);
        sum = builder.fma(exact, builder.mulf(all, scales[vector]), sum);
        if (tile.format.minima)
          sum = builder.fma(minima[vector], rowSum, sum);
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Products of bytes
  //===--------------------------------------------------------------------===//

  /// Adds the products of |columns| columns to |sums|. The first column is column |k| of the rows, and the weights
  /// begin at byte |byte| of the group.
  void addStep(Value panel, Value group, Value byte, Value k, int64_t columns, ArrayRef<Value> rows, Values &sums) {
    bool narrow = tile.format.bits == 4, addsInWords = unit == ByteUnit::Avx2 && narrow;
    Values words(addsInWords ? sums.size() : 0);
    int64_t stride = 4 * tile.width;
    for (int64_t quad = 0; quad < columns / 4; quad += narrow ? 2 : 1) {
      Values low, high;
      for (int64_t vector = 0; vector < vectors; ++vector) {
        Value raw = tile.load(panel, group, builder.add(byte, quad / (narrow ? 2 : 1) * stride + vector * 4 * lanes), 4 * lanes);
        VectorType type = vectorOf(4 * lanes, i8);
        low.push_back(narrow ? arith::AndIOp::create(builder, raw, splatOf(type, 15)).getResult() : raw);
        if (narrow)
          high.push_back(highHalves(raw, rows.size()));
      }
      for (auto [offset, weights] : {std::pair<int64_t, Values &>(quad, low), std::pair<int64_t, Values &>(quad + 1, high)}) {
        if (weights.empty())
          continue;
        Values prepared = llvm::map_to_vector(weights, [&](Value w) { return prepare(w); });
        for (auto [index, row] : llvm::enumerate(rows)) {
          Values input = loadQuad(row, builder.add(k, 4 * offset));
          for (int64_t vector = 0; vector < vectors; ++vector) {
            Value &sum = sums[index * vectors + vector];
            if (addsInWords) {
              Value &word = words[index * vectors + vector];
              Value products = addPairs(weights[vector], input[0]);
              word = word ? arith::AddIOp::create(builder, word, products).getResult() : products;
            } else {
              sum = multiply(sum, weights[vector], prepared[vector], input);
            }
          }
        }
      }
    }
    for (auto [sum, word] : llvm::zip(sums, words))
      sum = arith::AddIOp::create(builder, sum, addWords(word));
  }

  /// Returns the high 4 bits of each byte of |raw|. LLVM shifts bytes by a Galois-field instruction where the CPU has
  /// it; on some CPUs that instruction competes with products for an execution unit. With several rows products are the
  /// bottleneck, so 16-bit words are shifted and masked instead.
  Value highHalves(Value raw, size_t rows) {
    auto type = cast<VectorType>(raw.getType());
    if (rows == 1)
      return arith::ShRUIOp::create(builder, raw, splatOf(type, 4));
    VectorType wordType = vectorOf(type.getNumElements() / 2, i16);
    Value words = vector::BitCastOp::create(builder, wordType, raw);
    Value shifted = vector::BitCastOp::create(builder, type, arith::ShRUIOp::create(builder, words, splatOf(wordType, 4)));
    return arith::AndIOp::create(builder, shifted, splatOf(type, 15));
  }

  /// Returns the magnitudes of |weights|, the unsigned operand of vpmaddubsw, if |signedWeights|; else null.
  Value prepare(Value weights) { return signedWeights ? math::AbsIOp::create(builder, signedOf(weights)).getResult() : Value(); }
  Value signedOf(Value weights) { return arith::XOrIOp::create(builder, weights, splatOf(cast<VectorType>(weights.getType()), -128)); }

  /// Loads four neighbors of |row| from |k| on: one vector with the four bytes in each lane, or for the portable unit
  /// four vectors, each with one of the bytes, widened to 32 bits, in all lanes.
  Values loadQuad(Value row, Value k) {
    Value bytes = vector::LoadOp::create(builder, vectorOf(4, i8), tile.op.getRows(), ValueRange{row, k});
    if (unit == ByteUnit::Portable) {
      Values each;
      Value wide = arith::ExtSIOp::create(builder, vectorOf(4, i32), bytes);
      for (int64_t i = 0; i < 4; ++i)
        each.push_back(splat(vector::ExtractOp::create(builder, wide, i)));
      return each;
    }
    Value word = vector::ExtractOp::create(builder, vector::BitCastOp::create(builder, vectorOf(1, i32), bytes), int64_t(0));
    return {vector::BitCastOp::create(builder, vectorOf(4 * lanes, i8), splat(word))};
  }

  /// Returns |sum| plus, in each lane, the products of four weights and four elements of a row. |magnitudes| is the
  /// result of prepare.
  Value multiply(Value sum, Value weights, Value magnitudes, const Values &input) {
    if (unit == ByteUnit::Portable) {
      Value words = vector::BitCastOp::create(builder, vectorOf(lanes, i32), weights);
      for (auto [index, value] : llvm::enumerate(input)) {
        Value code = arith::ShRUIOp::create(builder, words, splatOf(vectorOf(lanes, i32), 8 * index));
        if (index != 3)
          code = arith::AndIOp::create(builder, code, splatOf(vectorOf(lanes, i32), 255));
        sum = arith::AddIOp::create(builder, sum, arith::MulIOp::create(builder, code, value));
      }
      return sum;
    }
    if (unit != ByteUnit::Avx2)
      return call(unit == ByteUnit::Vnni512 ? "llvm.x86.avx512.vpdpbusd.512" : "llvm.x86.avx512.vpdpbusd.256", i32,
                  {sum, weights, input[0]});
    Value moved = call("llvm.x86.avx2.psign.b", i8, {input[0], signedOf(weights)});
    return arith::AddIOp::create(builder, sum, addWords(addPairs(magnitudes, moved)));
  }

  /// Returns the sums of two products of unsigned and signed bytes, in 16 bits.
  Value addPairs(Value codes, Value input) { return call("llvm.x86.avx2.pmadd.ub.sw", i16, {codes, input}); }
  /// Returns the sums of pairs of words, in 32 bits.
  Value addWords(Value words) { return call("llvm.x86.avx2.pmadd.wd", i32, {words, splatOf(cast<VectorType>(words.getType()), 1)}); }

  /// Calls the intrinsic |name|, whose result has |lanes| * 32 bits, in elements of |type|.
  Value call(StringRef name, Type type, ValueRange operands) {
    VectorType result = vectorOf(lanes * 32 / type.getIntOrFloatBitWidth(), type);
    return LLVM::CallIntrinsicOp::create(builder, result, builder.getStringAttr(name), operands).getResult(0);
  }

  /// Joins pairs of vectors of 8 lanes to vectors of 16 lanes; returns vectors of 16 lanes as they are.
  Values join(ValueRange parts) {
    if (lanes == VectorBuilder::kLanes)
      return Values(parts);
    Values joined;
    for (size_t i = 0; i < parts.size(); i += 2)
      joined.push_back(
          vector::ShuffleOp::create(builder, parts[i], parts[i + 1], llvm::to_vector(llvm::seq<int64_t>(0, VectorBuilder::kLanes))));
    return joined;
  }

  GroupedTile &tile;
  VectorBuilder &builder;
  ByteUnit unit;
  /// The number of 32-bit lanes of the unit's vectors, and the number of vectors in the width of a panel.
  int64_t lanes, vectors;
  int64_t groupColumns;
  /// True if the unit is vpmaddubsw and weights are int8: they are multiplied as signed values (see Units above).
  bool signedWeights;
  Type i8, i16, i32, f32;
};

} // namespace

const char *attune::vectorizeGroupedProduct(VectorBuilder &builder, tiles::GroupedProductOp op, linalg::LinalgOp epilogue, int64_t rows,
                                            ByteUnit unit, PrefetchPlan plan) {
  GroupedTile tile(builder, op, epilogue, rows, plan);
  if (const char *reason = tile.check())
    return reason;
  GroupedKernel(tile, unit).emit();
  return nullptr;
}
