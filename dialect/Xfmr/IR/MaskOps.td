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
  let summary = "converts a 0/1 mask to an additive score mask";
  let description = [{
    `result[…] = (1 - mask[…]) * lowest` for a mask of any shape, where `lowest` is the most negative finite f32, as in
    the transformers library. `xfmr.attention` adds the result to scores: a 1 changes nothing, a 0 hides the key.

    ```mlir
    %bias = xfmr.additive_mask %mask : tensor<?x?xi64>
    ```
  }];
  let arguments = (ins RankedTensorOf<[I64]>:$mask);
  let results = (outs RankedTensorOf<[F32]>:$result);
  let assemblyFormat = "$mask attr-dict `:` type($mask)";
}

#endif // XFMR_MASK_OPS_TD
