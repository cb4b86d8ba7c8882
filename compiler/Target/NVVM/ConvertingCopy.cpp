//===- ConvertingCopy.cpp - Rows of a cache to swizzled rows --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/ConvertingCopy.h"
#include "compiler/Target/NVVM/CacheLoads.h"
#include "compiler/Target/NVVM/TensorCores.h"
#include "compiler/Target/NVVM/WarpgroupProducts.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

/// Chunks of 8 elements that a thread loads before it stores the first one.
static constexpr int64_t kChunksAtOnce = 4;

/// Rounds |elements| and stores them as chunk |number| of a matrix of |rows| rows and |columns| columns that begins at
/// byte |to| of |words|. Chunks are numbered row by row.
void ConvertingCopy::storeChunk(Value to, Value number, ValueRange elements, int64_t rows, int64_t columns) {
  TensorCores cores(e, precision == xfmr::Precision::F16 ? Type(e.getF16Type()) : Type(e.getBF16Type()));
  Values packed;
  for (int64_t i = 0; i < kChunk; i += 2)
    packed.push_back(cores.pack(elements[i], elements[i + 1]));
  Value row = e.div(number, columns / kChunk), chunk = e.rem(number, columns / kChunk);
  Value block = e.div(chunk, 8), swapped = arith::XOrIOp::create(e, e.rem(chunk, 8), e.rem(row, 8));
  Value at = e.add(e.add(e.mul(block, rows * kRowBytes), e.mul(row, kRowBytes)), e.mul(swapped, kChunkBytes));
  auto type = VectorType::get({kChunk / 2}, e.getI32Type());
  vector::StoreOp::create(e, vector::FromElementsOp::create(e, type, packed), words, e.div(e.add(to, at), 4));
}

void ConvertingCopy::copy(Value to, Value from, ArrayRef<Value> first, Value count, int64_t rows, int64_t columns) {
  int64_t perRow = columns / kChunk, total = rows * perRow;
  CacheLoads loads(e, from);
  auto fileOf = [&](Value number) {
    SmallVector<Value> at(first);
    at.back() = e.add(at.back(), e.div(number, perRow));
    return at;
  };
  auto columnOf = [&](Value number) { return e.mul(e.rem(number, perRow), kChunk); };
  auto whole = [&]() -> Values {
    e.loop(thread, e.index(total), kChunksAtOnce * kWarpgroup, [&](Value number) {
      SmallVector<Values> loaded;
      for (int64_t i = 0; i < kChunksAtOnce; ++i) {
        Value mine = e.add(number, i * kWarpgroup);
        loaded.push_back(loads.loadAligned(fileOf(mine), columnOf(mine)));
      }
      for (int64_t i = 0; i < kChunksAtOnce; ++i)
        storeChunk(to, e.add(number, i * kWarpgroup), loaded[i], rows, columns);
    });
    return {};
  };
  auto part = [&]() -> Values {
    e.loop(thread, e.index(total), kWarpgroup, [&](Value number) {
      Values elements = e.choose(
          e.compare(arith::CmpIPredicate::slt, e.div(number, perRow), count),
          [&] { return loads.load(fileOf(number), columns, columnOf(number)); }, [&] { return Values(kChunk, e.f32(0.0)); });
      storeChunk(to, number, elements, rows, columns);
    });
    return {};
  };
  e.choose(e.both(loads.areRowsAligned(), e.compare(arith::CmpIPredicate::sge, count, rows)), whole, part);
}
