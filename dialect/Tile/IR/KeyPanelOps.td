//===- KeyPanelOps.td - Packed panels of attention keys ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_KEY_PANEL_OPS_TD
#define TILE_KEY_PANEL_OPS_TD

include "dialect/Tile/IR/TileDialect.td"

def Tile_KeyPanelOp : Tile_Op<"key_panel", [AttrSizedOperandSegments]> {
  let summary = "transposes up to W keys of one head into a panel";
  let description = [{
    `panel[d, column + j] = keys[j, d]` for n keys of D components, the rows j of `keys`, and the panel that is the
    destination. Columns before `column` (0 if absent) are not changed. Columns after the keys either become 0 or are
    not changed, as the backend chooses; readers must ignore them.

    - (C1) `keys` is `[n, D]`, the panel `[D, W]`, with `column + n <= W`; D and W are static, `W <= 1024`.

    ```mlir
    %p = tile.key_panel ins(%k : tensor<?x12xf32>) outs(%d : tensor<12x32xf32>) -> tensor<12x32xf32>
    %r = tile.key_panel ins(%k : tensor<?x12xf32>) at(%column) outs(%p : tensor<12x32xf32>) -> tensor<12x32xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$keys, Optional<Index>:$column, Variadic<AnyShaped>:$destinations);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $keys `:` type($keys) `)` (`at` `(` $column^ `)`)? `outs` `(` $destinations `:` type($destinations) `)` attr-dict
    (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Tile_UnpackKeysOp : Tile_Op<"unpack_keys"> {
  let summary = "transposes the keys of a panel into rows";
  let description = [{
    `rows[j, d] = panel[d, j]` for the n rows j of the destination `rows`, keys of D components.

    - (C1) `panel` is `[D, W]`, the destination `[n, D]` with `n <= W`; D and W are static,
      `W <= 1024`.

    ```mlir
    %k = tile.unpack_keys ins(%p : tensor<12x64xf32>) outs(%d : tensor<?x12xf32>) -> tensor<?x12xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$panel, Variadic<AnyShaped>:$destinations);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $panel `:` type($panel) `)` `outs` `(` $destinations `:` type($destinations) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

#endif // TILE_KEY_PANEL_OPS_TD
