//===- EntryFormulas.h - Formulas of an entry as C functions ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_ENTRYFORMULAS_H
#define ATTUNE_COMPILER_OBJECT_ENTRYFORMULAS_H

#include "compiler/Object/EntryEmitter.h"
#include "dialect/Rt/IR/RtAttrs.h"

namespace attune {

/// A builder of the C functions that compute the costs of a call from its dims: single numbers, such as the bytes of
/// workspace and the FLOPs, and the work of each kernel (attune_kernel_work).
class EntryFormulas : EntryEmitter {
public:
  explicit EntryFormulas(mlir::func::FuncOp entry) : EntryEmitter(entry) {}

  /// Builds `attune_KIND_E(dims, workers)`, which returns the value of |formula|, or 0 if |formula| is null.
  mlir::LogicalResult buildSize(llvm::StringRef kind, mlir::xfmr::FormulaAttr formula);
  /// Builds `attune_work_E(dims, out)`, which writes an attune_kernel_work for each of |kernels|.
  mlir::LogicalResult buildWork(mlir::ArrayAttr kernels);

private:
  /// Creates the value of |formula| for the dims at |dimValues|, as i64. The formula may use `workers` if |workers| is
  /// not null. Fails, with an error on the entry, if the formula has another symbol that is no dim.
  mlir::FailureOr<mlir::Value> evaluate(mlir::xfmr::FormulaAttr formula, mlir::Value dimValues, mlir::Value workers);
};

} // namespace attune

#endif // ATTUNE_COMPILER_OBJECT_ENTRYFORMULAS_H
