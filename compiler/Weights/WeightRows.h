//===- WeightRows.h - Rows of the weights of layer functions ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An analysis for AssignWeightOffsets. It finds the layer functions, which can take one pointer to a row instead of
// weight tensors, and the layouts of their rows. A row is the section of the weights file for one call of a layer
// function. A row has the tensors that the function reads itself, followed by the rows of the layer functions that the
// function calls. If each call of a function F passes a subset of the weights that some call of a function G passes, as
// in entries that compute part of the same layers, F uses the layout and the rows of G, and the weights are stored
// once.
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_WEIGHTS_WEIGHTROWS_H
#define ATTUNE_WEIGHTS_WEIGHTROWS_H

#include "dialect/Xfmr/Transforms/FunctionUsers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace attune {

/// Returns the size in bytes of a weight of |type|, a tensor of static shape, without padding.
int64_t getWeightBytes(mlir::Type type);
/// Returns true if argument |index| of |function| is marked as a weight (`xfmr.weight`) and has a static shape.
bool isWeightArgument(mlir::func::FuncOp function, unsigned index);

/// The position of one tensor in a row.
struct WeightSlot {
  unsigned argument; // index among the arguments of the layer function
  int64_t offset;    // in bytes, from the beginning of the row
  int64_t bytes;
};

/// The layout of the row of a layer function.
struct WeightRow {
  /// The tensors that the function reads itself. These slots come first.
  llvm::SmallVector<WeightSlot> own;
  /// All tensors, including those of called layer functions. Every |argument| is one of the function itself, which
  /// forwards the tensors of called functions to the calls.
  llvm::SmallVector<WeightSlot> slots;
  /// The calls of layer functions in the function, and for each call the offset of its row in this row, in bytes.
  llvm::SmallVector<std::pair<mlir::func::CallOp, int64_t>> calls;
  /// The size of the row, a multiple of ATTUNE_ALIGNMENT.
  int64_t bytes = 0;
};

/// The layer functions of a module and the layouts of their rows.
class WeightRows {
public:
  explicit WeightRows(mlir::ModuleOp module);

  /// Returns the layer functions in the order of the module.
  llvm::ArrayRef<mlir::func::FuncOp> functions() const { return layers.getArrayRef(); }
  bool isLayer(mlir::func::FuncOp function) const { return layers.contains(function); }
  /// Returns the layer function that |call| calls, or null.
  mlir::func::FuncOp getLayer(mlir::func::CallOp call) const;
  /// Returns true if |use| passes a weight to a layer function. AssignWeightOffsets replaces such operands by a row.
  bool isRowOperand(mlir::OpOperand &use) const;
  /// Returns the layout of the row of |function|, a layer function.
  const WeightRow &getRow(mlir::func::FuncOp function) const { return rows.find(function)->second; }

private:
  bool canBeLayer(mlir::func::FuncOp function) const;
  void computeRow(mlir::func::FuncOp function);
  /// Gives |function| the layout of |other| and returns true if neither calls layer functions, if for each call of
  /// |function| there is a call of |other| that passes the same weights and more, all as results of `xfmr.weight_ref`,
  /// and if each weight argument of |function| is in the same slot of |other| for all calls. Otherwise returns false.
  bool adoptLayout(mlir::func::FuncOp function, mlir::func::FuncOp other);

  mlir::SymbolTableCollection tables;
  const mlir::SymbolTable &symbols;
  mlir::xfmr::FunctionUsers users;
  llvm::SetVector<mlir::func::FuncOp> layers;
  llvm::DenseMap<mlir::func::FuncOp, WeightRow> rows;
};

} // namespace attune

#endif // ATTUNE_WEIGHTS_WEIGHTROWS_H
