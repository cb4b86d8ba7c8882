//===- PositionOps.td - Positions in heads and in scores ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_POSITION_OPS_TD
#define XFMR_POSITION_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_RotaryOp : Xfmr_Op<"rotary", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "applies rotary position embeddings (RoPE) to the heads of each token";
  let description = [{
    Rotates pairs of a head's components by an angle that grows with the token's position. The table `[positions, R]`
    has the cosines and sines of the angles. Token t reads the row `positions[t]`, usually the position of the token.
    For i < R/2, `c = table[positions[t], i]`, `s = table[positions[t], R/2 + i]`, and the pair is (a, b) =
    (i, i + R/2), or (2i, 2i + 1) if `interleaved`:

        result[t, h, a] = input[t, h, a] * c - input[t, h, b] * s
        result[t, h, b] = input[t, h, b] * c + input[t, h, a] * s

    Components from R on are copied. The table is a weight of source `#xfmr.computed<"rotary", …>`. For rotary
    embeddings of the type longrope, it is the `#xfmr.concat` of two such tables. The first is for calls whose longest
    sequence, with padding and the tokens in caches, has up to n tokens. It has n rows, where n is the context length of
    the model before it was extended. The second is for calls with a longer sequence: the importer emits code that adds
    n to all positions of such a call.

    - (C1) `table` has static shape. R is even and at most the size of a head, the last dimension of `input`, which is
      static.
    - (N1) The product with c is rounded to f32. A fused multiply-add then adds or subtracts the product with s. A
      position outside the table is undefined behavior.

    ```mlir
    %y = xfmr.rotary %x, %positions, %table : tensor<?x4x12xf32>, tensor<512x12xf32>
    ```
  }];
  let arguments = (ins Xfmr_Heads:$input, Xfmr_Ids:$positions, 2DTensorOf<[F32]>:$table, UnitAttr:$interleaved);
  let results = (outs Xfmr_Heads:$result);
  let assemblyFormat = "$input `,` $positions `,` $table attr-dict `:` type($input) `,` type($table)";
  let hasVerifier = 1;
}

def Xfmr_RelativePositionBiasOp : Xfmr_Op<"relative_position_bias", [Pure, InferTypeOpAdaptor]> {
  let summary = "looks up T5's relative position bias for each head and distance";
  let description = [{
    The distance d is the position of a key minus that of a query, from `-(length - 1)` to `length - 1`.
    `result[h, d + length - 1] = table[bucket(d), h]`. The table is `[R, H]`, with R buckets of distances for each of H
    heads; the result is `[H, 2 length - 1]`. Let n be R / 2 if `bidirectional`, else R, and let m be floor(n / 2):

        bucket(d) = a                                                                      if a < m
                  = min(n - 1, m + floor(log(a / m) / log(max_distance / m) * (n - m)))    otherwise

    If `bidirectional`, `a = |d|`, and n is added to bucket(d) for d > 0; otherwise `a = max(-d, 0)`. The result is used
    as the operand `distance_bias` of `xfmr.attention`, for sequences of up to `length` tokens.

    - (C1) `table` has static shape. R is at least 2; if `bidirectional`, R is even and at least 4. `max_distance` is
      larger than m and at most 2^24, up to which f32 has all integers.
    - (N1) Elements are copied. `bucket(d)` is computed in f32, except that `log(max_distance / m)` is computed in f64
      and then rounded to f32. The T5 of the transformers library computes in the same way; exact arithmetic may put a
      distance at the boundary of two buckets into the other bucket.

    ```mlir
    %b = xfmr.relative_position_bias %table, %length {bidirectional, max_distance = 128 : i64} : tensor<32x8xf32>    // tensor<8x?xf32>
    ```
  }];
  let arguments = (ins 2DTensorOf<[F32]>:$table, Index:$length, UnitAttr:$bidirectional, I64Attr:$max_distance);
  let results = (outs 2DTensorOf<[F32]>:$result);
  let assemblyFormat = "$table `,` $length attr-dict `:` type($table)";
  let hasVerifier = 1;
}

def Xfmr_AlibiBiasOp : Xfmr_Op<"alibi_bias", [Pure, InferTypeOpAdaptor]> {
  let summary = "computes the ALiBi bias for each head and distance";
  let description = [{
    The distance d is the position of a key minus that of a query, from `-(length - 1)` to `length - 1`.
    `result[h, d + length - 1] = -slopes[h] * |d|`. For H slopes, one for each head, the result is `[H, 2 length - 1]`.
    It is used as the operand `distance_bias` of `xfmr.attention`, for sequences of up to `length` tokens. The slopes
    are a weight of source `#xfmr.computed<"alibi_slopes", …>`.

    - (C1) `slopes` has static shape.

    ```mlir
    %b = xfmr.alibi_bias %slopes, %length : tensor<8xf32>    // tensor<8x?xf32>
    ```
  }];
  let arguments = (ins 1DTensorOf<[F32]>:$slopes, Index:$length);
  let results = (outs 2DTensorOf<[F32]>:$result);
  let assemblyFormat = "$slopes `,` $length attr-dict `:` type($slopes)";
  let hasVerifier = 1;
}

def Xfmr_CountedPositionsOp : Xfmr_Op<"counted_positions", [Pure, AllTypesMatch<["ids", "result"]>]> {
  let summary = "numbers the tokens of each sequence that are not padding";
  let description = [{
    `ids` is `[batch, length]`, and `padding` is the id of the padding token. If `ids[b, i]` is not `padding`,
    `result[b, i]` is `padding` plus the number of tokens j <= i of sequence b with `ids[b, j] != padding`; else
    `result[b, i]` is `padding`. RoBERTa looks up position embeddings by these numbers: the row `padding` of the table
    is for padding, and the first token that is not padding has the row `padding + 1`.

    - (C1) `padding` is not negative.

    ```mlir
    %positions = xfmr.counted_positions %ids {padding = 1 : i64} : tensor<?x?xi64>
    ```
  }];
  let arguments = (ins 2DTensorOf<[I64]>:$ids, ConfinedAttr<I64Attr, [IntNonNegative]>:$padding);
  let results = (outs 2DTensorOf<[I64]>:$result);
  let assemblyFormat = "$ids attr-dict `:` type($ids)";
}

#endif // XFMR_POSITION_OPS_TD
