//===- Caches.h - Keys and values kept between calls ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_REFERENCE_CACHES_H
#define ATTUNE_COMPILER_PLAIN_REFERENCE_CACHES_H

#include "compiler/Plain/Reference/Context.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

#include <vector>

namespace attune::reference {

/// The bytes of the scale of a key or value in a cache of i8.
inline constexpr int64_t kCacheScaleBytes = 4;

/// Returns the components of a key or value that |cache| stores, without the scale, of |stored|, the size of the
/// dimension of components.
inline int64_t countComponents(const PlainBuffer &cache, int64_t stored) {
  return cache.kind == ElementKind::I8 ? stored - kCacheScaleBytes : stored;
}

/// Returns the scale whose byte i is |byteAt|(i).
template <typename T, typename ByteAt>
T loadCacheScale(ByteAt byteAt) {
  uint8_t bytes[kCacheScaleBytes];
  for (int64_t i = 0; i < kCacheScaleBytes; ++i)
    bytes[i] = static_cast<uint8_t>(byteAt(i));
  float scale;
  std::memcpy(&scale, bytes, sizeof(scale));
  return scale;
}

/// Returns component |d| of key |j|. |panels| is [P, D, W] behind the indices |prefix|.
template <typename T>
T loadKey(const PlainBuffer &panels, llvm::ArrayRef<int64_t> prefix, int64_t j, int64_t d) {
  const int64_t rows = panels.sizes[prefix.size() + 1], width = panels.sizes[prefix.size() + 2];
  auto at = [&](int64_t row, int64_t column) {
    llvm::SmallVector<int64_t, 5> indices(prefix);
    indices.append({j / width, row, column});
    return indices;
  };
  T component = panels.get<T>(at(d, j % width));
  if (panels.kind != ElementKind::I8)
    return component;
  return component * loadCacheScale<T>([&](int64_t i) {
           int64_t byte = kCacheScaleBytes * (j % width) + i;
           return panels.get<int64_t>(at(rows - kCacheScaleBytes + byte / width, byte % width));
         });
}

/// Returns component |e| of value |j|. |values| is [C, E] behind the indices |prefix|.
template <typename T>
T loadValue(const PlainBuffer &values, llvm::ArrayRef<int64_t> prefix, int64_t j, int64_t e) {
  auto at = [&](int64_t column) {
    llvm::SmallVector<int64_t, 5> indices(prefix);
    indices.append({j, column});
    return indices;
  };
  T component = values.get<T>(at(e));
  if (values.kind != ElementKind::I8)
    return component;
  return component * loadCacheScale<T>([&](int64_t i) { return values.get<int64_t>(at(values.sizes.back() - kCacheScaleBytes + i)); });
}

/// Quantizes |vector|, a key or value, to 8 bits: calls |store|(component, integer) and then |storeScale|(byte, value) for
/// the bytes of the scale.
template <typename T, typename Store, typename StoreScale>
void quantizeForCache(const std::vector<T> &vector, Store store, StoreScale storeScale) {
  T largest = 0;
  for (T x : vector)
    largest = std::isnan(x) ? x : std::max(largest, std::abs(x));
  const bool isFinite = std::isfinite(largest), isTiny = largest < T(0x1p-119);
  for (size_t d = 0; d < vector.size(); ++d)
    store(int64_t(d), isFinite && !isTiny ? int64_t(std::nearbyint(vector[d] * (T(127) / largest))) : 0);
  const float scale = !isFinite ? std::numeric_limits<float>::quiet_NaN() : isTiny ? 0.0f : static_cast<float>(largest / T(127));
  int8_t bytes[kCacheScaleBytes];
  std::memcpy(bytes, &scale, sizeof(bytes));
  for (int64_t i = 0; i < kCacheScaleBytes; ++i)
    storeScale(i, bytes[i]);
}

/// Writes |key| as key |j|, in the place that loadKey reads.
template <typename T>
void storeKey(const PlainBuffer &panels, llvm::ArrayRef<int64_t> prefix, int64_t j, const std::vector<T> &key) {
  const int64_t rows = panels.sizes[prefix.size() + 1], width = panels.sizes[prefix.size() + 2];
  auto at = [&](int64_t row, int64_t column) {
    llvm::SmallVector<int64_t, 5> indices(prefix);
    indices.append({j / width, row, column});
    return indices;
  };
  if (panels.kind != ElementKind::I8) {
    for (size_t d = 0; d < key.size(); ++d)
      panels.set<T>(at(int64_t(d), j % width), key[d]);
    return;
  }
  quantizeForCache(
      key, [&](int64_t d, int64_t integer) { panels.set<int64_t>(at(d, j % width), integer); },
      [&](int64_t i, int64_t value) {
        int64_t byte = kCacheScaleBytes * (j % width) + i;
        panels.set<int64_t>(at(rows - kCacheScaleBytes + byte / width, byte % width), value);
      });
}

/// Writes |value| as value |j|, in the place that loadValue reads.
template <typename T>
void storeValue(const PlainBuffer &values, llvm::ArrayRef<int64_t> prefix, int64_t j, const std::vector<T> &value) {
  auto at = [&](int64_t column) {
    llvm::SmallVector<int64_t, 5> indices(prefix);
    indices.append({j, column});
    return indices;
  };
  if (values.kind != ElementKind::I8) {
    for (size_t e = 0; e < value.size(); ++e)
      values.set<T>(at(int64_t(e)), value[e]);
    return;
  }
  quantizeForCache(
      value, [&](int64_t e, int64_t integer) { values.set<int64_t>(at(e), integer); },
      [&](int64_t i, int64_t byte) { values.set<int64_t>(at(values.sizes.back() - kCacheScaleBytes + i), byte); });
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
        storeKey(keys, {slot, g}, j, vectorOf(key));
        storeValue(values, {slot, g}, j, vectorOf(value));
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
    storeValue(rows, {}, j, value);
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
    storeKey(panels, {}, column + j, key);
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
