//===- CodeVersions.h - A kernel per form of projections --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_CODEVERSIONS_H
#define ATTUNE_COMPILER_TARGET_NVVM_CODEVERSIONS_H

#include "compiler/Target/NVVM/CodeProjection.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// A parallel loop and the form of the projections of codes in it.
struct CodeVersion {
  mlir::scf::ForallOp loop;
  CodeForm form;
};

/// Copies |loop| for each form that the columns of its blocks may call for, which the host finds out: a kernel of one form alone has the
/// registers and the shared memory that this form needs. A loop without such projections stays the only one.
llvm::SmallVector<CodeVersion> makeCodeVersions(mlir::scf::ForallOp loop);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_CODEVERSIONS_H
