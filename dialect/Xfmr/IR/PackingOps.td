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
    `offsets[i] = i * length` for `0 <= i <= batch`: the first token of each sequence, then the number of tokens.

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
    The tokens `(b, i)` with `mask[b, i] != 0`, in row-major order, become the packed tokens 0, 1, ….
    `positions[t] = b * length + i` is the padded position of token `t`, for a mask of `length` columns; `offsets[b]` is
    the first token of sequence `b`, and the last of its `batch + 1` elements the number of packed tokens.

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
    `result[t, …] = input[positions[t], …]`, where `input` has rank 1 or more. To pack the tokens of a padded batch,
    `input` is `[batch * length, …]` and `positions` is that of `pack_tokens`. Other uses gather one row for each
    sequence, or the tokens in the order of their experts (`group_by_expert`); a row may be gathered more than once. A
    position outside `input` is undefined behavior. `convert-xfmr-to-linalg` expects static sizes after the first.

    ```mlir
    %ids = xfmr.gather_tokens %flat_ids, %positions : tensor<?xi64>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Xfmr_Ids:$positions);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `,` $positions attr-dict `:` type($input)";
}

def Xfmr_ScatterTokensOp : Xfmr_Op<"scatter_tokens", [Pure, InferTypeOpAdaptor]> {
  let summary = "scatters packed tokens to their padded positions; padding rows become 0";
  let description = [{
    `result[positions[t], n] = input[t, n]`; the result has `rows` rows, and all others are zero.

    - (C1) `positions` names no row twice, as the result of `pack_tokens`, and only rows below `rows`.

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
    `input[b, h, i, j]`, of head `h`, belongs to the `i`-th and the `j`-th packed token of sequence `b`. The result is
    `[batch, heads, length, length]`, as `input`: it has the element at `[b, h, p_i, p_j]`, where
    `p_i = positions[offsets[b] + i] - b * length` is the padded position of token `i` in its sequence, and zeros in the
    rows and columns of padding.

    ```mlir
    %p = xfmr.scatter_probabilities %packed, %offsets, %positions : tensor<?x2x?x?xf32>
    ```
  }];
  let arguments = (ins 4DTensorOf<[F32]>:$input, Xfmr_Offsets:$offsets, Xfmr_Ids:$positions);
  let results = (outs 4DTensorOf<[F32]>:$result);
  let assemblyFormat = "$input `,` $offsets `,` $positions attr-dict `:` type($input)";
}

#endif // XFMR_PACKING_OPS_TD
