//===- MaskOps.td - Attention masks ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_MASK_OPS_TD
#define XFMR_MASK_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_AdditiveMaskOp : Xfmr_Op<"additive_mask", [Pure, InferTypeOpAdaptor]> {
  let summary = "converts a mask of zeros and ones to a mask that is added to attention scores";
  let description = [{
    `result[…] = (1 - mask[…]) * lowest` for a mask of zeros and ones, of any shape, where `lowest` is the most negative
    finite f32, as in the transformers library. The result is an operand `mask` of `xfmr.attention`, which adds it to
    scores: where the mask of zeros and ones is 1, a key keeps its score; where it is 0, the key is hidden.

    ```mlir
    %bias = xfmr.additive_mask %mask : tensor<?x?xi64>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I64]>:$mask);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let assemblyFormat = "$mask attr-dict `:` type($mask)";
}

def Xfmr_VisibleBeforeOp : Xfmr_Op<"visible_before", [Pure, InferTypeOpAdaptor]> {
  let summary = "counts the visible keys before each key";
  let description = [{
    `result[b, k]` is the number of keys j < k of sequence b that `mask` does not hide. `mask` and the result are
    `[B, K]` for B sequences of K keys. As in `xfmr.attention`, the mask hides key j if `mask[b, j]` is at most half of
    the most negative finite f32.

    The ALiBi biases of BLOOM and Falcon are functions of these counts instead of positions: hidden keys do not count in
    the distance between a query and a key.

    ```mlir
    %n = xfmr.visible_before %mask : tensor<?x?xf32>    // tensor<?x?xi64>
    ```
  }];
  let arguments = (ins 2DTensorOf<[F32]>:$mask);
  let results = (outs 2DTensorOf<[I64]>:$result);
  let assemblyFormat = "$mask attr-dict `:` type($mask)";
}

#endif // XFMR_MASK_OPS_TD
