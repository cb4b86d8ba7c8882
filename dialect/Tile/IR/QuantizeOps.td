//===- QuantizeOps.td - Rows quantized or rounded for low-precision products -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_QUANTIZE_OPS_TD
#define TILE_QUANTIZE_OPS_TD

include "dialect/Tile/IR/TileDialect.td"
include "mlir/Interfaces/TilingInterface.td"

def Tile_QuantizeRowsOp : Tile_Op<"quantize_rows", [DeclareOpInterfaceMethods<TilingInterface,
    ["getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation", "getResultTilePosition", "getTiledImplementationFromOperandTiles",
     "getIterationDomainTileFromOperandTiles"]>]> {
  let summary = "rows rounded to what a projection of lower precision multiplies";
  let description = [{
    With one destination, `codes[t, k] = bf16(input[t, k])`, or f16, to nearest and even; codes of bf16 may be f32 of the same values. With two,

        scales[t]   = max_k |input[t, k]| / 127
        codes[t, k] = round(input[t, k] * (127 / max_k |input[t, k]|)) + zero

    to nearest and even, where `zero` is 128 for i8 codes, which are unsigned then, and 0 for i16. A row of zeros has the scale 0 and the codes `zero`.

    - (C1) `input` is f32 `[T, K]`, `codes` `[T, K']` with `K' >= K`; columns from K on are `zero`, or 0.0.
    - (C2) One destination has elements of bf16, f16 or f32; with `scales`, f32 `[T]`, codes are i8 or i16.
    - (N1) A row with an infinite or undefined element has an infinite or undefined scale, and its codes mean nothing.

    ```mlir
    %c = tile.quantize_rows ins(%x : tensor<?x48xf32>) outs(%d : tensor<?x48xbf16>) -> tensor<?x48xbf16>
    %q:2 = tile.quantize_rows ins(%z : tensor<?x33xf32>) outs(%d0, %d1 : tensor<?x36xi8>, tensor<?xf32>) -> tensor<?x36xi8>, tensor<?xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$input, Variadic<AnyShaped>:$destinations);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)` `outs` `(` $destinations `:` type($destinations) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = tileDeclaration # [{
    ::mlir::Value getCodes() { return getDestinations()[0]; }
    /// The scales destination, or null.
    ::mlir::Value getScales() { return getDestinations().size() > 1 ? getDestinations()[1] : ::mlir::Value(); }
  }];
  let hasVerifier = 1;
}

#endif // TILE_QUANTIZE_OPS_TD
