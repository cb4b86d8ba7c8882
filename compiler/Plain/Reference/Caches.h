//===- Caches.h - Keys and values kept between calls ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_PLAIN_REFERENCE_CACHES_H
#define ATTUNE_COMPILER_PLAIN_REFERENCE_CACHES_H

#include "compiler/Plain/Reference/Context.h"
#include "dialect/Xfmr/IR/XfmrOps.h"

namespace attune::reference {

template <typename T>
void compute(Context<T> &c, mlir::xfmr::KvCacheUpdateOp op) {
  PlainBuffer key = c.in(op.getKey()), value = c.in(op.getValue()), past = c.in(op.getPast()), slots = c.in(op.getSlots());
  PlainBuffer offsets = c.in(op.getOffsets());
  PlainBuffer keys = c.destination(op.getKeyCache(), 0), values = c.destination(op.getValueCache(), 1);
  bool packed = offsets.present();
  int64_t width = keys.size(4), batch = packed ? offsets.size(0) - 1 : key.size(0);
  for (int64_t b = 0; b < batch; ++b) {
    int64_t first = packed ? offsets.get<int64_t>({b}) : 0, count = packed ? offsets.get<int64_t>({b + 1}) - first : key.size(2);
    int64_t slot = slots.present() ? slots.get<int64_t>({b}) : b;
    for (int64_t i = 0; i < count; ++i) {
      int64_t j = past.get<int64_t>({b}) + i;
      for (int64_t g = 0; g < keys.size(1); ++g) {
        for (int64_t d = 0; d < keys.size(3); ++d)
          keys.set<T>({slot, g, j / width, d, j % width}, packed ? key.get<T>({first + i, g, d}) : key.get<T>({b, g, i, d}));
        for (int64_t e = 0; e < values.size(3); ++e)
          values.set<T>({slot, g, j, e}, packed ? value.get<T>({first + i, g, e}) : value.get<T>({b, g, i, e}));
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

} // namespace attune::reference

#endif // ATTUNE_COMPILER_PLAIN_REFERENCE_CACHES_H
