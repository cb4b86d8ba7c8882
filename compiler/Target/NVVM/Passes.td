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
    Packed tokens are the tokens of all sequences without padding. A buffer of *offsets* belongs to them: element i is
    the number of the first token of sequence i, and the last element is the number of tokens. The buffer is in device
    memory, which the host cannot read, so the host sizes grids and buffers by an upper bound, the number of padded
    tokens. A grid is the set of thread blocks that execute a parallel loop, one for each iteration.

    ```mlir
    func.func private @f(%x: memref<?x8xf32>) { scf.forall (%i) = (0) to (%rows) step (8) ... }
    // becomes
    func.func private @f(%x: memref<?x8xf32>, %offsets: memref<?xi64> {rt.limit = 0 : i64}) {
      scf.forall ... {rt.launch = #rt.launch<limit = 0>}
    }
    ```

    The pass looks for `arith.minsi` of a bound and an integer loaded from a buffer, at the top level of a function and
    in `scf.for` loops that call functions. The minimum becomes the bound. A buffer with the minimum as its number of
    rows has rows of packed tokens, and the buffer that the integer was loaded from has their offsets. A function that
    is called with buffers whose rows are packed tokens gets an additional argument for each different buffer of their
    offsets; `rt.limit` numbers these arguments of the function, here 0. A parallel loop over such rows in the function
    gets `limit` in its `rt.launch`: the `rt.limit` of the argument with the offsets of the rows. `limit` allows the
    device to skip iterations whose first row is at or past the number of tokens. The tokens that choose an expert
    (`xfmr.experts`) are treated in the same way; their buffer of offsets has one element, their number. If the calls of
    a function differ in which arguments have packed tokens, in which of these arguments share one buffer of offsets, or
    in the types of the buffers of offsets, each kind of call gets a version of the function. Calls of one kind may pass
    different buffers.

    Expects bufferized functions; run the pass before `attune-plan-memory`. Does nothing if there is no such minimum.

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

    - The threads divide among them the elements of an elementwise operation, of a copy, of a rotary embedding, and of
      keys, values or rows that are stored as floats. A warp (32 threads) quantizes each key or value of a cache of
      integers.
    - A warp computes each sum or maximum of a row of a matrix and joins its lanes by shuffles. One thread computes each
      result of any other reduction.
    - All threads compute index arithmetic and execute `memref.load`; only the first thread executes `memref.store`.
    - A projection of f32 is computed in tiles: each thread computes 8 x 4 results or, in tiles of up to 16 rows, 32
      threads share each result, each with a part of k.
    - A projection of bf16 or f16 rows, by weights of the same type or by quantized weights, uses tensor cores.
    - Attention of f32 is computed in tiles of 64 rows through shared memory, attention of bf16 and f16 by tensor cores;
      a row is a query of one head. Instead, a warp computes each row if probabilities are returned, if there are tables
      of relative positions, if heads have more than 128 components, if tiles do not read the type or layout of the keys
      or values, and in tiles of few rows (f32: up to 8; bf16 and f16 with keys in panels, as in a
      cache: up to 4).

    Tiles and tensor cores need the default of 128 `threads`. With another number, one thread computes each result of a
    projection, a warp computes each row of attention, and products by quantized weights are an error. The pass inserts
    barriers where one thread may read data that another wrote, or write data that another reads or writes. With `grid`
    in the loop's `rt.launch` (see `attune-place-on-device`), the threads of all blocks of the loop share each
    operation. With `limit` in `rt.launch`, a block does nothing if its first row is at or past the number of tokens
    (see `attune-limit-rows`).

    **Versions.** Columns are the output features of a projection. If the number of columns that an iteration computes
    is known only at run time, a loop with a projection by tensor cores becomes up to three versions, between which the
    host chooses: for iterations of up to 16, of up to 64, and of more columns. With `specific-arch`, three kinds of
    loops get further versions for that architecture only; the host chooses such a version if `rt.device_arch_is` is
    true and the loop has the size that the version is for:

    - loops that are one projection of bf16 or f16, with columns known only at run time, for iterations of 64 x 64 and
      of 128 x 128 results;
    - loops that are one projection of rows of bf16 or f16 by weights of 4 or 8 bits, with columns known only at run
      time, for iterations of 128 x 128 results; the weights have at least 64 input features and no minima, and their
      groups are of 32 features, of a multiple of 64, or of all features;
    - loops over (sequence, group of heads, query tile) that are one attention by tensor cores, with keys and values of
      64 or 128 components, for sequences with several query tiles; the number of heads in a group divides 64, and TMA
      can load keys and values that are not in a cache.

    The blocks of these versions have three warpgroups of 128 threads (`threads` in `rt.launch`). One warpgroup loads
    tiles of rows and weights, or of keys and values, to shared memory; it uses TMA, the copy engine of sm_90
    (`rt.tensor_map`), except for caches. The other two warpgroups multiply; they load and convert quantized weights
    themselves. A block computes several tiles, one after the other.

    Expects loops on buffers, with linalg and `tile` operations inside, after `attune-place-on-device`; parallel loops
    inside of other ones become sequential. An operation of `tile` without code for GPUs, such as the quantization of
    rows to integers, is an error. Produces loops whose bodies are the code of one thread. Does not change code outside
    of loops, except that it adds the choice of a version and, for versions of one architecture, TMA descriptors and
    sizes.

    **Numerics**: the sum of a row of a matrix is computed as 32 partial sums, one for each lane of a warp, which are
    joined by a fixed tree. A projection of f32 adds its products by fused multiply-adds in the order of k or, in tiles
    of up to 16 rows, in 32 partial sums (N1 of `xfmr.linear`). Tensor cores add in an order of their own (N2 and N5 of
    `xfmr.linear`). For attention see docs/numerics.md.
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
                        "columns (output features) of a thread-block tile, of 128 rows, in versions for iterations of "
                        "128 x 128 results of a projection by weights of bf16 or f16; a multiple of 128 up to 256">,
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

    The workspace is the scratch memory of a call, in device memory. A worker is one of the thread blocks that may run
    at the same time. `attune-plan-memory` gives each worker its own scratch in the workspace: views at `rt.worker_id`
    times the bytes of one worker, 4096 in the example. Shared memory, which is in the multiprocessor, is faster. The
    pass turns these views, and allocations in the address space `workgroup`, into views of `gpu.dynamic_shared_memory`
    at multiples of 128 bytes. Views without users get no bytes, since shared memory limits how many blocks a
    multiprocessor runs at once. `shared_bytes` in the loop's `rt.launch` becomes the number of bytes of all these views
    together.

    The limit is the option `bytes`, or `specific-bytes` in a loop that only one architecture runs. If the views and the
    allocations of a loop together have more bytes than the limit, all views of the loop stay in the workspace. They
    also stay there if a view is not at a constant offset in the scratch of its worker, or if `rt.worker_id` has another
    use. If the allocations of a loop alone have more bytes than the limit, the loop is an error. Run the pass after
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
    buffers becomes the body of a parallel loop. A sequential loop or a branch that contains such operations becomes the
    body as a whole, unless it also contains a parallel loop or a call; then its operations are handled one by one. A
    copy, or a linalg operation without reductions, is shared by `%blocks` blocks (`grid` in `rt.launch`): one block for
    each 4 * `threads` elements that the operation writes, since a thread computes up to 4 elements at a time, but at
    most 4096 blocks. Any other operation is the work of one block.

    An error is reported if the host needs an element of a buffer, for a size or a branch, or if an operation other than
    a sequential loop or a branch accesses elements of buffers and has a parallel loop or a call inside. Expects
    bufferized functions; run the pass before `attune-distribute-to-threads`. Arithmetic on sizes, views and calls stay
    on the host; parallel loops that exist before the pass are not changed. Numerics: exact.
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
    nearest, ties to even) and 2^x of f32. `convert-gpu-to-nvvm` would turn such operations of the math dialect into
    calls of libdevice, NVIDIA's library of math functions, and it rejects the operations `llvm.intr.…` into which
    `convert-math-to-llvm` turns them. `convert-gpu-to-nvvm` accepts calls of intrinsics (`llvm.call_intrinsic`), so
    this pass replaces the operations `llvm.intr.…` by such calls. Run the pass after `convert-math-to-llvm` and before
    `convert-gpu-to-nvvm`. Leaves other operations and other types alone.

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
    first argument of the function that launches; `attune-entry-wrappers` passes it. `%state` points to a structure of
    two members: a pointer to the `attune_host`, and the first error of the call, 0 if there is none. `%kernel` is the
    index of the kernel in its `gpu.module`. `%values` is an array on the stack with the values of the arguments, a
    buffer as the members of its memref descriptor, in the order of the parameters that `convert-gpu-to-nvvm` creates.
    `%arguments` is a second array, with the addresses of these values; for a TMA descriptor it has the address of the
    descriptor itself. If there is a launch, the pass adds the function `launch_on`. This function calls
    `attune_host::launch` and stores the result as the error of the call; it does nothing for a launch of no blocks, or
    if the call has an error already.

    `rt.device_arch_is` becomes a comparison with `attune_host::arch`, and `rt.worker_count` a load of
    `attune_host::num_workers`. `rt.tensor_map` becomes a call of `attune_host::encode_map`, which writes the TMA
    descriptor, the description of a tensor for the copy engine of sm_90, to the stack. If `encode_map` fails, the
    number that it returns becomes the error of the call, unless the call has one already.

    Expects that `attune-outline-launches` and `attune-entry-wrappers` have run, and that arguments of kernels are
    strided buffers, scalars and TMA descriptors. Leaves the `gpu.module` alone. Numerics: exact.
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

    Shared memory is the memory that the threads of a block share; the size of its dynamic part is given at each launch.
    `gpu.dynamic_shared_memory` becomes the address of `@attune_shared`, which is aligned to 1024 bytes, as swizzled TMA
    loads require. In types of buffers the address space `workgroup` becomes its number, 3. Run the pass before two of
    MLIR's own conversions: that of vectors, which does not know the address space `workgroup`, and that of gpu
    operations, which makes an internal array instead of an external one. The assembler would put static shared memory
    after an internal array of no bytes, at the address of the array, so that both overlap. Leaves other address spaces
    alone. Does not change a module without `gpu.dynamic_shared_memory`, not even its types of buffers. Numerics: exact.
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
    llvm.func @f(%map: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %x: !llvm.ptr, …)
    ```

    A TMA descriptor (`CUtensorMap`) tells the copy engine of sm_90 the shape of a tensor. A kernel receives the
    descriptor by value, and the engine reads it from the memory of the kernel's parameters. So it must be a parameter
    of 128 bytes that no thread changes (a grid constant); `convert-gpu-to-nvvm` leaves a plain pointer instead. The
    pass marks the first N parameters of a kernel, where N is `tensor_maps` of its `rt.device_function`; an N larger
    than the number of parameters is an error. Run the pass after `convert-gpu-to-nvvm`. Leaves other functions alone.
    Numerics: exact.
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
    scratch did not fit in shared memory, the launch has at most as many blocks as there are workers, since only so many
    blocks have scratch of their own. The number of workers is the argument of the function that has the `rt.role`
    workers; a function with such a loop and without this argument is an error. A block then computes several
    iterations, and the block's number replaces `rt.worker_id`. `threads` and `shared_bytes` of the loop's `rt.launch`
    become the block size and the shared memory of the launch. `shared_bytes` and `arch` are also recorded in the
    kernel's `rt.device_function`: the first says how much dynamic shared memory the runtime must allow the kernel, the
    second which device images (the code for one architecture each) contain the kernel. TMA descriptors
    (`rt.tensor_map`) are the kernel's first parameters. If a function without `tile.kernel` has a loop, each entry's
    `rt.kernel_work` gets an element "other" without work; profiles list the launches of such loops under this name.

    Functions that launch, and their callers, get the state of the call as their first argument (see
    `attune-lower-launches`): `%host: !llvm.ptr {rt.role = #rt.role<host>}`. Expects `scf.forall`
    loops on buffers, none inside another, whose bodies are the code of one thread, and no operation outside of these
    loops that reads or writes elements of buffers. Afterwards there is no `scf.forall`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
                           "::mlir::scf::SCFDialect", "::mlir::rt::RtDialect"];
  let options = [Option<"threads", "threads", "int64_t", "::attune::GpuSchedule().threads",
                        "threads of a block, unless `rt.launch` says otherwise">];
}
