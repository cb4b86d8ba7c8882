//===- PoolOps.td - Pooling of the tokens of a sequence ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_POOL_OPS_TD
#define XFMR_POOL_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_PoolOp : Xfmr_Op<"pool", [Pure, AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "reduces each sequence to one row";
  let description = [{
    `input` is `[T, N]`, the result is `[B, N]`, a row for each sequence. Sequence b has the rows `offsets[b]` to
    `offsets[b + 1] - 1` of `input`.

    `first` returns the row of the sequence's token at position 0. With `positions`, the padded positions of packed
    tokens, that token may be padding: if the first packed token of sequence b has another position than `b * length`,
    or if sequence b has no token, the row is zero. Without `positions`, each sequence must have a token. The other
    kinds reduce the tokens of each sequence, without its first `skip[b]` tokens if that operand is present, and return
    zeros if no token is left:

    | kind | row |
    |---|---|
    | `leading` | the first of these tokens |
    | `last` | the last of these tokens |
    | `max` | the largest value of each feature; NaN if one is NaN |
    | `mean` | the sum divided by the number n of these tokens |
    | `mean_sqrt_length` | the sum divided by the square root of the same n |
    | `weighted_mean` | the sum of (i + 1) * token i over these tokens, divided by the sum of i + 1 over them |

    i is the number of a token in its whole sequence, from 0: the first of these tokens has i = `skip[b]`.

    - (C1) Either both `positions` and `length`, the padded length, are present or neither is.
    - (C2) `first` has no `skip`.
    - (N1) Sums are accumulated in token order.

    ```mlir
    %row = xfmr.pool <first> %x, %offsets : tensor<?x8xf32>
    %mean = xfmr.pool <mean> %x, %offsets skip(%prompts) : tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Xfmr_PoolKindAttr:$kind, Xfmr_Tokens:$input, Xfmr_Offsets:$offsets, Optional<Xfmr_Ids>:$positions,
                       Optional<Index>:$length, Optional<Xfmr_Ids>:$skip);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = [{
    $kind $input `,` $offsets (`packed` `(` $positions^ `,` $length `)`)? (`skip` `(` $skip^ `)`)? attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

#endif // XFMR_POOL_OPS_TD
