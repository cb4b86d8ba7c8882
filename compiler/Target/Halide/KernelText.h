//===- KernelText.h - Writing kernel descriptions --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_KERNELTEXT_H
#define ATTUNE_COMPILER_TARGET_HALIDE_KERNELTEXT_H

#include "compiler/Target/Halide/HalideOps.h"
#include "llvm/ADT/MapVector.h"

#include <string>

namespace attune {

/// "(word a b)".
std::string term(llvm::StringRef word, llvm::ArrayRef<std::string> operands);
/// A number that reads as a float, exactly.
std::string floatTerm(double value);

/// |expr| as text; |leaf| is asked first for every part of it and gives the text of dims and symbols. Empty if a part has none.
std::string affineTerm(mlir::AffineExpr expr, llvm::function_ref<std::string(mlir::AffineExpr)> leaf);

/// The strides of a view as bufferization will make it, in elements: dynamic ones as ShapedType::kDynamic.
llvm::SmallVector<int64_t> stridesOf(mlir::Value view);

/// The sizes of |tensor| as they were given where it was made.
llvm::SmallVector<mlir::OpFoldResult> sizesOf(mlir::OpBuilder &builder, mlir::Value tensor);
/// What |size| is at most, if that is a constant.
std::optional<int64_t> mostOf(mlir::Value size);

/// A description as it is written, with the operands a call of the kernel needs.
class KernelText {
public:
  KernelText(mlir::OpBuilder &builder, llvm::StringRef name) : builder(builder), name(name) {}

  /// The name of an extent: |size| itself if it is a constant, else a scalar that is at least 0, with what it is at most if that is known.
  std::string addSize(mlir::OpFoldResult size);
  /// The name of a scalar that may be anything.
  std::string addValue(mlir::Value value);
  /// The name of an input buffer; empty if no kernel reads buffers of its type.
  std::string addInput(mlir::Value input);
  /// Adds a stage, `(parallel n)` and `(reduce n)` being |loops|, and returns its name.
  std::string addStage(llvm::ArrayRef<std::string> loops, llvm::StringRef body, llvm::StringRef init = "");
  /// Makes |stage| the result in |destination|, whose dimension order[i] is the stage's loop i; the same order if empty.
  void addOutput(llvm::StringRef stage, mlir::Value destination, llvm::ArrayRef<int64_t> order = {});

  /// Says that a stage reads what its destination has, as `acc`.
  void readDestinations() { readsDestinations = true; }

  /// The operation that computes what was described.
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
