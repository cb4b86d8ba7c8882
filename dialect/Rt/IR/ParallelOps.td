//===- RuntimeOps.td - What compiled code asks of its host -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_RUNTIME_OPS_TD
#define XFMR_RUNTIME_OPS_TD

include "dialect/Xfmr/IR/XfmrDialect.td"
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

def Xfmr_OnGpuOp : Xfmr_Op<"on_gpu", [MemoryEffects<[MemRead]>]> {
  let summary = "whether kernels run by the image for one compute capability alone";
  let description = [{
    True if the host has loaded the image for compute capability `arch` / 10 that no other GPU takes (90: sm_90a). Only that image has the kernels
    that are launched where this is true.

    ```mlir
    %hopper = xfmr.on_gpu 90
    ```
  }];
  let arguments = (ins I64Attr:$arch);
  let results = (outs I1:$result);
  let assemblyFormat = "$arch attr-dict";
}

def Xfmr_TensorMapOp : Xfmr_Op<"tensor_map", [AttrSizedOperandSegments]> {
  let summary = "what a kernel copies boxes of a tensor to shared memory by";
  let description = [{
    The tensor at `buffer` has elements of `element_bytes`, `sizes` of them and `strides` elements apart, from the outermost dimension on; neighbours
    of the last are `1` apart. The result is a parameter of kernels. The host makes it, which must be where the launch is.

    - (C1) There are 1 to 5 `sizes`, as many numbers in `box`, and one stride less.
    - (C2) `box` has 1 to 256 elements in each dimension.
    - (C3) `element_bytes` is 2 or 4. `swizzle` is 0, or 128 where the last dimension of `box` has at most 128 bytes.

    ```mlir
    %map = xfmr.tensor_map %x sizes [%rows, %k] strides [%k] {box = array<i64: 128, 64>, element_bytes = 2 : i64, swizzle = 128 : i64} : memref<?x768xbf16>
    ```
  }];
  let arguments = (ins AnyMemRef:$buffer, Variadic<Index>:$sizes, Variadic<Index>:$strides, DenseI64ArrayAttr:$box, I64Attr:$element_bytes,
                       I64Attr:$swizzle);
  let results = (outs Xfmr_HostPointer:$map);
  let assemblyFormat = "$buffer `sizes` `[` $sizes `]` `strides` `[` $strides `]` attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Xfmr_WorkerCountOp : Xfmr_Op<"worker_count", [MemoryEffects<[MemRead]>]> {
  let summary = "number of workers of the host; on a GPU, twice that of multiprocessors";
  let description = [{
    ```mlir
    %n = xfmr.worker_count
    ```
  }];
  let results = (outs Index:$count);
  let assemblyFormat = "attr-dict";
}

#endif // XFMR_RUNTIME_OPS_TD
