//===- TileOps.h - The tile dialect and its operations ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_DIALECT_TILE_IR_TILEOPS_H
#define ATTUNE_DIALECT_TILE_IR_TILEOPS_H

#include "dialect/Xfmr/IR/CacheLayout.h"
#include "dialect/Xfmr/IR/XfmrAttrs.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include <optional>

#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/IR/TileAttrs.h.inc"

#include "dialect/Tile/IR/TileDialect.h.inc"

namespace mlir::tiles {

/// Names of the dialect's attributes on operations, functions and arguments of other dialects.
inline constexpr StringLiteral kGroupAttr = TileDialect::GroupAttrHelper::getNameStr();
inline constexpr StringLiteral kKernelAttr = TileDialect::KernelAttrHelper::getNameStr();
inline constexpr StringLiteral kWholePanelsAttr = TileDialect::WholePanelsAttrHelper::getNameStr();
inline constexpr StringLiteral kWorkAttr = TileDialect::WorkAttrHelper::getNameStr();
inline constexpr StringLiteral kRowsAttr = TileDialect::RowsAttrHelper::getNameStr();

/// Returns the group that |op| belongs to; null if it has none.
inline GroupAttr getGroup(Operation *op) { return op->getAttrOfType<GroupAttr>(kGroupAttr); }
/// Returns the kernel that |op|, a parallel loop or a function, implements; null if there is none.
inline KernelAttr getKernel(Operation *op) { return op->getAttrOfType<KernelAttr>(kKernelAttr); }

} // namespace mlir::tiles

namespace mlir::tiles::detail {
/// Appends the memory effects of an operation in destination-passing style on its buffers: it reads inputs and writes
/// destinations.
void getTileEffects(DestinationStyleOpInterface op, SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects);
} // namespace mlir::tiles::detail

#define GET_OP_CLASSES
#include "dialect/Tile/IR/TileOps.h.inc"

#endif // ATTUNE_DIALECT_TILE_IR_TILEOPS_H
