//===- VectorBuilder.h - Code on vectors of 16 floats ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All CPU kernels work on vectors of 16 f32 lanes, whatever the machine has (LLVM splits them), so that every sum has the same order
// everywhere. This builder makes the few shapes of code they share: chunks of 16 columns with a partial last one, fixed trees over
// lanes, groups of rows, and the product loop with its accumulators in registers.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_CPU_VECTORBUILDER_H
#define ATTUNE_COMPILER_TARGET_CPU_VECTORBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace attune {

/// How many lanes of a chunk exist: all 16, a number known now, or a number known at run time.
class Lanes {
public:
  static Lanes all() { return Lanes(16, mlir::Value()); }
  /// The first |count| lanes, at most 16.
  static Lanes first(int64_t count) { return Lanes(count < 16 ? count : 16, mlir::Value()); }
  /// The first |count| lanes; a |count| of 16 or more is all of them, one below 1 none.
  static Lanes first(mlir::Value count) { return Lanes(16, count); }

  bool areAll() const { return fixed == 16 && !dynamic; }
  int64_t getFixed() const { return fixed; }
  /// The run-time count, or null.
  mlir::Value getDynamic() const { return dynamic; }

private:
  Lanes(int64_t fixed, mlir::Value dynamic) : fixed(fixed), dynamic(dynamic) {}
  int64_t fixed;
  mlir::Value dynamic;
};

/// Emits scf, vector and arith operations at the insertion point of |builder|.
class VectorBuilder {
public:
  static constexpr int64_t kLanes = 16;
  using Values = llvm::SmallVector<mlir::Value>;

  VectorBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc() const { return loc; }
  /// vector<16xf32>.
  mlir::VectorType getType() { return mlir::VectorType::get({kLanes}, builder.getF32Type()); }

  // Scalars and indices.
  mlir::Value index(int64_t value);
  mlir::Value f32(double value);
  mlir::Value add(mlir::Value base, int64_t offset);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t factor);
  mlir::Value floorDiv(mlir::Value a, int64_t divisor);
  mlir::Value remainder(mlir::Value a, int64_t divisor);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  /// Size of dimension |dim| of |memref|: a constant where it is static.
  mlir::Value size(mlir::Value memref, int64_t dim);
  /// The f32 at |indices|.
  mlir::Value loadScalar(mlir::Value memref, mlir::ValueRange indices);

  // Vectors. |splat| of a number is a constant.
  mlir::Value splat(double value);
  mlir::Value splat(mlir::Value scalar);
  /// The 16 lanes from |indices| on, along the last dimension, which must be contiguous. Lanes that do not exist are not read and 0.
  mlir::Value load(mlir::Value memref, mlir::ValueRange indices, Lanes lanes = Lanes::all());
  void store(mlir::Value vector, mlir::Value memref, mlir::ValueRange indices, Lanes lanes = Lanes::all());
  /// Lane by lane, |vector| where the lane exists, else |other|.
  mlir::Value keep(mlir::Value vector, Lanes lanes, mlir::Value other);

  // Arithmetic on vectors and on f32.
  mlir::Value addf(mlir::Value a, mlir::Value b);
  mlir::Value subf(mlir::Value a, mlir::Value b);
  mlir::Value mulf(mlir::Value a, mlir::Value b);
  mlir::Value divf(mlir::Value a, mlir::Value b);
  /// a * b + c, rounded once.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  /// `a > b ? a : b`, one instruction on x86; the NaN of |b| stays, that of |a| is lost.
  mlir::Value maxf(mlir::Value a, mlir::Value b);
  /// `a < b ? a : b`; the NaN of |b| stays, that of |a| is lost.
  mlir::Value minf(mlir::Value a, mlir::Value b);
  /// `predicate(a, b) ? yes : no`.
  mlir::Value select(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b, mlir::Value yes, mlir::Value no);

  // Over the lanes of a vector, as f32: lane i with lane i + 8, then 4, 2, 1. The same tree on every machine.
  mlir::Value sumLanes(mlir::Value vector);
  mlir::Value maxLanes(mlir::Value vector);

  // Control flow.
  using LoopBody = llvm::function_ref<Values(mlir::Value iteration, mlir::ValueRange carried)>;
  /// `for (i = begin; i < end; i += step)` with loop-carried values; returns their last values.
  Values forLoop(mlir::Value begin, mlir::Value end, int64_t step, mlir::ValueRange initial, LoopBody body);
  /// Runs |then| if |condition| holds.
  void ifThen(mlir::Value condition, llvm::function_ref<void()> then);
  /// The values of |yes| if |condition| holds, else those of |no|; only that side runs.
  Values choose(mlir::Value condition, llvm::function_ref<Values()> yes, llvm::function_ref<Values()> no);
  /// Calls |body| with a number of rows known now where |rows| of them, 1 to |maxRows|, exist: with 1, else with each even number, of which
  /// the one not below |rows| runs. If |existing| is not null, it is |rows|: the number itself, or one less.
  void forEvenRows(mlir::Value rows, int64_t maxRows, llvm::function_ref<void(int64_t count, mlir::Value existing)> body);
  /// Covers rows 0 .. |rows| - 1 by calls with a number of rows known now: |maxRows| (a power of two) at once if |rows| is that,
  /// otherwise powers of two by the bits of |rows|, largest first. |rows| is at most |maxRows|; the calls are emitted for a constant
  /// |rows| without conditions. Rows are independent, so the split does not change any result.
  void forRows(mlir::Value rows, int64_t maxRows, llvm::function_ref<void(mlir::Value rowBase, int64_t count)> body);
  /// The chunks of 16 of a static number of |columns|; the last one may be partial.
  static void forChunks(int64_t columns, llvm::function_ref<void(int64_t begin, Lanes lanes)> body);

  /// The product loop: for k from |begin| to |end| in order, `acc[r * vectors + j] = a(k)[r] * b(k)[j] + acc[r * vectors + j]`,
  /// |unroll| steps at a time (at most 4: beyond that LLVM hoists the broadcasts and spills). |loadA| gives the f32 of a row,
  /// |loadB| the vector of a column chunk.
  Values multiply(mlir::Value begin, mlir::Value end, int64_t rows, int64_t vectors, int64_t unroll, mlir::ValueRange initial,
                  llvm::function_ref<mlir::Value(int64_t row, mlir::Value k)> loadA,
                  llvm::function_ref<mlir::Value(int64_t chunk, mlir::Value k)> loadB);

private:
  mlir::Value mask(Lanes lanes);
  mlir::Value lowerHalf(mlir::Value vector), upperHalf(mlir::Value vector);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_CPU_VECTORBUILDER_H
