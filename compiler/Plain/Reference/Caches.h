//===- Caches.h - Keys and values kept between calls ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_REFERENCE_CACHES_H
#define ATTUNE_COMPILER_PLAIN_REFERENCE_CACHES_H

#include "compiler/Plain/Reference/Formats.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

#include <vector>

namespace attune::reference {

/// The size in bytes of the scale of a key or value in a cache of i8.
inline constexpr int64_t kCacheScaleBytes = 4;

/// Returns the number of components of a key or value in |cache|. |stored| is the size of the cache's dimension of
/// components; in a cache of i8, it includes kCacheScaleBytes.
inline int64_t countComponents(const PlainBuffer &cache, int64_t stored) {
  return cache.kind == ElementKind::I8 ? stored - kCacheScaleBytes : stored;
}

/// The key or value of token |number| in |cache|, which must outlive this object. |prefix| has the leading indices of
/// |cache|: slot and head, or none if |cache| is only the part of a cache for one slot and head. After them, keys are
/// in panels `[P, D, W]` of W tokens each, values in rows `[C, E]`, one for each token. In a cache of i8, components
/// are integers. The f32 scales are in the last kCacheScaleBytes of the D rows of a panel, or of the E elements of a
/// value (see `xfmr.kv_cache_update`).
class CachedVector {
public:
  enum class Kind { Key, Value };
  CachedVector(Kind kind, const PlainBuffer &cache, llvm::ArrayRef<int64_t> prefix, int64_t number)
      : cache(cache), prefix(prefix), number(number), isKey(kind == Kind::Key) {}

  /// Returns component |d|, in a cache of i8 multiplied by the scale.
  template <typename T>
  T load(int64_t d) const {
    T component = cache.get<T>(componentAt(d));
    if (cache.kind != ElementKind::I8)
      return component;
    uint8_t bytes[kCacheScaleBytes];
    for (int64_t i = 0; i < kCacheScaleBytes; ++i)
      bytes[i] = static_cast<uint8_t>(cache.get<int64_t>(scaleByteAt(i)));
    float scale;
    std::memcpy(&scale, bytes, sizeof(scale));
    return component * T(scale);
  }

  template <typename T>
  void store(const std::vector<T> &components) const {
    const auto size = static_cast<int64_t>(components.size());
    Matrix<T> row(1, size);
    row.values = components;
    if (cache.kind != ElementKind::I8) {
      for (int64_t d = 0; d < size; ++d)
        cache.set<T>(componentAt(d), row(0, d));
      return;
    }
    const GroupedRows<T> quantized = quantizeRowsByGroups(row, size);
    for (int64_t d = 0; d < size; ++d)
      cache.set<int64_t>(componentAt(d), int64_t(quantized.integers(0, d)));
    const auto scale = static_cast<float>(quantized.scales(0, 0));
    int8_t bytes[kCacheScaleBytes];
    std::memcpy(bytes, &scale, sizeof(bytes));
    for (int64_t i = 0; i < kCacheScaleBytes; ++i)
      cache.set<int64_t>(scaleByteAt(i), bytes[i]);
  }

private:
  using Indices = llvm::SmallVector<int64_t, 5>;
  Indices componentAt(int64_t d) const {
    return isKey ? indices({number / cache.sizes.back(), d, number % cache.sizes.back()}) : indices({number, d});
  }
  /// Returns the indices of byte |i| of the scale. The scales of the keys of a panel are one after the other in its
  /// last kCacheScaleBytes rows, taken as one row of bytes.
  Indices scaleByteAt(int64_t i) const {
    const int64_t width = cache.sizes.back();
    if (!isKey)
      return indices({number, width - kCacheScaleBytes + i});
    const int64_t byte = kCacheScaleBytes * (number % width) + i, rows = cache.sizes[cache.sizes.size() - 2];
    return indices({number / width, rows - kCacheScaleBytes + byte / width, byte % width});
  }
  Indices indices(std::initializer_list<int64_t> last) const {
    Indices result(prefix);
    result.append(last);
    return result;
  }

