//===- KeyPanelOps.td - Keys and values in the layout of caches -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_KEY_PANEL_OPS_TD
#define TILE_KEY_PANEL_OPS_TD

include "dialect/Tile/IR/TileDialect.td"

def Tile_KeyPanelOp : Tile_Op<"key_panel", [AttrSizedOperandSegments]> {
  let summary = "transposes up to W keys of one head into a panel";
  let description = [{
    `panel[d, column + j] = keys[j, d]`, where `panel` is the destination, and `keys` has n rows j, keys of D
    components. Columns before `column` (0 if absent) are not changed. Columns from `column + n` on either become 0 or
    are not changed, as the backend chooses; readers must ignore them.

    A panel of bf16 or f16 gets keys rounded to its type. A panel of i8 gets quantized keys and, in four more rows, the
    bytes of their scales; `xfmr.kv_cache_update` defines the quantization and the layout.

    - (C1) `keys` is `[n, D]`, the panel `[D, W]`, with `column + n <= W`; D and W are static, `W <= 1024`. `keys` is of
      f32 or, unless the panel is of i8, of the panel's type. A panel of i8 is `[D + 4, W]`, with W a multiple of 64.

    ```mlir
    %p = tile.key_panel ins(%k : tensor<?x12xf32>) outs(%d : tensor<12x32xf32>) -> tensor<12x32xf32>
    %r = tile.key_panel ins(%k : tensor<?x12xf32>) at(%column) outs(%p : tensor<12x32xf32>) -> tensor<12x32xf32>
    %q = tile.key_panel ins(%k : tensor<?x12xf32>) at(%column) outs(%i : tensor<16x64xi8>) -> tensor<16x64xi8>
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

def Tile_CacheRowsOp : Tile_Op<"cache_rows"> {
  let summary = "converts values of one head to rows of a cache";
  let description = [{
    `values` has n rows, values of E components. If the destination `rows` has elements of bf16 or f16, `rows[j, e]` is
    `values[j, e]` rounded to that type, to nearest, ties to even. A row of i8 gets the E integers of a value, then the
    four bytes of its scale; `xfmr.kv_cache_update` defines the integers and the scale.

    - (C1) `values` is f32 `[n, E]`, the destination is `[n, E]` of bf16 or f16, or `[n, E + 4]` of i8; E is static.

    ```mlir
    %r = tile.cache_rows ins(%v : tensor<?x12xf32>) outs(%d : tensor<?x12xbf16>) -> tensor<?x12xbf16>
    %q = tile.cache_rows ins(%v : tensor<?x12xf32>) outs(%i : tensor<?x16xi8>) -> tensor<?x16xi8>
    ```
  }];
  let arguments = (ins AnyShaped:$values, Variadic<AnyShaped>:$destinations);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $values `:` type($values) `)` `outs` `(` $destinations `:` type($destinations) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}

def Tile_UnpackKeysOp : Tile_Op<"unpack_keys"> {
  let summary = "transposes the keys of a panel into rows";
  let description = [{
    `rows[j, d] = panel[d, j]`, where `rows` is the destination and has n rows j, keys of D components.

    - (C1) `panel` is `[D, W]`, the destination `[n, D]` with `n <= W`; D and W are static, `W <= 1024`. Both have
      elements of one floating-point type.

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
