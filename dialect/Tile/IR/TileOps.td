//===- TileOps.td - All operations of the tile dialect -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "dialect/Tile/IR/AttentionTileOps.td"
include "dialect/Tile/IR/GroupedProductOps.td"
include "dialect/Tile/IR/KeyPanelOps.td"
include "dialect/Tile/IR/QuantizeOps.td"
include "dialect/Tile/IR/RotaryTileOps.td"
include "dialect/Tile/IR/TileAttrs.td"
