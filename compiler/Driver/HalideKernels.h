//===- HalideKernels.h - Code of kernels made by Halide --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_DRIVER_HALIDEKERNELS_H
#define ATTUNE_COMPILER_DRIVER_HALIDEKERNELS_H

#include "compiler/Pipelines/Strategy.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/io/Status.h"
#include "llvm/IR/Module.h"

#include <string>

namespace attune {

/// The program that makes code of descriptions; an error if this build of the compiler has none.
Result<std::string> findHalideTool();

/// The descriptions of the kernels of |module|, phase `kernels`; empty if it has none.
std::string describeHalideKernels(mlir::ModuleOp module);

/// Bitcode of the kernels of |descriptions| by |tool|, for CPUs with vectors of |vectorBits|, 256 or 512; |schedule| is `auto`, with
/// register tiles of |strategy|, or `none`.
Result<std::string> compileHalideKernels(const std::string &tool, const std::string &descriptions, int64_t vectorBits,
                                         const CpuStrategy &strategy, const std::string &schedule);

/// Adds the kernels of |bitcode| to |model|, which declares them, as functions that nobody else sees.
Status linkHalideKernels(llvm::Module &model, const std::string &bitcode);

} // namespace attune

#endif // ATTUNE_COMPILER_DRIVER_HALIDEKERNELS_H
