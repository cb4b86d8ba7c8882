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
    Packed tokens are the tokens of all sequences without padding. Element i of the buffer of *offsets* is the first
    token of sequence i, and the last element is the number of tokens. The buffer is in the memory of the device, which
    the host cannot read, so the host sizes grids and buffers by an upper bound, the number of padded tokens.

    ```mlir
    func.func private @f(%x: memref<?x8xf32>) { scf.forall (%i) = (0) to (%rows) step (8) ... }
    // becomes
    func.func private @f(%x: memref<?x8xf32>, %offsets: memref<?xi64> {rt.limit = 0 : i64}) {
      scf.forall ... {rt.launch = #rt.launch<limit = 0>}
    }
    ```

    Outside of loops, `arith.minsi` of an element of a buffer and a bound becomes the bound. If calls pass buffers whose
    rows are packed tokens to a function, it gets an additional argument for each buffer of offsets of such rows;
    `rt.limit` numbers these arguments of a function, here 0. `limit` in the `rt.launch` of a parallel loop over such
    rows in the function is the number of the argument: iterations whose first row is at or past the number of tokens
    may be skipped. If the calls of a function differ in which arguments have packed tokens, or in which of these share
    one buffer of offsets, each kind of call gets a version of the function. Calls of one kind may pass different
    buffers.

    Expects bufferized functions; run it before `attune-plan-memory`. Does nothing if no size is read from memory.

    **Numerics**: exact for rows of tokens; the content of other rows is undefined.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::rt::RtDialect"];
}

//===----------------------------------------------------------------------===//
// Threads (phase vector)
//===----------------------------------------------------------------------===//

