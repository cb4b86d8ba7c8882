//===- WeightPanels.h - Packed weights of projections -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// The weight expressions of projections. A tied embedding uses the same functions, so its expression is that of the
// projection, and both become one weight.
//
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_WEIGHTPANELS_H
#define ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_WEIGHTPANELS_H

#include "compiler/Conversion/XfmrToLinalg/XfmrToLinalg.h"
#include "compiler/Transforms/IndexBuilder.h"

namespace attune {

/// Returns the expression that rounds or quantizes the matrix |weight|, `[N, K]`, to |precision|; |weight| itself for
/// f32.
mlir::Value roundWeight(IndexBuilder &b, mlir::Value weight, mlir::xfmr::Precision precision);

/// Returns the expression that rounds |weight| to |format|, bf16 or f16.
mlir::Value roundWeight(IndexBuilder &b, mlir::Value weight, mlir::xfmr::WeightFormat format);

/// Returns |stored|, a scalar of f32, bf16 or f16, as f32.
mlir::Value toF32(IndexBuilder &b, mlir::Value stored);

/// Returns the expression that packs |rounded|, a result of roundWeight, into panels in the layout for its element
/// type.
mlir::Value packWeight(IndexBuilder &b, mlir::Value rounded, const PanelLayouts &layouts);

/// Returns the element in row |n| and column |k| of a matrix from its panels |panels|, a result of packWeight.
mlir::Value extractPacked(IndexBuilder &b, mlir::Value panels, mlir::Value n, mlir::Value k);

/// Returns the f32 element in row |n| and column |k| of a matrix of |columns| columns from |panels|, the result of
/// `xfmr.weight_quantize_panels` with |width| and |format|: `scale * q` or, with minima, `fma(scale, q, minimum)`, with
/// the integer q of that element.
mlir::Value extractQuantized(IndexBuilder &b, mlir::Value panels, int64_t columns, int64_t width, mlir::xfmr::WeightFormat format,
                             mlir::Value n, mlir::Value k);

} // namespace attune

#endif // ATTUNE_COMPILER_CONVERSION_XFMRTOLINALG_WEIGHTPANELS_H
