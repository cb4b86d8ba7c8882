//===- Passes.td - Passes that make code for CPUs ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Lowering to LLVM (phase target)
//===----------------------------------------------------------------------===//

def LowerAmxTiles : Pass<"attune-lower-amx-tiles", "::mlir::ModuleOp"> {
  let summary = "lower amx operations to LLVM intrinsics, and AMX tiles that scf operations carry to LLVM's tile type";
  let description = [{
    ```mlir
    %t = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!amx.tile<16x16xf32>) {
      … amx.tile_mulf %a, %b, %sum : … }
    // becomes
    %t = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!llvm.x86_amx) {
      … llvm.call_intrinsic "llvm.x86.tdpbf16ps.internal"(%rows, %columns, %depth, %sum, %a, %b) : … }
    ```

    An AMX tile is the content of a tile register of the CPU, at most 16 rows of 64 bytes. Converts `amx` operations to
    calls of LLVM intrinsics. Operands, results and loop-carried values of scf operations that are AMX tiles get LLVM's
    tile type, `x86_amx`; the scf operations stay. In the example `%rows` is the number of rows of `%a`, `%columns` the
    bytes of a row of `%b`, and `%depth` the bytes of a row of `%a`. Changes nothing else. The pass must run before
    `convert-scf-to-cf`, since MLIR's conversion of vectors to LLVM, which can convert `amx` operations too, does not
    convert AMX tiles that loops carry. `attune-lower-to-llvm` runs it after `expand-strided-metadata`. **Numerics**:
    exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"];
}

def OutlineParallel : Pass<"attune-outline-parallel", "::mlir::ModuleOp"> {
  let summary = "outline bodies of parallel loops as functions that the host's parallel_for calls";
  let description = [{
    ```mlir
    scf.forall (%i, %j) in (%m, %n) { ... %x ... }
    // becomes
    rt.parallel_call %host, %count, %grain @f_parallel(%x, %n) : memref<?x8xf32>, index     // %count = %m * %n
    func.func private @f_parallel(%x: memref<?x8xf32>, %n: index, %worker: index, %begin: index, %end: index)
    ```

    The new function computes the iterations from `%begin` to `%end - 1` of the flattened loop of `%m * %n` iterations,
    whose last dimension is the fastest. The function needs `%n` to find `%i` and `%j`. The host, the runtime's
    structure `attune_host` (attune/abi.h), divides the iterations into ranges for its workers, the threads that run
    parallel loops. The length of each range but the last is a multiple of `%grain`, which is 1. `%worker` is the number
    of the worker that runs the range; it replaces `rt.worker_id` in the body. Parallel loops inside another one, and
    parallel loops from 0 to the constant 1 with step 1 in all dimensions, become `scf.for`. Outside of the loops that
    stay parallel, `rt.worker_id` becomes 0. Constants, index arithmetic on constants, addresses of globals, and views
    are cloned into the new function; all other outside values that the function needs become its arguments.

    `%host: !llvm.ptr {rt.role = #rt.role<host>}` becomes the first argument of each function that has a loop that stays
    parallel, an `rt.rank` or an `rt.all_gather`, and of all functions that call such a function, directly or through
    others. Expects loops on buffers: a loop with results is an error. So is a loop that stays parallel and calls a
    function that gets the host. Leaves no `scf.forall`. **Numerics**: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::rt::RtDialect"];
}

//===----------------------------------------------------------------------===//
// Buffers (phase bufferized)
//===----------------------------------------------------------------------===//

def AttachScratch : Pass<"attune-attach-scratch"> {
  let summary = "allocate the buffers for scores and softmax state of attention tiles";
  let description = [{
    ```mlir
    scf.forall (%i) in (%n) { … tile.attention_tile ins(%q, %k, %v : …) outs(%o : …) {…} }
    // becomes
    scf.forall (%i) in (%n) {
      %scratch = memref.alloc() : memref<8x528xf32>
      %state = memref.alloc() : memref<64x32xf32>
      … tile.attention_tile ins(%q, %k, %v : …) scratch(%scratch, %state : …) outs(%o : …) {…}
    }
    ```

    An attention tile computes the scores of `rows` rows and `key_block` keys at a time. A row is a query of one head,
    `rows` is an option of the pass, and `key_block` is an attribute of the operation. From one block of keys to the
    next, the tile keeps the maximum and the sum of the softmax of each row in `state`. `scratch` holds the scores,
    `rows` x (`key_block` + 16) floats, here for 8 rows and blocks of 512 keys. Without the padding of 16 floats, the
    rows would be 2 KiB apart and share sets of the L1 cache. `state` holds 32 floats for each row of the tile: 16
    partial sums, one for each lane of a vector, the maximum, and padding. `state` has as many rows as the option
    `state-rows` says, or more if the tile can have more. Even the smallest tile of `attune-tile-attention` has a number
    of rows that is a multiple of its heads and of `rows`: 112 rows for 7 heads and `rows` = 16.

    Allocates both at the start of the innermost `scf.forall` around the tile, or at the start of the function if there
    is no such loop. In an `scf.forall`, `attune-plan-memory` then gives each worker, a thread that runs iterations,
    buffers of its own. In one loop body, tiles that need a `scratch` of the same size share it, and so do tiles that
    need a `state` of the same size. Expects `tile.attention_tile` on buffers; run it before `attune-plan-memory`. Tiles
    that have a scratch buffer, and tiles on tensors, stay as they are.

    **Numerics**: exact.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
  let options = [Option<"rows", "rows", "int64_t", "::mlir::rt::Schedule().queryRows",
                        "rows of `scratch`: rows of the tile whose scores are computed together">,
                 Option<"stateRows", "state-rows", "int64_t", "::mlir::rt::Schedule().attentionRows",
                        "least rows of `state`: the most rows of an attention tile with several blocks of keys">];
}

//===----------------------------------------------------------------------===//
// Vectors (phase vector)
//===----------------------------------------------------------------------===//

def LowerAttentionTile : Pass<"attune-lower-attention-tile"> {
  let summary = "lower attention tiles to loops over vectors of 16 floats";
  let description = [{
    ```mlir
    tile.attention_tile ins(%q, %k, %v : memref<?x4x12xf32>, memref<?x12x64xf32>, memref<?x12xf32>)
        scratch(%s, %state : …) outs(%o : …) {…}
    // becomes
    scf.for %row = %c0 to %rows step %c8 {
      … scores: %p = vector.fma %query, %keys, %p : vector<16xf32> …
      … softmax of the strip %s …
      … result: %r = vector.fma %probability, %values, %r : vector<16xf32> …
    }
    ```

    In the example `%q` is [queries, heads, components], `%k` is [panels, components, keys of a panel], and `%v` is
    [keys, components]; the four heads share keys and values. A row is a query of one head. `%state` keeps the maximum
    and the partial sums of the softmax of each row from one block of keys to the next. For each block of `key_block`
    keys and each group of `rows` rows, the code computes

    - scores: products of the queries with the panels of keys, with at most `rows` x (`score-vectors` * 16) sums in
      registers at a time; the scores are written to the strip `%s`, the scratch buffer;
    - softmax: the exponentials of the scores, in place in the strip, at most `softmax-rows` rows at a time;
    - result: products of the exponentials with the rows of values, with at most `rows` x (`value-vectors` * 16) sums
      in registers at a time.

    Groups of `rows` / 2, `rows` / 4 and so on down to one row cover the last rows of a tile. A group skips a block if
    `causal` or a window hides all keys of the block from all rows of the group. A group computes at least one block. It
    computes all blocks if `score_stage` is `product` or `capped`, whose results include the scores of hidden keys. With
    `causal` or a window, and `masked_rows` other than `zero`, a loop after the blocks computes the rows without a
    visible key again. `key_block`, `causal`, `score_stage` and `masked_rows` are attributes of `tile.attention_tile`;
    `rows` and the other names above are options of the pass.

    Expects `tile.attention_tile` on buffers with contiguous last dimensions, with keys in panels and scratch buffers of
    at least `rows` rows (`attune-attach-scratch`); other buffers are an error, and tiles on tensors stay. Elements are
    f32; keys and values may instead have the type of a cache: bf16, f16 or i8. The loops that replace a tile carry vectors.

    **Numerics**: as `tile.attention_tile` says; the division by the sum of exponentials is a multiplication by the
    reciprocal of the sum. The options do not change any bit of the result.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let options = [
    Option<"rows", "rows", "int64_t", "::mlir::rt::Schedule().queryRows", "rows of a group, a power of two">,
    Option<"scoreVectors", "score-vectors", "int64_t", "::mlir::rt::Schedule().keyPanelWidth / 16",
           "most vectors of 16 keys whose scores are in registers at once, for each row of a group">,
    Option<"valueVectors", "value-vectors", "int64_t", "::attune::CpuSchedule().valueVectors",
           "most vectors of 16 columns of the result that are in registers at once, for each row of a group">,
    Option<"softmaxRows", "softmax-rows", "int64_t", "::attune::CpuSchedule().softmaxRows",
           "rows whose exponentials are computed at once">,
  ];
}

def LowerCacheRows : Pass<"attune-lower-cache-rows"> {
  let summary = "round values into rows of a cache, by vectors of 16 components";
  let description = [{
    ```mlir
    tile.cache_rows ins(%values : memref<?x64xf32>) outs(%rows : memref<?x68xi8>)
    // becomes
    scf.for %j … {
      … the largest magnitude of value %j: vector.load %values[%j, %e], vector.reduction <maxsi>, %m : …
      … the scale, to the last 4 bytes of the row: vector.store %s, %rows[%j, %c64] : memref<?x68xi8>, vector<4xi8>
      scf.for %e … { … the integers: vector.store %q, %rows[%j, %e] : memref<?x68xi8>, vector<16xi8> }
    }
    ```

    `tile.cache_rows` writes the values of new tokens, here of 64 components each, into rows of a key/value cache, in
    the type of the cache: bf16, f16 or i8. A row of i8 ends with the four bytes of its scale, so the code reads the
    values of a row twice: for the scale, then for the integers. Rows of bf16 and f16 have no scale, and their values
    are read once. Components after the last multiple of 16 are loaded and stored with masks. Rounding to bf16 is
    integer arithmetic on the bits of f32, since the instructions of x86 that round to bf16 flush subnormal numbers to
    zero.

    Expects `tile.cache_rows` on buffers with contiguous last dimensions; other buffers are an error, and operations on
    tensors stay.

    **Numerics**: rounds to nearest, ties to even, as the description of `xfmr.kv_cache_update` says.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerKeyPanel : Pass<"attune-lower-key-panel"> {
  let summary = "lower key_panel to code that transposes blocks of 16 keys x 16 components in registers";
  let description = [{
    ```mlir
    tile.key_panel ins(%keys : memref<?x12xf32>) outs(%panel : memref<12x64xf32>)
    // becomes
    … 16 keys from %j on: %k = vector.maskedload %keys[%j, %d], … : …
    … 16 x 16 elements transposed by 64 vector.shuffle …
    … rows of the panel from %d on, at most 16: vector.store %t, %panel[%d, %j] : …
    ```

    A key panel holds keys of one head, transposed: row d of `%panel` has component d of all its keys, so that attention
    loads one component of 16 keys as a vector. In the example a head has 12 components and a panel up to 64 keys; `%j`
    and `%d` count keys and components in steps of 16.

    If fewer than 16 keys are left, the loads of the missing keys are masked, so nothing beyond the last key is read,
    and the columns of the missing keys become 0. A last block of fewer than 16 components is loaded with masked lanes;
    here all 12 are such a block. An operation without a column (the operand `at`), or with the column 0, begins a
    panel: the first block of 16 columns is written, and each later block only if it has keys. An operation with any
    other column appends keys to a panel of a key/value cache: all new keys, usually a few, are copied element by
    element.

    Panels of bf16 and f16 get rounded keys. For panels of i8, each block of 16 keys that is not copied element by
    element is transposed twice: first for the largest magnitude of each key, which decides its scale, then for the
    integers.

    Expects `tile.key_panel` with keys of f32, on buffers with contiguous last dimensions and panels whose width is a
    multiple of 16; other buffers are an error, and operations on tensors stay. Run it after canonicalization, which
    would combine shuffles: x86 executes each of these shuffles of 16 floats by one instruction for each vector
    register.

    **Numerics**: exact for panels of f32; otherwise rounds to nearest, ties to even, as `xfmr.kv_cache_update` says.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerQuantizeRows : Pass<"attune-lower-quantize-rows"> {
  let summary = "lower quantize_rows to loops over vectors of 16 columns";
  let description = [{
    ```mlir
    tile.quantize_rows ins(%x : memref<?x48xf32>) outs(%q, %scales : memref<?x48xi8>, memref<?xf32>)
    // becomes
    scf.for %row = %c0 to %rows step %c1 {
      … %largest = arith.maxsi … the bits of magnitudes, over chunks of 16 columns …
      memref.store %scale, %scales[%row] : memref<?xf32>
      … vector.store %integers, %q[%row, %column] : …
    }
    ```

    The code handles one row after the other. If the operation has no scales, values are rounded to bf16; a destination
    of f32 gets the rounded values as f32. If the operation has scales, as here, a first loop finds the largest
    magnitude of the row, which determines the scale, and a second loop quantizes. If the operation also has sums as a
    destination, each group of columns of a row has its own scale and is quantized by itself, and the sum of the group's
    integers is stored. Columns after the last multiple of 16 are loaded and stored with masks. If the destination has
    more columns than the input, the additional columns are filled as if the input had zeros there.

    Expects `tile.quantize_rows` on buffers with contiguous last dimensions. Other buffers, tensors and a destination of
    f16 are errors. Leaves scf loops.

    **Numerics**: as the description of `tile.quantize_rows` says. A value is rounded to an integer, to nearest, ties to
    even, by adding 1.5 * 2^23: floats of that size are 1 apart, so the low bits of the sum are the integer.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerRotaryTile : Pass<"attune-lower-rotary-tile"> {
  let summary = "lower rotary tiles and unpack_keys to loops over vectors and elements";
  let description = [{
    ```mlir
    tile.rotary_tile ins(%x, %p, %t : memref<?x4x12xf32>, memref<?xi64>, memref<512x12xf32>)
        outs(%y : memref<?x4x12xf32>)
    // becomes
    scf.for %token = %c0 to %tokens step %c1 { scf.for %head = %c0 to %c4 step %c1 {
      … %c = vector.maskedload %t[%position, %i], … : …    // cosines; %s, the sines, is the second half of the row
      … %product = arith.mulf %a, %c : …  %r = math.fma %b, %minus_s, %product : …
      vector.maskedstore %y[%token, %head, %i], …, %r : … } }
    ```

    Here `%x` and `%y` are [tokens, heads, components], `%p` has the position of each token, and row p of the table
    `%t` has the R / 2 cosines c and the R / 2 sines s of position p; R is 12. A rotary embedding rotates pairs of
    components of a head, (a, b) to (a c - b s, b c + a s). A pair is component i and component i + R / 2, in two
    vectors; or, if the operation is `interleaved`, components 2 i and 2 i + 1 in one vector, whose neighbors a shuffle
    swaps. Components from R on are copied. A last vector of fewer components is masked. `tile.unpack_keys`, which
    copies keys of a cache into rows, is not worth vector code and becomes scalar loops.

    Expects `tile.rotary_tile` and `tile.unpack_keys` on f32 buffers with contiguous last dimensions, and positions of
    i64; other buffers are an error, and operations on tensors stay. Leaves scf loops over tokens and heads, or over
    keys and components.

    **Numerics**: as the descriptions of the two operations say.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def VectorizeTiles : Pass<"attune-vectorize-tiles"> {
  let summary = "vectorize linalg tiles on buffers as loops over vectors of 16 floats";
  let description = [{
    ```mlir
    linalg.generic {…} ins(%rows, %panel : memref<6x48xf32>, memref<1x48x32xf32>) outs(%sums : memref<6x32xf32>) {…}
    // becomes
    %r:12 = scf.for %k = %c0 to %c48 step %c1 iter_args(…) -> (vector<16xf32>, …) {
      … %s = vector.fma %x, %w, %sum : vector<16xf32> … }
    … epilogue on %r, vector.store …
    ```

    Here a tile has 6 rows, K = 48 input features and 32 columns, so 12 vectors of sums. A vector of 16 floats takes
    several registers on CPUs with shorter registers.

    **Projections of f32** are tiles of a fill with zeros, a contraction over panels of packed weights, `[panels, K,
    width]`, and an elementwise epilogue, if there is one. Such a tile becomes a loop over k that carries a vector of
    sums (an accumulator) for each row and 16 columns. If the number of rows is not a constant, there is a loop for one
    row, for each even number of rows, and for `register-rows` rows, the most; for any other number of rows, the loop
    for the next larger number computes the last row twice. The epilogue works on the accumulators in the loop for one
    row, and, unless it has an operation of the math dialect other than `math.fma`, in a loop for exactly
    `register-rows` rows. The other loops store the sums to their buffer, and several of them share an epilogue, a loop
    over the rows of that buffer, which is less code. If the tile is in a loop over the tiles of a block of rows, each
    tile prefetches a share of the next weight panel (see `prefetch-streams`). Before the product, tiles of exactly
    `register-rows` rows prefetch the operands of the epilogue that have an element for each result, such as a residual.

    **Projections of bf16 or int8** become a loop over groups of 2 or 4 neighbors in k, in which the instructions of
    `dot-unit` multiply each group for each row and 16 columns. If `dot-unit` has no instruction for the operands, the
    product becomes scalar loops. The epilogue works on the accumulators. With `amx` and rows of bf16 or i8, one
    instruction multiplies 16 rows by 16 columns over 16 groups, and the sums go to the epilogue through a buffer on the
    stack. The code always reads 16 or 32 rows at a time; `attune-plan-memory` allocates room for those that do not
    exist.

    **Products by weights with a scale per group** (`tile.grouped_product`) of quantized rows become a loop over groups
    in k, each with one scale per output column, around products of bytes: by 32-bit products if `dot-unit` is
    `portable`, else by the instruction `vpdpbusd` if the CPU has it (`vnni`), else by `vpmaddubsw` and `vpmaddwd`.
    Grouped products of f32 or bf16 rows become a loop over blocks in k, in which the integers of weights are converted
    to the type of the rows and multiplied. Rows of f16 are an error; so are rows of bf16 if `dot-unit` is neither
    `avx512` nor `amx`.

    **Other elementwise operations**, copies, and reductions over the last loop to sums or maxima become loops over
    chunks of 16 columns; a last chunk of fewer columns is masked. All linalg operations that have none of these forms
    become scalar loops, with a remark that gives the reason. Expects linalg and `tile.grouped_product` on buffers,
    after `attune-plan-memory`; tensors are an error. Leaves no linalg operation and no `memref.copy`.

    **Numerics**: products as N1 to N6 of `xfmr.linear` say; products of f32 are fused multiply-adds in the order of k.
    A reduction of a row to its sum keeps 16 partial sums, one for each lane, and adds them by a fixed tree.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::amx::AMXDialect", "::mlir::x86vector::X86VectorDialect"];
  let options = [Option<"registerRows", "register-rows", "int64_t", "::mlir::rt::Schedule().registerRows",
                        "most rows of a register tile of f32, and of a grouped product of f32 or bf16 rows">,
                 Option<"lowPrecisionRows", "low-precision-rows", "int64_t", "::mlir::rt::Schedule().lowPrecisionRows",
                        "most rows of a register tile of low-precision operands other than AMX tiles, a power of two">,
                 Option<"groupedRows", "grouped-rows", "int64_t", "::mlir::rt::Schedule().groupedRows",
                        "most rows of a register tile of a grouped product of quantized rows">,
                 Option<"vnni", "vnni", "bool", "::attune::CpuSchedule().vnni",
                        "the CPU has the instruction vpdpbusd for its widest vectors">,
                 Option<"dotUnit", "dot-unit", "::attune::DotUnit", "::attune::CpuSchedule().dotUnit",
                        "instruction set for low-precision products",
                        [{::llvm::cl::values(clEnumValN(::attune::DotUnit::Portable, "portable", "any CPU"),
                                             clEnumValN(::attune::DotUnit::Avx2, "avx2", "x86 vectors of 256 bits"),
                                             clEnumValN(::attune::DotUnit::Avx512, "avx512", "x86 vectors of 512 bits"),
                                             clEnumValN(::attune::DotUnit::Amx, "amx", "x86 tile registers (AMX)"))}]>,
                 Option<"prefetchStreams", "prefetch-streams", "int64_t", "::attune::CpuSchedule().prefetchStreams",
                        "parts of the next panel that a block of one to three register tiles prefetches side by side, "
                        "a power of two; with 1, a single tile prefetches `prefetch-ahead` bytes ahead of its own "
                        "reads instead">,
                 Option<"prefetchAhead", "prefetch-ahead", "int64_t", "::attune::CpuSchedule().prefetchAhead",
                        "bytes between the weights that a tile reads and those that it prefetches, if it prefetches "
                        "ahead of its own reads; divided by the number of panels if one row reads several side by "
                        "side">];
}
