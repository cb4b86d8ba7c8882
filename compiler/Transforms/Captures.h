//===- Captures.h - What a kernel is given ----------------------*- C++ -*-===//
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

/// A size by what it is a dimension of, or by its value and -1: equal for two reads of one dimension.
using SizeKey = std::pair<mlir::Value, int64_t>;

/// What a kernel gets and what it computes again.
class Captures {
public:
  /// Sizes of |outputs| are read off them, so that a kernel does not depend on what else has that size where it is called.
  /// |symbols| finds the functions of the module.
  Captures(mlir::ValueRange outputs, const mlir::SymbolTable &symbols);

  /// Adds |value|: as a size of an output, as a computation that is repeated, or as an input.
  void add(mlir::Value value);
  /// Computes in a kernel what it is not given. |arguments| are the inputs, then the outputs.
  void rebuild(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange arguments, mlir::IRMapping &mapping);

  llvm::SetVector<mlir::Value> inputs;

private:
  const mlir::SymbolTable &symbols;
  llvm::DenseMap<SizeKey, std::pair<unsigned, int64_t>> sizes; // output and dimension
  llvm::SetVector<mlir::Value> read;                           // sizes that are needed
  llvm::SetVector<mlir::Operation *> repeated;                 // producers first
};

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_CAPTURES_H
