//===- VectorBuilder.h - Code on vectors of 16 floats ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// So that sums of f32 have the same order on every machine, the passes for CPUs emit vectors of 16 lanes everywhere,
// which LLVM splits where registers are shorter. (For some instructions of AVX2 they emit vectors of 8 lanes.) This
// builder has the code that kernels share: chunks of 16 columns with a partial last chunk, fixed reduction trees over
// lanes, groups of rows, and the product loop with its accumulators in registers.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_VECTORBUILDER_H
#define ATTUNE_COMPILER_TARGET_CPU_VECTORBUILDER_H

#include "compiler/Transforms/IndexBuilder.h"

namespace attune {

/// The lanes of a vector that exist, for example the columns that are left in a row: all 16 or the first ones. Their
/// number is a compile-time constant or a run-time value.
class Lanes {
public:
  static Lanes all() { return Lanes(16, mlir::Value()); }
  /// Returns the first |count| lanes, at most 16.
  static Lanes first(int64_t count) { return Lanes(count < 16 ? count : 16, mlir::Value()); }
  /// Returns the first |count| lanes: all lanes if |count| is 16 or more, none if it is below 1.
  static Lanes first(mlir::Value count) { return Lanes(16, count); }

  bool areAll() const { return fixed == 16 && !dynamic; }
  int64_t getFixed() const { return fixed; }
  /// Returns the run-time count, or null.
  mlir::Value getDynamic() const { return dynamic; }

private:
  Lanes(int64_t fixed, mlir::Value dynamic) : fixed(fixed), dynamic(dynamic) {}
  int64_t fixed;
  mlir::Value dynamic;
};

/// Creates code on vectors of 16 lanes.
class VectorBuilder : public IndexBuilder {
public:
  static constexpr int64_t kLanes = 16;
  using IndexBuilder::IndexBuilder;

  /// Returns `vector<16xf32>`.
  mlir::VectorType getType() { return mlir::VectorType::get({kLanes}, getF32Type()); }

  /// Loads the element at |indices|.
  Value loadScalar(Value memref, mlir::ValueRange indices);

  // Vectors of 16 lanes. splat returns a vector with the same f32 in all lanes; splat(double) creates a constant.
  Value splat(double value);
  Value splat(Value scalar);
  /// Loads the 16 elements from |indices| on, along the last dimension, which must be contiguous. Elements in lanes
  /// that do not exist are not read; these lanes are 0.
  Value load(Value memref, mlir::ValueRange indices, Lanes lanes = Lanes::all());
  /// Stores |vector| from |indices| on; memory of lanes that do not exist is not changed.
  void store(Value vector, Value memref, mlir::ValueRange indices, Lanes lanes = Lanes::all());
  /// Returns, lane by lane, |vector| where the lane exists, else |other|.
  Value keep(Value vector, Lanes lanes, Value other);

  /// Returns `a > b ? a : b`, one instruction on x86; a NaN of |b| is kept, one of |a| is lost.
  Value maxf(Value a, Value b);

  // Reductions of the 16 lanes of a vector to a scalar, by |join|, addf or maxf. They join lanes i and i + 8, then of
  // the 8 results i and i + 4, then i and i + 2, then i and i + 1. The tree is the same on every machine.
  Value reduceLanes(Value vector, llvm::function_ref<Value(Value, Value)> join);
  Value sumLanes(Value vector);
  Value maxLanes(Value vector);

  // Control flow.
  /// Emits |body| once for each constant number of rows |count|: 1, each even number up to |maxRows|, and |maxRows|. At
  /// run time the code for the smallest count that is not below |rows| runs; |rows| is at most |maxRows|, and if it is
  /// 0, nothing runs. |existing| is |rows|, which is |count| or |count| - 1, or null if all |count| rows are known to
  /// exist. If |rows| is a constant, it is the only |count|; for the constant 0 nothing is emitted.
  void forEvenRows(Value rows, int64_t maxRows, llvm::function_ref<void(int64_t count, Value existing)> body);
  /// Covers the rows [0, |rows|) by calls of |body| with a constant number of rows: |maxRows| (a power of two) at once
  /// if |rows| is |maxRows|, otherwise powers of two by the bits of |rows|, largest first. |rows| is 0 to |maxRows|; a
  /// constant |rows|, which may be larger, needs no conditions. Rows are independent, so the split does not change any
  /// result.
  void forRows(Value rows, int64_t maxRows, llvm::function_ref<void(Value rowBase, int64_t count)> body);
  /// Calls |body| for the chunks of 16 of a static number of |columns|; the last one may be partial.
  static void forChunks(int64_t columns, llvm::function_ref<void(int64_t begin, Lanes lanes)> body);

  /// Emits the product loop: for k from |begin| to |end| - 1 in order,
  /// `acc[r * vectors + j] = a(k)[r] * b(k)[j] + acc[r * vectors + j]`, |unroll| steps at a time (at most 4: beyond
  /// that LLVM hoists the broadcasts and spills). |loadA| loads a(k)[r], an f32 for row r, and |loadB| loads b(k)[j],
  /// the vector of column chunk j. |initial| are the |rows| * |vectors| accumulators before the loop; returns those
  /// after it.
  Values multiply(Value begin, Value end, int64_t rows, int64_t vectors, int64_t unroll, mlir::ValueRange initial,
                  llvm::function_ref<Value(int64_t row, Value k)> loadA, llvm::function_ref<Value(int64_t chunk, Value k)> loadB);

private:
  Value mask(Lanes lanes);
  Value lowerHalf(Value vector), upperHalf(Value vector);
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_VECTORBUILDER_H
