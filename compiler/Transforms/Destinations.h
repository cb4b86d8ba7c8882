//===- Destinations.h - Results as last arguments ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_DESTINATIONS_H
#define ATTUNE_COMPILER_TRANSFORMS_DESTINATIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

namespace attune {

/// Returns true if |op| is cheaper to repeat in another function than to pass as an argument: views, sizes, index
/// arithmetic, constants.
bool isRepeatable(mlir::Operation *op);

/// Returns the tensor.empty in whose memory |value| is computed; null if there is none. Looks through a call if its
/// callee, found in |symbols|, takes destinations.
mlir::tensor::EmptyOp destinationOf(mlir::Value value, const mlir::SymbolTable &symbols);

/// Appends to |function| one destination argument for each result that is not an update of an argument. Replaces
/// |calls|, all uses of |function|, by calls with tensor.empty ops for these arguments. Fails, with an error, for a
/// result that no kernel computes, that has the destination of another result, or whose size does not follow from the
/// arguments.
mlir::LogicalResult passDestinations(mlir::func::FuncOp function, llvm::ArrayRef<mlir::func::CallOp> calls,
                                     const mlir::SymbolTable &symbols);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_DESTINATIONS_H
