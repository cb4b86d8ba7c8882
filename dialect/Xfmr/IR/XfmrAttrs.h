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

/// The number of copies of the first and of the last distance beside a table in `weight_distance_panels`: a load of 16
/// neighboring distances may have all but one of them beyond the table.
inline constexpr int64_t kDistancePadding = 15;

/// The threshold for hidden keys, half of the lowest f32: a mask value up to it hides a key, and a largest score up to
/// it means that no key is visible.
inline constexpr double kHiddenScore = std::numeric_limits<float>::lowest() / 2.0;

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_XFMRATTRS_H
