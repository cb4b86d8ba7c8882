//===- WeightFormat.h - Formats of weights ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_WEIGHTFORMAT_H
#define ATTUNE_DIALECT_XFMR_IR_WEIGHTFORMAT_H

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace mlir::xfmr {

/// The format of a weight matrix `[N, K]`: either bf16 or f16, to which each weight is rounded, or integers in groups.
/// In a format of integers, `weight[n, k]` is approximated by `scale[n, g] * q[n, k] + minimum[n, g]`, where g is the
/// group of column k. A group is |group| consecutive columns of a row. An integer q is stored without a sign, as
/// `u = q + zero()`.
///
/// In a format of integers, a panel of `width` rows is one stream of bytes. For each group of columns, the stream has
/// the scales of all rows, then their minima if the format has any, then the integers, four columns (a quad) of a row
/// side by side:
///
///     int8: group | width scales | width minima, if any | quad 0 | quad 1 | ...
///           quad  | row 0: u of columns k to k + 3, a byte each | row 1 | ...
///     int4: group | width scales | width minima, if any | pair 0 | pair 1 | ...     (a pair is two quads)
///           pair  | row 0: 4 bytes | row 1 | ...   byte i: u of column k + i in the low half, of k + 4 + i in the high
///
/// If the last group of a row has fewer than groupColumns() columns, it is padded with integers q = 0.
struct WeightFormat {
  /// The type of the stored numbers. The members |bits| to |wideScales| have a meaning only for Kind::Integer.
  enum class Kind { Integer, BF16, F16 };
  /// The largest number of rows of a panel and of columns of a matrix in a format of integers. They keep sizes in bytes
  /// from overflowing.
  static constexpr int64_t kMostWidth = 4096, kMostColumns = std::numeric_limits<int32_t>::max();

  Kind kind = Kind::Integer;
  /// Bits of a stored integer: 4 or 8.
  int64_t bits = 8;
  /// The number of columns of a group, 16, 32, 64 or 128; 0 for one group per row.
  int64_t group = 32;
  /// True if each group of a row has a minimum; then the integers q are not negative, and zero() is 0. If false, minima
  /// are 0, and the integers q are signed.
  bool minima = false;
  /// True if scales and minima are stored as f32, false if as f16.
  bool wideScales = false;

  /// Returns the format that |text| names, such as `int8:32`, `int4:64:asym`, `int8:32:f32`, `bf16` or `f16`; nullopt
  /// for any other text.
  static std::optional<WeightFormat> parse(llvm::StringRef text);
  std::string str() const;

  /// Returns true if the format is bf16 or f16, which have no groups.
  bool isFloat() const { return kind != Kind::Integer; }
  /// Returns the number that is added to an integer q before it is stored.
  int64_t zero() const { return minima ? 0 : int64_t(1) << (bits - 1); }
  /// Returns the number of columns of a group in a matrix of |columns| columns: |group|, or, if |group| is 0, |columns|
  /// rounded up to a multiple of 32, at least 32.
  int64_t groupColumns(int64_t columns) const;
  /// Returns the number of groups in a row of |columns| columns.
  int64_t groups(int64_t columns) const;
  /// Returns |columns| rounded up to whole groups.
  int64_t paddedColumns(int64_t columns) const { return groups(columns) * groupColumns(columns); }
  /// Returns the bytes of a scale or a minimum.
  int64_t scaleBytes() const { return wideScales ? 4 : 2; }
  /// Returns the bytes of the scales and minima of one group of columns in a panel of |width| rows.
  int64_t headBytes(int64_t width) const { return width * scaleBytes() * (minima ? 2 : 1); }
  /// Returns the bytes of one group of columns in a panel of |width| rows, with scales and minima. The matrix has
  /// |columns| columns.
  int64_t groupBytes(int64_t width, int64_t columns) const { return headBytes(width) + width * groupColumns(columns) * bits / 8; }

  bool operator==(const WeightFormat &other) const {
    return kind == other.kind && bits == other.bits && group == other.group && minima == other.minima && wideScales == other.wideScales;
  }
  bool operator!=(const WeightFormat &other) const { return !(*this == other); }
};

inline llvm::hash_code hash_value(const WeightFormat &format) {
  return llvm::hash_combine(format.kind, format.bits, format.group, format.minima, format.wideScales);
}

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_WEIGHTFORMAT_H
