//===- Destinations.h - Results as last arguments ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_DESTINATIONS_H
#define ATTUNE_COMPILER_TRANSFORMS_DESTINATIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"

namespace attune {

/// Whether |op| is cheaper to repeat in another function than to pass: views, sizes, index arithmetic, constants.
bool isRepeatable(mlir::Operation *op);

/// The tensor.empty that becomes the memory of |value|, or null. A call counts once its callee, found in |symbols|, takes destinations.
mlir::tensor::EmptyOp destinationOf(mlir::Value value, const mlir::SymbolTable &symbols);

/// Gives |function| one destination argument per tensor result that is not an update of an argument, and |calls|, which are all its uses,
/// tensor.empty ops for them. Fails, with an error, for a result that no kernel computes or whose size does not follow from the arguments.
mlir::LogicalResult passDestinations(mlir::func::FuncOp function, llvm::ArrayRef<mlir::func::CallOp> calls,
                                     const mlir::SymbolTable &symbols);

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_DESTINATIONS_H
