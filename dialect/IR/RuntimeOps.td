//===- RuntimeOps.td - What compiled code asks of its host -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_RUNTIME_OPS_TD
#define XFMR_RUNTIME_OPS_TD

include "dialect/IR/XfmrDialect.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// `!llvm.ptr` to the host's `attune_host`.
def Xfmr_HostPointer : Type<CPred<"::llvm::isa<::mlir::LLVM::LLVMPointerType>($_self)">, "pointer to the host", "::mlir::LLVM::LLVMPointerType">,
    BuildableType<"::mlir::LLVM::LLVMPointerType::get($_builder.getContext())">;

def Xfmr_WorkerIdOp : Xfmr_Op<"worker_id", [MemoryEffects<[MemRead]>]> {
  let summary = "number of the worker that executes this iteration of a parallel loop";
  let description = [{
    At least 0 and less than the number of workers; iterations that run at the same time have different ones. Outside a parallel loop it
    is 0. It reads, so that it is not hoisted out of its loop.

    ```mlir
    %w = xfmr.worker_id
    ```
  }];
  let results = (outs Index:$worker);
  let assemblyFormat = "attr-dict";
}

def Xfmr_ParallelCallOp : Xfmr_Op<"parallel_call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "run a function over a range of iterations, on the workers of the host";
  let description = [{
    Calls `body(captures..., worker, begin, end)` on disjoint ranges that together cover `[0, count)`; each but the last is a multiple of
    `grain` long. Ends when all calls have ended.

    - (C1) `body` is a function without results whose arguments are the captures and three of type index.

    ```mlir
    xfmr.parallel_call %host, %n, %c1 @body(%x, %y) : memref<?x8xf32>, memref<?x8xf32>
    ```
  }];
  let arguments = (ins Xfmr_HostPointer:$host, Index:$count, Index:$grain, FlatSymbolRefAttr:$body, Variadic<AnyType>:$captures);
  let assemblyFormat = "$host `,` $count `,` $grain $body `(` $captures `)` attr-dict (`:` type($captures)^)?";
}

#endif // XFMR_RUNTIME_OPS_TD
