//===- PackingOps.td - Packed sequences of tokens ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_PACKING_OPS_TD
#define XFMR_PACKING_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_SequenceOffsetsOp : Xfmr_Op<"sequence_offsets", [Pure]> {
  let summary = "creates the offsets of packed sequences of equal length";
  let description = [{
    The result has `batch + 1` elements, `offsets[i] = i * length`. So `offsets[i]` is the first token of sequence i,
    and `offsets[batch]` is the number of tokens.

    ```mlir
    %offsets = xfmr.sequence_offsets %batch, %length
    ```
  }];
  let arguments = (ins Index:$batch, Index:$length);
  let results = (outs Xfmr_Offsets:$offsets);
  let assemblyFormat = "$batch `,` $length attr-dict";
}

def Xfmr_PackTokensOp : Xfmr_Op<"pack_tokens", [Pure]> {
  let summary = "numbers the visible tokens of a padded batch";
  let description = [{
    `mask` is `[batch, length]`. The visible tokens are the tokens `(b, i)` with `mask[b, i] != 0`. In row-major order,
    they become the packed tokens 0, 1, …. If packed token `t` is the token `(b, i)`, `positions[t] = b * length + i`,
    its padded position. `offsets` has `batch + 1` elements: `offsets[b]` is the first packed token of sequence `b`, and
    `offsets[batch]` is the number of packed tokens. A sequence without visible tokens has
    `offsets[b] = offsets[b + 1]`.

    If the host cannot read the number of packed tokens, as with a GPU, tensors of packed tokens are allocated with
    `batch * length` rows. The rows from `offsets[batch]` on are *unused*: there `positions` is -1, and the elements of
    other tensors are unspecified.

    ```mlir
    %offsets, %positions = xfmr.pack_tokens %mask : tensor<?x?xi64>
    ```
  }];
  let arguments = (ins 2DTensorOf<[I64]>:$mask);
  let results = (outs Xfmr_Offsets:$offsets, Xfmr_Ids:$positions);
  let assemblyFormat = "$mask attr-dict `:` type($mask)";
}

def Xfmr_GatherTokensOp : Xfmr_Op<"gather_tokens", [Pure, InferTypeOpAdaptor]> {
  let summary = "gathers rows of a tensor, such as the packed tokens of a padded batch";
  let description = [{
    `result[t, …] = input[positions[t], …]`, where `input` has rank 1 or more. A row may be gathered more than once. To
    pack the tokens of a padded batch, `input` is `[batch * length, …]` and `positions` is a result of
    `xfmr.pack_tokens`. Other uses gather one row for each sequence, or the tokens in the order of their experts
    (`xfmr.group_by_expert`). A position outside `input` is undefined behavior, except -1 in unused rows (see
    `xfmr.pack_tokens`). `convert-xfmr-to-linalg` fails if a size of `input` other than the first is dynamic.

    ```mlir
    %ids = xfmr.gather_tokens %flat_ids, %positions : tensor<?xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Xfmr_Ids:$positions);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $positions attr-dict `:` type($input)";
}

def Xfmr_ScatterTokensOp : Xfmr_Op<"scatter_tokens", [Pure, InferTypeOpAdaptor]> {
  let summary = "scatters packed tokens to their padded positions; the rows of padding become 0";
  let description = [{
    `result[positions[t], n] = input[t, n]` for `input` `[T, N]` and the result `[rows, N]`. The rows of the result that
    are not in `positions` are zero. `positions` is usually the result of `xfmr.pack_tokens`.

    - (C1) The elements of `positions` are from 0 to `rows - 1` and differ from each other, except in unused rows (see
      `xfmr.pack_tokens`): there they are -1, and the rows of `input` are not scattered.

    ```mlir
    %x = xfmr.scatter_tokens %packed, %positions, %rows : tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Xfmr_Tokens:$input, Xfmr_Ids:$positions, Index:$rows);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = "$input `,` $positions `,` $rows attr-dict `:` type($input)";
}

def Xfmr_ScatterProbabilitiesOp : Xfmr_Op<"scatter_probabilities", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "scatters attention probabilities of packed tokens to their padded positions";
  let description = [{
    `input` and the result are `[batch, heads, length, length]`, where `length` is the padded length.
    `input[b, h, i, j]` is the probability that the query of token i of sequence b gives the key of token j in head h,
    where i and j count the packed tokens of the sequence. Other elements of `input` are not read. Then
    `result[b, h, p_i, p_j] = input[b, h, i, j]`, where `p_i = positions[offsets[b] + i] - b * length` is the padded
    position of token i in its sequence, and p_j is that of token j. The rows and columns of padding are zero. `offsets`
    and `positions` are the results of `xfmr.pack_tokens`.

    ```mlir
    %p = xfmr.scatter_probabilities %packed, %offsets, %positions : tensor<?x2x?x?xf32>
    ```
  }];
  let arguments = (ins 4DTensorOf<[F32]>:$input, Xfmr_Offsets:$offsets, Xfmr_Ids:$positions);
  let results = (outs 4DTensorOf<[F32]>:$result);
  let assemblyFormat = "$input `,` $offsets `,` $positions attr-dict `:` type($input)";
}

#endif // XFMR_PACKING_OPS_TD
