//===- AttentionOps.td - Attention and head layout -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_ATTENTION_OPS_TD
#define XFMR_ATTENTION_OPS_TD

include "dialect/IR/XfmrAttrs.td"
include "dialect/IR/XfmrTypes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_SplitHeadsOp : Xfmr_Op<"split_heads", [Pure, InferTypeOpAdaptor]> {
  let summary = "features seen as heads; a view, never a copy";
  let description = [{
    `result[t, h, d] = input[t, h * head_dim + d]`

    - (C1) `num_heads` is positive and divides the features of `input`.

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
  let summary = "heads seen as features; a view, never a copy";
  let description = [{
    `result[t, h * head_dim + d] = input[t, h, d]`

    ```mlir
    %y = xfmr.merge_heads %x : tensor<?x4x12xf32>     // tensor<?x48xf32>
    ```
  }];
  let arguments = (ins Xfmr_Heads:$input);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasFolder = 1;
}

def Xfmr_AttentionOp : Xfmr_Op<"attention", [Pure, AttrSizedOperandSegments]> {
  let summary = "scaled dot-product attention of every sequence of a packed batch";
  let description = [{
    For each sequence b, head h and query i (row `query_offsets[b] + i`), g = h / (H / G):

        score[j] = scale * sum_d query[i, h, d] * key[j, g, d] + mask[b, h, i, j]        for the keys j of sequence b
        p        = softmax(score) * head_mask[h]
        result[i, h, e] = sum_j p[j] * value[j, g, e]

    `probabilities[b, h, i, j]` is `p[j]`, zero where i or j is beyond the sequence's tokens. A mask of i1 or i64 elements adds
    the most negative finite f32 where it is zero.

    - (C1) `query` and `key` have the same head size, `key` and `value` the same number of heads, which divides that of `query`.
    - (C2) `result` is `[T, H, E]`; `probabilities`, if present, `[B, H, Q, K]`.
    - (C3) `mask` is `[B, K]`, `[B, Q, K]` or `[B, H or 1, Q or 1, K]`, a dimension being broadcast only where its size is statically 1; `head_mask` has
      H elements.
    - (N1) f32. Keys are taken in blocks of 512 in order, with a running maximum and sum; a key whose masked score is far below the maximum
      has weight exactly 0.
    - (N2) A row whose keys are all masked by the most negative f32 attends uniformly (`uniform`, as adding it does in f32) or gives zeros (`zero`).

    ```mlir
    %o, %p = xfmr.attention %q, %k, %v offsets(%off, %off) lengths(%len, %len) mask(%m : tensor<?x?xf32>)
        {scale = 0.125 : f64} : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>, tensor<?x4x?x?xf32>
    ```
  }];
  let arguments = (ins Xfmr_Heads:$query, Xfmr_Heads:$key, Xfmr_Heads:$value, Xfmr_Offsets:$query_offsets, Xfmr_Offsets:$key_offsets,
                       Index:$query_length, Index:$key_length, Optional<Xfmr_Mask>:$mask, Optional<1DTensorOf<[F32]>>:$head_mask,
                       F64Attr:$scale, DefaultValuedAttr<Xfmr_MaskedRowsAttr, "::mlir::xfmr::MaskedRows::Uniform">:$masked_rows);
  let results = (outs Xfmr_Heads:$result, Optional<4DTensorOf<[F32]>>:$probabilities);
  let assemblyFormat = [{
    $query `,` $key `,` $value `offsets` `(` $query_offsets `,` $key_offsets `)`
    `lengths` `(` $query_length `,` $key_length `)` (`mask` `(` $mask^ `:` type($mask) `)`)? (`head_mask` `(` $head_mask^ `:` type($head_mask) `)`)?
    attr-dict `:` type($query) `,` type($key) `,` type($value) `->` type($result) (`,` type($probabilities)^)?
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Xfmr_MultiHeadAttentionOp : Xfmr_Op<"multi_head_attention", [Pure, AttrSizedOperandSegments]> {
  let summary = "attention with its projections, as models describe it";
  let description = [{
    `q = split_heads(query Wq^T + bq)`, `k = split_heads(memory Wk^T + bk)`, `v = split_heads(memory Wv^T + bv)`,
    `result = merge_heads(attention(q, k, v)) Wo^T + bo`; without `wo` the merged heads are the result. Self-attention passes its input
    as `query` and as `memory`. `xfmr-decompose-composites` rewrites it that way.

    - (C1) `wq`, `wk`, `wv` have as many columns as their input has features; the rows of `wq` and `wk` are `num_heads` and `num_kv_heads` times one
      head size, those of `wv` a multiple of `num_kv_heads`.
    - (C2) Biases have as many elements as their matrices have rows; those of query, key and value come together (`#xfmr.fill` gives
      a missing one), that of the output only with them.
    - (C3) Offsets, lengths, masks and `probabilities` as in `xfmr.attention`.

    ```mlir
    %y = xfmr.multi_head_attention %x, %x weights(%wq, %wk, %wv, %wo : tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>)
        bias(%bq, %bk, %bv, %bo : tensor<48xf32>, tensor<48xf32>, tensor<48xf32>, tensor<48xf32>)
        offsets(%off, %off) lengths(%len, %len)
        {num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 0.28867513459481287 : f64} : tensor<?x48xf32>, tensor<?x48xf32> -> tensor<?x48xf32>
    ```
  }];
  let arguments = (ins Xfmr_Tokens:$query, Xfmr_Tokens:$memory, Xfmr_Matrix:$wq, Xfmr_Matrix:$wk, Xfmr_Matrix:$wv, Optional<Xfmr_Matrix>:$wo,
                       Optional<Xfmr_Vector>:$bq, Optional<Xfmr_Vector>:$bk, Optional<Xfmr_Vector>:$bv, Optional<Xfmr_Vector>:$bo,
                       Xfmr_Offsets:$query_offsets, Xfmr_Offsets:$key_offsets, Index:$query_length, Index:$key_length,
                       Optional<Xfmr_Mask>:$mask, Optional<1DTensorOf<[F32]>>:$head_mask,
                       I64Attr:$num_heads, I64Attr:$num_kv_heads, F64Attr:$scale,
                       DefaultValuedAttr<Xfmr_MaskedRowsAttr, "::mlir::xfmr::MaskedRows::Uniform">:$masked_rows);
  let results = (outs Xfmr_Tokens:$result, Optional<4DTensorOf<[F32]>>:$probabilities);
  let assemblyFormat = [{
    $query `,` $memory `weights` `(` $wq `,` $wk `,` $wv (`,` $wo^)? `:` type($wq) `,` type($wk) `,` type($wv) (`,` type($wo)^)? `)`
    (`bias` `(` $bq^ `,` $bk `,` $bv (`,` $bo^)? `:` type($bq) `,` type($bk) `,` type($bv) (`,` type($bo)^)? `)`)?
    `offsets` `(` $query_offsets `,` $key_offsets `)` `lengths` `(` $query_length `,` $key_length `)`
    (`mask` `(` $mask^ `:` type($mask) `)`)? (`head_mask` `(` $head_mask^ `:` type($head_mask) `)`)?
    attr-dict `:` type($query) `,` type($memory) `->` type($result) (`,` type($probabilities)^)?
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

#endif // XFMR_ATTENTION_OPS_TD
