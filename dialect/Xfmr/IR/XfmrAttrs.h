//===- XfmrAttrs.h - The xfmr dialect, its enumerations and attributes ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_XFMRATTRS_H
#define ATTUNE_DIALECT_XFMR_IR_XFMRATTRS_H

#include "dialect/Xfmr/IR/WeightFormat.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Operation.h"

#include <limits>
#include <optional>

#include "dialect/Xfmr/IR/XfmrEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Xfmr/IR/XfmrAttrs.h.inc"

#include "dialect/Xfmr/IR/XfmrDialect.h.inc"

namespace mlir::xfmr {

/// The number of copies of the largest distance that `xfmr.weight_distance_panels` adds before the distances of its
/// table, and of copies of the smallest that it adds after them: of 16 neighboring distances that a kernel loads at
/// once, up to 15 may be beyond the table.
inline constexpr int64_t kDistancePadding = 15;

/// The threshold for hidden keys, half of the lowest f32. A mask value that is at most the threshold hides a key. If
/// the largest score of a query is at most the threshold, no key is visible to the query.
inline constexpr double kHiddenScore = std::numeric_limits<float>::lowest() / 2.0;

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_XFMRATTRS_H
