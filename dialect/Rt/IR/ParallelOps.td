//===- ParallelOps.td - Parallel loops on the workers of the host -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef RT_PARALLEL_OPS_TD
#define RT_PARALLEL_OPS_TD

include "dialect/Rt/IR/RtDialect.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Rt_WorkerIdOp : Rt_Op<"worker_id", [MemoryEffects<[MemRead]>]> {
  let summary = "returns the number of the worker that executes this iteration of a parallel loop";
  let description = [{
    The result is at least 0 and less than the result of `rt.worker_count`. Iterations that run at the same time have
    different results, so that each worker may have scratch memory of its own. On a CPU a worker is a thread, on a GPU a
    thread block. Outside a parallel loop the result is 0. The operation has a read effect, so that no pass hoists it
    out of its loop.

    ```mlir
    %w = rt.worker_id
    ```
  }];
  let results = (outs Index:$worker);
  let assemblyFormat = "attr-dict";
}

def Rt_ParallelCallOp : Rt_Op<"parallel_call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a function over a range of iterations, on the workers of the host";
  let description = [{
    Calls `body(captures…, worker, begin, end)` on disjoint ranges `[begin, end)` that together cover `[0, count)`, at
    the same time on several workers; `worker` is the number of the worker that runs the call. The length of each range
    but the last is a multiple of `grain`. The operation returns when all calls have returned. `host` points to the
    `attune_host` that the runtime passes to an entry; its `parallel_for` runs the calls.

    - (C1) `body` is a function without results. Its arguments have the types of the captures, followed by three of type
      index.

    ```mlir
    rt.parallel_call %host, %n, %c1 @body(%x, %y) : memref<?x8xf32>, memref<?x8xf32>
    ```
  }];
  let arguments = (ins Rt_HostPointer:$host, Index:$count, Index:$grain, FlatSymbolRefAttr:$body, Variadic<AnyType>:$captures);
  let assemblyFormat = "$host `,` $count `,` $grain $body `(` $captures `)` attr-dict (`:` type($captures)^)?";
}

def Rt_WorkerCountOp : Rt_Op<"worker_count", [MemoryEffects<[MemRead]>]> {
  let summary = "returns the number of workers of the host; on a GPU, twice the number of multiprocessors";
  let description = [{
    The result is `num_workers` of `attune_host`: the threads that run parallel loops, or, on a GPU, the thread blocks
    that may have scratch memory at the same time, two for each multiprocessor.

    ```mlir
    %n = rt.worker_count
    ```
  }];
  let results = (outs Index:$count);
  let assemblyFormat = "attr-dict";
}

#endif // RT_PARALLEL_OPS_TD