def DistributeToThreads : Pass<"attune-distribute-to-threads", "::mlir::ModuleOp"> {
  let summary = "distribute each iteration of a parallel loop over the threads of a block";
  let description = [{
    `threads` threads, 128 in the example, share every iteration of an `scf.forall`:

    ```mlir
    scf.forall (%i) in (%n) { linalg.fill ins(%c : f32) outs(%a : memref<?xf32>) ... }
    // becomes
    scf.forall (%i) in (%n) {
      %t = gpu.thread_id x
      scf.for %j = %t to %size step %c512 { memref.store %c, %a[%j] ... } ... }    // 4 elements: %j, %j + 128, ...
    ```

    An iteration is the work of one thread block. The threads divide the elements of an elementwise operation among
    them; a warp (32 threads) computes each sum or maximum of a row of a matrix and joins its lanes by shuffles, and
    one thread each result of other reductions. With 128 `threads`, projections of f32 are computed in tiles instead:
    8 x 4 results by each thread or, in tiles of up to 16 rows, each result by 32 threads, each with a part of k. All
    threads compute index arithmetic and execute `memref.load`; only the first thread executes `memref.store`. With
    128 `threads`, projections of bf16 and f16, and attention of these types, use tensor cores, but not attention with
    `probabilities`, relative tables or heads of more than 128 components, nor a tile of up to 4 rows, which are pairs
    of a query and a head, over a cache; so do projections of such rows by quantized weights. Attention of f32 is
    computed in tiles of 64 rows through shared memory, with the same exceptions, tiles of up to 8 rows, and keys that
    are not f32 in panels of 64. In all other attention a warp computes a row. Barriers are inserted where one
    thread may read data that another wrote, or write data that another reads or writes. With `grid` in the loop's
    `rt.launch`, the threads of all iterations share each operation. With `limit` in `rt.launch`, a block does nothing if
    its first row is at or past the number of tokens (see `attune-limit-rows`).

    If the number of columns of an iteration is known only at run time, a loop with a projection by tensor cores
    becomes several versions, for up to 16, 64 and 128 columns, between which the host chooses. With `specific-arch`,
    three kinds of loops get further versions for that architecture only, which the host chooses by
    `rt.device_arch_is`: those with columns known only at run time that are one projection of bf16 or f16 with
    iterations of 64 x 64 or 128 x 128 results; those that are one projection of such rows by weights of 4 or 8 bits
    without minima, with iterations of 128 x 128 results; and those of attention by tensor cores with heads of 64 or
    128 components, if a sequence has several tiles of queries. The blocks of these versions have three warpgroups of
    128 threads (`threads` in `rt.launch`): one loads tiles of rows and weights, or of keys and values, to shared
    memory, by TMA (`rt.tensor_map`) unless they are in a cache; the others multiply, and load and convert quantized
    weights. A block computes several tiles, one after the other.

    Expects loops on buffers, with linalg and `tile` operations inside, after `attune-place-on-device`; loops inside of
    others become sequential. An operation of `tile` without code for GPUs, such as the quantization of rows to
    integers, is an error. Produces loops whose bodies are the code of one thread. Does not change code outside of
    loops, except for the choice of a version and the TMA descriptors and sizes of the specific ones.

    **Numerics**: sums of rows have 32 lanes joined by a fixed tree. Products of f32 are fused multiply-adds in the
    order of k or, in tiles of up to 16 rows, in 32 partial sums (N1 of `xfmr.linear`); tensor cores add in an order of
    their own.
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::math::MathDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect", "::mlir::vector::VectorDialect",
                           "::mlir::rt::RtDialect", "::mlir::tiles::TileDialect"];
  let options = [Option<"threads", "threads", "int64_t", "::attune::GpuSchedule().threads", "threads of a block, a multiple of 32">,
                 Option<"specificArch", "specific-arch", "int64_t", "::attune::GpuSchedule().specificArch",
                        "compute capability times 10 of the architecture that gets warp-specialized kernels; 0 for none">,
                 Option<"specificColumns", "specific-columns", "int64_t", "::attune::GpuSchedule().specificColumns",
                        "columns of a large thread-block tile of these kernels, a multiple of 128 up to 256">,
                 Option<"specificStages", "specific-stages", "int64_t", "::attune::GpuSchedule().specificStages",
                        "pipeline stages of large tiles: tiles of 64 input features of both operands in shared memory at once">,
                 Option<"specificCacheBytes", "specific-cache-bytes", "int64_t", "::attune::GpuSchedule().specificCacheBytes",
                        "most bytes of keys and values that concurrent blocks of attention read; they should stay in the L2 cache">];
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

    `attune-plan-memory` gives each worker, here each block that runs at once, its own scratch in the workspace: views
    at `rt.worker_id` times the bytes of one worker, 4096 in the example. Shared memory is faster. These views, and
    allocations in the address space `workgroup`, become views of `gpu.dynamic_shared_memory` at multiples of 128 bytes.
    Views without users get no bytes, since shared memory limits how many blocks a multiprocessor runs at once.
    `shared_bytes` in the loop's `rt.launch` is the sum.

    The limit is the option `bytes`, or `specific-bytes` in a loop that only one architecture runs. If the views and the
    allocations of a loop together have more bytes than that, all views of the loop stay in the workspace; so they do if
    a view is not at a constant offset in the scratch of its worker, or `rt.worker_id` has another use. If the
    allocations of a loop alone have more bytes together, the loop is an error. Runs after
    `attune-distribute-to-threads`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect", "::mlir::rt::RtDialect"];
  let options = [Option<"bytes", "bytes", "int64_t", "::attune::GpuSchedule().sharedBytes", "largest shared memory of a block, in bytes">,
                 Option<"specificBytes", "specific-bytes", "int64_t", "::attune::GpuSchedule().specificBytes",
                        "the same for loops that only one architecture runs (`arch` in `rt.launch`)">];
}

def PlaceOnDevice : Pass<"attune-place-on-device", "::mlir::ModuleOp"> {
  let summary = "move operations on buffers outside of parallel loops into parallel loops";
  let description = [{
    ```mlir
    memref.copy %a, %b : memref<?xf32> to memref<?xf32>
    // becomes
    scf.forall (%block) in (%blocks) { memref.copy %a, %b : … } {rt.launch = #rt.launch<grid, …>}
    ```

    Parallel loops run on the device, all other code on the host, which cannot access buffers in device memory. So each
    operation outside of parallel loops that reads or writes elements of buffers becomes the body of a parallel loop. A
    copy, or a linalg operation without reductions, is shared by `%blocks` blocks (`grid` in `rt.launch`): one for each
    4 * `threads` elements that it writes, since a thread computes up to 4 at a time, and at most 4096. Anything else is
    the work of one block.

    An error is reported if the host needs an element of a buffer, for a size or a branch, or if an operation on buffers
    has a parallel loop inside. Expects bufferized functions, before `attune-distribute-to-threads`. Arithmetic on
    sizes, views and calls stay on the host; parallel loops that are there already are not changed. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::rt::RtDialect"];
  let options = [Option<"threads", "threads", "int64_t", "::attune::GpuSchedule().threads", "threads of a block, a multiple of 32">];
}

//===----------------------------------------------------------------------===//
// Launches (phase target)
//===----------------------------------------------------------------------===//

def KeepIntrinsics : Pass<"attune-keep-intrinsics", "::mlir::gpu::GPUModuleOp"> {
  let summary = "lower f32 math that PTX has instructions for to intrinsics";
  let description = [{
    ```mlir
    %y = llvm.intr.sqrt(%x) : (f32) -> f32
    // becomes
    %y = llvm.call_intrinsic "llvm.sqrt.f32"(%x) : (f32) -> f32
    ```

    PTX has instructions for square roots, absolute values, copies of signs, roundings to integers (up, down, or to the
    nearest, ties to even) and 2^x of f32. `convert-gpu-to-nvvm` turns such operations of the math dialect into calls of
    libdevice, NVIDIA's library of math functions, and rejects them as `llvm.intr.…`. It accepts `llvm.call_intrinsic`.
    Run this pass after `convert-math-to-llvm` and before `convert-gpu-to-nvvm`. Leaves other operations and other types
    alone.

    **Numerics**: 2^x is the hardware's, at most 2 ulp; the others are exact or correctly rounded.
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
    %arguments = llvm.alloca … ; llvm.store … for the address of each value
    llvm.call @launch_on(%state, %kernel, %shared_bytes, %n, %threads, %arguments) : …
    ```

    `attune_host` is the structure of functions by which compiled code calls the runtime (attune/abi.h). `%state` is the
    first argument of the function. It points to a structure of two members: a pointer to the `attune_host`, and the
    first error of the call, 0 if there is none. `%kernel` is the number of the kernel in its `gpu.module`. `%values` is
    an array on the stack with the values of the arguments, a buffer as the members of its memref descriptor, in the
    order of the parameters that `convert-gpu-to-nvvm` creates. `%arguments` is a second array, with the addresses of
    these values; for a TMA descriptor it has the address of the descriptor. If there is a launch, the pass adds the
    function `launch_on`, which calls `attune_host::launch`, but not for a launch of no blocks nor after an error of the
    call.

    `rt.device_arch_is` becomes a comparison with `attune_host::arch`, and `rt.worker_count` a load of
    `attune_host::num_workers`. `rt.tensor_map` becomes a call of `attune_host::encode_map`, which writes the TMA
    descriptor to the stack; if that fails, the result is an error of the call.

    Expects `attune-outline-launches` and `attune-entry-wrappers` done, and only strided buffers, scalars and TMA
    descriptors as arguments. Leaves the `gpu.module` alone. Numerics: exact.
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

    Shared memory is the memory of a thread block; its size is given at each launch. `gpu.dynamic_shared_memory` becomes
    the address of `@attune_shared`, which is aligned to 1024 bytes, as swizzled TMA loads require. In types of buffers
    the address space `workgroup` becomes its number, 3. Run it before MLIR's own conversions of vectors, which do not
    know the address space, and of gpu operations, which would create a symbol below the static shared memory. Leaves
    other address spaces alone, and changes nothing in a module without `gpu.dynamic_shared_memory`. Numerics: exact.
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

    A TMA descriptor (`CUtensorMap`) tells the copy engine of sm_90 the shape of a tensor. The hardware reads it from
    the memory of the kernel's parameters, so it must be a 128-byte parameter by value that no thread changes, a grid
    constant; `convert-gpu-to-nvvm` leaves plain pointers. The pass marks the first N parameters of a kernel, where N is
    `tensor_maps` of its `rt.device_function`; an N larger than the number of parameters is an error. Run it after
    `convert-gpu-to-nvvm`. Leaves other functions alone. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def OutlineLaunches : Pass<"attune-outline-launches", "::mlir::ModuleOp"> {
  let summary = "outline parallel loops as kernels and their launches";
  let description = [{
    ```mlir
    scf.forall (%i, %j) in (%m, %n) { ... %x ... }
    // becomes
    gpu.launch_func @attune_device::@f blocks in (%count, %c1, %c1) threads in (%c128, %c1, %c1)
        dynamic_shared_memory_size %bytes args(%x : memref<?x8xf32>, %m : index, %n : index)
    gpu.module @attune_device { gpu.func @f(%x: memref<?x8xf32>, %m: index, %n: index) kernel { ... } }
    ```

    A launch has one block for each of the `%count = %m * %n` iterations. If the loop uses `rt.worker_id`, because its
    scratch did not fit in shared memory, the launch has at most `attune_host::num_workers` blocks: each block then
    computes several iterations, and its number replaces `rt.worker_id`. `threads` and `shared_bytes` of the loop's
    `rt.launch` become the block size and the shared memory of the launch; `shared_bytes` and `arch` go to
    `rt.device_function` of the kernel. TMA descriptors are the kernel's first parameters.

    Functions that launch, and functions that call them, get the host as first argument, `%host: !llvm.ptr {rt.role =
    #rt.role<host>}`. Expects `scf.forall` loops on buffers, none inside another, whose bodies are the code of one
    thread. Outside of these loops no operation reads or writes elements of buffers. Leaves no `scf.forall`. Numerics:
    exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::scf::SCFDialect", "::mlir::rt::RtDialect"];
  let options = [Option<"threads", "threads", "int64_t", "::attune::GpuSchedule().threads",
                        "threads of a block, unless `rt.launch` says otherwise">];
}
