//===- CodeVersions.h - A kernel per form of projections --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_NVVM_CODEVERSIONS_H
#define ATTUNE_COMPILER_TARGET_NVVM_CODEVERSIONS_H

#include "compiler/Target/NVVM/CodeProjection.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace attune {

/// What one GPU alone has: its compute capability times 10, 0 for none, the columns and stages of its tiles, and the bytes of keys and
/// values that attention reads at a time.
struct SpecificTiles {
  int64_t arch = 0, columns = 0, stages = 0, cacheBytes = 0;
};

/// A parallel loop and the form of the projections of codes in it.
struct CodeVersion {
  mlir::scf::ForallOp loop;
  CodeForm form;
  /// Whether only the GPU of SpecificTiles runs it, as blocks of warpgroups.
  bool isSpecific = false;
};

/// Copies |loop| for each form that the columns of its blocks may call for, which the host finds out: a kernel of one form alone has the
/// registers and the shared memory that this form needs. The widest one has another version for the GPU of |specific|, if any. A loop
/// without such projections stays the only one.
llvm::SmallVector<CodeVersion> makeCodeVersions(mlir::scf::ForallOp loop, const SpecificTiles &specific);

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_NVVM_CODEVERSIONS_H
