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
  let summary = "converts rows to the operand type of a low-precision projection: bf16, f16, or integers with scales";
  let description = [{
    The destinations are `quantized`, then `scales`, then `sums`. With one destination, `quantized[t, k]` is
    `input[t, k]` rounded to bf16 or f16, to nearest, ties to even. The type is that of the destination's elements; a
    destination of f32 gets values rounded to bf16. With two destinations,

        scales[t]       = max_k |input[t, k]| / 127
        quantized[t, k] = round(input[t, k] * (127 / max_k |input[t, k]|)) + zero

    where `round` rounds to nearest, ties to even. `zero` is 128 for 8-bit values, which are therefore unsigned, and 0
    for 16-bit values. A row of zeros has the scale 0 and the values `zero`.

    With three destinations, each group of `group` neighboring columns has a scale of its own:

        scales[t, g]    = m / 127, where m = max_k |input[t, k]| for the columns k of group g
        quantized[t, k] = round(input[t, k] * (127 / m))
        sums[t, g]      = sum_k quantized[t, k] for the columns k of group g

    - (C1) `input` is f32 `[T, K]`, `quantized` is `[T, K']`; K and K' are static, `K' >= K`, and `K' < K + 256` unless
      there are sums. The columns of `quantized` from K on become 0.0 with one destination, `zero` with two, and 0 with
      three.
    - (C2) A single destination has elements of bf16, f16 or f32. With `scales`, f32 `[T]`, quantized values are i8 or
      i16.
    - (C3) With `sums`, i32 `[T, G]`, `scales` are f32 `[T, G]`, quantized values are i8, and `group` is a positive
      multiple of 16 with `G * group = K'` and `K' - group < K`. Otherwise there is no `group`.
    - (N1) With two destinations, a row with an infinity or NaN has an infinite or NaN scale. Its quantized values are
      unspecified. So are those of a row that is not zero and whose magnitudes are all below 2^-121, since
      `127 / max_k |input[t, k]|` may overflow.
    - (N2) With `sums`, a group with m < 2^-119 has the scale 0 and values of 0: m / 127 may be below the normal numbers,
      and 127 / m overflows for the smallest m. A group with an infinity or NaN has the scale NaN and values of 0.

    ```mlir
    %c = tile.quantize_rows ins(%x : tensor<?x48xf32>) outs(%d : tensor<?x48xbf16>) -> tensor<?x48xbf16>
    %q:2 = tile.quantize_rows ins(%z : tensor<?x33xf32>) outs(%d0, %d1 : tensor<?x36xi8>, tensor<?xf32>) -> tensor<?x36xi8>, tensor<?xf32>
    %g:3 = tile.quantize_rows ins(%z : tensor<?x33xf32>) group 32 outs(%e0, %e1, %e2 : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>)
        -> tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>
    ```
  }];
  let arguments = (ins AnyShaped:$input, Variadic<AnyShaped>:$destinations, OptionalAttr<I64Attr>:$group);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)` (`group` $group^)? `outs` `(` $destinations `:` type($destinations) `)`
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = tileDeclaration # [{
    ::mlir::Value getQuantized() { return getDestinations()[0]; }
    /// Returns the destination of the sums of groups; null without sums.
    ::mlir::Value getSums() { return getDestinations().size() > 2 ? getDestinations()[2] : ::mlir::Value(); }
    /// Returns the destination of the scales; null without scales.
    ::mlir::Value getScales() { return getDestinations().size() > 1 ? getDestinations()[1] : ::mlir::Value(); }
    /// Checks the constraints of an operation with three destinations.
    ::llvm::LogicalResult verifyGroups();
  }];
  let hasVerifier = 1;
}

#endif // TILE_QUANTIZE_OPS_TD
