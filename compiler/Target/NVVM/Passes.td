//===- Passes.td - Passes that make code for NVIDIA GPUs ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Sizes (phase bufferized)
//===----------------------------------------------------------------------===//

def LimitRows : Pass<"attune-limit-rows", "::mlir::ModuleOp"> {
  let summary = "size grids by an upper bound of the token count; blocks past the actual count return at once";
  let description = [{
    The host cannot read data of the device. So outside of loops `arith.minsi` of an element of a buffer, the number of
    packed tokens, and a bound becomes the bound. A function whose buffers have that many rows gets the offsets buffer,
    whose last element is the number, as an argument with `rt.limit`. Parallel loops over such rows name it in `rt.launch`:
    iterations whose first row is at or past the number may be skipped. A function that is called with different kinds of
    rows is cloned.

    ```mlir
    func.func private @f(%x: memref<?x8xf32>) { scf.forall (%i) = (0) to (%rows) step (8) ... }
    // becomes
    func.func private @f(%x: memref<?x8xf32>, %offsets: memref<?xi64> {rt.limit = 0 : i64}) {
      scf.forall ... {rt.launch = #rt.launch<limit = 0>}
    }
    ```

    **Numerics**: exact for rows of tokens; other rows are not written.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::rt::RtDialect"];
}

//===----------------------------------------------------------------------===//
// Threads (phase vector)
//===----------------------------------------------------------------------===//

def DistributeToThreads : Pass<"attune-distribute-to-threads", "::mlir::ModuleOp"> {
  let summary = "distribute each iteration of a parallel loop over the threads of a block";
  let description = [{
    `threads` threads share every iteration of an `scf.forall`:

    ```mlir
    scf.forall (%i) in (%n) { linalg.fill ins(%c : f32) outs(%a : memref<?xf32>) ... }
    // becomes
    scf.forall (%i) in (%n) {
      %t = gpu.thread_id x
      scf.for %j = %t to %size step %threads { memref.store %c, %a[%j] } ... }
    ```

    Threads share the elements of parallel dimensions; a warp computes a row reduction to one accumulator and joins its lanes
    by shuffles. All threads compute index arithmetic and load single elements; the first stores single elements. Inserts a
    barrier where one thread may read data that another wrote, or write data that another reads. With `grid` in the loop's
    `rt.launch`, all its iterations share the work. With `limit`, a block does nothing if its first row is past the last
    token.

    With `specific-arch`, bf16 and f16 projections and their attention get one more version, which the host chooses by
    `rt.device_arch_is`: persistent blocks of three warpgroups (`threads` in `rt.launch`), fed by TMA loads
    (`rt.tensor_map`).

    **Numerics**: sums of rows have 32 lanes joined by a fixed tree; products are fused multiply-adds in the order of k.
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::math::MathDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect", "::mlir::vector::VectorDialect",
                           "::mlir::rt::RtDialect", "::mlir::tiles::TileDialect"];
  let options = [Option<"threads", "threads", "int64_t", "::attune::GpuSchedule().threads", "threads of a block, a multiple of 32">,
                 Option<"specificArch", "specific-arch", "int64_t", "::attune::GpuSchedule().specificArch",
                        "compute capability times 10 of the architecture that gets warp-specialized kernels; 0 for none">,
                 Option<"specificColumns", "specific-columns", "int64_t", "::attune::GpuSchedule().specificColumns",
                        "columns of a thread-block tile of these kernels, a multiple of 128 up to 256">,
                 Option<"specificStages", "specific-stages", "int64_t", "::attune::GpuSchedule().specificStages",
                        "pipeline stages of 64 components in shared memory">,
                 Option<"specificCacheBytes", "specific-cache-bytes", "int64_t", "::attune::GpuSchedule().specificCacheBytes",
                        "bytes of keys and values that concurrent blocks of attention read">];
}

def PlaceInShared : Pass<"attune-place-in-shared", "::mlir::ModuleOp"> {
  let summary = "move small scratch of an iteration from the workspace to shared memory";
  let description = [{
    ```mlir
    scf.forall (%i) in (%n) {
      %id = rt.worker_id
      %at = arith.muli %id, %c4096 : index
      %view = memref.view %workspace[%at][] : memref<?xi8> to memref<1024xf32>
      …
    } {rt.launch = #rt.launch<…>}
    // becomes
    scf.forall (%i) in (%n) {
      %shared = gpu.dynamic_shared_memory : …
      %view = memref.view %shared[%c0][] : … to memref<1024xf32, #gpu.address_space<workgroup>>
      …
    } {rt.launch = #rt.launch<shared_bytes = 4096, …>}
    ```

    Allocations in shared memory and views of `%workspace` at `rt.worker_id` times a constant become views of
    `gpu.dynamic_shared_memory`. The loop gets `shared_bytes` in its `rt.launch`, the bytes of the views that are used, since
    shared memory limits how many blocks a multiprocessor runs at once. Views stay in the workspace if they and the
    allocations do not fit into `bytes`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect", "::mlir::rt::RtDialect"];
  let options = [Option<"bytes", "bytes", "int64_t", "::attune::GpuSchedule().sharedBytes", "largest shared memory of a block, in bytes">,
                 Option<"specificBytes", "specific-bytes", "int64_t", "::attune::GpuSchedule().specificBytes",
                        "the same for loops that only one architecture runs">];
}

def PlaceOnDevice : Pass<"attune-place-on-device", "::mlir::ModuleOp"> {
  let summary = "move operations on buffers outside of parallel loops into parallel loops";
  let description = [{
    ```mlir
    memref.copy %a, %b : memref<?xf32> to memref<?xf32>
    // becomes
    scf.forall (%block) in (%blocks) { memref.copy %a, %b : … } {rt.launch = #rt.launch<grid, …>}
    ```

    Buffers are in device memory, which the host cannot access. A linalg operation or copy becomes the body of a loop over
    blocks of the grid that share it (`grid` in `rt.launch`), anything else the body of a loop of one iteration. It is an
    error if the host needs an element of a buffer for a size or a branch. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::rt::RtDialect"];
  let options = [Option<"threads", "threads", "int64_t", "::attune::GpuSchedule().threads", "threads of a block">];
}

//===----------------------------------------------------------------------===//
// Launches (phase target)
//===----------------------------------------------------------------------===//

def KeepIntrinsics : Pass<"attune-keep-intrinsics", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower f32 math that PTX has instructions for to intrinsics";
  let description = [{
    ```mlir
    %y = math.sqrt %x : f32
    // becomes
    %y = llvm.intr.sqrt(%x) : (f32) -> f32
    ```

    Square roots, absolute values, roundings and 2^x are instructions of PTX; `convert-gpu-to-nvvm` would call libdevice for
    them. Leaves other operations alone.

    **Numerics**: 2^x is
    the hardware's, at most 2 ulp.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LowerLaunches : Pass<"attune-lower-launches", "::mlir::ModuleOp"> {
  let summary = "lower gpu.launch_func to calls of attune_host::launch";
  let description = [{
    ```mlir
    gpu.launch_func @attune_device::@f blocks in (%n, %c1, %c1) threads in (%c128, %c1, %c1) args(%x : memref<?x8xf32>)
    // becomes
    %values = llvm.alloca … ; llvm.store … for each member of %x
    llvm.call @attune_launch_on(%state, %kernel, %shared_bytes, %n, %threads, %arguments) : …
    ```

    Stores the arguments in a structure on the stack, a buffer as the members of its descriptor, in the order of the
    parameters that `convert-gpu-to-nvvm` creates. `attune_launch_on` skips launches of no blocks and all launches after one
    that failed. `rt.device_arch_is` and `rt.worker_count` become loads from the structure of the host; `rt.tensor_map` becomes
    a call of its `encode_map`, which writes the descriptor to the stack. Expects host functions that take the state of the
    call. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect"];
}

def LowerSharedMemory : Pass<"attune-lower-shared-memory", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower shared memory to one external array of the device";
  let description = [{
    ```mlir
    %s = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    // becomes
    llvm.mlir.global external @attune_shared() {addr_space = 3 : i32} : !llvm.array<0 x i8>
    … %a = llvm.mlir.addressof @attune_shared : !llvm.ptr<3> … memref<?xi8, 3>
    ```

    `gpu.dynamic_shared_memory` becomes the address of `@attune_shared`; in types of buffers the address space `workgroup`
    becomes its number. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def MarkTensorMaps : Pass<"attune-mark-tensor-maps", "::mlir::gpu::GPUModuleOp"> {
  let summary = "mark TMA descriptors as parameters that kernels receive by value";
  let description = [{
    ```mlir
    llvm.func @f(%map: !llvm.ptr, %x: !llvm.ptr, …) attributes {rt.device_function = #rt.device_function<…, tensor_maps = 1>}
    // becomes
    llvm.func @f(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, …}, %x: !llvm.ptr, …)
    ```

    Marks the first parameters of a kernel, as many as `tensor_maps` of its `rt.device_function`, as 128-byte by-value grid
    constants; `convert-gpu-to-nvvm` leaves them plain pointers. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def OutlineLaunches : Pass<"attune-outline-launches", "::mlir::ModuleOp"> {
  let summary = "outline parallel loops as kernels and their launches";
  let description = [{
    ```mlir
    scf.forall (%i, %j) in (%m, %n) { ... %x ... }
    // becomes
    gpu.launch_func @attune_device::@f blocks in (%count, %c1, %c1) threads in (%c128, %c1, %c1) args(%x : memref<?x8xf32>, %n : index)
    gpu.module @attune_device { gpu.func @f(%x: memref<?x8xf32>, %n: index) kernel { ... } }
    ```

    One block per iteration. A loop that still uses `rt.worker_id` launches at most one block per worker; each block loops
    over its iterations and has its own number. Functions that launch get the host as first argument, as in
    `attune-outline-parallel`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::scf::SCFDialect", "::mlir::rt::RtDialect"];
  let options = [Option<"threads", "threads", "int64_t", "::attune::GpuSchedule().threads", "threads of a block">];
}
