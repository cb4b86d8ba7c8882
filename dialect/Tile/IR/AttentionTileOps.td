//===- AttentionTileOps.td - Attention of one tile of queries -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_ATTENTION_TILE_OPS_TD
#define TILE_ATTENTION_TILE_OPS_TD

include "dialect/Tile/IR/TileDialect.td"
include "dialect/Xfmr/IR/XfmrEnums.td"

def Tile_AttentionTileOp : Tile_Op<"attention_tile", [AttrSizedOperandSegments]> {
  let summary = "computes attention of a few queries of one or more heads over the keys of their sequence, in blocks of keys";
  let description = [{
    Computes `xfmr.attention` for R consecutive queries and H heads of one sequence. A row is a pair (i, h) of a query
    and a head. All rows attend to the same S keys of D components and S values of E components, those of one key/value
    head. S is the number of rows of `value`. Keys are in P panels of W keys or in rows: in panels, `key[p, d, j]` is
    component d of key `p * W + j`, and keys from S on are ignored; in rows, `key[j, d]` is component d of key j. Query
    i has the position `position + i` among the keys. That position hides a key from the rows of query i if `causal`,
    `window_left` or `window_right` hides the key in `xfmr.attention`.

    For each row, blocks of `key_block` keys are processed in order, from the first to the last block with a key that
    the position of the query does not hide. A running maximum m begins as the most negative f32, a sum l as 0 and an
    accumulator o of E elements as zeros. With j over the keys of a block, the score x[j] of `xfmr.attention`, and m'
    the maximum after the block:

        t[j]  = x[j] * log2(e), or -infinity if the position of the query hides key j
        m'    = max(m, max_j t[j]),  a = 2^(m - m')
        l     = l a + sum_j 2^(t[j] - m'),  o = o a + sum_j 2^(t[j] - m') value[j]

    After the last block, where `head_scale` is the `head_mask` of `xfmr.attention`, or 1 if it is absent:

        result[i, h] = o / l * head_scale[h],  probabilities[h, i, j] = 2^(t[j] - m) / l * head_scale[h]

    With `sinks`, `2^(sinks[h] * log2(e) - m)`, which is `exp(sinks[h])` relative to the maximum, is added to l before
    the division.

    The mask and the distance bias are multiplied by log2(e) before they are added to the score. If the mask times
    log2(e), or its sum with the bias, is below the most negative f32, the most negative f32 is added instead, so that
    t[j] stays finite. With `mask_fill`, the mask is not added: x[j] is `mask_fill` where the mask is negative. A row
    has no visible key if its final m is at most half of the most negative f32, times log2(e): about -2.5e38. The
    probabilities of such a row are those that `masked_rows` selects in `xfmr.attention`.

    With a `score_stage` other than `softmax`, `probabilities` gets the scores of that stage of `xfmr.attention`
    instead; for `product` and `capped`, all blocks of keys are processed. Where the position of the query hides the
    key, probabilities and scores of the stage `masked` may not be written. `attune-tile-attention` therefore fills the
    destination beforehand: with the most negative f32 for `masked`, with zeros otherwise.

    - (C1) `query` is `[R, H, D]`, `key` is panels `[P, D, W]` with `P * W >= S` or rows `[S, D]`, `value` is `[S, E]`,
      the result, the first destination, is `[R, H, E]`; D, E and W are static and positive, W a multiple of 16.
      `key_block` is a positive multiple of W, or any positive number for keys in rows. All are tensors, or all are
      buffers.
    - (C2) `mask`, if present, is f32: `[S]`, `[1 or R, S]` or `[1 or H, 1 or R, S]`. `head_scale` and `sinks` are
      `[H]`; `distance_bias` is `[1 or H, N]`; `relative_key` and `relative_query` are `[1 or H, D, N' + 30]`, with
      static D and N', the distances in descending order and the first and the last repeated 15 times (see
      `xfmr.weight_distance_panels`). N and N' are the numbers of distances, which are odd. `probabilities`, if present,
      is `[H, R, S]`, the second destination.
    - (C3) `causal`, windows, `distance_bias`, `relative_key` and `relative_query` need `position`; `mask_fill` needs
      `mask` and is greater than half of the most negative f32.
    - (C4) `scratch` and `state`, both present or neither, are contiguous f32 buffers of static size. `scratch` is
      `[rows, key_block or more]`, for the scores of as many rows as the lowering computes at once. `state` is
      `[R * H or more, 32 or more]`, for 16 partial sums and the maximum of each row between blocks. The lowering for
      CPUs, `attune-lower-attention-tile`, needs them; `attune-attach-scratch` adds them.
    - (C5) Elements are f32, with these exceptions. Keys in rows, and the values of such keys, have the type of
      `precision`, bf16 or f16; the queries have this type or f32. Keys in panels and their values may be those of a
      cache of bf16, f16 or i8. With i8, D + 4 and E + 4 stand in the place of D and E in the types of `key` and
      `value`, for the scales that `xfmr.kv_cache_update` defines, and W is a multiple of 64. The result has any
      floating-point type.
    - (C6) `sinks` needs `masked_rows = zero`.
    - (N1) 2^x is computed by a polynomial, with an error of at most 0.8 ulp and 2^0 = 1; results below 2^-126 are 0.
      The sums over d in scores, and over j in o, run in order with fused multiply-adds. The sum l is kept as 16 partial
      sums, each of the keys with equal j mod 16. After the last block the partial sums are added in pairs: n and n + 8,
      then n and n + 4, n + 2, n + 1. The bits of a row do not depend on the other rows of the tile. GPUs add in another
      order, with the 2^x of the hardware.
    - (N2) With `precision` bf16 or f16, queries, keys, probabilities and values may be rounded to this type before they
      are multiplied: code for tensor cores rounds them, other code multiplies them as they are. Sums are f32.

    ```mlir
    %o = tile.attention_tile ins(%q, %k, %v : tensor<?x1x12xf32>, tensor<?x12x32xf32>, tensor<?x12xf32>) at(%position)
        outs(%d : tensor<?x1x12xf32>) {scale = 0.125 : f64, key_block = 512 : i64, causal} -> tensor<?x1x12xf32>
    %c = tile.attention_tile ins(%q, %k8, %v8 : tensor<?x1x12xf32>, tensor<?x16x64xi8>, tensor<?x16xi8>)
        outs(%d : tensor<?x1x12xf32>) {scale = 0.125 : f64, key_block = 512 : i64} -> tensor<?x1x12xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$query, AnyShaped:$key, AnyShaped:$value, Optional<Index>:$position, Optional<AnyShaped>:$mask,
                       Optional<AnyShaped>:$head_scale, Optional<AnyShaped>:$distance_bias, Optional<AnyShaped>:$relative_key,
                       Optional<AnyShaped>:$relative_query, Optional<AnyShaped>:$sinks, Optional<AnyMemRef>:$scratch,
                       Optional<AnyMemRef>:$state, Variadic<AnyShaped>:$destinations, F64Attr:$scale, I64Attr:$key_block,
                       UnitAttr:$causal, OptionalAttr<I64Attr>:$window_left, OptionalAttr<I64Attr>:$window_right,
                       OptionalAttr<F64Attr>:$softcap, OptionalAttr<F64Attr>:$mask_fill,
                       DefaultValuedAttr<Xfmr_MaskedRowsAttr, "::mlir::xfmr::MaskedRows::Uniform">:$masked_rows,
                       DefaultValuedAttr<Xfmr_ScoreStageAttr, "::mlir::xfmr::ScoreStage::Softmax">:$score_stage,
                       DefaultValuedAttr<Xfmr_PrecisionAttr, "::mlir::xfmr::Precision::F32">:$precision);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)` (`at` `(` $position^ `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)? (`head_scale` `(` $head_scale^ `:` type($head_scale) `)`)?
    (`distance_bias` `(` $distance_bias^ `:` type($distance_bias) `)`)? (`relative_key` `(` $relative_key^ `:` type($relative_key) `)`)?
    (`relative_query` `(` $relative_query^ `:` type($relative_query) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`scratch` `(` $scratch^ `,` $state `:` type($scratch) `,` type($state) `)`)?
    `outs` `(` $destinations `:` type($destinations) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDefinition = ""; // getEffects is in AttentionTileOps.cpp: the operation writes its scratch and state, too
  let extraClassDeclaration = tileDeclaration # [{
    /// Returns the probabilities destination, or null.
    ::mlir::Value getProbabilities() { return getDestinations().size() > 1 ? getDestinations()[1] : ::mlir::Value(); }
    /// Returns true if keys are rows, not panels.
    bool hasKeyRows() { return ::llvm::cast<::mlir::ShapedType>(getKey().getType()).getRank() == 2; }
    /// Returns true if the position of a query may hide keys from it.
    bool hidesByPosition() { return getCausal() || getWindowLeft() || getWindowRight(); }
    /// Returns true if queries or keys are multiplied by vectors that belong to distances.
    bool hasRelativeTables() { return getRelativeKey() || getRelativeQuery(); }
    /// Returns the number of components of a value, without the bytes of its scale.
    int64_t getValueDim() { return ::mlir::xfmr::getHeadSize(::llvm::cast<::mlir::ShapedType>(getValue().getType()), 1); }
  }];
  let hasVerifier = 1;
}

#endif // TILE_ATTENTION_TILE_OPS_TD
