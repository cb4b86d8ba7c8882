//===- XfmrToLinalg.h - Lowering of xfmr ops to linalg --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_CONVERSION_XFMRTOLINALG_H
#define ATTUNE_CONVERSION_XFMRTOLINALG_H

#include "dialect/Rt/IR/Schedule.h"
#include "dialect/Tile/IR/TileOps.h"
#include "dialect/Xfmr/IR/XfmrOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace attune {

#define GEN_PASS_DECL
#include "compiler/Conversion/XfmrToLinalg/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/Conversion/XfmrToLinalg/Passes.h.inc"

/// The layout of low-precision operands and of their weight panels.
struct LowPrecisionLayout {
  /// The type of an element of rows in memory; panels have elements of bf16, f16 or i8.
  mlir::Type type;
  /// The number of consecutive columns of a row of the weight matrix that a panel stores side by side.
  int64_t group;
  /// The number of columns of rows and weights is rounded up to a multiple of this.
  int64_t multiple;
};

/// The layouts of weight panels.
struct PanelLayouts {
  /// The number of rows of a weight matrix in a panel: |groupedWidth| for weights that have a scale for each group of
  /// columns, |width| for other weights.
  int64_t width, groupedWidth;
  /// The layouts for the precisions bf16 and int8. That for f16 is the one of bf16 with another type.
  LowPrecisionLayout bf16, int8;
};

/// A counter of the kernels of a function, which sets the attribute `tile.group` of their operations.
class KernelGroups {
public:
  /// Marks |ops|, at least one, with the next number and the description |what|.
  void mark(llvm::ArrayRef<mlir::Operation *> ops, const llvm::Twine &what);

private:
  int64_t next = 0;
};

/// Returns true if |op| computes a tensor element by element from tensors of the same shape. Models may have such
/// operations of arith and math beside those of xfmr.
bool isElementwiseOnTensors(mlir::Operation *op);
/// Adds patterns for operations for which isElementwiseOnTensors returns true.
void populateElementwisePatterns(mlir::RewritePatternSet &patterns, KernelGroups &groups);
/// Adds patterns for projections in f32, except those whose weights have a scale for each group of columns, and for
/// splitting and merging heads. |groups| must outlive the patterns.
void populateLinearPatterns(mlir::RewritePatternSet &patterns, KernelGroups &groups, int64_t panelWidth);
/// Adds patterns for projections of lower precision whose weights have no format.
void populateLowPrecisionPatterns(mlir::RewritePatternSet &patterns, KernelGroups &groups, const PanelLayouts &layouts);
/// Adds patterns for projections whose weights have a scale for each group of columns. Rows rounded to bf16 have the
/// layout |layouts|.bf16; for rows rounded to f16, the number of columns is rounded up to the multiple of that layout.
void populateGroupedProductPatterns(mlir::RewritePatternSet &patterns, KernelGroups &groups, const PanelLayouts &layouts);
/// Converts the keys and values of each attention to |element|, bf16 or f16, and its queries, too, if only attention
/// that is converted reads the tensor of which they are a part. Does not change attention that reads caches, returns
/// probabilities or has tables of relative positions, or whose heads have more than |largestHead| components or a
/// number of components that is not a multiple of 8. Also erases dead operations of |function|.
void convertAttentionOperands(mlir::func::FuncOp function, mlir::Type element, int64_t largestHead);
/// Merges `tile.quantize_rows` operations of a block that convert the same rows to the same type, with the same groups.
/// Erases those whose input an elementwise operation can store rounded.
void simplifyQuantizedRows(mlir::func::FuncOp function);
/// Replaces each `xfmr.weight_select`, one element of a stack of weights, by a slice. A weight expression whose only
/// operand is a selected element becomes a slice of the same expression over the whole stack, which packing can
/// evaluate. Fails, with an error, if a selected element is an operand of an expression that takes no stack, such as
/// `xfmr.weight_transpose`.
llvm::LogicalResult sliceSelectedWeights(mlir::func::FuncOp function);
void populateNormPatterns(mlir::RewritePatternSet &patterns, KernelGroups &groups);
/// Returns true if the tables of relative positions of |op|, if any, have the layout that tiling expects: the panels of
/// `xfmr.weight_distance_panels`.
bool hasRelativePanels(mlir::xfmr::AttentionOp op);
void populatePositionPatterns(mlir::RewritePatternSet &patterns, KernelGroups &groups);
void populateActivationPatterns(mlir::RewritePatternSet &patterns, KernelGroups &groups);
void populateCachePatterns(mlir::RewritePatternSet &patterns, KernelGroups &groups);
void populateExpertPatterns(mlir::RewritePatternSet &patterns, KernelGroups &groups);
/// Adds the pattern for embeddings, which read rows of a table or, if they are tied, of the panels of a projection.
void populateEmbeddingPatterns(mlir::RewritePatternSet &patterns, KernelGroups &groups, const PanelLayouts &layouts);
void populateMaskPatterns(mlir::RewritePatternSet &patterns, KernelGroups &groups);
/// Adds patterns for tensors that are divided among ranks.
void populateRankPatterns(mlir::RewritePatternSet &patterns, KernelGroups &groups);
void populatePoolPatterns(mlir::RewritePatternSet &patterns, KernelGroups &groups);
/// Adds patterns for packing, gathering and scattering tokens. With |knownCounts|, packed tokens are padded to an upper
/// bound of the token count, for hosts that cannot read the count.
void populatePackingPatterns(mlir::RewritePatternSet &patterns, KernelGroups &groups, bool knownCounts);

} // namespace attune

#endif // ATTUNE_CONVERSION_XFMRTOLINALG_H
