//===- CalibratedRows.h - Rows of weights quantized in advance --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of weight matrices, with the integers that a calibration (compiler/Calibrate) has chosen for them. The key of a
// row is a hash of its f32 weights, not the name of a matrix: passes join, stack and cut matrices, but do not change
// their rows.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_WEIGHTS_CALIBRATEDROWS_H
#define ATTUNE_COMPILER_WEIGHTS_CALIBRATEDROWS_H

#include "compiler/Weights/WeightQuantizer.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace attune {

/// Quantized rows of one format.
class CalibratedRows {
public:
  /// A 127-bit hash of weights: one bit is dropped, so that no hash is a key that llvm::DenseMap reserves.
  using Key = std::pair<uint64_t, uint64_t>;
  static Key keyOf(llvm::ArrayRef<float> weights);

  explicit CalibratedRows(mlir::xfmr::WeightFormat format) : format(format) {}

  mlir::xfmr::WeightFormat getFormat() const { return format; }
  /// Returns the number of rows.
  size_t size() const { return places.size(); }

  /// Adds |row| with the scale and the minimum of each group, |groups|, and the integer q (WeightFormat) of each
  /// weight, |values|. Does nothing if an equal row was added before.
  void add(llvm::ArrayRef<float> row, llvm::ArrayRef<QuantizedGroup> groups, llvm::ArrayRef<int16_t> values);
  /// If |row| was added, writes the dequantized weights to |weights| and the scale and minimum of each group to
  /// |groups|, and returns true; else returns false and writes nothing. |weights| may be the data of |row|.
  bool find(llvm::ArrayRef<float> row, float *weights, QuantizedGroup *groups) const;

private:
  mlir::xfmr::WeightFormat format;
  /// For each row, the position of its first group in |numbers| and of its first byte in |integers|.
  llvm::DenseMap<Key, std::pair<size_t, size_t>> places;
  std::vector<QuantizedGroup> numbers;
  /// The integers of all rows as the format stores them, u = q + WeightFormat::zero(). With 4 bits, a byte has two
  /// columns, the even one in the low half.
  std::vector<uint8_t> integers;
};

} // namespace attune

#endif // ATTUNE_COMPILER_WEIGHTS_CALIBRATEDROWS_H
