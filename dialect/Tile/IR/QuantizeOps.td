//===- QuantizeOps.td - Rows quantized or rounded for low-precision products -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_QUANTIZE_OPS_TD
#define TILE_QUANTIZE_OPS_TD

include "dialect/Tile/IR/TileDialect.td"
include "mlir/Interfaces/TilingInterface.td"

def Tile_QuantizeRowsOp : Tile_Op<"quantize_rows", [DeclareOpInterfaceMethods<TilingInterface,
    ["getLoopIteratorTypes", "getIterationDomain", "getTiledImplementation", "getResultTilePosition",
     "getTiledImplementationFromOperandTiles",
     "getIterationDomainTileFromOperandTiles"]>]> {
  let summary = "converts rows to the operand type of a low-precision projection: bf16, f16, or integers with one scale per row";
  let description = [{
    With one destination, `quantized[t, k] = bf16(input[t, k])`, or f16, to nearest, ties to even. Values rounded to
    bf16 may be stored as f32. With two destinations,

        scales[t]       = max_k |input[t, k]| / 127
        quantized[t, k] = round(input[t, k] * (127 / max_k |input[t, k]|)) + zero

    to nearest, ties to even. `zero` is 128 for 8-bit values, which are unsigned then, and 0 for 16-bit values. A row of
    zeros has the scale 0 and the values `zero`.

    - (C1) `input` is f32 `[T, K]`, `quantized` is `[T, K']` with `K' >= K`; columns from K on are `zero`, or 0.0 for
      floats.
    - (C2) A single destination has elements of bf16, f16 or f32. With `scales`, f32 `[T]`, quantized values are i8 or
      i16.
    - (N1) A row with an infinity or NaN has an infinite or NaN scale and unspecified quantized values.

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
    ::mlir::Value getQuantized() { return getDestinations()[0]; }
    /// Returns the scales destination, or null.
    ::mlir::Value getScales() { return getDestinations().size() > 1 ? getDestinations()[1] : ::mlir::Value(); }
  }];
  let hasVerifier = 1;
}

#endif // TILE_QUANTIZE_OPS_TD
