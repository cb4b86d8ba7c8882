//===- WeightRows.h - How the weights of a layer function form a row -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Analysis for AssignWeightOffsets: which functions can take one pointer to a row instead of weight tensors, and what the row looks like. A
// row holds the tensors a function reads itself, followed by the rows of the layer functions it calls. A function that reads a part of what
// another one does, of the same layers, reads it in the other's rows.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_WEIGHTS_WEIGHTROWS_H
#define ATTUNE_WEIGHTS_WEIGHTROWS_H

#include "dialect/Xfmr/Transforms/FunctionUsers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace attune {

/// Bytes of a weight of this type, without padding.
int64_t getWeightBytes(mlir::Type type);
/// Whether argument |index| of |function| is declared as a weight of known size.
bool isWeightArgument(mlir::func::FuncOp function, unsigned index);

/// One tensor of a row.
struct WeightSlot {
  unsigned argument; // of the layer function
  int64_t offset;    // from the beginning of the row
  int64_t bytes;
};

/// The row of a layer function.
struct WeightRow {
  /// The tensors it reads itself; these slots come first.
  llvm::SmallVector<WeightSlot> own;
  /// All tensors, those of called functions included.
  llvm::SmallVector<WeightSlot> slots;
  /// Where the row of each called layer function begins.
  llvm::SmallVector<std::pair<mlir::func::CallOp, int64_t>> calls;
  int64_t bytes = 0;
};

/// The layer functions of a module and their rows.
class WeightRows {
public:
  explicit WeightRows(mlir::ModuleOp module);

  /// Layer functions, in module order.
  llvm::ArrayRef<mlir::func::FuncOp> functions() const { return layers.getArrayRef(); }
  bool isLayer(mlir::func::FuncOp function) const { return layers.contains(function); }
  /// The layer function that |call| calls, or null.
  mlir::func::FuncOp getLayer(mlir::func::CallOp call) const;
  /// Whether |use| passes a weight to a layer function, which will take a row instead.
  bool isRowOperand(mlir::OpOperand &use) const;
  /// The row of a layer function.
  const WeightRow &getRow(mlir::func::FuncOp function) const { return rows.find(function)->second; }

private:
  bool canBeLayer(mlir::func::FuncOp function) const;
  void computeRow(mlir::func::FuncOp function);
  /// Gives |function| the layout of |other|, whose calls pass all that its own pass and more, in slots that are the same for all calls;
  /// false if there are none.
  bool adoptLayout(mlir::func::FuncOp function, mlir::func::FuncOp other);

  mlir::SymbolTableCollection tables;
  const mlir::SymbolTable &symbols;
  mlir::xfmr::FunctionUsers users;
  llvm::SetVector<mlir::func::FuncOp> layers;
  llvm::DenseMap<mlir::func::FuncOp, WeightRow> rows;
};

} // namespace attune

#endif // ATTUNE_WEIGHTS_WEIGHTROWS_H
