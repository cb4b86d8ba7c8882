//===- BufferTypes.h - Other types for buffers and their views --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TRANSFORMS_BUFFERTYPES_H
#define ATTUNE_COMPILER_TRANSFORMS_BUFFERTYPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"
#include <functional>

namespace attune {

/// Types of another layout for buffers, and those that their views get by it.
class BufferTypes {
public:
  /// Whether an operand of a call can have a type. It may add more buffers.
  using AtCall = std::function<bool(mlir::func::CallOp call, unsigned operand, mlir::MemRefType type)>;
  explicit BufferTypes(AtCall atCall) : atCall(std::move(atCall)) {}

  /// Adds |buffer| with |type|, and those of its views that change. False if it is to have another one already, or if something is done to
  /// one of them that is not known to work with any stride and offset; then nothing must be applied.
  bool add(mlir::Value buffer, mlir::MemRefType type);
  /// The new type of |buffer|; null if it keeps its own.
  mlir::MemRefType lookup(mlir::Value buffer) const { return types.lookup(buffer); }
  /// Sets the types, and those of functions whose arguments they are.
  void apply();

private:
  bool addUse(mlir::OpOperand &use, mlir::MemRefType type);

  AtCall atCall;
  llvm::MapVector<mlir::Value, mlir::MemRefType> types;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_BUFFERTYPES_H
