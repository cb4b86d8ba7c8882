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

/// The format of a weight matrix: bf16 or f16, to which each weight is rounded, or integers in groups:
/// `weight[n, k] = scale[n, g] * q[n, k] + minimum[n, g]`, where g is the group of column k. A group is |group|
/// neighbors in K. Its integers are stored without a sign, as `q + zero()`.
///
/// A panel of |width| rows is one stream, in which the scales and minima of a group of columns precede its integers:
///
///     group    | width scales | width minima, if any | quad 0 | quad 1 | ... |        int8: one integer a byte
///     quad     | row 0: integers of k, k + 1, k + 2, k + 3 | row 1 | ... |
///     group    | width scales | width minima, if any | pair 0 | pair 1 | ... |        int4: a byte has two
///     pair     | row 0: bytes of k, k + 1, k + 2, k + 3 | row 1 | ... |               byte k: q(k) | q(k + 4) << 4
///
/// If the last group of a row has fewer columns than groupColumns(), it is padded with integers q = 0.
struct WeightFormat {
  /// The type of the stored numbers. The members |bits| to |wideScales| are only for integers.
  enum class Kind { Integer, BF16, F16 };
  /// The most rows of a panel and columns of a matrix in a format, so that sizes in bytes do not overflow.
  static constexpr int64_t kMostWidth = 4096, kMostColumns = std::numeric_limits<int32_t>::max();

  Kind kind = Kind::Integer;
  /// Bits of a stored integer: 4 or 8.
  int64_t bits = 8;
  /// Columns of a group, a multiple of 16; 0 for one group per row.
  int64_t group = 32;
  /// True if a group has a minimum; then the integers q are not negative and stored as they are. Otherwise minima are
  /// 0, and the integers q are signed.
  bool minima = false;
  /// True if scales and minima are stored as f32, false if as f16.
  bool wideScales = false;

  /// Returns the format that |text| names, such as `int8:32`, `int4:64:asym`, `int8:32:f32`, `bf16` or `f16`; nullopt
  /// for any other text.
  static std::optional<WeightFormat> parse(llvm::StringRef text);
  std::string str() const;

  /// Returns true if weights are stored as floats, without groups.
  bool isFloat() const { return kind != Kind::Integer; }
  /// Returns the number that is added to an integer before it is stored: the stored value of q = 0.
  int64_t zero() const { return minima ? 0 : int64_t(1) << (bits - 1); }
  /// Returns the number of columns of a group: |group| or, if that is 0, |columns|, the columns of the matrix, rounded
  /// up to a multiple of 32.
  int64_t groupColumns(int64_t columns) const;
  /// Returns the number of groups in |columns|.
  int64_t groups(int64_t columns) const;
  /// Returns the number of columns, padded to whole groups.
  int64_t paddedColumns(int64_t columns) const { return groups(columns) * groupColumns(columns); }
  /// Returns the bytes of a scale or a minimum.
  int64_t scaleBytes() const { return wideScales ? 4 : 2; }
  /// Returns the bytes of the scales and minima of a group in a panel of |width| rows.
  int64_t headBytes(int64_t width) const { return width * scaleBytes() * (minima ? 2 : 1); }
  /// Returns the bytes of a group in a panel of |width| rows of |columns|.
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
