//===- KernelText.h - Writing kernel descriptions --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_KERNELTEXT_H
#define ATTUNE_COMPILER_TARGET_HALIDE_KERNELTEXT_H

#include "compiler/Target/Halide/HalideOps.h"
#include "llvm/ADT/MapVector.h"

#include <string>

namespace attune {

/// Returns "(word a b)".
std::string term(llvm::StringRef word, llvm::ArrayRef<std::string> operands);
/// Returns |value| as text that reads as exactly this float; infinities read as the largest floats.
std::string floatTerm(double value);

/// Returns |expr| as text. |leaf| is called first for every subexpression: it returns the text of dims and symbols, and
/// may return a text for others. Returns "" if a part of |expr| has no text.
std::string affineTerm(mlir::AffineExpr expr, llvm::function_ref<std::string(mlir::AffineExpr)> leaf);

/// Returns the strides that |view| will have after bufferization, in elements; dynamic ones as ShapedType::kDynamic.
llvm::SmallVector<int64_t> stridesOf(mlir::Value view);

/// Returns the sizes of |tensor| from the operation that defines it; creates `tensor.dim` by |builder| if the operation
/// does not have them.
llvm::SmallVector<mlir::OpFoldResult> sizesOf(mlir::OpBuilder &builder, mlir::Value tensor);
/// Returns a constant upper bound of |size|, if there is one.
std::optional<int64_t> mostOf(mlir::Value size);

/// A builder of the description of one kernel; it collects the operands of its `halide.tile`.
class KernelText {
public:
  KernelText(mlir::OpBuilder &builder, llvm::StringRef name) : builder(builder), name(name) {}

  /// Adds |size|, an extent, as a scalar with its upper bound if one is known, and returns the scalar's name. A
  /// constant is returned as a number.
  std::string addSize(mlir::OpFoldResult size);
  /// Adds |value|, any integer, as a scalar and returns its name.
  std::string addValue(mlir::Value value);
  /// Adds |input| as an input buffer and returns its name; "" if kernels cannot read buffers of its type, or if its
  /// last stride is not 1.
  std::string addInput(mlir::Value input);
  /// Adds a stage with |loops|, such as `(parallel n)` and `(reduce n)`, and returns its name. |init| is the initial
  /// value of a reduction.
  std::string addStage(llvm::ArrayRef<std::string> loops, llvm::StringRef body, llvm::StringRef init = "");
  /// Adds |destination| as an output with the values of |stage|. Dimension order[i] of |destination| is the stage's
  /// loop i; loops and dimensions have the same order if |order| is empty.
  void addOutput(llvm::StringRef stage, mlir::Value destination, llvm::ArrayRef<int64_t> order = {});

  /// Declares that a stage reads the value that its destination has before the call, as `acc`.
  void readDestinations() { readsDestinations = true; }

  /// Creates the operation of this description.
  halide::TileOp createOp(mlir::Location loc);

private:
  mlir::OpBuilder &builder;
  std::string name, scalarText, inputText, stageText, outputText;
  llvm::MapVector<mlir::Value, std::string> scalars, inputs;
  llvm::SmallVector<mlir::Value> destinations;
  unsigned stages = 0;
  bool readsDestinations = false;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_KERNELTEXT_H
