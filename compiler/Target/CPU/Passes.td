//===- Passes.td - Passes that make code for CPUs ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_CPU_PASSES_TD
#define ATTUNE_TARGET_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Lowering to LLVM (phase target)
//===----------------------------------------------------------------------===//

def LowerAmxTiles : Pass<"attune-lower-amx-tiles", "::mlir::ModuleOp"> {
  let summary = "operations on tile registers become LLVM's";
  let description = [{
    `amx` operations, and the scf loops and branches that carry tiles, on LLVM's tile type; nothing else changes. Runs before control flow is lowered, on
    strided buffers whose metadata is expanded. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect"];
}

def OutlineParallel : Pass<"attune-outline-parallel", "::mlir::ModuleOp"> {
  let summary = "bodies of parallel loops become functions that the host's parallel_for calls";
  let description = [{
    ```mlir
    scf.forall (%i, %j) in (%m, %n) { ... %x ... }
    // becomes
    rt.parallel_call %host, %count, %grain @f_parallel(%x, %n) : memref<?x8xf32>, index     // %count = %m * %n
    func.func private @f_parallel(%x: memref<?x8xf32>, %n: index, %worker: index, %begin: index, %end: index)
    ```

    `rt.worker_id` becomes `%worker`, 0 outside parallel loops. Loops inside a body and loops of one iteration become scf.for. The grain
    is 1. Constants, index arithmetic and views are repeated in the body. Functions that need the
    host get it as first argument, `%host: !llvm.ptr {rt.role = #rt.role<host>}`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::scf::SCFDialect",
                           "::mlir::rt::RtDialect"];
}

//===----------------------------------------------------------------------===//
// Vectors (phase vector)
//===----------------------------------------------------------------------===//

def AttachScratch : Pass<"attune-attach-scratch"> {
  let summary = "give attention tiles the buffer for their scores";
  let description = [{
    Allocates `memref<8x528xf32>` (rows x key_block, padded) and `memref<64x32xf32>` (state-rows) at the start of the innermost `scf.forall` around each
    `tile.attention_tile` and passes them as `scratch` and `state`. Tiles of one loop body share them. Runs on buffers, before `attune-plan-memory`.

    **Numerics**: exact.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
  let options = [Option<"rows", "rows", "int64_t", "::mlir::rt::Schedule().queryRows",
                        "rows of the buffer of scores: the largest group of query rows">,
                 Option<"stateRows", "state-rows", "int64_t", "::mlir::rt::Schedule().attentionRows",
                        "rows of the buffer of maxima and sums: the largest tile">];
}

def LowerAttentionTile : Pass<"attune-lower-attention-tile"> {
  let summary = "attention tiles become loops over vectors of 16 floats";
  let description = [{
    Expects `tile.attention_tile` on f32 buffers with contiguous last dimensions and a scratch buffer. Leaves scf loops with accumulators
    carried in vectors: scores of `rows` query rows x `vectors` * 16 keys in registers, softmax on the strip of scores in the scratch
    buffer, and the product with the values read in place. Fewer rows are covered by variants of 4, 2 and 1 rows.

    **Numerics**: as the operation says; the result is multiplied by the reciprocal of the sum. Sizes of groups do not change bits.
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
  let summary = "key panels are filled by transposing 16 x 16 blocks in registers";
  let description = [{
    Expects `tile.key_panel` on f32 buffers with contiguous last dimensions. Nothing beyond the keys is read. The code must not be
    canonicalised afterwards: LLVM makes good code of these shuffles as they are.

    **Numerics**: exact.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerQuantizeRows : Pass<"attune-lower-quantize-rows"> {
  let summary = "quantize rows by vectors of 16 columns";
  let description = [{
    Expects `tile.quantize_rows` on buffers with contiguous last dimensions; leaves scf loops.

    **Numerics**: as the operation says. An integer is rounded by adding 1.5 * 2^23, whose ulp is 1.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerRotaryTile : Pass<"attune-lower-rotary-tile"> {
  let summary = "rotations of heads, and keys read from panels, become loops over vectors and elements";
  let description = [{
    Expects `tile.rotary_tile` and `tile.unpack_keys` on f32 buffers with contiguous last dimensions. **Numerics**: as the operations say.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def VectorizeTiles : Pass<"attune-vectorize-tiles"> {
  let summary = "linalg tiles on buffers become loops over vectors of 16 floats";
  let description = [{
    A projection tile of lower precision becomes a loop over groups of neighbours in K with an instruction of `dot-unit` for each row and 16 columns, or, on
    `amx`, for 16 rows and 16 columns; the latter reads whole groups of 16 low-precision rows.

    A projection tile (fill, contraction over a weight panel, elementwise epilogue) becomes a k loop with one accumulator per row and 16 columns, one for
    every number of rows that a tile may have. The epilogue works on the accumulators; only partial tiles of several rows keep the tile's buffer, since one loop
    over it is shorter than an epilogue for each number. In a loop over row tiles the weights are prefetched, each tile its share, and
    whole tiles prefetch what their epilogue reads (a residual) before the product. Other elementwise ops and row reductions become loops over chunks of
    16 columns. What has no such form becomes scalar loops, with a remark.

    **Numerics**: products are fused multiply-adds in the order of k; row sums have 16 lanes joined by a fixed tree.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect", "::mlir::LLVM::LLVMDialect", "::mlir::amx::AMXDialect",
                           "::mlir::x86vector::X86VectorDialect"];
  let options = [Option<"registerRows", "register-rows", "int64_t", "::mlir::rt::Schedule().registerRows", "most rows of a register tile">,
                 Option<"lowPrecisionRows", "low-precision-rows", "int64_t", "::mlir::rt::Schedule().lowPrecisionRows",
                        "rows of a register tile of low-precision operands, a power of two">,
                 Option<"dotUnit", "dot-unit", "::attune::DotUnit", "::attune::CpuSchedule().dotUnit",
                        "instructions for products of lower precision",
                        [{::llvm::cl::values(clEnumValN(::attune::DotUnit::Portable, "portable", "any CPU"),
                                             clEnumValN(::attune::DotUnit::Avx2, "avx2", "x86 vectors of 256 bits"),
                                             clEnumValN(::attune::DotUnit::Avx512, "avx512", "x86 vectors of 512 bits"),
                                             clEnumValN(::attune::DotUnit::Amx, "amx", "x86 tiles"))}]>,
                 Option<"prefetchStreams", "prefetch-streams", "int64_t", "::attune::CpuSchedule().prefetchStreams",
                        "parts of the next panel that few row tiles prefetch side by side; 1: a single tile prefetches in the order of its reads">,
                 Option<"prefetchAhead", "prefetch-ahead", "int64_t", "::attune::CpuSchedule().prefetchAhead",
                        "bytes between weights in use and those prefetched in the order of reads">];
}

#endif // ATTUNE_TARGET_CPU_PASSES_TD
