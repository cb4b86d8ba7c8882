//===- GroupedProductOps.td - Products by weights with a scale per group -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_GROUPED_PRODUCT_OPS_TD
#define TILE_GROUPED_PRODUCT_OPS_TD

include "dialect/Tile/IR/TileDialect.td"
include "dialect/Xfmr/IR/XfmrAttrs.td"
include "mlir/Interfaces/TilingInterface.td"

def Tile_GroupedProductOp : Tile_Op<"grouped_product", [DeclareOpInterfaceMethods<TilingInterface,
    ["getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation", "getResultTilePosition",
     "generateResultTileValue"]>]> {
  let summary = "multiplies quantized rows by quantized weights that both have a scale per group of columns";
  let description = [{
    Multiplies T rows of K integers by a matrix `[N, K]` of quantized weights, both in G groups of columns. With the
    integers p of `rows`, their scales r and their sums z of each group (see `tile.quantize_rows`), and with the
    integers q, scales s and minima m of `panels`, which `xfmr.weight_quantize_panels` describes,

        result[t, n] = acc after all groups g in order, from +0:
          acc = fma(f32(sum_k p[t, k] q[n, k]), r[t, g] * s[n, g], acc)      for the columns k of group g
          acc = fma(m[n, g], r[t, g] * f32(z[t, g]), acc)                    only if the format has minima

    - (C1) `rows` is i8 `[T, K]`, `scales` f32 and `sums` i32 `[T, G]`, `panels` i8 `[P, G, B]`, the destination f32
      `[T, N]`; all but T, P and N are static.
    - (C2) K is G times the columns of a group, and B the bytes of a group of `width` rows in `format`; with one group
      per row (`intB:0`), a group has K columns, and K is a multiple of 32.
    - (C3) `width`, the rows of a panel, is a positive multiple of 16; P panels have N rows, or up to `width - 1` more.
    - (N1) Sums of integers are exact, `f32` converts them, and `fma` rounds once. Tiles of columns begin at multiples
      of `width`.

    ```mlir
    %y = tile.grouped_product ins(%q, %s, %z, %p : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<4x2x576xi8>)
        outs(%d : tensor<?x100xf32>) width 32 format <"int4:32"> -> tensor<?x100xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$rows, AnyShaped:$scales, AnyShaped:$sums, AnyShaped:$panels, Variadic<AnyShaped>:$destinations,
                       I64Attr:$width, Xfmr_WeightFormatAttr:$format);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $rows `,` $scales `,` $sums `,` $panels `:` type($rows) `,` type($scales) `,` type($sums) `,` type($panels) `)`
    `outs` `(` $destinations `:` type($destinations) `)` `width` $width `format` $format attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = tileDeclaration # [{
    ::mlir::Value getDestination() { return getDestinations()[0]; }
    /// Returns the number of columns of a group.
    int64_t getGroupColumns();
  }];
  let hasVerifier = 1;
}

#endif // TILE_GROUPED_PRODUCT_OPS_TD
