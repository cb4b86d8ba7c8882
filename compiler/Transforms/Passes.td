//===- Passes.td - Target-neutral passes below the xfmr dialect -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TRANSFORMS_PASSES_TD
#define ATTUNE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Measures
//===----------------------------------------------------------------------===//

def CountFlops : Pass<"attune-count-flops", "::mlir::ModuleOp"> {
  let summary = "record the arithmetic of every entry as an expression of its dims";
  let description = [{
    Gives entries the attribute `xfmr.flops`, a `#xfmr.formula` of their dims: two per multiply-add of the projections and of the two products
    of attention, for every sequence at its padded length. Expects the `dialect` phase done, composites decomposed; changes nothing else.
  }];
}

def CountKernelWork : Pass<"attune-count-kernel-work", "::mlir::ModuleOp"> {
  let summary = "record what each kernel computes and moves in a call of every entry";
  let description = [{
    Gives entries the attribute `rt.kernel_work`, a list with a `#rt.kernel_work<"linear_48_144_bias", calls = 3, …>` for each kernel of the module in its
    order: formulas of the entry's dims for all calls of the kernel together. Bytes are those that have to be moved
    if nothing is kept from one call to the next: each weight and each other input read once, each result written once; of a table that is
    looked up, one row per row of the result. A call's arithmetic is in the attribute `tile.work` that tiling has left on its loop and outlining
    on the call, in terms of the calling function's arguments; it is removed. An entry whose work does not follow from its dims is left
    out, with a remark. Expects the `kernels` phase done. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::rt::RtDialect"];
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def CheckTensorOps : Pass<"attune-check-tensor-ops", "::mlir::func::FuncOp"> {
  let summary = "refuse ops on tensors that bufferization does not know";
  let description = [{
    An op with a tensor as operand or result that does not implement `BufferizableOpInterface` is an error that names it. Must run just before
    bufferization; changes nothing. Numerics: exact.
  }];
}

def DropCacheResults : Pass<"attune-drop-cache-results", "::mlir::func::FuncOp"> {
  let summary = "check that entries update caches in place";
  let description = [{
    Before, on buffers:

    ```mlir
    func.func @decode(%mask: memref<?x?xf32> {xfmr.cache = #xfmr.cache<"visible", [slots, capacity]>})
        -> (memref<?x?xf32> {xfmr.cache = #xfmr.cache<"visible", [slots, capacity]>})
        attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
      return %mask : memref<?x?xf32>
    }
    ```

    After it `@decode` returns nothing. A result that is not the argument of its name is an error. Numerics: exact.
  }];
}

def OutputsToArguments : Pass<"attune-outputs-to-arguments", "::mlir::func::FuncOp"> {
  let summary = "write the results of entries into buffers of the caller";
  let description = [{
    Each result of an entry that is not a cache becomes a memref argument with the attributes of the result, written by
    `bufferization.materialize_in_destination`. Arguments and results that are caches (`xfmr.cache`) become memrefs where they are.
    Numerics: exact.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def SharedReadsToBuffers : Pass<"attune-shared-reads-to-buffers", "::mlir::ModuleOp"> {
  let summary = "pass tensors that many calls read as buffers";
  let description = [{
    ```mlir
    %mask = call @additive_mask(...) : (...) -> tensor<?x?xf32>
    %b = call @layer(%a, %mask, ...) : (tensor<?x8xf32>, tensor<?x?xf32>, ...) -> tensor<?x8xf32>
    %c = call @layer(%b, %mask, ...) : (tensor<?x8xf32>, tensor<?x?xf32>, ...) -> tensor<?x8xf32>
    // becomes
    %mask = call @additive_mask(...) : (...) -> tensor<?x?xf32>
    %buffer = bufferization.to_buffer %mask read_only : tensor<?x?xf32> to memref<?x?xf32>
    %b = call @layer(%a, %buffer, ...) : (tensor<?x8xf32>, memref<?x?xf32>, ...) -> tensor<?x8xf32>
    %c = call @layer(%b, %buffer, ...) : (tensor<?x8xf32>, memref<?x?xf32>, ...) -> tensor<?x8xf32>
    ```

    One-shot bufferization takes time in the square of the uses of a tensor; this leaves one use, however many layers there are. Applies to
    an argument of a private function that the function only reads, if several calls pass the same tensor and nothing writes to the memory
    of any tensor that calls pass. Run it before `attune-bufferize`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def StacksToBuffers : Pass<"attune-stacks-to-buffers", "::mlir::func::FuncOp"> {
  let summary = "copy the pieces of a stacked tensor to a buffer one by one";
  let description = [{
    ```mlir
    %0 = tensor.empty(%n) : tensor<2x?xf32>
    %1 = tensor.insert_slice %a into %0[0, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<2x?xf32>
    %2 = tensor.insert_slice %b into %1[1, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<2x?xf32>
    // becomes
    %0 = memref.alloc(%n) {alignment = 64 : i64} : memref<2x?xf32>
    %p = memref.subview %0[0, 0] [1, %n] [1, 1] : memref<2x?xf32> to memref<?xf32, strided<[1]>>
    bufferization.materialize_in_destination %a in restrict writable %p : ...
    %q = memref.subview %0[1, 0] [1, %n] [1, 1] : memref<2x?xf32> to memref<?xf32, strided<[1], offset: ?>>
    bufferization.materialize_in_destination %b in restrict writable %q : ...
    %2 = bufferization.to_tensor %0 restrict writable : memref<2x?xf32> to tensor<2x?xf32>
    ```

    One-shot bufferization would do the same in more than the square of the number of pieces, which is that of the layers. Chains with other
    uses than the next piece are left alone. Run it before `attune-bufferize`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def Bufferize : Pass<"attune-bufferize", "::mlir::ModuleOp"> {
  let summary = "turn tensors into buffers, across functions";
  let description = [{
    One-shot bufferization with buffers of identity layout at the boundaries of functions; results that are buffers of arguments are dropped.
    Weights (`xfmr.weight`) are kept out of the module meanwhile, as upstream looks at all symbols for every call. Expects functions in
    destination-passing style that name no weights (`attune-assign-weight-offsets`). Numerics: exact.
  }];
}

def PadRows : Pass<"attune-pad-rows", "::mlir::ModuleOp"> {
  let summary = "keep rows of a buffer apart that would share sets of the L1 cache";
  let description = [{
    ```mlir
    %a = memref.alloc(%tokens) : memref<?x4096xf32>
    call @linear(%a, ...) : (memref<?x4096xf32>, ...) -> ()
    // becomes, in @linear too
    %a = memref.alloc(%tokens) : memref<?x4096xf32, strided<[4112, 1]>>
    call @linear(%a, ...) : (memref<?x4096xf32, strided<[4112, 1]>>, ...) -> ()
    ```

    A register tile of a projection reads the same columns of many rows at once. Where a row has a multiple of 4 KiB they all lie in one set
    of the L1 cache, which has no more ways than the tile has rows.

    Rows of f32 of a multiple of `multiple` bytes get `pad` bytes more. Left as they are: buffers that callers of an entry see, and those used
    by what is not known to work with any stride. Expects bufferized functions. Numerics: exact.
  }];
  let options = [Option<"multiple", "multiple", "int64_t", "2048", "rows of a multiple of this many bytes are padded, 0 for none">,
                 Option<"pad", "pad", "int64_t", "64", "bytes after a row">];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def PlanMemory : Pass<"attune-plan-memory", "::mlir::ModuleOp"> {
  let summary = "place every buffer in one workspace whose size is a closed form of the dims";
  let description = [{
    ```mlir
    %a = memref.alloc(%tokens) : memref<?x48xf32>
    // becomes, %workspace and %workers being new arguments of the function
    %a = memref.view %workspace[%c0][%tokens] : memref<?xi8> to memref<?x48xf32>
    ```

    Buffers that are not live at the same time share bytes. Those of a parallel loop's body exist once per worker. Every entry gets the
    arguments `%workspace: memref<?xi8>` and `%workers: index` (marked by `rt.role`), other functions only if they or their callees have buffers;
    `rt.worker_count` becomes `%workers`. Every entry gets the attribute `rt.workspace`, a `#xfmr.formula` of its dims and of `workers`: exactly the bytes that are used.

    Low-precision buffers (two dimensions, elements of 8 or 16 bits) have room for whole groups of `row-group` rows: tile instructions read whole groups.

    The rows of a buffer may have a stride (`strided<[64, 1]>`), the place of which they then get.

    Expects functions without results (after bufferization) and buffers whose sizes follow from the dims of the entry; a size that is read
    from memory needs a bound, `arith.minsi %size, %bound`. An error is emitted for others. Numerics: exact.
  }];
  let options = [Option<"rowGroup", "row-group", "int64_t", "::mlir::rt::Schedule().lowPrecisionGroup",
                        "low-precision rows that are read at once">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::rt::RtDialect"];
}

//===----------------------------------------------------------------------===//
// Tiling
//===----------------------------------------------------------------------===//

def BlockRowsAcrossKernels : Pass<"attune-block-rows-across-kernels", "::mlir::ModuleOp"> {
  let summary = "run consecutive row-wise kernels block by block, so that the rows between them stay in cache";
  let description = [{
    ```mlir
    %a = memref.alloc(%tokens) : memref<?x48xf32>
    call @linear(%x, %w, %a) : (memref<?x32xf32>, memref<2x32x32xf32>, memref<?x48xf32>) -> ()
    call @layer_norm(%a, %g, %y) : (memref<?x48xf32>, memref<48xf32>, memref<?x48xf32>) -> ()
    // becomes
    %step = … * rt.worker_count
    scf.for %i = %c0 to %tokens step %step {
      %x_i = memref.subview %x[%i, 0] [%n, 32] [1, 1] : memref<?x32xf32> to memref<?x32xf32, strided<[32, 1], offset: ?>>
      %a_i = memref.alloc(%n) : memref<?x48xf32>
      call @linear(%x_i, %w, …)
      call @layer_norm(…, %g, %y_i)
    }
    ```

    A sequence is calls in one block; each shares a row-wise argument (`tile.rows`) with an earlier one, no buffer is used both by rows and as a
    whole, and nothing between them touches memory. Sequences without a private buffer, and kernels that may depend on the address of their first row,
    are skipped.

    A step has at most `rows` rows for each worker, fewer if that makes steps even, in multiples of `multiple`; so kernels are divided among the workers
    as without this pass, by columns where there are no more rows than one step has. A buffer first written in the sequence reuses the rows of one whose
    last reader is an earlier call.

    Kernels in sequences take rows of a buffer (`offset: ?`). Expects bufferized functions that write none of their
    arguments under another's name; runs before `attune-plan-memory`, which replaces `rt.worker_count`. Numerics: exact.
  }];
  let options = [Option<"rows", "rows", "int64_t", "::mlir::rt::Schedule().maxBlockRows",
                        "most rows of a step for each worker, 0 to leave calls as they are">,
                 Option<"multiple", "multiple", "int64_t", "::mlir::rt::Schedule().registerRows",
                        "rows of a step for each worker are a multiple of this, or `rows`">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::rt::RtDialect"];
}

def OutlineKernels : Pass<"attune-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "move every top-level scf.forall into a destination-passing function of its own";
  let description = [{
    The function takes what the loop reads, views being rebuilt inside it, and its destinations as last arguments, which it returns. Sizes that are
    those of a destination are read off it, so that a kernel is the same wherever it is called. It carries
    `tile.kernel`, what it computes. Arguments are marked by `tile.rows` if row i of all results is computed from row i of these, and nothing but these
    says how many rows there are; the others are read as a whole. Afterwards every other private function gets destinations for its tensor results, too.

    Expects the `tiled` phase done. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::tensor::TensorDialect", "::mlir::tiles::TileDialect"];
}

def TileAttention : Pass<"attune-tile-attention", "::mlir::func::FuncOp"> {
  let summary = "attention as loops over sequences, heads and query tiles, with keys in panels";
  let description = [{
    ```mlir
    %y = xfmr.attention %q, %k, %v offsets(%off, %off) lengths(%n, %n) ...
    // becomes
    %keys = scf.forall (%sequence, %head) ... { tile.key_panel ... }        // neither for caches nor for keys that are rounded already
    %y = scf.forall (%sequence, %heads, %tile) ... { tile.attention_tile ... }
    ```

    A tile has the query heads that share keys, up to 8 of them, and as many queries as make `query-rows` rows, or up to `long-rows` where there are more keys
    than a block. Masks of integers become masks of f32. Numerics: exact, as the tile says.
  }];
  let options = [Option<"queryRows", "query-rows", "int64_t", "::mlir::rt::Schedule().queryRows", "rows of a register tile">,
                 Option<"longRows", "long-rows", "int64_t", "::mlir::rt::Schedule().attentionRows",
                        "most rows of a tile over several blocks of keys">,
                 Option<"panelWidth", "panel-width", "int64_t", "::mlir::rt::Schedule().keyPanelWidth", "keys per panel">,
                 Option<"keyBlock", "key-block", "int64_t", "512", "keys per softmax block">,
                 Option<"precision", "precision", "::mlir::xfmr::Precision", "::mlir::rt::Schedule().attentionPrecision",
                        "what the inputs of both products may be rounded to",
                        [{::llvm::cl::values(clEnumValN(::mlir::xfmr::Precision::F32, "f32", "nothing"),
                                             clEnumValN(::mlir::xfmr::Precision::BF16, "bf16", "bf16"),
                                             clEnumValN(::mlir::xfmr::Precision::F16, "f16", "f16"))}]>];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::mlir::tiles::TileDialect"];
}

def TileQuantizedRows : Pass<"attune-tile-quantized-rows", "::mlir::func::FuncOp"> {
  let summary = "round rows where they are made, or in a loop of their own";
  let description = [{
    ```mlir
    %y = scf.forall (%i) in (%n) shared_outs(%o = %e) -> (tensor<?x48xf32>) {… rows %i … of a norm …}
    %c = tile.quantize_rows ins(%y : tensor<?x48xf32>) outs(%d : tensor<?x48xbf16>) -> tensor<?x48xbf16>
    // becomes
    %y, %c = scf.forall (%i) in (%n) shared_outs(%o = %e, %p = %d) -> (tensor<?x48xf32>, tensor<?x48xbf16>) {… tile.quantize_rows ins(rows %i of %y) …}
    ```

    Rows that no loop over whole rows makes get a loop of their own, over blocks of `row-block` rows. Runs after `attune-tile-groups`.

    Numerics: exact.
  }];
  let options = [Option<"rowBlock", "row-block", "int64_t", "::mlir::rt::Schedule().rowBlock", "rows per task">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::mlir::tiles::TileDialect"];
}

def TileHeadOps : Pass<"attune-tile-head-ops", "::mlir::func::FuncOp"> {
  let summary = "rotations of heads and operations on caches as parallel loops around tiles";
  let description = [{
    `xfmr.rotary` becomes a loop over blocks of tokens around `tile.rotary_tile`; `xfmr.kv_cache_update` one over sequences and heads that writes slices of the
    caches, which stay the destinations all along, keys by `tile.key_panel`; `xfmr.kv_cache_read` one with `tile.unpack_keys`. Numerics: exact, as the tiles say.
  }];
  let options = [Option<"rowBlock", "row-block", "int64_t", "::mlir::rt::Schedule().rowBlock", "tokens per tile of a rotation">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::mlir::tiles::TileDialect"];
}

def TileGroups : Pass<"attune-tile-groups", "::mlir::func::FuncOp"> {
  let summary = "tile the last op of each kernel and fuse the others into its tiles";
  let description = [{
    Kernels are numbered by `tile.group`. A projection becomes an scf.forall over blocks of rows and weight panels with an scf.for over register tiles of
    rows; blocks and, where there are few, tiles are of about equal size. Other kernels become an scf.forall over blocks of
    `row-block` rows. Ops of rank 0 and 1 stay as they are. The attribute `tile.kernel` of a loop says `row_wise` if no row depends on the others, on its number or
    on how many there are.

    Numerics: exact; no sum is split.
  }];
  let options = [Option<"registerRows", "register-rows", "int64_t", "::mlir::rt::Schedule().registerRows", "rows of a register tile">,
                 Option<"panelWidth", "panel-width", "int64_t", "::mlir::rt::Schedule().panelWidth",
                        "columns of a register tile and of a weight panel">,
                 Option<"blockBytes", "block-bytes", "int64_t", "::mlir::rt::Schedule().blockBytes",
                        "bytes of the input rows of one block">,
                 Option<"maxBlockRows", "max-block-rows", "int64_t", "::mlir::rt::Schedule().maxBlockRows", "most rows of one block">,
                 Option<"lowPrecisionRows", "low-precision-rows", "int64_t", "::mlir::rt::Schedule().lowPrecisionRows",
                        "rows of a register tile of low-precision operands">,
                 Option<"evenLowPrecisionTiles", "even-low-precision-tiles", "bool", "::mlir::rt::Schedule().evenLowPrecisionTiles",
                        "a few low-precision tiles have about the same number of rows, as those of f32 do">,
                 Option<"streamPanels", "stream-panels", "int64_t", "::mlir::rt::Schedule().streamPanels",
                        "weight panels that a single row reads side by side">,
                 Option<"fewRows", "few-rows", "int64_t", "::mlir::rt::Schedule().fewRows",
                        "up to so many rows a block has few-columns columns; 0 for none">,
                 Option<"fewColumns", "few-columns", "int64_t", "::mlir::rt::Schedule().fewColumns",
                        "columns of a block of few rows, a divisor of panel-width">,
                 Option<"wideRows", "wide-rows", "int64_t", "::mlir::rt::Schedule().wideRows", "rows of a wide low-precision block">,
                 Option<"wideColumns", "wide-columns", "int64_t", "::mlir::rt::Schedule().wideColumns",
                        "columns of a wide block, a multiple of panel-width">,
                 Option<"wideBlocks", "wide-blocks", "int64_t", "::mlir::rt::Schedule().wideBlocks",
                        "blocks are wide where there are at least so many; 0 for none">,
                 Option<"rowBlock", "row-block", "int64_t", "::mlir::rt::Schedule().rowBlock", "rows per task of row-wise kernels">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect", "::mlir::tiles::TileDialect"];
}

//===----------------------------------------------------------------------===//
// Vector code (phase vector)
//===----------------------------------------------------------------------===//

def ExpandMath : Pass<"attune-expand-math"> {
  let summary = "exp, exp2, erf, tanh, log and rsqrt of f32 become polynomials";
  let description = [{
    On f32 and vectors of f32 alike, so that a scalar tail has the bits of the vector body. Fused multiply-adds are explicit; nothing is
    called. `sqrt`, `fma`, `floor` and what else is an instruction stays; so do other element types.

    **Numerics**: at most 0.9 ulp (exp, exp2, log), 1.2 ulp (erf), 1.7 ulp (tanh), 1.5 ulp (rsqrt) from the exact value; 2^0 = 1; results of exp
    and exp2 below 2^-126 are 0.
  }];
  let options = [Option<"expandBF16", "expand-bf16", "bool", "false", "also make integer arithmetic of conversions between f32 and bf16">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}

#endif // ATTUNE_TRANSFORMS_PASSES_TD
