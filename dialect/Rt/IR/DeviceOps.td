//===- DeviceOps.td - Queries and descriptors of devices ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef RT_DEVICE_OPS_TD
#define RT_DEVICE_OPS_TD

include "dialect/Rt/IR/RtDialect.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Rt_DeviceArchIsOp : Rt_Op<"device_arch_is", [MemoryEffects<[MemRead]>]> {
  let summary = "returns true if the loaded image is the architecture-specific one of `arch` (90: sm_90a)";
  let description = [{
    An object has one or more images of GPU code, each for one architecture. The host loads one image. The result is
    true if this image is for compute capability `arch` / 10 and architecture-specific, so that it runs on no other GPU
    (90: the image is for sm_90a); it is false for an image of sm_90, which also runs on later GPUs. A branch on the
    result guards launches of kernels that only the architecture-specific image has.

    ```mlir
    %hopper = rt.device_arch_is 90
    ```
  }];
  let arguments = (ins I64Attr:$arch);
  let results = (outs I1:$result);
  let assemblyFormat = "$arch attr-dict";
}

def Rt_TensorMapOp : Rt_Op<"tensor_map", [AttrSizedOperandSegments]> {
  let summary = "encodes the TMA descriptor (CUtensorMap) of a tensor";
  let description = [{
    The tensor begins at the first element of `buffer` and has elements of `element_bytes` bytes. `sizes` and `strides`
    count these elements and begin with the outermost dimension; the innermost stride is 1 and not listed. Shape and
    element type of `buffer` may differ from those of the tensor, for example if an element of the tensor is a word of 4
    bytes with two bf16 of `buffer`. `box` is the TMA tile, the number of elements in each dimension that one TMA load
    copies to shared memory; elements outside of the tensor are 0 in the copy. The CUDA driver requires that the
    address, the strides and the last dimension of `box`, in bytes, are multiples of 16. The operation runs on the host
    before the launch of the kernel. Its result points to the descriptor in host memory; the launch passes the
    descriptor itself as a parameter of the kernel.

    - (C1) There are 1 to 5 `sizes`, as many dimensions of `box`, and one stride fewer than sizes.
    - (C2) `box` has 1 to 256 elements in each dimension.
    - (C3) `element_bytes` is 2 or 4. `swizzle`, the width of the swizzle in bytes, is 0 for none or 128; with 128, the
      last dimension of `box` has at most 128 bytes.

    ```mlir
    %map = rt.tensor_map %x sizes [%rows, %k] strides [%k]
        {box = array<i64: 128, 64>, element_bytes = 2 : i64, swizzle = 128 : i64} : memref<?x768xbf16>
    ```
  }];
  let arguments = (ins AnyMemRef:$buffer, Variadic<Index>:$sizes, Variadic<Index>:$strides, DenseI64ArrayAttr:$box, I64Attr:$element_bytes,
                       I64Attr:$swizzle);
  let results = (outs Rt_HostPointer:$map);
  let assemblyFormat = "$buffer `sizes` `[` $sizes `]` `strides` `[` $strides `]` attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

#endif // RT_DEVICE_OPS_TD
