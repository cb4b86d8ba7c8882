//===- AttentionTileOps.td - Attention of one tile of queries -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef TILE_ATTENTION_TILE_OPS_TD
#define TILE_ATTENTION_TILE_OPS_TD

include "dialect/Tile/IR/TileDialect.td"
include "dialect/Xfmr/IR/XfmrEnums.td"

def Tile_AttentionTileOp : Tile_Op<"attention_tile", [AttrSizedOperandSegments]> {
  let summary = "attention of a few queries of one or more heads over all keys of their sequence, keys in blocks";
  let description = [{
    Every pair (i, h) of a query and a head, all of which share keys and values, is a row. One block of `key_block` keys at a time, in order from the first block
    the row sees (S keys, `key[p, d, j]` is component d of key `p * W + j`, columns beyond S are ignored; or `key[j, d]`), with running maximum m, sum l and accumulator o:

        t[j]  = x[j] * log2(e), -infinity for keys that are hidden by their position (see `xfmr.attention` for x and what is hidden)
        m'    = max(m, max_j t[j]),  a = 2^(m - m')
        l     = l a + sum_j 2^(t[j] - m'),  o = o a + sum_j 2^(t[j] - m') value[j]
        result[i, h] = o / l * head_scale[h],  probabilities[h, i, j] = 2^(t[j] - m) / l * head_scale[h]

    The first query stands at position `position` among the keys. A score that a mask takes below the most negative f32 becomes that. Rows whose m is in the lower
    half of the range have no visible key: they get what `masked_rows` says. Probabilities of keys hidden by their position are not written.

    - (C1) `query` is `[R, H, D]`, `key` panels `[P, D, W]` with `P * W >= S` or rows `[S, D]`, `value` `[S, E]`, the result `[R, H, E]`; D, E and W
      are static and positive. All are tensors, or all are buffers.
    - (C2) `mask`, if present, is f32, `[S]`, `[1 or R, S]` or `[1 or H, 1 or R, S]`; `head_scale` `[H]`; `distance_bias` `[1 or H, N]`; `relative_key`
      `[1, D, N' + 15]`, static, the distances in descending order; `probabilities`, if present, `[H, R, S]` (the second destination).
    - (C3) `causal`, windows, `distance_bias` and `relative_key` need `position`.
    - (C4) `scratch` and `state`, if present, are contiguous f32 buffers: `[rows, key_block or more]` for scores, `[R * H or more, 32]` for the maxima and sums of
      rows between blocks; vectors need them, `attune-attach-scratch` adds them.
    - (C5) Elements are f32. Keys in rows are of the type of `precision`, bf16 or f16, and so are the values beside them; the queries may be.
    - (N1) 2^x is a polynomial with 2^0 = 1, and 0 below 2^-126. Sums over d and over j of `value` run in order with fused
      multiply-adds; the sum l is kept in 16 lanes joined by a fixed tree. A row's bits do not depend on which rows share its tile.
    - (N2) With `precision` bf16 or f16, queries, keys, weights and values may be rounded to it before they are multiplied; sums are f32.

    ```mlir
    %o = tile.attention_tile ins(%q, %k, %v : tensor<?x1x12xf32>, tensor<?x12x32xf32>, tensor<?x12xf32>) at(%position) outs(%d : tensor<?x1x12xf32>)
        {scale = 0.125 : f64, key_block = 512 : i64, causal} -> tensor<?x1x12xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$query, AnyShaped:$key, AnyShaped:$value, Optional<Index>:$position, Optional<AnyShaped>:$mask,
                       Optional<AnyShaped>:$head_scale, Optional<AnyShaped>:$distance_bias, Optional<AnyShaped>:$relative_key,
                       Optional<AnyMemRef>:$scratch, Optional<AnyMemRef>:$state, Variadic<AnyShaped>:$destinations, F64Attr:$scale, I64Attr:$key_block,
                       UnitAttr:$causal, OptionalAttr<I64Attr>:$window_left, OptionalAttr<I64Attr>:$window_right, OptionalAttr<F64Attr>:$softcap,
                       OptionalAttr<F64Attr>:$mask_fill, DefaultValuedAttr<Xfmr_MaskedRowsAttr, "::mlir::xfmr::MaskedRows::Uniform">:$masked_rows,
                       DefaultValuedAttr<Xfmr_RelativeTermsAttr, "::mlir::xfmr::RelativeTerms::Query">:$relative_terms,
                       DefaultValuedAttr<Xfmr_ScoreStageAttr, "::mlir::xfmr::ScoreStage::Softmax">:$score_stage,
                       DefaultValuedAttr<Xfmr_PrecisionAttr, "::mlir::xfmr::Precision::F32">:$precision);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)` (`at` `(` $position^ `)`)?
    (`mask` `(` $mask^ `:` type($mask) `)`)? (`head_scale` `(` $head_scale^ `:` type($head_scale) `)`)?
    (`distance_bias` `(` $distance_bias^ `:` type($distance_bias) `)`)? (`relative_key` `(` $relative_key^ `:` type($relative_key) `)`)?
    (`scratch` `(` $scratch^ `,` $state `:` type($scratch) `,` type($state) `)`)?
    `outs` `(` $destinations `:` type($destinations) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDefinition = ""; // its effects are in AttentionTileOps.cpp: it writes its scratch, too
  let extraClassDeclaration = tileDeclaration # [{
    /// The probabilities destination, or null.
    ::mlir::Value getProbabilities() { return getDestinations().size() > 1 ? getDestinations()[1] : ::mlir::Value(); }
    /// Whether keys are rows, not panels.
    bool hasKeyRows() { return ::llvm::cast<::mlir::ShapedType>(getKey().getType()).getRank() == 2; }
    /// Whether keys are hidden by their position.
    bool hidesByPosition() { return getCausal() || getWindowLeft() || getWindowRight(); }
  }];
  let hasVerifier = 1;
}

#endif // TILE_ATTENTION_TILE_OPS_TD
