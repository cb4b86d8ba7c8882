//===- XfmrOps.h - The xfmr dialect, its attributes and operations -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_XFMR_IR_XFMROPS_H
#define ATTUNE_DIALECT_XFMR_IR_XFMROPS_H

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

/// Type of the tensor that the weight source |source| describes; null if |source| is not a weight source.
RankedTensorType getSourceType(Attribute source);

/// Keys of one panel of a cache. One width for all machines, so that what a session keeps does not depend on the schedule of one object.
inline constexpr int64_t kCachePanelWidth = 64;

/// Type of |matrix|, `[N, K]`, in panels of |width| rows with |group| neighbours of a row side by side and K rounded up to |multiple|.
RankedTensorType getPanelsType(RankedTensorType matrix, int64_t width, int64_t group = 1, int64_t multiple = 1);

/// The most products of bytes, 255 * 127 each, that are added in 32 bits.
inline constexpr int64_t kMaxInt8Depth = 65536;

/// Names of the attributes that carry the contract between phases.
inline constexpr llvm::StringLiteral kEntryAttr = "xfmr.entry";
inline constexpr llvm::StringLiteral kNameAttr = "xfmr.name";
inline constexpr llvm::StringLiteral kDimsAttr = "xfmr.dims";
inline constexpr llvm::StringLiteral kFillAttr = "xfmr.fill";
inline constexpr llvm::StringLiteral kMaxValueAttr = "xfmr.max_value";
inline constexpr llvm::StringLiteral kGroupAttr = "xfmr.group";
/// On an index argument of an entry: the dim whose value it is, for dims that the session knows and no input shows ("past",
/// "source_length").
inline constexpr llvm::StringLiteral kDimAttr = "xfmr.dim";
/// On an argument of an entry and the result it becomes: the name of the cache of the session that it is.
inline constexpr llvm::StringLiteral kCacheAttr = "xfmr.cache";
/// On an entry: what it does with the caches ("encode", "append", "continue").
inline constexpr llvm::StringLiteral kCacheUseAttr = "xfmr.cache_use";
inline constexpr llvm::StringLiteral kWeightArgAttr = "xfmr.weight";
inline constexpr llvm::StringLiteral kModelAttr = "xfmr.model";
inline constexpr llvm::StringLiteral kLimitsAttr = "xfmr.limits";
/// Module attribute, a LabelsAttr: the names of the classes that the output `logits` scores.
inline constexpr llvm::StringLiteral kLabelsAttr = "xfmr.labels";
/// Module attributes {entry = "C expression in dims and workers"}: bytes of scratch, and arithmetic of one call.
inline constexpr llvm::StringLiteral kWorkspaceAttr = "xfmr.workspace";
inline constexpr llvm::StringLiteral kFlopsAttr = "xfmr.flops";
/// On a kernel's loop, then its call: bytes read or written of the caches among its operands, those of rank 4 and 5, of which a call sees
/// parts.
inline constexpr llvm::StringLiteral kCacheBytesAttr = "xfmr.cache_bytes";
/// Module attribute {entry = [{kernel = "name", …}]}: what each kernel does in one call, see CountKernelWork.
inline constexpr llvm::StringLiteral kKernelWorkAttr = "xfmr.kernel_work";
/// Module attribute {entry = ["batch", "length"]}: the symbolic dims of each entry, in the order of the descriptor.
inline constexpr llvm::StringLiteral kEntryDimsAttr = "xfmr.entry_dims";
/// On an argument of a function below phase `bufferized`: what it is if neither input nor output ("host", "weights", "workspace",
/// "workers").
inline constexpr llvm::StringLiteral kRoleAttr = "xfmr.role";

} // namespace mlir::xfmr

#endif // ATTUNE_DIALECT_XFMR_IR_XFMROPS_H
