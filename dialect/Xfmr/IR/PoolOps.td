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
    `input` is `[T, N]`. The result is `[B, N]`, with a row for each sequence. Sequence b has the rows `offsets[b]` to
    `offsets[b + 1] - 1` of `input`.

    The kind `first` returns the row of the token at position 0 of each sequence. With `positions`, the padded positions
    of packed tokens, this token may be padding and so missing in `input`: if sequence b has no token, or if the
    position of its first packed token is not `b * length`, the result row is zero. Without `positions`, each sequence
    must have a token.

    The other kinds ignore `positions` and `length`. They reduce the *remaining tokens* of a sequence: all but the first
    `skip[b]`, or all without `skip`. The result row is zero if there are none.

    | kind | row |
    |---|---|
    | `leading` | the first remaining token |
    | `last` | the last remaining token |
    | `max` | the largest value of each feature; NaN if one is NaN |
    | `mean` | the sum of the remaining tokens divided by their number n |
    | `mean_sqrt_length` | the same sum divided by the square root of n |
    | `weighted_mean` | the sum of (i + 1) * token i over the remaining tokens, divided by the sum of i + 1 over them |

    Here i counts all tokens of the sequence from 0, so that the first remaining token has i = `skip[b]`.

    - (C1) `positions` and `length`, the padded length, are either both present or both absent.
    - (C2) `first` has no `skip`.
    - (N1) Arithmetic is f32. Tokens are added in order. The sum of i + 1 is computed in closed form.

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