  const PlainBuffer &cache;
  Indices prefix;
  int64_t number;
  bool isKey;
};

/// loadKey() returns component |d| of key |j|, loadValue() component |e| of value |j|; |prefix| is as in CachedVector.
template <typename T>
T loadKey(const PlainBuffer &panels, llvm::ArrayRef<int64_t> prefix, int64_t j, int64_t d) {
  return CachedVector(CachedVector::Kind::Key, panels, prefix, j).load<T>(d);
}
template <typename T>
T loadValue(const PlainBuffer &rows, llvm::ArrayRef<int64_t> prefix, int64_t j, int64_t e) {
  return CachedVector(CachedVector::Kind::Value, rows, prefix, j).load<T>(e);
}

template <typename T>
void compute(Context<T> &c, mlir::xfmr::KvCacheUpdateOp op) {
  PlainBuffer key = c.in(op.getKey()), value = c.in(op.getValue()), past = c.in(op.getPast()), slots = c.in(op.getSlots());
  PlainBuffer offsets = c.in(op.getOffsets());
  PlainBuffer keys = c.destination(op.getKeyCache(), 0), values = c.destination(op.getValueCache(), 1);
  bool packed = offsets.present();
  int64_t batch = packed ? offsets.size(0) - 1 : key.size(0);
  for (int64_t b = 0; b < batch; ++b) {
    int64_t first = packed ? offsets.get<int64_t>({b}) : 0, count = packed ? offsets.get<int64_t>({b + 1}) - first : key.size(2);
    int64_t slot = slots.present() ? slots.get<int64_t>({b}) : b;
    for (int64_t i = 0; i < count; ++i) {
      int64_t j = past.get<int64_t>({b}) + i;
      for (int64_t g = 0; g < keys.size(1); ++g) {
        auto vectorOf = [&](const PlainBuffer &buffer) {
          std::vector<T> vector;
          for (int64_t d = 0; d < buffer.sizes.back(); ++d)
            vector.push_back(packed ? buffer.get<T>({first + i, g, d}) : buffer.get<T>({b, g, i, d}));
          return vector;
        };
        CachedVector(CachedVector::Kind::Key, keys, {slot, g}, j).store(vectorOf(key));
        CachedVector(CachedVector::Kind::Value, values, {slot, g}, j).store(vectorOf(value));
      }
    }
  }
}

template <typename T>
void compute(Context<T> &c, mlir::xfmr::KvCacheReadOp op) {
  PlainBuffer keys = c.in(op.getKeyCache()), values = c.in(op.getValueCache());
  int64_t length = c.number(op.getLength()), width = keys.size(4);
  PlainBuffer key = c.out({keys.size(0), keys.size(1), length, keys.size(3)}, 0);
  PlainBuffer value = c.out({values.size(0), values.size(1), length, values.size(3)}, 1);
  for (int64_t b = 0; b < keys.size(0); ++b)
    for (int64_t g = 0; g < keys.size(1); ++g)
      for (int64_t j = 0; j < length; ++j) {
        for (int64_t d = 0; d < keys.size(3); ++d)
          key.set<T>({b, g, j, d}, keys.get<T>({b, g, j / width, d, j % width}));
        for (int64_t e = 0; e < values.size(3); ++e)
          value.set<T>({b, g, j, e}, values.get<T>({b, g, j, e}));
      }
}

template <typename T>
void compute(Context<T> &c, mlir::xfmr::MaskCacheUpdateOp op) {
  PlainBuffer past = c.in(op.getPast()), slots = c.in(op.getSlots()), offsets = c.in(op.getOffsets()), mask = c.in(op.getMask());
  PlainBuffer cache = c.destination(op.getCache());
  for (int64_t b = 0; b + 1 < offsets.size(0); ++b)
    for (int64_t i = 0, count = offsets.get<int64_t>({b + 1}) - offsets.get<int64_t>({b}); i < count; ++i)
      cache.set<T>({slots.get<int64_t>({b}), past.get<int64_t>({b}) + i}, mask.present() ? mask.get<T>({b, i}) : T(0));
}

template <typename T>
void compute(Context<T> &c, mlir::xfmr::MaskCacheReadOp op) {
  PlainBuffer cache = c.in(op.getCache()), slots = c.in(op.getSlots());
  int64_t length = c.number(op.getLength());
  PlainBuffer out = c.out({slots.size(0), length});
  for (int64_t b = 0; b < slots.size(0); ++b)
    for (int64_t j = 0; j < length; ++j)
      out.set<T>({b, j}, cache.get<T>({slots.get<int64_t>({b}), j}));
}

template <typename T>
void compute(Context<T> &c, mlir::tiles::CacheRowsOp op) {
  PlainBuffer values = c.in(op.getValues()), rows = c.destination(op.getDestinations()[0]);
  for (int64_t j = 0; j < values.size(0); ++j) {
    std::vector<T> value;
    for (int64_t e = 0; e < values.size(1); ++e)
      value.push_back(values.get<T>({j, e}));
    CachedVector(CachedVector::Kind::Value, rows, {}, j).store(value);
  }
}

template <typename T>
void compute(Context<T> &c, mlir::tiles::KeyPanelOp op) {
  PlainBuffer keys = c.in(op.getKeys()), panel = c.destination(op.getDestinations()[0]);
  int64_t column = c.number(op.getColumn());
  for (int64_t d = 0; d < panel.size(0); ++d)
    for (int64_t j = column + keys.size(0); !op.getColumn() && j < panel.size(1); ++j)
      panel.set<int64_t>({d, j}, 0);
  PlainBuffer panels = panel;
  panels.sizes.insert(panels.sizes.begin(), 1);
  panels.strides.insert(panels.strides.begin(), 0);
  for (int64_t j = 0; j < keys.size(0); ++j) {
    std::vector<T> key;
    for (int64_t d = 0; d < keys.size(1); ++d)
      key.push_back(keys.get<T>({j, d}));
    CachedVector(CachedVector::Kind::Key, panels, {}, column + j).store(key);
  }
}

template <typename T>
void compute(Context<T> &c, mlir::tiles::UnpackKeysOp op) {
  PlainBuffer panel = c.in(op.getPanel()), rows = c.destination(op.getDestinations()[0]);
  for (int64_t j = 0; j < rows.size(0); ++j)
    for (int64_t d = 0; d < rows.size(1); ++d)
      rows.set<T>({j, d}, panel.get<T>({d, j}));
}

} // namespace attune::reference

#endif // ATTUNE_COMPILER_PLAIN_REFERENCE_CACHES_H
