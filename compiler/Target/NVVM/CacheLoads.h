//===- CacheLoads.h - Keys and values of caches in threads ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cache has elements of f32, bf16, f16 or i8. In a cache of i8 each key and each value has one scale, an f32 in 4
// bytes; `xfmr.kv_cache_update` defines the layout. In this file, S is the number of scale bytes, 4 for i8 and 0 for
// other elements. "keys" is a buffer of panels, or one panel: W keys of D components are a panel `[D + S, W]`, whose
// last S rows have the W scales. "values" is a buffer `[n, E + S]`: a row is a value of E components, followed by its
// scale.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_CACHELOADS_H
#define ATTUNE_COMPILER_TARGET_NVVM_CACHELOADS_H

#include "compiler/Target/NVVM/ThreadBuilder.h"

namespace attune {

/// Returns true if the keys or values in |buffer| have scales, that is if its elements are i8.
bool hasScales(mlir::Value buffer);
/// Loads the scale of the key in column |column| of panel number |panel| of the buffer |keys|; if |panel| is empty,
/// |keys| is one panel.
mlir::Value loadKeyScale(ThreadBuilder &e, mlir::Value keys, mlir::ValueRange panel, mlir::Value column);
/// Loads the scale of value |row| of |values|.
mlir::Value loadValueScale(ThreadBuilder &e, mlir::Value values, mlir::Value row);
/// Store |scale| as that of the key in column |column| of the panel |keys|, or of value |row| of |values|.
void storeKeyScale(ThreadBuilder &e, mlir::Value scale, mlir::Value keys, mlir::Value column);
void storeValueScale(ThreadBuilder &e, mlir::Value scale, mlir::Value values, mlir::Value row);

/// Emits loads of eight neighboring elements of a row as f32: one component of eight keys, or eight components of one
/// value. Integers are multiplied by their scales.
class CacheLoads {
public:
  using Value = mlir::Value;
  using Values = ThreadBuilder::Values;

  /// |from| is a buffer of keys, of rank 3, or of values, of rank 2.
  CacheLoads(ThreadBuilder &e, Value from);
  /// Returns an i1, which is true if every row is aligned for instructions that load several neighbors.
  Value areRowsAligned() const { return aligned; }
  /// Loads the columns |column| to |column| + 7 of the row at the indices |row|, several at once; |column| is a
  /// multiple of 8. |row| is (panel, component) for keys and (number of the value) for values. Expects aligned rows.
  Values loadAligned(llvm::ArrayRef<Value> row, Value column);
  /// Loads the same columns of a row that has |columns| columns. If |columns| is a multiple of 8, loads several at once
  /// where rows are aligned; |column| must be less than |columns|. Otherwise loads one by one, and returns zeros for
  /// columns from |columns| on.
  Values load(llvm::ArrayRef<Value> row, int64_t columns, Value column);

private:
  Values loadScales(llvm::ArrayRef<Value> row, Value column);

  ThreadBuilder &e;
  Value from, aligned;
  /// The number of elements that one instruction loads from aligned rows.
  int64_t width;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_CACHELOADS_H
