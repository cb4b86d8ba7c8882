//===- OpRemark.h - Remarks about operations --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// A remark says what a pass did to an operation, why it did not do it, or what it found. Remarks are recorded only if
// the context has a remark engine, as under `attune compile --remarks=FILE` and `attune-opt --remarks-filter=REGEX`.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_OPREMARK_H
#define ATTUNE_DIALECT_XFMR_IR_OPREMARK_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"

namespace mlir::xfmr {

/// The key of the remark argument whose value is the text of a kernel, the parameter `text` of `#tile.group` and
/// `#tile.kernel`.
inline constexpr StringLiteral kRemarkKernel = "Kernel";

/// Returns true if the context of |op| has a remark engine.
inline bool recordsRemarks(Operation *op) { return op->getContext()->getRemarkEngine() != nullptr; }

/// Returns the options of the remark |name| of |pass| about |op|. If the context has a remark engine, they include the
/// name of the function that is |op| or contains it.
inline remark::RemarkOpts remarkOn(Operation *op, StringRef pass, StringRef name) {
  remark::RemarkOpts options = remark::RemarkOpts::name(name).category(pass);
  if (!recordsRemarks(op))
    return options;
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  return function ? options.function(function.getName()) : options;
}

/// Emits a remark that |pass| applied the transformation |name| to |op|.
inline remark::detail::InFlightRemark passed(Operation *op, StringRef pass, StringRef name) {
  return remark::passed(op->getLoc(), remarkOn(op, pass, name));
}
/// Emits a remark that |pass| did not apply the transformation |name| to |op|.
inline remark::detail::InFlightRemark missed(Operation *op, StringRef pass, StringRef name) {
  return remark::missed(op->getLoc(), remarkOn(op, pass, name));
}
/// Emits the remark |name| about a property of |op| that |pass| found.
inline remark::detail::InFlightRemark analysis(Operation *op, StringRef pass, StringRef name) {
  return remark::analysis(op->getLoc(), remarkOn(op, pass, name));
}

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_OPREMARK_H
