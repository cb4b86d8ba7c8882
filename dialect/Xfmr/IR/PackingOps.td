//===- TokenOps.td - Packing of sequences into token tensors, embeddings, pooling -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_TOKEN_OPS_TD
#define XFMR_TOKEN_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_SequenceOffsetsOp : Xfmr_Op<"sequence_offsets", [Pure]> {
  let summary = "offsets of equally long sequences that follow each other";
  let description = [{
    `result[i] = i * length` for `0 <= i <= batch`

    ```mlir
    %offsets = xfmr.sequence_offsets %batch, %length
    ```
  }];
  let arguments = (ins Index:$batch, Index:$length);
  let results = (outs Xfmr_Offsets:$offsets);
  let assemblyFormat = "$batch `,` $length attr-dict";
}

def Xfmr_PackTokensOp : Xfmr_Op<"pack_tokens", [Pure]> {
  let summary = "number the visible tokens of a padded batch";
  let description = [{
    The tokens `(b, i)` with `mask[b, i] != 0`, in row-major order, become tokens 0, 1, …: `positions[t] = b * length + i` is where token
    `t` stands in the padded batch, `offsets[b]` the first token of sequence `b`.

    ```mlir
    %offsets, %positions = xfmr.pack_tokens %mask : tensor<?x?xi64>
    ```
  }];
  let arguments = (ins 2DTensorOf<[I64]>:$mask);
  let results = (outs Xfmr_Offsets:$offsets, Xfmr_Ids:$positions);
  let assemblyFormat = "$mask attr-dict `:` type($mask)";
}

def Xfmr_GatherTokensOp : Xfmr_Op<"gather_tokens", [Pure, InferTypeOpAdaptor]> {
  let summary = "the packed tokens of a padded batch";
  let description = [{
    `result[t, ...] = input[positions[t], ...]`, `input` being `[batch * length, ...]`.

    ```mlir
    %ids = xfmr.gather_tokens %flat_ids, %positions : tensor<?xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Xfmr_Ids:$positions);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $positions attr-dict `:` type($input)";
}

def Xfmr_ScatterTokensOp : Xfmr_Op<"scatter_tokens", [Pure, InferTypeOpAdaptor]> {
  let summary = "packed tokens back at their places, zeros at padding";
  let description = [{
    `result[positions[t], ...] = input[t, ...]`, all other rows of the `rows` rows are zero.

    - (C1) `positions` names no row twice (as `pack_tokens` gives them).

    ```mlir
    %x = xfmr.scatter_tokens %packed, %positions, %rows : tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Xfmr_Tokens:$input, Xfmr_Ids:$positions, Index:$rows);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = "$input `,` $positions `,` $rows attr-dict `:` type($input)";
}

def Xfmr_ScatterProbabilitiesOp : Xfmr_Op<"scatter_probabilities", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "attention probabilities of packed tokens at their padded places";
  let description = [{
    `input[b, h, i, j]` belongs to the `i`-th and `j`-th packed token of sequence `b`; the result has it where `positions` says these tokens
    stand, and zeros in the rows and columns of padding.

    ```mlir
    %p = xfmr.scatter_probabilities %packed, %offsets, %positions : tensor<?x2x?x?xf32>
    ```
  }];
  let arguments = (ins 4DTensorOf<[F32]>:$input, Xfmr_Offsets:$offsets, Xfmr_Ids:$positions);
  let results = (outs 4DTensorOf<[F32]>:$result);
  let assemblyFormat = "$input `,` $offsets `,` $positions attr-dict `:` type($input)";
}

def Xfmr_AdditiveMaskOp : Xfmr_Op<"additive_mask", [Pure, InferTypeOpAdaptor]> {
  let summary = "what a visibility mask adds to attention scores";
  let description = [{
    `result[...] = (1 - mask[...]) * lowest`, `lowest` being the most negative finite f32 (as the reference models compute it).

    ```mlir
    %bias = xfmr.additive_mask %mask : tensor<?x?xi64>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I64]>:$mask);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let assemblyFormat = "$mask attr-dict `:` type($mask)";
}

def Xfmr_CountedPositionsOp : Xfmr_Op<"counted_positions", [Pure, AllTypesMatch<["ids", "result"]>]> {
  let summary = "positions counted over the tokens that are not padding";
  let description = [{
    `result[b, i] = padding + #{j <= i : ids[b, j] != padding}` where `ids[b, i] != padding`, and `padding` elsewhere: the padding id is also
    the row of the position table that padding gets, and positions begin after it.

    - (C1) `padding` is not negative.

    ```mlir
    %places = xfmr.counted_positions %ids {padding = 1 : i64} : tensor<?x?xi64>
    ```
  }];
  let arguments = (ins 2DTensorOf<[I64]>:$ids, ConfinedAttr<I64Attr, [IntNonNegative]>:$padding);
  let results = (outs 2DTensorOf<[I64]>:$result);
  let assemblyFormat = "$ids attr-dict `:` type($ids)";
}

def Xfmr_EmbeddingOp : Xfmr_Op<"embedding", [Pure, InferTypeOpAdaptor]> {
  let summary = "rows of a table, by id";
  let description = [{
    `result[t, :] = table[ids[t], :]`

    - (C1) `table` has static shape.
    - (N1) Exact. An id outside the table is undefined behaviour: the runtime checks ids before a compiled entry sees them.

    ```mlir
    %x = xfmr.embedding %ids, %table : tensor<203x48xf32>
    ```
  }];
  let arguments = (ins Xfmr_Ids:$ids, Xfmr_Matrix:$table);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = "$ids `,` $table attr-dict `:` type($table)";
  let hasVerifier = 1;
}

def Xfmr_PoolOp : Xfmr_Op<"pool", [Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "one row per sequence";
  let description = [{
    `first`: the row of the sequence's token at position 0 (a row of zeros if that token is padding: `positions` is given and the first
    packed token of the sequence stands elsewhere). `mean`: the mean over the sequence's tokens, accumulated in token order; zeros for an
    empty sequence.

    - (C1) With `positions` there is `length`, the padded length.

    ```mlir
    %row = xfmr.pool <first> %x, %offsets : tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Xfmr_PoolKindAttr:$kind, Xfmr_Tokens:$input, Xfmr_Offsets:$offsets, Optional<Xfmr_Ids>:$positions, Optional<Index>:$length);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = [{
    $kind $input `,` $offsets (`packed` `(` $positions^ `,` $length `)`)? attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

#endif // XFMR_TOKEN_OPS_TD
