//===- ReduceModule.h - Reduction of modules to small test cases -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_REDUCE_REDUCEMODULE_H
#define ATTUNE_COMPILER_REDUCE_REDUCEMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <chrono>
#include <functional>
#include <optional>

namespace attune {

/// Returns true while a module, which verifies, still shows what the reduction is to keep.
using InterestingFn = std::function<bool(mlir::ModuleOp module)>;

/// Returns the smallest interesting module that the steps of `attune-reduce-module` find from |module|, which is interesting,
/// within |limit|.
mlir::OwningOpRef<mlir::ModuleOp> reduceModule(mlir::ModuleOp module, const InterestingFn &isInteresting,
                                               std::optional<std::chrono::seconds> limit = std::nullopt);

} // namespace attune

#endif // ATTUNE_COMPILER_REDUCE_REDUCEMODULE_H
