//===- Passes.td - Passes that make code for CPUs ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Lowering to LLVM (phase target)
//===----------------------------------------------------------------------===//

def LowerAmxTiles : Pass<"attune-lower-amx-tiles", "::mlir::ModuleOp"> {
  let summary = "lower amx operations, and control flow that carries AMX tiles, to LLVM";
  let description = [{
    ```mlir
    %t = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (!amx.tile<16x16xf32>) { … amx.tile_mulf %a, %b, %sum : … }
    // becomes
    ^body(%k: i64, %sum: !llvm.x86_amx):
      %s = "amx.tdpbf16ps"(%rows, %columns, %depth, %sum, %a, %b) : …
    ```

    Converts `amx` operations, and the scf loops and branches that carry AMX tiles, to LLVM's tile type; nothing else
    changes. Runs before control flow is lowered, on strided buffers whose metadata is expanded. Numerics: exact.
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

    `%begin` and `%end` are a range of the flattened iterations. `rt.worker_id` becomes `%worker`, 0 outside parallel loops.
    Loops inside a body and loops of one iteration become scf.for. The grain is 1. Constants, index arithmetic and views are
    cloned into the body. Functions that need the host get it as first argument,
    `%host: !llvm.ptr {rt.role = #rt.role<host>}`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::rt::RtDialect"];
}

//===----------------------------------------------------------------------===//
// Vectors (phase vector)
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
      … tile.attention_tile ins(%q, %k, %v : …) scratch(%scratch : …) state(%state : …) outs(%o : …) {…}
    }
    ```

    Allocates `memref<8x528xf32>` (`rows` x key_block, padded) and `memref<64x32xf32>` (`state-rows`) at the start of the
    innermost `scf.forall` around each `tile.attention_tile` and passes them as `scratch` and `state`. Tiles of one loop
    body share them. Runs on buffers, before `attune-plan-memory`.

    **Numerics**: exact.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
  let options = [Option<"rows", "rows", "int64_t", "::mlir::rt::Schedule().queryRows",
                        "rows of the buffer of scores: the largest group of query rows">,
                 Option<"stateRows", "state-rows", "int64_t", "::mlir::rt::Schedule().attentionRows",
                        "rows of the buffer of maxima and sums: the largest tile">];
}

def LowerAttentionTile : Pass<"attune-lower-attention-tile"> {
  let summary = "lower attention tiles to loops over vectors of 16 floats";
  let description = [{
    ```mlir
    tile.attention_tile ins(%q, %k, %v : memref<?x4x12xf32>, memref<?x12x64xf32>, memref<?x12xf32>) scratch(%s : …) outs(%o : …) {…}
    // becomes
    scf.for %row = %c0 to %rows step %c8 {
      … scores: %p = vector.fma %query, %keys, %p : vector<16xf32> …
      … softmax of the strip %s …
      … result: %r = vector.fma %probability, %values, %r : vector<16xf32> …
    }
    ```

    Expects `tile.attention_tile` on f32 buffers with contiguous last dimensions and a scratch buffer. Leaves scf loops with
    accumulators carried in vectors: scores of `rows` query rows x `score-vectors` * 16 keys in registers, softmax on the
    strip of scores in the scratch buffer, and the product with the values read in place. Variants of 4, 2 and 1 rows cover
    the rest.

    **Numerics**: as the operation says; the result is multiplied by the reciprocal of the sum. The sizes of groups do not
    change bits.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let options = [
    Option<"rows", "rows", "int64_t", "::mlir::rt::Schedule().queryRows", "query rows per group, a power of two">,
    Option<"scoreVectors", "score-vectors", "int64_t", "::mlir::rt::Schedule().keyPanelWidth / 16",
           "vectors of 16 keys per group of scores">,
    Option<"valueVectors", "value-vectors", "int64_t", "::attune::CpuSchedule().valueVectors",
           "vectors of 16 columns per group of results">,
    Option<"softmaxRows", "softmax-rows", "int64_t", "::attune::CpuSchedule().softmaxRows", "rows whose exponentials are computed at once">,
  ];
}

def LowerKeyPanel : Pass<"attune-lower-key-panel"> {
  let summary = "fill key panels by transposing 16 x 16 blocks in registers";
  let description = [{
    ```mlir
    tile.key_panel ins(%keys : memref<?x12xf32>) outs(%panel : memref<12x64xf32>)
    // becomes
    … 16 rows of keys: %k = vector.transfer_read %keys[%j, %d], %zero : …
    … 16 x 16 elements transposed by vector.shuffle …
    … 16 rows of the panel: vector.transfer_write %t, %panel[%d, %j] : …
    ```

    Expects `tile.key_panel` on f32 buffers with contiguous last dimensions. Reads nothing beyond the keys. Do not
    canonicalize afterwards: LLVM's code for these shuffles is good only as written.

    **Numerics**: exact.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerQuantizeRows : Pass<"attune-lower-quantize-rows"> {
  let summary = "lower quantize_rows to loops over vectors of 16 columns";
  let description = [{
    ```mlir
    tile.quantize_rows ins(%x : memref<?x48xf32>) outs(%q, %scales : memref<?x48xi8>, memref<?xf32>)
    // becomes
    scf.for %row = %c0 to %rows step %c1 {
      … %largest = arith.maximumf … over chunks of 16 columns …
      memref.store %scale, %scales[%row] : memref<?xf32>
      … vector.store %integers, %q[%row, %column] : …
    }
    ```

    Expects `tile.quantize_rows` on buffers with contiguous last dimensions; leaves scf loops.

    With sums, each group of columns has a scale, a sum and a loop over its chunks.

    **Numerics**: as the operation says. A value is rounded to an integer by adding 1.5 * 2^23, whose ulp is 1.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerRotaryTile : Pass<"attune-lower-rotary-tile"> {
  let summary = "lower rotary tiles and unpack_keys to loops over vectors and elements";
  let description = [{
    ```mlir
    tile.rotary_tile ins(%x, %p, %t : memref<?x4x12xf32>, memref<?xi64>, memref<512x12xf32>) outs(%y : memref<?x4x12xf32>)
    // becomes
    scf.for %token = %c0 to %tokens step %c1 { scf.for %head = %c0 to %c4 step %c1 {
      … %c = vector.load %t[%position, %i] : …    // cosines; sines follow in the row
      … %r = vector.fma %a, %c, %product : … vector.store %r, %y[%token, %head, %i] : … } }
    ```

    Expects `tile.rotary_tile` and `tile.unpack_keys` on f32 buffers with contiguous last dimensions. Leaves scf loops over
    vectors, and scalar loops for the rest of a row.

    **Numerics**: as the operations say.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def VectorizeTiles : Pass<"attune-vectorize-tiles"> {
  let summary = "vectorize linalg tiles on buffers as loops over vectors of 16 floats";
  let description = [{
    ```mlir
    linalg.generic {…} ins(%rows, %panel : memref<6x48xf32>, memref<48x32xf32>) outs(%sums : memref<6x32xf32>) {…}
    // becomes
    %r:12 = scf.for %k = %c0 to %c48 step %c1 iter_args(…) -> (vector<16xf32>, …) {
      … %s = vector.fma %x, %w, %sum : vector<16xf32> … }
    … epilogue on %r, vector.store …
    ```

    A low-precision projection tile becomes a loop over groups of neighbors in K with one `dot-unit` instruction per row and
    16 columns; with `amx`, per 16 rows and 16 columns, and whole groups of 16 rows are read.

    A `tile.grouped_product` becomes a loop over groups of columns around products of bytes: by `vpdpbusd` if the CPU has it
    (`vnni`), by `vpmaddubsw` and `vpmaddwd` on other x86 CPUs, and by 32-bit products elsewhere.

    A projection tile of f32 (fill, contraction over a weight panel, elementwise epilogue) becomes a k loop with one
    accumulator per row and 16 columns; there is a loop for every number of rows that a tile may have, odd numbers rounded
    up. The epilogue works on the accumulators. Partial tiles of several rows, and epilogues with transcendental functions,
    store the sums to the tile's buffer instead, since one loop over it is shorter than an epilogue for each number of rows.
    In a loop over row tiles each tile prefetches its share of the next weights, and whole tiles prefetch the epilogue's
    other operands (a residual) before the product.

    Other elementwise ops and row reductions become loops over chunks of 16 columns. The rest becomes scalar loops, with a
    remark.

    **Numerics**: products are fused multiply-adds in the order of k; row sums have 16 lanes joined by a fixed tree.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::amx::AMXDialect", "::mlir::x86vector::X86VectorDialect"];
  let options = [Option<"registerRows", "register-rows", "int64_t", "::mlir::rt::Schedule().registerRows",
                        "maximum rows of a register tile">,
                 Option<"lowPrecisionRows", "low-precision-rows", "int64_t", "::mlir::rt::Schedule().lowPrecisionRows",
                        "rows of a register tile of low-precision operands, a power of two">,
                 Option<"groupedRows", "grouped-rows", "int64_t", "::mlir::rt::Schedule().groupedRows",
                        "rows of a register tile of products with scales of groups">,
                 Option<"vnni", "vnni", "bool", "::attune::CpuSchedule().vnni", "the CPU has vpdpbusd for vectors of its size">,
                 Option<"dotUnit", "dot-unit", "::attune::DotUnit", "::attune::CpuSchedule().dotUnit",
                        "instruction set for low-precision products",
                        [{::llvm::cl::values(clEnumValN(::attune::DotUnit::Portable, "portable", "any CPU"),
                                             clEnumValN(::attune::DotUnit::Avx2, "avx2", "x86 vectors of 256 bits"),
                                             clEnumValN(::attune::DotUnit::Avx512, "avx512", "x86 vectors of 512 bits"),
                                             clEnumValN(::attune::DotUnit::Amx, "amx", "x86 tiles"))}]>,
                 Option<"prefetchStreams", "prefetch-streams", "int64_t", "::attune::CpuSchedule().prefetchStreams",
                        "streams in which one or two row tiles prefetch the next panel; "
                       "1: a single tile prefetches ahead of its own reads">,
                 Option<"prefetchAhead", "prefetch-ahead", "int64_t", "::attune::CpuSchedule().prefetchAhead",
                        "distance in bytes of weights that a tile prefetches ahead of its own reads">];
}
