//===- GroupedProductOps.td - Products by weights with a scale per group -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_GROUPED_PRODUCT_OPS_TD
#define TILE_GROUPED_PRODUCT_OPS_TD

include "dialect/Tile/IR/TileDialect.td"
include "dialect/Xfmr/IR/XfmrAttrs.td"
include "mlir/Interfaces/TilingInterface.td"

def Tile_GroupedProductOp : Tile_Op<"grouped_product", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<TilingInterface,
    ["getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation", "getResultTilePosition",
     "generateResultTileValue"]>]> {
  let summary = "multiplies rows by quantized weights that have a scale per group of columns";
  let description = [{
    Multiplies T rows of K columns by the transpose of a matrix `[N, K]` of quantized weights in G groups of columns.
    `inputs` are either rows of integers, their scales, their sums and the panels; or rows of f32, bf16 or f16 and the
    panels. The panels store the matrix as integers q, scales s and, in some formats, minima m;
    `xfmr.weight_quantize_panels` describes them.

    Rows of integers p are quantized in the same groups of columns, with a scale r and a sum z for each row and group
    (see `tile.quantize_rows`):

        result[t, n] = acc after all groups g in order, from +0:
          acc = fma(f32(sum_k p[t, k] q[n, k]), r[t, g] * s[n, g], acc)      for the columns k of group g
          acc = fma(m[n, g], r[t, g] * f32(z[t, g]), acc)                    only if the format has minima

    Rows of floats x are multiplied as they are, without quantization. A block is 32 consecutive columns, or 16 if a
    group has 16 columns; the last block ends with column K - 1:

        result[t, n] = acc after all blocks in order, from +0:
          sum = fma(q[n, k], x[t, k], sum)                                   for the columns k of the block in order, from +0
          acc = fma(s[n, g], sum, acc)                                       for the group g of the block
          acc = fma(m[n, g], sum_k x[t, k], acc)                             only if the format has minima

    - (C1) The rows are i8 `[T, K]`, their scales f32 and their sums i32 `[T, G]`, or the rows are f32, bf16 or
      f16 `[T, K]`. The panels are i8 `[P, G, B]`, the destination f32 `[T, N]`; all but T, P and N are static.
    - (C2) G groups cover K, and B is the bytes of a group of `width` rows in `format`. With one group per row
      (`int4:0`, `int8:0`), a group has K columns, rounded up to a multiple of 32. Rows of integers have whole groups.
      Rows of bf16 and f16 have an even K.
    - (C3) `width`, the rows of a panel, is a positive multiple of 16 and at most 4096; K is less than 2^31; P is
      `N / width`, rounded up: the last panel may have rows beyond the matrix. Tiling must cut the result at columns
      that are multiples of `width`, so that each tile begins with a whole panel.
    - (C4) `format` has groups: it is not bf16 or f16.
    - (N1) Sums of integers are i32. They are exact for groups of up to 65536 columns; in larger groups they may
      overflow. `f32` converts an integer to f32, and `fma` rounds once.
    - (N2) `sum_k x[t, k]` of a block adds columns i and i + 16 of the block for i from 0 to 15, then these 16 sums in
      pairs: i and i + 8, then i and i + 4, i + 2, i + 1. Columns that do not exist count as 0.
    - (N3) With rows of bf16 or f16, several products are added to the sum of a block at once. How often these additions
      round, and the order of `sum_k x[t, k]`, depend on the target's instructions. A GPU supports only such rows.
      There, acc may be the sum of several parts, each computed from some of the blocks, and a block may have 64 columns
      if the number of columns of a group is a multiple of 64 or if a group is a whole row.

    ```mlir
    %y = tile.grouped_product ins(%q, %s, %z, %p : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<4x2x576xi8>)
        outs(%d : tensor<?x100xf32>) width 32 format <"int4:32"> -> tensor<?x100xf32>
    %u = tile.grouped_product ins(%x, %p : tensor<?x50xf32>, tensor<4x2x576xi8>)
        outs(%d : tensor<?x100xf32>) width 32 format <"int4:32"> -> tensor<?x100xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyShaped>:$inputs, Variadic<AnyShaped>:$destinations, I64Attr:$width,
                       Xfmr_WeightFormatAttr:$format);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $destinations `:` type($destinations) `)`
    `width` $width `format` $format attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = tileDeclaration # [{
    ::mlir::Value getDestination() { return getDestinations()[0]; }
    /// Returns true if the rows are integers with scales and sums, false if they are floats.
    bool hasQuantizedRows() { return getInputs().size() == 4; }
    ::mlir::Value getRows() { return getInputs().front(); }
    ::mlir::Value getPanels() { return getInputs().back(); }
    /// Returns the operands that have a row for each row of the result: the rows, their scales and sums.
    ::mlir::ValueRange getRowInputs() { return getInputs().drop_back(); }
    /// Return the scales and the sums of quantized rows.
    ::mlir::Value getScales() { return getInputs()[1]; }
    ::mlir::Value getSums() { return getInputs()[2]; }
    /// Returns the number of columns of a group.
    int64_t getGroupColumns();
  }];
  let hasVerifier = 1;
}

#endif // TILE_GROUPED_PRODUCT_OPS_TD
