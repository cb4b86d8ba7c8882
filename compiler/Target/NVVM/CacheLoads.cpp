//===- CacheLoads.cpp - Keys and values of caches in threads --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Target/NVVM/CacheLoads.h"
#include "compiler/Target/NVVM/TensorCores.h"
#include "compiler/Transforms/CacheElements.h"
#include "dialect/Xfmr/IR/CacheLayout.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace attune;
using Values = ThreadBuilder::Values;

bool attune::hasScales(Value buffer) { return xfmr::getScaleBytes(cast<MemRefType>(buffer.getType()).getElementType()) != 0; }

/// Returns the indices of the first byte of the scale of column |column| in panel number |panel| of |keys|, or of the
/// panel |keys| if |panel| is empty.
static SmallVector<Value> getKeyScaleIndices(ThreadBuilder &e, Value keys, ValueRange panel, Value column) {
  SmallVector<Value> indices(panel);
  llvm::append_range(indices, getScaleIndices(e, keys, column));
  return indices;
}

/// Returns the indices of the first byte of the scale of value |row|, and true if all scales are aligned to 4 bytes.
static std::pair<SmallVector<Value>, bool> getValueScaleIndices(ThreadBuilder &e, Value values, Value row) {
  int64_t size = xfmr::getHeadSize(cast<MemRefType>(values.getType()), 1);
  return {{row, e.index(size)}, size % xfmr::kCacheScaleBytes == 0};
}

/// Loads the f32 whose first byte is at |indices| of |buffer|. Uses one load if that byte is |aligned| to 4 bytes, else
/// one for each byte.
static Value loadScale(ThreadBuilder &e, Value buffer, ArrayRef<Value> indices, bool aligned) {
  auto bytes = VectorType::get({xfmr::kCacheScaleBytes}, e.getI8Type());
  Value scale;
  if (aligned) {
    scale = vector::LoadOp::create(e, bytes, buffer, indices);
  } else {
    Values single;
    for (int64_t i = 0; i < xfmr::kCacheScaleBytes; ++i) {
      SmallVector<Value> at(indices);
      at.back() = e.add(at.back(), i);
      single.push_back(e.load(buffer, at));
    }
    scale = vector::FromElementsOp::create(e, bytes, single);
  }
  return vector::ExtractOp::create(e, vector::BitCastOp::create(e, VectorType::get({1}, e.getF32Type()), scale), int64_t(0));
}

static void storeScale(ThreadBuilder &e, Value scale, Value buffer, ArrayRef<Value> indices, bool aligned) {
  auto bytes = VectorType::get({xfmr::kCacheScaleBytes}, e.getI8Type());
  Value cast = vector::BitCastOp::create(e, bytes, vector::BroadcastOp::create(e, VectorType::get({1}, e.getF32Type()), scale));
  if (aligned) {
    vector::StoreOp::create(e, cast, buffer, indices);
    return;
  }
  for (int64_t i = 0; i < xfmr::kCacheScaleBytes; ++i) {
    SmallVector<Value> at(indices);
    at.back() = e.add(at.back(), i);
    e.store(vector::ExtractOp::create(e, cast, i), buffer, at);
  }
}

// The caches of a session begin at multiples of 64 bytes: its memory does (attune/runtime.h), and each cache has whole
// panels of tokens, 64 in each. A row of a panel has W bytes, and W is a multiple of 64. So scales of keys are aligned
// to 4 bytes, and scales of values are aligned if a value has a multiple of 4 components.
Value attune::loadKeyScale(ThreadBuilder &e, Value keys, ValueRange panel, Value column) {
  return loadScale(e, keys, getKeyScaleIndices(e, keys, panel, column), /*aligned=*/true);
}

Value attune::loadValueScale(ThreadBuilder &e, Value values, Value row) {
  auto [indices, aligned] = getValueScaleIndices(e, values, row);
  return loadScale(e, values, indices, aligned);
}

void attune::storeKeyScale(ThreadBuilder &e, Value scale, Value keys, Value column) {
  storeScale(e, scale, keys, getKeyScaleIndices(e, keys, {}, column), /*aligned=*/true);
}

