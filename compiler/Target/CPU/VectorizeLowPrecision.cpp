//===- VectorizeLowPrecision.cpp - Low-precision products in vectors ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The tile of VectorizeContraction.cpp for low-precision operands: one accumulator of 16 lanes per row and 16 columns,
// carried through a loop over groups of neighbors in K. Where DotUnit.h names an x86 instruction other than fma, that
// instruction multiplies the neighbors of 16 columns (8 with AVX2) by those of one row, which are broadcast as a word
// of 32 bits.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/LowPrecisionContraction.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

using namespace mlir;
using namespace attune;

namespace {
class LowPrecisionKernel {
public:
  LowPrecisionKernel(LowPrecisionTile &tile, DotUnit unit)
      : tile(tile), builder(tile.builder), unit(unit), element(tile.inputType.getElementType()), f32(builder.getF32Type()),
        i32(builder.getI32Type()) {}

  /// Returns null if |unit| has an instruction for the operands and the panels have groups of its size, else the reason
  /// why not.
  const char *check() const {
    bool bytes = element.isInteger(8);
    if ((bytes && unit == DotUnit::Portable) || (element.isBF16() && unit != DotUnit::Avx512 && unit != DotUnit::Amx))
      return "the CPU has no instruction that multiplies its low-precision operands";
    return tile.group == (bytes ? 4 : 2) ? nullptr : "its panels have no groups of the size that its operands are multiplied in";
  }

  void emit() {
    tile.forEachTile([&](const ProductTile::Tile &part) { emitRows(part); });
  }

private:
  /// Steps of the loop over groups per iteration. More steps would make LLVM hoist broadcasts and spill. AVX2 has fewer
  /// registers, and products of i16 need registers until they are added to the sums, so these unroll less.
  int64_t unroll() const { return unit == DotUnit::Avx2 || element.isInteger(16) ? 2 : 4; }
  bool isFloat() const { return isa<FloatType>(element); }
  VectorType vectorOf(int64_t lanes, Type type) { return VectorType::get({lanes}, type); }

  /// Emits the products of one register tile and the epilogue of each of its rows.
  void emitRows(const ProductTile::Tile &part) {
    int64_t count = part.rows.size();
    int64_t vectors = tile.width / VectorBuilder::kLanes;
    Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(vectorOf(VectorBuilder::kLanes, isFloat() ? f32 : i32)));
    VectorBuilder::Values sums(count * vectors, zero);
    int64_t groups = tile.depth / tile.group, whole = groups / unroll() * unroll();
    auto step = [&](Value group, VectorBuilder::Values &sums) {
      SmallVector<VectorBuilder::Values> weights;
      for (int64_t chunk = 0; chunk < vectors; ++chunk)
        weights.push_back(loadWeights(part.panel.index, group, chunk));
      for (int64_t row = 0; row < count; ++row) {
        VectorBuilder::Values inputs = loadInput(part.rows[row], builder.mul(group, tile.group));
        for (int64_t chunk = 0; chunk < vectors; ++chunk) {
          Value &sum = sums[row * vectors + chunk];
          sum = multiply(sum, inputs, weights[chunk]);
        }
      }
    };
    if (whole > 0)
      sums = builder.loop(builder.index(0), builder.index(whole), unroll(), sums, [&](Value group, ValueRange carried) {
        VectorBuilder::Values next(carried);
        tile.prefetch(part.shares, part.panel.index, builder.div(group, unroll()), whole / unroll());
        for (int64_t u = 0; u < unroll(); ++u)
          step(builder.add(group, u), next);
        return next;
      });
    for (int64_t group = whole; group < groups; ++group)
      step(builder.index(group), sums);
    tile.finishRows(part, sums);
  }

  /// Loads the weights of one group of neighbors in K for 16 columns, as one vector. For f32 inputs returns two vectors
  /// of f32, the first and the second weight of each pair; for i16 inputs see wordPairs.
  VectorBuilder::Values loadWeights(Value panel, Value group, int64_t chunk) {
    int64_t elements = VectorBuilder::kLanes * tile.group;
    Value raw = vector::LoadOp::create(builder, vectorOf(elements, tile.panelType.getElementType()), tile.panels,
                                       ValueRange{panel, group, builder.index(chunk * elements)});
    if (element.isInteger(16))
      return wordPairs(raw);
    if (!element.isF32())
      return {raw};
    Value words = vector::BitCastOp::create(builder, vectorOf(VectorBuilder::kLanes, i32), raw);
    Value first = arith::ShLIOp::create(builder, words, splatInt(16)), second = arith::AndIOp::create(builder, words, splatInt(0xffff0000));
    return {asFloats(first), asFloats(second)};
  }

  /// Widens pairs of bytes to pairs of 16-bit words. For the portable unit returns two vectors of 32-bit words, the
  /// first and the second byte of each pair.
  VectorBuilder::Values wordPairs(Value raw) {
    Value words = arith::ExtSIOp::create(builder, vectorOf(2 * VectorBuilder::kLanes, builder.getI16Type()), raw);
    if (unit != DotUnit::Portable)
      return {words};
    Value pairs = vector::BitCastOp::create(builder, vectorOf(VectorBuilder::kLanes, i32), words);
    Value first = arith::ShRSIOp::create(builder, arith::ShLIOp::create(builder, pairs, splatInt(16)), splatInt(16));
    return {first, arith::ShRSIOp::create(builder, pairs, splatInt(16))};
  }

