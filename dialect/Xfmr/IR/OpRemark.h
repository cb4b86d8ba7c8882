//===- OpRemark.h - Remarks about operations --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Remarks say what a pass did to an operation, or why not. They cost nothing unless the context has a remark engine:
// `attune compile --remarks=FILE`, `attune-opt --remarks-filter=REGEX`.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_OPREMARK_H
#define ATTUNE_DIALECT_XFMR_IR_OPREMARK_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"

namespace mlir::xfmr {

/// The key of a remark's argument that holds the text of a kernel, as `#tile.group` and `#tile.kernel` have it.
inline constexpr StringLiteral kRemarkKernel = "Kernel";

/// Returns true if remarks about |op| are recorded.
inline bool recordsRemarks(Operation *op) { return op->getContext()->getRemarkEngine() != nullptr; }

/// Returns the options of the remark |name| of |pass| about |op|. They have the name of the function around |op|.
inline remark::RemarkOpts remarkOn(Operation *op, StringRef pass, StringRef name) {
  remark::RemarkOpts options = remark::RemarkOpts::name(name).category(pass);
  if (!recordsRemarks(op))
    return options;
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    function = op->getParentOfType<FunctionOpInterface>();
  return function ? options.function(function.getName()) : options;
}

/// Reports that |pass| did |name| to |op|.
inline remark::detail::InFlightRemark passed(Operation *op, StringRef pass, StringRef name) {
  return remark::passed(op->getLoc(), remarkOn(op, pass, name));
}
/// Reports that |pass| did not do |name| to |op|.
inline remark::detail::InFlightRemark missed(Operation *op, StringRef pass, StringRef name) {
  return remark::missed(op->getLoc(), remarkOn(op, pass, name));
}
/// Reports a property of |op| that |pass| found.
inline remark::detail::InFlightRemark analysis(Operation *op, StringRef pass, StringRef name) {
  return remark::analysis(op->getLoc(), remarkOn(op, pass, name));
}

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_OPREMARK_H
