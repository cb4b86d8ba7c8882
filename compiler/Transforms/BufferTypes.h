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

/// New types of buffers, with the same shapes in other layouts, and the types of their views that follow from these.
/// Nothing changes until apply().
class BufferTypes {
public:
  /// Returns true if operand number |operand| of |call| can have |type|. May call add() for further buffers.
  using AtCall = std::function<bool(mlir::func::CallOp call, unsigned operand, mlir::MemRefType type)>;
  explicit BufferTypes(AtCall atCall) : atCall(std::move(atCall)) {}

  /// Adds |buffer| with |type|, and its views with the types that follow; adds nothing if |buffer| has |type| already.
  /// Returns false if |buffer| was added with another type, if no type of a view follows, if |atCall| returns false for
  /// a call, or if another user of the buffer or of a view may depend on stride or offset. If it returns false, apply()
  /// must not be called.
  bool add(mlir::Value buffer, mlir::MemRefType type);
  /// Returns the new type of |buffer|; null if it keeps its own.
  mlir::MemRefType lookup(mlir::Value buffer) const { return types.lookup(buffer); }
  /// Sets the types of all added values, and changes the types of functions accordingly if some of these values are
  /// their arguments.
  void apply();

private:
  bool addUse(mlir::OpOperand &use, mlir::MemRefType type);

  AtCall atCall;
  llvm::MapVector<mlir::Value, mlir::MemRefType> types;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TRANSFORMS_BUFFERTYPES_H
