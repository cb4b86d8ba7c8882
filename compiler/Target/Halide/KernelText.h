//===- KernelText.h - Writing kernel descriptions --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_KERNELTEXT_H
#define ATTUNE_COMPILER_TARGET_HALIDE_KERNELTEXT_H

#include "compiler/Target/Halide/HalideOps.h"
#include "llvm/ADT/MapVector.h"

#include <string>

namespace attune {

/// Returns a term of the description language: "(word a b)" for the operands "a" and "b".
std::string term(llvm::StringRef word, llvm::ArrayRef<std::string> operands);
/// Returns a text that `attune-halide-gen` reads as the float |value|. The program reads the texts of infinities, "inf"
/// and "-inf", as the largest and the lowest finite float.
std::string floatTerm(double value);

/// Returns |expr| as a term. |leaf| is called first for |expr| and for every subexpression. |leaf| must return the text
/// of dims and symbols. If it returns "" for another expression, this function translates that expression. Returns ""
/// if a part of |expr| has no text.
std::string affineTerm(mlir::AffineExpr expr, llvm::function_ref<std::string(mlir::AffineExpr)> leaf);

/// Returns the strides that |view| will have after bufferization, in elements, outermost first; a dynamic one is
/// ShapedType::kDynamic. A tensor that is not a slice or a reshape of another is assumed to be contiguous.
llvm::SmallVector<int64_t> stridesOf(mlir::Value view);

/// Returns the sizes of |tensor| from the operation that defines it: a slice, a `tensor.empty`, or a linalg operation
/// by its destination. For another tensor, creates a `tensor.dim` by |builder| for each dynamic size.
llvm::SmallVector<mlir::OpFoldResult> sizesOf(mlir::OpBuilder &builder, mlir::Value tensor);
/// Returns an upper bound of |size| that is known at compile time; nullopt if there is none.
std::optional<int64_t> mostOf(mlir::Value size);

/// A builder of the description of one kernel. It collects the operands of the kernel's `halide.tile`.
class KernelText {
public:
  KernelText(mlir::OpBuilder &builder, llvm::StringRef name) : builder(builder), name(name) {}

  /// Adds |size|, an extent, as a scalar with its upper bound if one is known, and returns the scalar's name. A value
  /// that was added before keeps its name. If |size| is a constant, adds nothing and returns the number.
  std::string addSize(mlir::OpFoldResult size);
  /// Adds |value|, any integer, as a scalar and returns its name; a value that was added before keeps its name.
  std::string addValue(mlir::Value value);
  /// Adds |input|, a tensor, as an input buffer and returns its name. Adds nothing and returns "" unless its elements
  /// are f32, i64, i32 or i1 and its last stride is 1.
  std::string addInput(mlir::Value input);
  /// Adds a stage with |loops|, terms such as `(parallel n)` and `(reduce n)`, outermost first, and with the term
  /// |body| as its value. Returns the stage's name. |init| is the initial value of a reduction; "" for other stages.
  std::string addStage(llvm::ArrayRef<std::string> loops, llvm::StringRef body, llvm::StringRef init = "");
  /// Adds |destination| as an output with the values of |stage|. Loop i of the stage runs over dimension order[i] of
  /// |destination|; if |order| is empty, over dimension i.
  void addOutput(llvm::StringRef stage, mlir::Value destination, llvm::ArrayRef<int64_t> order = {});

  /// Declares that a stage reads the value that its destination has before the call, as `acc`.
  void readDestinations() { readsDestinations = true; }

  /// Creates the `halide.tile` with this description and its operands.
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