void attune::storeValueScale(ThreadBuilder &e, Value scale, Value values, Value row) {
  auto [indices, aligned] = getValueScaleIndices(e, values, row);
  storeScale(e, scale, values, indices, aligned);
}

/// Returns the bytes that one instruction loads of an aligned row with elements of the type |element|. A row of values
/// of i8 has E + 4 bytes, so rows are aligned to 4 bytes at best. Keys of i8 are loaded 4 bytes at a time, too.
static int64_t getLoadBytes(Type element) { return element.isInteger(8) ? xfmr::kCacheScaleBytes : kChunkBytes; }

CacheLoads::CacheLoads(ThreadBuilder &e, Value from) : e(e), from(from) {
  Type element = cast<MemRefType>(from.getType()).getElementType();
  int64_t elementBytes = element.getIntOrFloatBitWidth() / 8, loadBytes = getLoadBytes(element);
  width = loadBytes / elementBytes;
  auto parts = memref::ExtractStridedMetadataOp::create(e, from);
  Value bytes = e.mul(parts.getOffset(), elementBytes);
  for (Value stride : parts.getStrides().drop_back())
    bytes = arith::OrIOp::create(e, bytes, e.mul(stride, elementBytes));
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(e, from);
  Value all = arith::OrIOp::create(e, bytes, base);
  aligned = e.compare(arith::CmpIPredicate::eq, e.rem(all, loadBytes), 0);
}

/// Returns the scales of the elements of row |row| in the eight columns from |column| on; an empty list if elements
/// have no scales.
Values CacheLoads::loadScales(ArrayRef<Value> row, Value column) {
  if (!hasScales(from))
    return {};
  auto type = cast<MemRefType>(from.getType());
  if (type.getRank() == 2)
    return Values(kChunk, loadValueScale(e, from, row[0]));
  // The scales of eight keys are 32 bytes of one row of the panel, since |column| is a multiple of 8 and W of 64.
  SmallVector<Value> indices = getKeyScaleIndices(e, from, row[0], column);
  Values scales;
  constexpr int64_t kAtOnce = kChunkBytes / xfmr::kCacheScaleBytes;
  for (int64_t first = 0; first < kChunk; first += kAtOnce) {
    SmallVector<Value> at(indices);
    at.back() = e.add(at.back(), first * xfmr::kCacheScaleBytes);
    Value bytes = vector::LoadOp::create(e, VectorType::get({kChunkBytes}, e.getI8Type()), from, at);
    Value several = vector::BitCastOp::create(e, VectorType::get({kAtOnce}, e.getF32Type()), bytes);
    for (int64_t i = 0; i < kAtOnce; ++i)
      scales.push_back(vector::ExtractOp::create(e, several, i));
  }
  return scales;
}

Values CacheLoads::loadAligned(ArrayRef<Value> row, Value column) {
  Values elements;
  auto type = VectorType::get({width}, cast<MemRefType>(from.getType()).getElementType());
  for (int64_t first = 0; first < kChunk; first += width) {
    SmallVector<Value> place(row);
    place.push_back(e.add(column, first));
    Value several = widen(e, vector::LoadOp::create(e, type, from, place));
    for (int64_t i = 0; i < width; ++i)
      elements.push_back(vector::ExtractOp::create(e, several, i));
  }
  for (auto [element, scale] : llvm::zip(elements, loadScales(row, column)))
    element = e.mulf(element, scale);
  return elements;
}

Values CacheLoads::load(ArrayRef<Value> row, int64_t columns, Value column) {
  bool isWhole = columns % kChunk == 0;
  auto single = [&] {
    Values elements, scales = loadScales(row, column);
    for (int64_t i = 0; i < kChunk; ++i) {
      SmallVector<Value> place(row);
      place.push_back(e.add(column, i));
      auto element = [&]() -> Values {
        Value loaded = e.loadWide(from, place);
        return {scales.empty() ? loaded : e.mulf(loaded, scales[i])};
      };
      elements.append(isWhole ? element() : e.choose(e.compare(arith::CmpIPredicate::slt, place.back(), columns), element, [&] {
        return Values{e.f32(0.0)};
      }));
    }
    return elements;
  };
  return isWhole ? e.choose(aligned, [&] { return loadAligned(row, column); }, single) : single();
}
