//===- XfmrOps.h - The xfmr dialect, its attributes and operations --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_XFMROPS_H
#define ATTUNE_DIALECT_XFMR_IR_XFMROPS_H

#include "dialect/Xfmr/IR/CacheLayout.h"
#include "dialect/Xfmr/IR/XfmrAttrs.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"

#define GET_OP_CLASSES
#include "dialect/Xfmr/IR/XfmrOps.h.inc"

namespace mlir::xfmr {

/// Returns the type of the tensor that the weight source |source| describes; null if |source| is not a weight source.
RankedTensorType getSourceType(Attribute source);

/// Returns the type of |matrix|, `[N, K]`, packed into panels of |width| rows by `xfmr.weight_pack`: |group|
/// consecutive columns of a row lie side by side, and K is rounded up to a multiple of |multiple|.
RankedTensorType getPanelsType(RankedTensorType matrix, int64_t width, int64_t group = 1, int64_t multiple = 1);

/// Returns the type of |matrix|, `[N, K]`, packed into panels of |width| rows in |format|, a format of integers, by
/// `xfmr.weight_quantize_panels`.
RankedTensorType getQuantizedPanelsType(RankedTensorType matrix, int64_t width, const WeightFormat &format);

/// The largest number of input features of a projection in int8. A sum of that many products of an unsigned and a
/// signed byte, each of a magnitude up to 255 * 127, fits in a signed 32-bit integer.
inline constexpr int64_t kMaxInt8Depth = 65536;

/// The alignment of weights in the data section of the weights file, in bytes.
inline constexpr int64_t kWeightAlignment = 64;

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_XFMROPS_H
