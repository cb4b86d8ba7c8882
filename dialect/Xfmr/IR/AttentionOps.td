//===- AttentionOps.td - Attention and head layout ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_ATTENTION_OPS_TD
#define XFMR_ATTENTION_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_SplitHeadsOp : Xfmr_Op<"split_heads", [Pure, InferTypeOpAdaptor]> {
  let summary = "splits the feature dimension into heads, as a view";
  let description = [{
    `result[t, h, d] = input[t, h * head_dim + d]`, where `head_dim` is the number of features divided by `num_heads`.

    - (C1) `num_heads` is positive and divides the number of features of `input`, which is static.

    ```mlir
    %q = xfmr.split_heads %x, 4 : tensor<?x48xf32>    // tensor<?x4x12xf32>
    ```
  }];
  let arguments = (ins Xfmr_Tokens:$input, I64Attr:$num_heads);
  let results = (outs Xfmr_Heads:$result);
  let assemblyFormat = "$input `,` $num_heads attr-dict `:` type($input)";
  let hasFolder = 1;
}

def Xfmr_MergeHeadsOp : Xfmr_Op<"merge_heads", [Pure, InferTypeOpAdaptor]> {
  let summary = "joins the heads into one feature dimension, as a view";
  let description = [{
    `result[t, h * head_dim + d] = input[t, h, d]` for an input `[tokens, heads, head_dim]`.

    ```mlir
    %y = xfmr.merge_heads %x : tensor<?x4x12xf32>     // tensor<?x48xf32>
    ```
  }];
  let arguments = (ins Xfmr_Heads:$input);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasFolder = 1;
}

def Xfmr_RelativeTable : RankedTensorOf<[F32], [HasAnyRankOfPred<[2, 3]>]>;

/// The operands that `attention` and `multi_head_attention` share: key lengths, masks, biases, tables of relative
/// positions and sinks. `Xfmr_ScoreAttributes` are the attributes that these operations share. The description of
/// `attention` defines the operands and the attributes.
defvar Xfmr_ScoreOperands = (ins Optional<Xfmr_Lengths>:$key_lengths, Optional<Xfmr_Mask>:$mask, Optional<1DTensorOf<[F32]>>:$head_mask,
                                 Optional<2DTensorOf<[F32]>>:$distance_bias,
                                 Optional<Xfmr_RelativeTable>:$relative_key, Optional<Xfmr_RelativeTable>:$relative_query,
                                 Optional<1DTensorOf<[F32]>>:$sinks);
defvar Xfmr_ScoreAttributes = (ins F64Attr:$scale, UnitAttr:$causal,
                                   DefaultValuedAttr<Xfmr_AlignmentAttr, "::mlir::xfmr::Alignment::End">:$alignment,
                                   OptionalAttr<I64Attr>:$window_left, OptionalAttr<I64Attr>:$window_right, OptionalAttr<F64Attr>:$softcap,
                                   OptionalAttr<F64Attr>:$mask_fill,
                                   DefaultValuedAttr<Xfmr_MaskedRowsAttr, "::mlir::xfmr::MaskedRows::Uniform">:$masked_rows,
                                   DefaultValuedAttr<Xfmr_ScoreStageAttr, "::mlir::xfmr::ScoreStage::Softmax">:$score_stage);

