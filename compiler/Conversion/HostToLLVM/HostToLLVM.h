//===- HostToLLVM.h - The conversion of host code to LLVM -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_HOSTTOLLVM_H
#define ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_HOSTTOLLVM_H

#include "mlir/Pass/PassManager.h"

#include <functional>

namespace attune {

/// The options of the conversion that differ between targets.
struct HostToLLVMOptions {
  /// Also converts the x86vector dialect.
  bool x86Vector = false;
  /// If not empty, called to add passes that run after strided metadata is expanded and before scf is lowered to cf.
  std::function<void(mlir::OpPassManager &)> addStructuredPasses;
};

/// Adds to |pm|, which runs on modules, the passes that lower functions on buffers, scalars and vectors to the llvm
/// dialect. They also lower `rt.parallel_call`, `rt.rank` and `rt.all_gather`. The C functions of entries must exist
/// already (attune-entry-wrappers).
void buildHostToLLVMPipeline(mlir::OpPassManager &pm, const HostToLLVMOptions &options = {});

} // namespace attune

#endif // ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_HOSTTOLLVM_H
