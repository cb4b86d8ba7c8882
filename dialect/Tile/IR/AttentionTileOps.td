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
    A row is a pair (i, h) of a query and a head; all rows share the keys and values of one head. There are S keys. In
    panels, `key[p, d, j]` is component d of key `p * W + j`, and columns beyond S are ignored; in rows, it is `key[j,
    d]`. Blocks of `key_block` keys are processed in order, from the first block that the row sees, with running maximum
    m, sum l and accumulator o:

        t[j]  = x[j] * log2(e), -infinity for keys that are hidden by their position (see `xfmr.attention` for x and what is hidden)
        m'    = max(m, max_j t[j]),  a = 2^(m - m')
        l     = l a + sum_j 2^(t[j] - m'),  o = o a + sum_j 2^(t[j] - m') value[j]
        result[i, h] = o / l * head_scale[h],  probabilities[h, i, j] = 2^(t[j] - m) / l * head_scale[h]

    With `sinks`, `exp(sinks[h])` relative to the maximum, `2^(sinks[h] * log2(e) - m)`, is added to l after the last
    block.

    The first query has position `position` among the keys. A score that a mask takes below the most negative f32 is
    clamped to it. A row whose m is in the lower half of the range of f32 has no visible key; its probabilities are
    those of `masked_rows`. Probabilities of keys hidden by their position are not written.

    - (C1) `query` is `[R, H, D]`, `key` is panels `[P, D, W]` with `P * W >= S` or rows `[S, D]`, `value` is `[S, E]`,
      the result is `[R, H, E]`; D, E and W are static and positive. All are tensors, or all are buffers.
    - (C2) `mask`, if present, is f32: `[S]`, `[1 or R, S]` or `[1 or H, 1 or R, S]`. `head_scale` is `[H]`;
      so is `sinks`; `distance_bias` is `[1 or H, N]`; `relative_key` and `relative_query` are `[1 or H, D, N' + 30]`,
      with static D and N', the distances in descending order (see `xfmr.weight_distance_panels`).
      `probabilities`, if present, is `[H, R, S]`, the second destination.
    - (C3) `causal`, windows, `distance_bias`, `relative_key` and `relative_query` need `position`.
    - (C4) `scratch` and `state`, if present, are contiguous f32 buffers: `[rows, key_block or more]` for scores, and
      `[R * H or more, 32]` for the maxima and sums of rows between blocks. The vector lowering needs them;
      `attune-attach-scratch` adds them.
    - (C5) Elements are f32, with these exceptions: keys in rows, and the values that come with them, have the type of
      `precision`, bf16 or f16; the queries may have it.
    - (C6) `sinks` needs `masked_rows = zero`.
    - (N1) 2^x is a polynomial with 2^0 = 1, and 0 below 2^-126. Sums over d, and over j of `value`, run in order with
      fused multiply-adds; the sum l has 16 lanes joined by a fixed tree. GPUs differ: see docs/numerics.md. A row's
      bits do not depend on the other rows of its tile.
    - (N2) With `precision` bf16 or f16, queries, keys, probabilities and values may be rounded to it before they are
      multiplied; sums are f32.

    ```mlir
    %o = tile.attention_tile ins(%q, %k, %v : tensor<?x1x12xf32>, tensor<?x12x32xf32>, tensor<?x12xf32>) at(%position)
        outs(%d : tensor<?x1x12xf32>) {scale = 0.125 : f64, key_block = 512 : i64, causal} -> tensor<?x1x12xf32>
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
  let extraClassDefinition = ""; // its effects are in AttentionTileOps.cpp: it writes its scratch, too
  let extraClassDeclaration = tileDeclaration # [{
    /// Returns the probabilities destination, or null.
    ::mlir::Value getProbabilities() { return getDestinations().size() > 1 ? getDestinations()[1] : ::mlir::Value(); }
    /// Returns true if keys are rows, not panels.
    bool hasKeyRows() { return ::llvm::cast<::mlir::ShapedType>(getKey().getType()).getRank() == 2; }
    /// Returns true if keys may be hidden by their position.
    bool hidesByPosition() { return getCausal() || getWindowLeft() || getWindowRight(); }
    /// Returns true if vectors of distances are multiplied with queries or keys.
    bool hasRelativeTables() { return getRelativeKey() || getRelativeQuery(); }
  }];
  let hasVerifier = 1;
}

#endif // TILE_ATTENTION_TILE_OPS_TD
