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
    the host cannot read, so the host sizes grids and buffers by an upper bound, the number of padded tokens. A grid is
    the blocks of threads of a parallel loop, one for each iteration.

    ```mlir
    func.func private @f(%x: memref<?x8xf32>) { scf.forall (%i) = (0) to (%rows) step (8) ... }
    // becomes
    func.func private @f(%x: memref<?x8xf32>, %offsets: memref<?xi64> {rt.limit = 0 : i64}) {
      scf.forall ... {rt.launch = #rt.launch<limit = 0>}
    }
    ```

    At the top level of a function, and in `scf.for` loops that call functions, `arith.minsi` of an element of a buffer
    and a bound becomes the bound. A buffer that had this minimum as its number of rows has rows of packed tokens, and
    the buffer that the element was read from has their offsets. If calls pass buffers whose rows are packed tokens to a
    function, the function gets an additional argument for each buffer of offsets of such rows; `rt.limit` numbers these
    arguments of a function, here 0. `limit` in the `rt.launch` of a parallel loop over such rows in the function is the
    `rt.limit` of the argument with their offsets. It allows the device to skip iterations whose first row is at or past
    the number of tokens. The tokens that choose an expert (`xfmr.experts`) are treated in the same way, with a buffer
    of one element, their number, as offsets. If the calls of a function differ in which arguments have packed tokens,
    in which of these share one buffer of offsets, or in the types of these buffers, each kind of call gets a version of
    the function. Calls of one kind may pass different buffers.

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

    An iteration is the work of one thread block. How its threads share an operation depends on the operation:

    - The threads divide the elements of an elementwise operation or a copy among them.
    - A warp (32 threads) computes each sum or maximum of a row of a matrix and joins its lanes by shuffles. One thread
      computes each result of any other reduction.
    - All threads compute index arithmetic and execute `memref.load`; only the first thread executes `memref.store`.
    - A projection of f32 is computed in tiles: each thread computes 8 x 4 results or, in tiles of up to 16 rows, 32
      threads share each result, each with a part of k.
    - A projection of bf16 or f16 rows, by weights of the same type or by quantized weights, uses tensor cores.
    - Attention of f32 is computed in tiles of 64 rows through shared memory, attention of bf16 and f16 by tensor cores;
      a row is a query of one head. In other attention a warp computes a row: if probabilities are returned, with tables
      of relative positions, with heads of more than 128 components, in layouts of keys or values that tiles do not
      read, and in tiles of few rows (f32: up to 8; bf16 and f16 over a cache: up to 4).

    Tiles and tensor cores need the default of 128 `threads`. With another number, one thread computes each result of a
    projection, a warp computes each row of attention, and products by quantized weights are an error. Barriers are
    inserted where one thread may read data that another wrote, or write data that another reads or writes. With `grid`
    in the loop's `rt.launch` (see `attune-place-on-device`), the threads of all iterations share each operation. With
    `limit` in `rt.launch`, a block does nothing if its first row is at or past the number of tokens (see
    `attune-limit-rows`).

    **Versions.** If the number of columns of an iteration is known only at run time, a loop with a projection by tensor
    cores becomes several versions, for up to 16, 64 and 128 columns, between which the host chooses. With
    `specific-arch`, three kinds of loops get further versions for that architecture only; the host chooses them by
    `rt.device_arch_is`:

    - loops that are one projection of bf16 or f16, with columns known only at run time, for iterations of 64 x 64 and
      of 128 x 128 results;
    - loops that are one projection of such rows by weights of 4 or 8 bits, with columns known only at run time, for
      iterations of 128 x 128 results; the weights have no minima, and groups are of 32 columns, of a multiple of 64 or
      whole rows;
    - loops of attention by tensor cores with heads of 64 or 128 components, for sequences with several tiles of
      queries.

    The blocks of these versions have three warpgroups of 128 threads (`threads` in `rt.launch`). One warpgroup loads
    tiles of rows and weights, or of keys and values, to shared memory; it uses TMA, the copy engine of sm_90
    (`rt.tensor_map`), except for caches. The other two multiply; quantized weights they load and convert themselves. A
    block computes several tiles, one after the other.

    Expects loops on buffers, with linalg and `tile` operations inside, after `attune-place-on-device`; loops inside of
    others become sequential. An operation of `tile` without code for GPUs, such as the quantization of rows to
    integers, is an error. Produces loops whose bodies are the code of one thread. Does not change code outside of
    loops, except for the choice of a version and the TMA descriptors and sizes of the specific ones.

    **Numerics**: a reduction of a row to its sum has 32 partial sums, one for each lane of a warp, which are joined by
    a fixed tree. Products of f32 are fused multiply-adds in the order of k or, in tiles of up to 16 rows, in 32 partial
    sums (N1 of `xfmr.linear`). Tensor cores add in an order of their own (N2 and N5 of `xfmr.linear`). For attention
    see docs/numerics.md.
  }];
  let dependentDialects = ["::mlir::NVVM::NVVMDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::math::MathDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::affine::AffineDialect", "::mlir::vector::VectorDialect",
                           "::mlir::rt::RtDialect", "::mlir::tiles::TileDialect"];
  let options = [Option<"threads", "threads", "int64_t", "::attune::GpuSchedule().threads",
                        "threads of a block, a multiple of 32">,
                 Option<"specificArch", "specific-arch", "int64_t", "::attune::GpuSchedule().specificArch",
                        "compute capability times 10 of the architecture that gets versions of its own; 0 for none">,
                 Option<"specificColumns", "specific-columns", "int64_t", "::attune::GpuSchedule().specificColumns",
                        "columns of a thread-block tile, of 128 rows, in versions for iterations of 128 x 128 results "
                        "of a projection by weights of bf16 or f16; a multiple of 128 up to 256">,
                 Option<"specificStages", "specific-stages", "int64_t", "::attune::GpuSchedule().specificStages",
                        "pipeline stages of these tiles: parts of both operands, of 64 input features each, that are "
                        "in shared memory at once; versions for 64 x 64 results have more stages in as much memory">,
                 Option<"specificCacheBytes", "specific-cache-bytes", "int64_t", "::attune::GpuSchedule().specificCacheBytes",
                        "most bytes of keys and values that concurrent blocks read in a version of attention for that "
                        "architecture, so that they stay in the L2 cache">];
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

    The workspace is the memory of a call, in the memory of the device. `attune-plan-memory` gives each worker, here
    each thread block that runs at the same time as others, its own scratch in the workspace: views at `rt.worker_id`
    times the bytes of one worker, 4096 in the example. Shared memory, the memory of a multiprocessor, is faster. These
    views, and allocations in the address space `workgroup`, become views of `gpu.dynamic_shared_memory` at multiples of
    128 bytes. Views without users get no bytes, since shared memory limits how many blocks a multiprocessor runs at
    once. `shared_bytes` in the loop's `rt.launch` is the sum.

    The limit is the option `bytes`, or `specific-bytes` in a loop that only one architecture runs. If the views and the
    allocations of a loop together have more bytes than that, all views of the loop stay in the workspace; so they do if
    a view is not at a constant offset in the scratch of its worker, or `rt.worker_id` has another use. If the
    allocations of a loop alone have more bytes than the limit, the loop is an error. Run it after
    `attune-distribute-to-threads`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::memref::MemRefDialect", "::mlir::rt::RtDialect"];
  let options = [Option<"bytes", "bytes", "int64_t", "::attune::GpuSchedule().sharedBytes",
                        "largest shared memory of a block, in bytes, in loops that all GPUs run">,
                 Option<"specificBytes", "specific-bytes", "int64_t", "::attune::GpuSchedule().specificBytes",
                        "largest shared memory of a block, in bytes, in loops that only one architecture runs (`arch` "
                        "in `rt.launch`)">];
}

