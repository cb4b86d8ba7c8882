//===- TranslateKernel.h - From the phase kernels to descriptions -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TARGET_HALIDE_TRANSLATEKERNEL_H
#define ATTUNE_COMPILER_TARGET_HALIDE_TRANSLATEKERNEL_H

#include "compiler/Target/Halide/KernelText.h"
#include "dialect/Tile/IR/TileOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <functional>

namespace attune {

/// Replaces the computation in the parallel loop of |kernel|, a function of the phase `kernels`, by one `halide.tile`.
/// Fails if |kernel| does not have exactly one parallel loop, or if the description language cannot express the loop's
/// body. On failure |why| is the reason, and |kernel| may be partly rewritten, so callers pass a copy.
mlir::LogicalResult translateToHalideKernel(mlir::func::FuncOp kernel, std::string &why);

/// Replaces |op| by a `halide.tile` of a kernel called |name|. Fails unless queries, keys and values are f32, keys are
/// in panels, there are no sinks, and the numbers of queries and heads of |op| have upper bounds. On failure |why| is
/// the reason, and |op| stays.
mlir::LogicalResult translateAttention(mlir::tiles::AttentionTileOp op, llvm::StringRef name, std::string &why);

/// Adds to |text| a stage that computes |op|, and returns the stage's name. Fails if KernelText::addInput rejects an
/// operand. On failure returns "", and |why| is the reason.
std::string translateRotary(mlir::tiles::RotaryTileOp op, KernelText &text, std::string &why);

/// Adds to |text| a stage that computes |loop|, and returns the stage's name. Fails unless iteration i of |loop| writes
/// panel i of the keys of a head, in f32, by one `tile.key_panel`, or if an index of the keys cannot be expressed. On
/// failure returns "", and |why| is the reason.
std::string translateKeyPanels(mlir::scf::ForOp loop, KernelText &text, std::string &why);

/// Replaces a loop over tiles of rows, `for %i = 0 to %n step %s { … %size rows from row %i on … }`, by its body for
/// one tile of all %n rows. Fails without changes if |loop| is not such a loop.
mlir::LogicalResult mergeTiles(mlir::scf::ForOp loop);

/// A translator of scalar operations, such as those in the body of a linalg operation, to text of the description
/// language.
class ScalarTranslator {
public:
  /// A function that is called first for each value. Returns the text of a value whose operation is not to be
  /// translated, such as a block argument or a scalar of the kernel; else "".
  using Lookup = std::function<std::string(mlir::Value)>;

  ScalarTranslator(KernelText &text, Lookup lookup) : text(text), lookup(std::move(lookup)) {}

  /// Returns the text of |value|; "" if it cannot be expressed, and then |why| is the reason.
  std::string translate(mlir::Value value);
  std::string why;

private:
  std::string translateOp(mlir::Operation *op);
  std::string translateCast(mlir::Operation *op);
  std::string translateAffine(mlir::Operation *op);
  std::string translateExtract(mlir::Operation *op);
  std::string fail(const llvm::Twine &reason);

  KernelText &text;
  Lookup lookup;
};

} // namespace attune

#endif // ATTUNE_COMPILER_TARGET_HALIDE_TRANSLATEKERNEL_H
