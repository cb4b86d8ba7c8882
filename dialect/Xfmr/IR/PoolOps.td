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
    `first` returns the row of the sequence's token at position 0. With `positions`, that token may be padding: if the
    first packed token of the sequence has another position, the row is zero. `mean` returns the mean over the
    sequence's tokens, accumulated in token order, and zeros for an empty sequence.

    - (C1) Either both `positions` and `length`, the padded length, are present or neither is.

    ```mlir
    %row = xfmr.pool <first> %x, %offsets : tensor<?x8xf32>
    ```
  }];
  let arguments = (ins Xfmr_PoolKindAttr:$kind, Xfmr_Tokens:$input, Xfmr_Offsets:$offsets, Optional<Xfmr_Ids>:$positions,
                       Optional<Index>:$length);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = [{
    $kind $input `,` $offsets (`packed` `(` $positions^ `,` $length `)`)? attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

#endif // XFMR_POOL_OPS_TD