def PlaceOnDevice : Pass<"attune-place-on-device", "::mlir::ModuleOp"> {
  let summary = "move operations on buffers outside of parallel loops into parallel loops";
  let description = [{
    ```mlir
    memref.copy %a, %b : memref<?xf32> to memref<?xf32>
    // becomes
    scf.forall (%block) in (%blocks) { memref.copy %a, %b : … } {rt.launch = #rt.launch<grid, …>}
    ```

    Parallel loops run on the device, one iteration as one block of threads; all other code runs on the host, which
    cannot access buffers in device memory. So each operation outside of parallel loops that reads or writes elements of
    buffers becomes the body of a parallel loop. A loop or a branch with such operations becomes the body as a whole,
    unless it has a parallel loop or a call inside; then its operations are handled one by one. `%blocks` blocks share a
    copy, or a linalg operation without reductions (`grid` in `rt.launch`): one for each 4 * `threads` elements that it
    writes, since a thread computes up to 4 at a time, but at most 4096. Any other operation is the work of one block.

    An error is reported if the host needs an element of a buffer, for a size or a branch, or if an operation on buffers
    has a parallel loop or a call inside. Expects bufferized functions; run it before `attune-distribute-to-threads`.
    Arithmetic on sizes, views and calls stay on the host; parallel loops that are there already are not changed.
    Numerics: exact.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::rt::RtDialect"];
  let options = [Option<"threads", "threads", "int64_t", "::attune::GpuSchedule().threads",
                        "threads of a block, a multiple of 32">];
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
    libdevice, NVIDIA's library of math functions, and rejects the operations `llvm.intr.…` into which
    `convert-math-to-llvm` turns them. It accepts `llvm.call_intrinsic`. Run this pass after `convert-math-to-llvm` and
    before `convert-gpu-to-nvvm`. Leaves other operations and other types alone.

    **Numerics**: 2^x is the instruction's, with an error of at most 2 ulp; the others are exact or correctly rounded.
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
    first argument of the function that launches, as `attune-entry-wrappers` passes it. It points to a structure of two
    members: a pointer to the `attune_host`, and the first error of the call, 0 if there is none. `%kernel` is the
    number of the kernel in its `gpu.module`. `%values` is an array on the stack with the values of the arguments, a
    buffer as the members of its memref descriptor, in the order of the parameters that `convert-gpu-to-nvvm` creates.
    `%arguments` is a second array, with the addresses of these values; for a TMA descriptor it has the address of the
    descriptor. If there is a launch, the pass adds the function `launch_on`, which calls `attune_host::launch` and
    stores the result as the error of the call, but does nothing for a launch of no blocks or if the call has an error
    already.

    `rt.device_arch_is` becomes a comparison with `attune_host::arch`, and `rt.worker_count` a load of
    `attune_host::num_workers`. `rt.tensor_map` becomes a call of `attune_host::encode_map`, which writes the TMA
    descriptor, the description of a tensor for the copy engine of sm_90, to the stack. If that fails, the number that
    `encode_map` returns becomes the error of the call, unless the call has one already.

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

    Shared memory is the memory of a thread block; the size of its dynamic part is given at each launch.
    `gpu.dynamic_shared_memory` becomes the address of `@attune_shared`, which is aligned to 1024 bytes, as swizzled TMA
    loads require. In types of buffers the address space `workgroup` becomes its number, 3. Run it before two of MLIR's
    own conversions: that of vectors, which does not know the address space, and that of gpu operations, which makes an
    internal array instead of an external one; the assembler would place static shared memory after that, where the
    dynamic part begins. Leaves other address spaces alone, and changes nothing in a module without
    `gpu.dynamic_shared_memory`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def MarkTensorMaps : Pass<"attune-mark-tensor-maps", "::mlir::gpu::GPUModuleOp"> {
  let summary = "mark TMA descriptors as parameters that kernels receive by value";
  let description = [{
    ```mlir
    llvm.func @f(%map: !llvm.ptr, %x: !llvm.ptr, …)
        attributes {rt.device_function = #rt.device_function<…, tensor_maps = 1>}
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
    scratch did not fit in shared memory, the launch has at most as many blocks as the function's argument with the
    `rt.role` workers says, since only so many have scratch of their own; a function without this argument is an error.
    A block then computes several iterations, and its number replaces `rt.worker_id`. `threads` and `shared_bytes` of
    the loop's `rt.launch` become the block size and the shared memory of the launch; `shared_bytes` and `arch` go to
    `rt.device_function` of the kernel, by which the runtime prepares it. TMA descriptors (`rt.tensor_map`) are the
    kernel's first parameters. If a function without `tile.kernel` has a loop, `rt.kernel_work` of each entry gets an
    element "other" without work, under which such launches are listed.

    The host, the structure by which compiled code calls the runtime, becomes the first argument of functions that
    launch and of their callers: `%host: !llvm.ptr {rt.role = #rt.role<host>}`. Expects `scf.forall` loops on buffers,
    none inside another, whose bodies are the code of one thread, and no operation outside of these loops that reads or
    writes elements of buffers. Leaves no `scf.forall`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::scf::SCFDialect", "::mlir::rt::RtDialect"];
  let options = [Option<"threads", "threads", "int64_t", "::attune::GpuSchedule().threads",
                        "threads of a block, unless `rt.launch` says otherwise">];
}
