//===- EmbeddingOps.td - Lookups in embedding tables -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_EMBEDDING_OPS_TD
#define XFMR_EMBEDDING_OPS_TD

include "dialect/Xfmr/IR/XfmrAttrs.td"
include "dialect/Xfmr/IR/XfmrTypes.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Xfmr_EmbeddingOp : Xfmr_Op<"embedding", [Pure, InferTypeOpAdaptor]> {
  let summary = "looks up rows of a table by id";
  let description = [{
    `result[t, :] = table[ids[t], :]`, a row of N features for each of T ids from a table `[rows, N]`.

    - (C1) `table` has static shape.
    - (N1) Exact. An id outside the table is undefined behavior: the runtime checks ids before a compiled entry sees
      them.

    ```mlir
    %x = xfmr.embedding %ids, %table : tensor<203x48xf32>    // tensor<?x48xf32>
    ```
  }];
  let arguments = (ins Xfmr_Ids:$ids, Xfmr_Matrix:$table);
  let results = (outs Xfmr_Tokens:$result);
  let assemblyFormat = "$ids `,` $table attr-dict `:` type($table)";
  let hasVerifier = 1;
}

#endif // XFMR_EMBEDDING_OPS_TD
