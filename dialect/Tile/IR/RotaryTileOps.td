//===- RotaryTileOps.td - Rotary embeddings of one tile ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_ROTARY_TILE_OPS_TD
#define TILE_ROTARY_TILE_OPS_TD

include "dialect/Tile/IR/TileDialect.td"

def Tile_RotaryTileOp : Tile_Op<"rotary_tile"> {
  let summary = "the heads of a few tokens, turned by their positions";
  let description = [{
    As `xfmr.rotary` for the tokens of the tile.

    - (C1) `input` and the result are `[n, H, D]`, `positions` `[n]` of i64, `table` `[P, R]` with R even and at most D.
    - (N1) A product, rounded, and a fused multiply-add for each element.

    ```mlir
    %y = tile.rotary_tile ins(%x, %p, %t : tensor<?x4x12xf32>, tensor<?xi64>, tensor<512x12xf32>) outs(%d : tensor<?x4x12xf32>) -> tensor<?x4x12xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$input, AnyShaped:$positions, AnyShaped:$table, Variadic<AnyShaped>:$destinations, UnitAttr:$interleaved);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $input `,` $positions `,` $table `:` type($input) `,` type($positions) `,` type($table) `)`
    `outs` `(` $destinations `:` type($destinations) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

#endif // TILE_ROTARY_TILE_OPS_TD
