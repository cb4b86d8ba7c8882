//===- RankOps.td - Tensors divided among ranks ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_RANK_OPS_TD
#define XFMR_RANK_OPS_TD

include "dialect/Xfmr/IR/XfmrDialect.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// An operation that relates a tensor to its shards, one for each rank. All ranks run the same code, so all shards have
/// the same type. `begins` has, for each rank, the index along `axis` at which its shard begins.
class Xfmr_ShardOp<string mnemonic, dag inputs, dag outputs> : Xfmr_Op<mnemonic, [Pure]> {
  let arguments = !con(inputs, (ins I64Attr:$axis, DenseI64ArrayAttr:$begins));
  let results = outputs;
  let assemblyFormat = "$input `,` $axis `at` $begins attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Xfmr_AllGatherOp : Xfmr_ShardOp<"all_gather", (ins AnyRankedTensor:$input), (outs AnyRankedTensor:$result)> {
  let summary = "joins the shards of all ranks into the whole tensor";
  let description = [{
    A model that is compiled for several ranks runs as one process for each rank. All processes run the same code on the
    same inputs, each with its own shards of the weights. `input` is the shard of this rank: the indices `begins[rank]`
    to `begins[rank] + S - 1` along `axis` of `result`, where rank is the number of this process, from 0, and S is the
    size of `input` along `axis`. The result is the same on all ranks. All ranks must execute their operations of this
    kind in the same order and equally often. The phase `linalg` converts the operation to `rt.all_gather`.

    - (C1) `axis` is 0 or 1. `input` and `result` differ only in the size of this dimension, which is static in both.
    - (C2) `begins` has an element for each rank. The first is 0, and none is less than the one before. The shards cover
      the result: no shard begins after the end of the one before, and the last shard ends at the end of the result.
    - (N1) Elements are copied. Shards may overlap, as the last two of the second example do; where they overlap, they
      have equal elements.

    ```mlir
    %y = xfmr.all_gather %x, 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
    %z = xfmr.all_gather %x, 1 at [0, 24, 40] : tensor<?x24xf32> -> tensor<?x64xf32>
    ```
  }];
}

def Xfmr_RankSliceOp : Xfmr_ShardOp<"rank_slice", (ins AnyRankedTensor:$input), (outs AnyRankedTensor:$result)> {
  let summary = "returns this rank's shard of a tensor that all ranks have";
  let description = [{
    The result has the indices `begins[rank]` to `begins[rank] + S - 1` along `axis` of `input`, where S is the size of
    the result along `axis`. It is a view of `input`. The rank is the number of the running process, which `rt.rank`
    returns. `xfmr.all_gather` joins the results of all ranks to `input` again.

    - (C1) `axis` is 0 or 1. `input` and `result` differ only in the size of this dimension, which is static in both.
    - (C2) `begins` is as in `xfmr.all_gather`, where the shards cover `input` in place of the result.

    ```mlir
    %bias = xfmr.rank_slice %all, 0 at [0, 2] : tensor<4x?xf32> -> tensor<2x?xf32>
    ```
  }];
}

#endif // XFMR_RANK_OPS_TD
