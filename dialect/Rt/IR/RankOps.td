//===- RankOps.td - Collectives of several ranks -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef RT_RANK_OPS_TD
#define RT_RANK_OPS_TD

include "dialect/Rt/IR/RtDialect.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rt_RankOp : Rt_Op<"rank", [Pure]> {
  let summary = "returns the number of this process among the ranks that run the model";
  let description = [{
    The result is `rank` of `attune_host`. It is at least 0, less than the number of ranks for which the model was
    compiled, and the same throughout a call of an entry.

    ```mlir
    %r = rt.rank
    ```
  }];
  let results = (outs Index:$rank);
  let assemblyFormat = "attr-dict";
}

def Rt_AllGatherOp : Rt_Op<"all_gather", [DestinationStyleOpInterface, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "joins the shards of all ranks to the whole tensor, by the host";
  let description = [{
    `xfmr.all_gather` in destination-passing style. `input` is the shard of this rank. The first destination becomes the
    whole tensor. The second is scratch memory for the shards of all ranks, whose content is undefined afterwards. On
    tensors the operation returns its updated destinations; on buffers it writes them and has no results. It becomes a
    call of the function `all_gather` of `attune_host`, on the thread that runs the entry.

    - (C1) `axis` is 0 or 1. `input` and the first destination differ only in the size of this dimension, which is
      static in both.
    - (C2) `begins` is as in `xfmr.all_gather`, with the first destination for its result.
    - (C3) The second destination has the element type of `input`. Its shape is the number of ranks, followed by the
      shape of `input`.

    ```mlir
    %y:2 = rt.all_gather ins(%x : tensor<?x24xf32>) outs(%d, %s : tensor<?x48xf32>, tensor<2x?x24xf32>) 1 at [0, 24]
        -> tensor<?x48xf32>, tensor<2x?x24xf32>
    ```
  }];
  let arguments = (ins AnyShaped:$input, Variadic<AnyShaped>:$destinations, I64Attr:$axis, DenseI64ArrayAttr:$begins);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)` `outs` `(` $destinations `:` type($destinations) `)` $axis `at` $begins attr-dict
    (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestinationsMutable(); }
  }];
  let hasVerifier = 1;
}

#endif // RT_RANK_OPS_TD
