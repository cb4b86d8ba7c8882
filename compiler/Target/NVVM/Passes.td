//===- Passes.td - Passes that make code for NVIDIA GPUs ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_NVVM_PASSES_TD
#define ATTUNE_TARGET_NVVM_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Sizes (phase bufferized)
//===----------------------------------------------------------------------===//

def LimitRows : Pass<"attune-limit-rows", "::mlir::ModuleOp"> {
  let summary = "the host takes bounds for numbers of packed tokens, the device leaves out what is behind them";
  let description = [{
    `arith.minsi` of an element of a buffer and a bound, outside of loops, becomes the bound. Functions with buffers of that many rows get the buffer of the element,
    whose last one it is, as an argument with `rt.limit`; parallel loops over such rows name it in `rt.launch`: iterations whose first row is not before
    that element may be left out. A function that is called with rows of different kinds becomes several.

    ```mlir
    func.func private @f(%x: memref<?x8xf32>) { scf.forall (%i) = (0) to (%rows) step (8) ... }
    // becomes
    func.func private @f(%x: memref<?x8xf32>, %offsets: memref<?xi64> {rt.limit = 0 : i64}) { scf.forall ... {rt.launch = #rt.launch<limit = 0>} }
    ```

    **Numerics**: exact for rows of tokens; others are not written.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::rt::RtDialect"];
}

//===----------------------------------------------------------------------===//
// Threads (phase vector)
//===----------------------------------------------------------------------===//

def DistributeToThreads : Pass<"attune-distribute-to-threads", "::mlir::ModuleOp"> {
  let summary = "what an iteration of a parallel loop computes is shared by the threads of a block";
  let description = [{
    Every iteration of an `scf.forall` becomes the work of `threads` threads:

    ```mlir
    scf.forall (%i) in (%n) { linalg.fill ins(%c : f32) outs(%a : memref<?xf32>) ... }
    // becomes
    scf.forall (%i) in (%n) {
      %t = gpu.thread_id x
      scf.for %j = %t to %size step %threads { memref.store %c, %a[%j] } ... }
    ```

    Elements of parallel dimensions are dealt out to threads; a row reduction to one accumulator is the work of a warp, joined by shuffles. Index
    arithmetic and loads of single elements are done by all threads, single stores by the first. A barrier stands where one thread may read
    what another wrote, or write what another reads. With `grid` in the loop's `rt.launch`, all its iterations share the work. With `limit`, a block
    does nothing if its first row is behind the last token.

    With `specific-arch`, projections of 16-bit codes and their attention have one more version, which the host takes where `rt.device_arch_is`:
    blocks of three warpgroups (`threads` in `rt.launch`) that take one tile after the other, with copies by `rt.tensor_map`.

    **Numerics**: sums of rows have 32 lanes joined by a fixed tree; products are fused multiply-adds in the order of k.
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect", "::mlir::vector::VectorDialect", "::mlir::rt::RtDialect", "::mlir::tiles::TileDialect"];
  let options = [Option<"threads", "threads", "int64_t", "::attune::GpuSchedule().threads", "threads of a block, a multiple of 32">,
                 Option<"specificArch", "specific-arch", "int64_t", "::attune::GpuSchedule().specificArch",
                        "compute capability times 10 of a GPU that gets kernels of its own; 0 for none">,
                 Option<"specificColumns", "specific-columns", "int64_t", "::attune::GpuSchedule().specificColumns",
                        "columns of its tiles, a multiple of 128 up to 256">,
                 Option<"specificStages", "specific-stages", "int64_t", "::attune::GpuSchedule().specificStages",
                        "stages of 64 components in its shared memory">,
                 Option<"specificCacheBytes", "specific-cache-bytes", "int64_t", "::attune::GpuSchedule().specificCacheBytes",
                        "bytes of keys and values that its attention reads at a time">];
}

def PlaceInShared : Pass<"attune-place-in-shared", "::mlir::ModuleOp"> {
  let summary = "scratch of an iteration that is small enough moves from the workspace to shared memory";
  let description = [{
    Allocations in shared memory and views of `%workspace` at `rt.worker_id` times a constant become views of `gpu.dynamic_shared_memory`; the loop gets
    `shared_bytes` in its `rt.launch`, the bytes of those that are used: shared memory limits how many blocks a multiprocessor runs at once. Views stay in the
    workspace if they do not fit beside allocations, in `bytes`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect", "::mlir::rt::RtDialect"];
  let options = [Option<"bytes", "bytes", "int64_t", "::attune::GpuSchedule().sharedBytes", "most bytes of shared memory of a block">,
                 Option<"specificBytes", "specific-bytes", "int64_t", "::attune::GpuSchedule().specificBytes",
                        "the same for loops that only one GPU has">];
}

def PlaceOnDevice : Pass<"attune-place-on-device", "::mlir::ModuleOp"> {
  let summary = "operations on buffers outside of parallel loops become parallel loops";
  let description = [{
    Buffers are the device's, so the host must not touch them. A linalg operation or copy becomes the body of a loop over blocks of the grid that share
    it (`grid` in `rt.launch`), anything else the body of a loop of one iteration. A host that would need an element of a buffer for a size or a branch is an error.
    Numerics: exact.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::rt::RtDialect"];
  let options = [Option<"threads", "threads", "int64_t", "::attune::GpuSchedule().threads", "threads of a block">];
}

//===----------------------------------------------------------------------===//
// Launches (phase target)
//===----------------------------------------------------------------------===//

def KeepIntrinsics : Pass<"attune-keep-intrinsics", "::mlir::gpu::GPUModuleOp"> {
  let summary = "functions of f32 that are instructions become calls of intrinsics";
  let description = [{
    Square roots, absolute values, roundings, 2^x: `convert-gpu-to-nvvm` would call libdevice for them. **Numerics**: 2^x is the hardware's, at most 2 ulp.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LowerLaunches : Pass<"attune-lower-launches", "::mlir::ModuleOp"> {
  let summary = "gpu.launch_func becomes a call of attune_host::launch";
  let description = [{
    Arguments are stored in a structure on the stack, a buffer as the members of its descriptor, in the order in which `convert-gpu-to-nvvm` makes parameters of
    them. `attune_launch_on` skips launches of no blocks and all launches after one that failed. What the host is asked for becomes a
    load (`rt.device_arch_is`, `rt.worker_count`) or a call (`rt.tensor_map`: the map is on the stack). Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect"];
}

def LowerSharedMemory : Pass<"attune-lower-shared-memory", "::mlir::gpu::GPUModuleOp"> {
  let summary = "shared memory becomes one external array of the device";
  let description = [{
    `gpu.dynamic_shared_memory` becomes the address of `@attune_shared`, and the address space `workgroup` of buffers its number. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def MarkTensorMaps : Pass<"attune-mark-tensor-maps", "::mlir::gpu::GPUModuleOp"> {
  let summary = "kernels have maps of tensors themselves as parameters";
  let description = [{
    The first parameters of a kernel, as many as `tensor_maps` of its `rt.device_function`, are pointers to 128 bytes each that are the parameter, which `convert-gpu-to-nvvm` does not
    say of them. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def OutlineLaunches : Pass<"attune-outline-launches", "::mlir::ModuleOp"> {
  let summary = "parallel loops become kernels and their launches";
  let description = [{
    ```mlir
    scf.forall (%i, %j) in (%m, %n) { ... %x ... }
    // becomes
    gpu.launch_func @attune_device::@f blocks in (%count, %c1, %c1) threads in (%c128, %c1, %c1) args(%x : memref<?x8xf32>, %n : index)
    gpu.module @attune_device { gpu.func @f(%x: memref<?x8xf32>, %n: index) kernel { ... } }
    ```

    One block per iteration. Where `rt.worker_id` is left, there are at most as many blocks as workers, each with its own number, which take one iteration
    after another. Functions that launch get the host as first argument, as in `attune-outline-parallel`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect", "::mlir::rt::RtDialect"];
  let options = [Option<"threads", "threads", "int64_t", "::attune::GpuSchedule().threads", "threads of a block">];
}

#endif // ATTUNE_TARGET_NVVM_PASSES_TD
