//===- TileDialect.cpp - Registration of the tile dialect, effects of its operations -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "dialect/Tile/IR/TileOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::tiles;

#include "dialect/Tile/IR/TileDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/Tile/IR/TileOps.cpp.inc"

void TileDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialect/Tile/IR/TileOps.cpp.inc"
      >();
}

void tiles::detail::getTileEffects(DestinationStyleOpInterface op,
                                   SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand, 0, true, SideEffects::DefaultResource::get());
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand, 0, true, SideEffects::DefaultResource::get());
  }
}