  /// Loads one group of neighbors in K of |row|, from |k| on, and broadcasts it to all lanes: as one or two vectors,
  /// like loadWeights.
  VectorBuilder::Values loadInput(Value row, Value k) {
    if (element.isF32())
      return {builder.splat(builder.loadScalar(tile.input, {row, k})),
              builder.splat(builder.loadScalar(tile.input, {row, builder.add(k, 1)}))};
    VectorType words = vectorOf(VectorBuilder::kLanes, i32);
    if (element.isInteger(16) && unit == DotUnit::Portable) {
      auto word = [&](Value k) -> Value {
        Value wide = arith::ExtSIOp::create(builder, i32, builder.loadScalar(tile.input, {row, k}));
        return vector::BroadcastOp::create(builder, words, wide);
      };
      return {word(k), word(builder.add(k, 1))};
    }
    Value group = vector::LoadOp::create(builder, vectorOf(tile.group, element), tile.input, ValueRange{row, k});
    Value word = vector::ExtractOp::create(builder, vector::BitCastOp::create(builder, vectorOf(1, i32), group), int64_t(0));
    Value all = vector::BroadcastOp::create(builder, words, word);
    return {vector::BitCastOp::create(builder, vectorOf(VectorBuilder::kLanes * tile.group, element), all)};
  }

  /// Returns |sum| plus, in each lane, the products of a group of neighbors.
  Value multiply(Value sum, const VectorBuilder::Values &inputs, const VectorBuilder::Values &weights) {
    if (element.isF32())
      return builder.fma(inputs[1], weights[1], builder.fma(inputs[0], weights[0], sum));
    if (element.isBF16())
      return x86vector::DotBF16Op::create(builder, sum.getType(), sum, inputs[0], weights[0]);
    if (element.isInteger(16) && unit == DotUnit::Portable) {
      for (auto [a, b] : llvm::zip_equal(inputs, weights))
        sum = arith::AddIOp::create(builder, sum, arith::MulIOp::create(builder, a, b));
      return sum;
    }
    if (unit != DotUnit::Avx2)
      return multiplyWords("512", sum, inputs[0], weights[0]);
    Value low = multiplyWords("256", half(sum, 0), half(inputs[0], 0), half(weights[0], 0));
    Value high = multiplyWords("256", half(sum, 1), half(inputs[0], 1), half(weights[0], 1));
    return vector::ShuffleOp::create(builder, low, high, llvm::to_vector(llvm::seq<int64_t>(0, VectorBuilder::kLanes)));
  }

  /// Returns |sum| plus, in each 32-bit lane, the products of the lane's integers, by the instruction for vectors of
  /// |bits| bits.
  Value multiplyWords(StringRef bits, Value sum, Value inputs, Value weights) {
    auto call = [&](const Twine &name, ValueRange operands) {
      return LLVM::CallIntrinsicOp::create(builder, sum.getType(), builder.getStringAttr(name), operands).getResult(0);
    };
    if (element.isInteger(8))
      return call("llvm.x86.avx512.vpdpbusd." + bits, {sum, inputs, weights});
    Value products = call(bits == "512" ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd", {inputs, weights});
    return arith::AddIOp::create(builder, sum, products);
  }

  Value half(Value vector, int64_t which) {
    int64_t size = cast<VectorType>(vector.getType()).getDimSize(0) / 2;
    return vector::ShuffleOp::create(builder, vector, vector, llvm::to_vector(llvm::seq<int64_t>(which * size, (which + 1) * size)));
  }

  Value splatInt(uint32_t value) {
    return arith::ConstantOp::create(builder, DenseElementsAttr::get(vectorOf(VectorBuilder::kLanes, i32), APInt(32, value)));
  }
  Value asFloats(Value words) { return vector::BitCastOp::create(builder, vectorOf(VectorBuilder::kLanes, f32), words); }

  LowPrecisionTile &tile;
  VectorBuilder &builder;
  DotUnit unit;
  Type element;
  Type f32, i32;
};
} // namespace

const char *attune::vectorizeLowPrecision(VectorBuilder &builder, ContractionTile tile, int64_t rows, DotUnit unit, PrefetchPlan plan) {
  Type element = cast<MemRefType>(tile.contraction.getDpsInputs()[0].getType()).getElementType();
  if (unit == DotUnit::Amx && (element.isBF16() || element.isInteger(8)))
    return emitAmxContraction(builder, tile, plan);
  LowPrecisionTile dots(builder, tile, rows, plan);
  if (const char *reason = dots.check())
    return reason;
  LowPrecisionKernel kernel(dots, unit);
  if (const char *reason = kernel.check())
    return reason;
  kernel.emit();
  return nullptr;
}
