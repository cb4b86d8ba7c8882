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

/// Rewrites the tasks of |kernel|, a function of the phase `kernels`, to one `halide.tile` each. On failure |why| is
/// the reason, and |kernel| may be partly rewritten, so callers work on a copy.
mlir::LogicalResult translateToHalideKernel(mlir::func::FuncOp kernel, std::string &why);

/// Replaces |op| by a `halide.tile` called |name|; on failure |why| is the reason.
mlir::LogicalResult translateAttention(mlir::tiles::AttentionTileOp op, llvm::StringRef name, std::string &why);

/// Adds a stage that computes |op| and returns its name; on failure it is empty and |why| is the reason.
std::string translateRotary(mlir::tiles::RotaryTileOp op, KernelText &text, std::string &why);

/// Adds a stage for |loop| if it writes the keys of a head into panels one by one; results as above.
std::string translateKeyPanels(mlir::scf::ForOp loop, KernelText &text, std::string &why);

/// Merges a loop over tiles of rows, `for %i to %n step %s { … rows %i to %i + %size … }`, into one tile of all rows.
/// Fails without changes if |loop| is not such a loop.
mlir::LogicalResult mergeTiles(mlir::scf::ForOp loop);

/// Writes the scalar operations of a linalg body.
class ScalarTranslator {
public:
  /// Returns the text of a value defined outside of the operations; empty if it has none.
  using Lookup = std::function<std::string(mlir::Value)>;

  ScalarTranslator(KernelText &text, Lookup lookup) : text(text), lookup(std::move(lookup)) {}

  /// Returns the text of |value|; empty, with the reason in |why|, if there is none.
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
