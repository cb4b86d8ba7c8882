//===- RotaryTileOps.td - Rotary embeddings of one tile ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_ROTARY_TILE_OPS_TD
#define TILE_ROTARY_TILE_OPS_TD

include "dialect/Tile/IR/TileDialect.td"

def Tile_RotaryTileOp : Tile_Op<"rotary_tile"> {
  let summary = "applies rotary embeddings to the heads of a tile of tokens";
  let description = [{
    Computes `xfmr.rotary` for the n tokens of the tile, each with H heads of D components. `positions` has the row of
    the table for each token. The table has P rows of R / 2 cosines, then R / 2 sines. `interleaved` selects the pairs
    of components, as in `xfmr.rotary`.

    - (C1) `input` and the result are `[n, H, D]`, `positions` is i64 `[n]`, `table` is `[P, R]` with R even and at most
      D; D and R are static. `input`, `table` and the result have elements of floating-point types; the lowerings of
      all targets expect f32. A position outside the table is undefined behavior.
    - (N1) The pair (x, y) becomes `fma(y, -s, x * c)` and `fma(x, s, y * c)` for its cosine c and its sine s; the
      products with c are rounded. The components from R on are copied.

    ```mlir
    %y = tile.rotary_tile ins(%x, %p, %t : tensor<?x4x12xf32>, tensor<?xi64>, tensor<512x12xf32>)
        outs(%d : tensor<?x4x12xf32>) -> tensor<?x4x12xf32>
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
