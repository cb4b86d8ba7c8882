//===- HostToLLVM.h - The conversion of host code to LLVM ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_HOSTTOLLVM_H
#define ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_HOSTTOLLVM_H

#include "mlir/Pass/PassManager.h"

#include <functional>

namespace attune {

/// The parts of the conversion that depend on the machine of the host.
struct HostToLLVMOptions {
  /// Also converts the x86vector dialect.
  bool x86Vector = false;
  /// Adds passes that need structured control flow on buffers whose strided metadata is expanded; may be empty.
  std::function<void(mlir::OpPassManager &)> addStructuredPasses;
};

/// Adds the passes that lower functions on buffers, scalars and vectors, with rt.parallel_call and the C functions of entries, to the
/// llvm dialect.
void buildHostToLLVMPipeline(mlir::OpPassManager &pm, const HostToLLVMOptions &options = {});

} // namespace attune

#endif // ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_HOSTTOLLVM_H