def Xfmr_AttentionOp : Xfmr_Op<"attention", [Pure, AttrSizedOperandSegments]> {
  let summary = "computes scaled dot-product attention for every sequence of a packed batch";
  let description = [{
    The query tensor is `[T, H, D]`: T tokens of all B sequences, H heads of D components. Keys and values have G heads,
    keys of D components, values of E components. They are token tensors split into heads, `[S, G, D]` and `[S, G, E]`
    for S tokens, or the caches of `xfmr.kv_cache_update`. H / G neighboring heads of queries share a head of keys and
    values.

    Sequence b has Q_b queries, the rows `query_offsets[b]` to `query_offsets[b + 1] - 1`, and S_b keys. If `key` and
    `value` are token tensors, its keys are the S_b rows from `key_offsets[b]` on; S_b is
    `key_offsets[b + 1] - key_offsets[b]`, or `key_lengths[b]` if that is present and smaller. If `key` and `value` are
    caches, S_b is `key_lengths[b]`, and `key[j, g, :]` and `value[j, g, :]` below are key and value j of head g of slot
    `slots[b]`, or of slot b without `slots`. `query_length` and `key_length`, called Q and K below, are upper bounds of
    all Q_b and of all S_b.

    Query i has the position p among the keys: `p = i` with `alignment = start`, and `p = i + S_b - Q_b` with
    `alignment = end`, the default, which aligns the last query with the last key. The formulas are those of one row,
    that is query i of sequence b in head h. In them i and j count from the first query and the first key of the
    sequence, also as indices of `query`, `key`, `value` and `result`. g is `h / (H / G)`, rounded down, and N is the
    number of columns of `distance_bias`:

        s[j] = scale * (q . (k[j] + rk[j]) + k[j] . rq[j])          q = query[i, h, :], k[j] = key[j, g, :]
        c[j] = softcap * tanh(s[j] / softcap)                       s[j] without `softcap`
        x[j] = c[j] + distance_bias[h, j - p + (N - 1) / 2] + mask[b, h, i, j]
        P[j] = head_mask[h] * exp(x[j]) / sum_j' exp(x[j'])         for visible keys j and j'; 0 for hidden keys
        result[i, h, e] = sum_j P[j] * value[j, g, e]

    In the formula of s[j], `.` is the inner product of two vectors. An absent `distance_bias` or `mask` is not added;
    without `head_mask` the factor is 1. A mask of lower rank has the same element for all h, or for all h and i (C3).

    With `sinks`, the softmax of head h has one more score, `sinks[h]`, whose value is a vector of zeros: the sum that
    divides `exp(x[j])` has the additional term `exp(sinks[h])`. Without the factor `head_mask[h]`, the probabilities of
    a row then add up to less than 1.

    Without `relative_key`, `rk[j]` is zero; without `relative_query`, `rq[j]` is zero. A table `[N', D]` has one vector
    for each distance `p - j`, and `rk[j]` or `rq[j]` is its row `p - j + (N' - 1) / 2`; distances beyond the table have
    its first or last row. A table `[N', H * D]` has vectors of its own for each head h, in the columns `h * D` to
    `h * D + D - 1`. BERT's `relative_key_query` passes one table as both operands. DeBERTa's disentangled attention
    passes the positions projected to keys as `relative_key`, those projected to queries as `relative_query`.

    A key j is hidden if one of these conditions holds: `causal` is set and `j > p`; `window_left = n` and `j < p - n`;
    `window_right = n` and `j > p + n`; `mask[b, h, i, j]` of i1 or i64 is 0; `mask[b, h, i, j]` of f32 is at most half
    of the most negative f32, about -1.7e38 (models hide keys by adding the most negative f32, -3.4e38). Every other key
    is visible. A mask of i1 or i64 is not added to x[j]. With `mask_fill`, a mask of i1 or i64 does not hide keys
    either: where it is 0, x[j] becomes `mask_fill`.

    In a row without a visible key, `masked_rows` selects keys. If n keys are selected, each of them has the probability
    `head_mask[h] / n`, and the other keys have 0. `zero` selects no key. `uniform`, the default, selects all keys of
    the sequence. `least_masked` selects each key that is hidden by the mask or by its position (`causal` or a window),
    but not by both. Of these keys, `least_masked_past` selects those that neither `causal` nor `window_right` hides.
    Where they would select no key, `least_masked` and `least_masked_past` select all keys of the sequence. If the
    sequence has no keys, the result of the row is zeros.

    `probabilities[b, h, i, j]` is P[j], the default `score_stage = softmax`. Other values of `score_stage` select an
    earlier number instead: `product` gives s[j] and `capped` gives c[j], for hidden keys, too; `masked` gives x[j] for
    visible keys and the most negative f32 for hidden ones. Where `i >= Q_b` or `j >= S_b`, the element is the most
    negative f32 with `masked`, and 0 with each of the other values.

    - (C1) `query` and `key` have the same head size D. `key` and `value` have the same number G of heads, which divides
      H. Either `key` and `value` are token tensors split into heads, of a floating-point type, with `key_offsets`; or
      both are caches, with `key_lengths` and without `key_offsets`. `slots` is present only with caches. The panel
      width of a key cache is a positive multiple of 16, or of 64 for i8. Caches of i8 have integers and scales, laid
      out as `xfmr.kv_cache_update` says. Both caches have the same type of elements.
    - (C2) `result` is `[T, H, E]`; `probabilities`, if present, `[B, H, Q, K]`.
    - (C3) `mask` is `[B, K]`, `[B, Q, K]` or `[B, H, Q, K]`. A dimension of size 1 is broadcast; in the place of B, H
      and Q the size 1 may be static or dynamic, in the place of K only static. `head_mask` has H elements.
    - (C4) `distance_bias` is `[H or 1, N]` with N odd and at least `2 max(Q, K) - 1`. A single row serves all heads.
    - (C5) `relative_key` and `relative_query` are `[N', D]` or `[N', H * D]` with N' odd and static. From the phase
      `linalg` on, each is instead panels `[1 or H, D, N' + 30]`, the result of `xfmr.weight_distance_panels`, which
      repeats the first and the last vector 15 times.
    - (C6) `window_left` and `window_right` are not negative and `softcap` is positive. `mask_fill` needs a mask of i1
      or i64 and is greater than half of the most negative f32. A `score_stage` other than the default needs
      `probabilities`.
    - (C7) `sinks` has H elements and needs `masked_rows = zero`: where no key is visible, the sink has probability 1.
    - (N1) Arithmetic is f32. Elements of caches of bf16 and f16 are converted to f32, exactly. With caches of i8, the
      product of a query and a key is the sum over components of query times integer, times the scale of the key; but
      with `relative_key` or `relative_query`, each component of a key is first its integer times the scale, rounded to
      f32. An element of a value is its integer times the scale of the value, rounded to f32. On a GPU, if the precision
      of the compilation is bf16 or f16, queries, keys, probabilities and values may be rounded to that type before they
      are multiplied. Keys are processed in blocks of 512 (smaller ones on a GPU) from key 0 on, in order, with a
      running maximum and sum. In a row with a visible key, the probability of each hidden key is exactly 0, and on a
      CPU so is that of each key whose score x[j] is more than about 87 below the maximum. Blocks whose keys `causal` or
      a window hides from all rows of an attention tile (see `tile.attention_tile`) are not read, with two exceptions:
      if `score_stage` is `product` or `capped`, which have values for hidden keys, too, all blocks are read; and rows
      without a visible key are computed again from the keys that `masked_rows` selects.

    ```mlir
    %o, %p = xfmr.attention %q, %k, %v offsets(%off, %off) lengths(%len, %len) mask(%m : tensor<?x?xf32>)
        {scale = 0.125 : f64} : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>, tensor<?x4x?x?xf32>
    %c = xfmr.attention %q, %keys, %values offsets(%off) lengths(%len, %total) slots(%slots) key_lengths(%lens)
        {scale = 0.125 : f64, causal} : tensor<?x4x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32> -> tensor<?x4x12xf32>
    ```
  }];
  let arguments = !con((ins Xfmr_Heads:$query, Xfmr_Keys:$key, Xfmr_Values:$value, Xfmr_Offsets:$query_offsets,
                            Optional<Xfmr_Offsets>:$key_offsets, Index:$query_length, Index:$key_length, Optional<Xfmr_Slots>:$slots),
                       Xfmr_ScoreOperands, Xfmr_ScoreAttributes);
  let results = (outs Xfmr_Heads:$result, Optional<4DTensorOf<[F32]>>:$probabilities);
  let assemblyFormat = [{
    $query `,` $key `,` $value `offsets` `(` $query_offsets (`,` $key_offsets^)? `)` `lengths` `(` $query_length `,` $key_length `)`
    (`slots` `(` $slots^ `)`)?
    (`key_lengths` `(` $key_lengths^ `)`)? (`mask` `(` $mask^ `:` type($mask) `)`)? (`head_mask` `(` $head_mask^ `:` type($head_mask) `)`)?
    (`distance_bias` `(` $distance_bias^ `:` type($distance_bias) `)`)? (`relative_key` `(` $relative_key^ `:` type($relative_key) `)`)?
    (`relative_query` `(` $relative_query^ `:` type($relative_query) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    attr-dict `:` type($query) `,` type($key) `,` type($value) `->` type($result) (`,` type($probabilities)^)?
  }];
  /// Builds attention without optional operands except |keyOffsets| and with default attributes except |scale|; the
  /// caller sets other operands and attributes afterwards. If |key| and |value| are caches, |keyOffsets| is null and
  /// the caches have elements of a floating-point type. |probabilities| is the type of the second result, or null for
  /// an operation without it.
  let builders = [OpBuilder<(ins "::mlir::Type":$probabilities, "::mlir::Value":$query, "::mlir::Value":$key, "::mlir::Value":$value,
                                 "::mlir::Value":$queryOffsets, "::mlir::Value":$keyOffsets, "::mlir::Value":$queryLength,
                                 "::mlir::Value":$keyLength, "double":$scale)>];
  let extraClassDeclaration = [{
    int64_t getNumHeads() { return getQuery().getType().getDimSize(1); }
    int64_t getNumKvHeads() { return getKey().getType().getDimSize(1); }
    int64_t getHeadDim() { return getQuery().getType().getDimSize(2); }
    int64_t getValueDim() { return getHeadSize(getValue().getType(), getValue().getType().getRank() - 1); }
    /// Returns true if keys and values are caches.
    bool isCached() { return getKey().getType().getRank() == 5; }
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Xfmr_MultiHeadAttentionOp : Xfmr_Op<"multi_head_attention", [Pure, AttrSizedOperandSegments]> {
  let summary = "computes attention with its projections, as models describe it";
  let description = [{
    With `xfmr.split_heads`, `xfmr.attention` and `xfmr.merge_heads`:

        q = split_heads(query wq^T + bq)            num_heads heads
        k = split_heads(memory wk^T + bk)           num_kv_heads heads
        v = split_heads(value wv^T + bv)            num_kv_heads heads; memory in place of an absent value
        result = merge_heads(attention(q, k, v)) wo^T + bo

    An absent bias is not added. Without `wo` the merged heads are the result. `query`, `memory` and `value` are token
    tensors `[tokens, features]`. Self-attention passes its input as `query` and as `memory`, cross attention passes
    encoder states as `memory`. `xfmr-decompose-composites` rewrites the operation by this definition. For attention
    that this operation cannot express, such as with a cache, rotary embeddings or normalized queries and keys, the
    importer emits the operations on the right-hand sides of the definition instead: `xfmr.linear`, `xfmr.split_heads`
    and the others.

    - (C1) `wq`, `wk` and `wv` have as many columns as their input has features. With D components of a query or key,
      `wq` has `num_heads * D` rows and `wk` has `num_kv_heads * D`. With E components of a value, `wv` has
      `num_kv_heads * E` rows and `wo` has `num_heads * E` columns. `num_kv_heads` divides `num_heads`. The result has a
      feature for each row of `wo`, or `num_heads * E` features without `wo`.
    - (C2) A bias has as many elements as its matrix has rows. Either all of `bq`, `bk` and `bv` are present or none is;
      a weight with the source `#xfmr.fill` can be a bias of zeros. `bo` is present only with them and with `wo`.
    - (C3) Offsets, lengths, masks, score biases, tables of relative positions, sinks, `probabilities` and all
      attributes but `num_heads` and `num_kv_heads` are as in `xfmr.attention` on token tensors.

    ```mlir
    %y = xfmr.multi_head_attention %x, %x
        weights(%wq, %wk, %wv, %wo : tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>)
        bias(%bq, %bk, %bv, %bo : tensor<48xf32>, tensor<48xf32>, tensor<48xf32>, tensor<48xf32>)
        offsets(%off, %off) lengths(%len, %len)
        {num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 0.28867513459481287 : f64}
        : tensor<?x48xf32>, tensor<?x48xf32> -> tensor<?x48xf32>
    ```
  }];
  let arguments = !con((ins Xfmr_Tokens:$query, Xfmr_Tokens:$memory, Optional<Xfmr_Tokens>:$value, Xfmr_Matrix:$wq, Xfmr_Matrix:$wk,
                            Xfmr_Matrix:$wv, Optional<Xfmr_Matrix>:$wo, Optional<Xfmr_Vector>:$bq, Optional<Xfmr_Vector>:$bk,
                            Optional<Xfmr_Vector>:$bv, Optional<Xfmr_Vector>:$bo, Xfmr_Offsets:$query_offsets,
                            Xfmr_Offsets:$key_offsets, Index:$query_length,
                            Index:$key_length), Xfmr_ScoreOperands, (ins I64Attr:$num_heads, I64Attr:$num_kv_heads), Xfmr_ScoreAttributes);
  let results = (outs Xfmr_Tokens:$result, Optional<4DTensorOf<[F32]>>:$probabilities);
  let assemblyFormat = [{
    $query `,` $memory (`value` `(` $value^ `:` type($value) `)`)?
    `weights` `(` $wq `,` $wk `,` $wv (`,` $wo^)? `:` type($wq) `,` type($wk) `,` type($wv) (`,` type($wo)^)? `)`
    (`bias` `(` $bq^ `,` $bk `,` $bv (`,` $bo^)? `:` type($bq) `,` type($bk) `,` type($bv) (`,` type($bo)^)? `)`)?
    `offsets` `(` $query_offsets `,` $key_offsets `)` `lengths` `(` $query_length `,` $key_length `)`
    (`key_lengths` `(` $key_lengths^ `)`)? (`mask` `(` $mask^ `:` type($mask) `)`)? (`head_mask` `(` $head_mask^ `:` type($head_mask) `)`)?
    (`distance_bias` `(` $distance_bias^ `:` type($distance_bias) `)`)? (`relative_key` `(` $relative_key^ `:` type($relative_key) `)`)?
    (`relative_query` `(` $relative_query^ `:` type($relative_query) `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    attr-dict `:` type($query) `,` type($memory) `->` type($result) (`,` type($probabilities)^)?
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Type":$probabilities, "::mlir::Value":$query,
                                 "::mlir::Value":$memory, "::mlir::Value":$wq, "::mlir::Value":$wk, "::mlir::Value":$wv,
                                 "::mlir::Value":$wo, "::mlir::Value":$bq, "::mlir::Value":$bk, "::mlir::Value":$bv,
                                 "::mlir::Value":$bo, "::mlir::Value":$queryOffsets, "::mlir::Value":$keyOffsets,
                                 "::mlir::Value":$queryLength, "::mlir::Value":$keyLength, "int64_t":$numHeads,
                                 "int64_t":$numKvHeads, "double":$scale)>];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // XFMR_ATTENTION_OPS_TD
