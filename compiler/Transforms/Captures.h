//===- Captures.h - The values that an outlined kernel uses -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_CAPTURES_H
#define ATTUNE_COMPILER_TRANSFORMS_CAPTURES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace attune {

/// A size as (tensor, dimension), or as (value, -1) if it is not read from a tensor. Equal for two reads of one
/// dimension.
using SizeKey = std::pair<mlir::Value, int64_t>;

/// The values that a kernel uses from outside, split into arguments and values that the kernel computes again.
class Captures {
public:
  /// |outputs| are the destinations of the kernel. A value that is a size of a destination is not passed: the kernel
  /// reads it from its destination argument, so that kernels of different call sites are equal. |symbols| finds the
  /// functions of the module.
  Captures(mlir::ValueRange outputs, const mlir::SymbolTable &symbols);

  /// Adds |value|, which the kernel uses. The kernel reads a size of an output from this output. It repeats an
  /// operation that is cheap, and the operands of the operation are added in the same way. Any other value becomes an
  /// input.
  void add(mlir::Value value);
  /// Creates the repeated computations in a kernel, and reads of the sizes of its outputs. |arguments| are the inputs,
  /// then the outputs. |mapping| gets the new value of each input, size and repeated computation, but not of outputs.
  void rebuild(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange arguments, mlir::IRMapping &mapping);

  /// The values that the kernel gets as arguments, before its outputs.
  llvm::SetVector<mlir::Value> inputs;

private:
  const mlir::SymbolTable &symbols;
  llvm::DenseMap<SizeKey, std::pair<unsigned, int64_t>> sizes; // by size: an output and its dimension
  llvm::SetVector<mlir::Value> read;                           // used values that are sizes of outputs
  llvm::SetVector<mlir::Operation *> repeated;                 // producers first
};

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_CAPTURES_H
