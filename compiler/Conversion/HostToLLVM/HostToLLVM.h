//===- HostToLLVM.h - The conversion of host code to LLVM -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_HOSTTOLLVM_H
#define ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_HOSTTOLLVM_H

#include "mlir/Pass/PassManager.h"

#include <functional>

namespace attune {

/// The options in which targets differ.
struct HostToLLVMOptions {
  /// Also converts the x86vector dialect.
  bool x86Vector = false;
  /// If not empty, called to add passes that run after strided metadata is expanded and before scf is lowered to cf.
  std::function<void(mlir::OpPassManager &)> addStructuredPasses;
};

/// Adds the passes that lower functions on buffers, scalars and vectors to the llvm dialect, including
/// rt.parallel_call, rt.rank, rt.all_gather and the C functions of entries.
void buildHostToLLVMPipeline(mlir::OpPassManager &pm, const HostToLLVMOptions &options = {});

} // namespace attune

#endif // ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_HOSTTOLLVM_H
