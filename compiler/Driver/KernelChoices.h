//===- KernelChoices.h - Which backend makes which kernel -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_KERNELCHOICES_H
#define ATTUNE_COMPILER_DRIVER_KERNELCHOICES_H

#include "compiler/Driver/CompileOptions.h"
#include "mlir/IR/BuiltinOps.h"

#include <map>

namespace attune {

/// The backend of one kernel for all shapes, and what was measured: milliseconds of all its calls in one call of each entry.
struct KernelChoice {
  std::string backend = "mlir";
  double mlirMs = 0, halideMs = 0;
};

/// By the names of kernels.
using KernelChoices = std::map<std::string, KernelChoice>;

/// Compiles the model of |options| by each backend, runs every entry of both in turn and takes for each kernel what was faster: the
/// geometric mean over the entries decides. What takes longer than a limit counts as that long; an entry that does by MLIR does not count.
Result<KernelChoices> measureKernels(const CompileOptions &options);

/// Choices as a file, and back. Errors name |path|.
std::string formatChoices(const KernelChoices &choices);
Result<KernelChoices> readChoices(const std::string &path);

/// Replaces the kernels of |module|, phase kernels, that |choices| give to Halide by those of |byHalide|, the same model; notes times.
/// Fails if the kernels are not those of |choices|.
Status applyChoices(mlir::ModuleOp module, mlir::ModuleOp byHalide, const KernelChoices &choices);

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_KERNELCHOICES_H
