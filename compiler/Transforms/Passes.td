//===- Passes.td - Target-neutral passes below xfmr --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Counting work
//===----------------------------------------------------------------------===//

def CountFlops : Pass<"attune-count-flops", "::mlir::ModuleOp"> {
  let summary = "record the arithmetic of every entry as a formula of its dims";
  let description = [{
    Gives each entry the attribute `xfmr.flops`: two operations for each multiply-add of the projections and of the two
    products of attention, every sequence at its padded length.

    ```mlir
    func.func @forward(%x: tensor<?x48xf32> {xfmr.input = #xfmr.input<"x", [tokens, 48]>}, %w: tensor<64x48xf32>) -> tensor<?x64xf32>
        attributes {xfmr.entry = #xfmr.entry<"forward">} {
      %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<64x48xf32>
      return %y : tensor<?x64xf32>
    }
    // becomes
    func.func @forward(...) attributes {
        xfmr.entry = #xfmr.entry<"forward">,
        xfmr.flops = #xfmr.formula<[tokens], affine_map<()[s0] -> (s0 * 6144)>>} {…}
    ```

    Expects the `dialect` phase done and composites decomposed. Leaves everything else alone. Numerics: exact.
  }];
}

def CountKernelWork : Pass<"attune-count-kernel-work", "::mlir::ModuleOp"> {
  let summary = "record the arithmetic and the memory traffic of each kernel in a call of every entry";
  let description = [{
    Gives each entry the attribute `rt.kernel_work`: one element for each kernel of the module, in the module's order, with
    formulas of the entry's dims for all calls of the kernel together.

    ```mlir
    %y = call @linear(%x, %w, %d) {tile.work = #tile.work<flops = <[#xfmr.argument<0, 0>], affine_map<()[s0] -> (s0 * 64)>>>} ...
    // becomes, in the entry @forward
    func.func @forward(...) attributes {xfmr.entry = ..., rt.kernel_work = [
        #rt.kernel_work<"linear", calls = 1, flops = <[batch], affine_map<()[s0] -> (s0 * 64)>>, weight_bytes = ..., tensor_bytes = ...>]}
    %y = call @linear(%x, %w, %d) ...
    ```

    Bytes are those that must be moved if nothing stays in a cache from one call to the next: each weight and each other input
    is read once, and each result is written once. Of a table that is looked up, one row counts for each row of the result.
    The attribute `tile.work` of a call gives its arithmetic in terms of the arguments of the calling function. Tiling sets
    it on loops, outlining moves it to calls, and this pass removes it.

    An entry whose work does not follow from its dims gets no attribute, and a remark says so. Expects the `kernels` phase
    done. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::rt::RtDialect"];
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def CheckTensorOps : Pass<"attune-check-tensor-ops", "::mlir::func::FuncOp"> {
  let summary = "reject ops on tensors that bufferization does not support";
  let description = [{
    Reports an error that names the first op with a tensor operand or result that does not implement
    `BufferizableOpInterface`:

    ```mlir
    %y = tosa.add %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    // error: 'tosa.add' op cannot be compiled: expected ops of the xfmr, linalg, arith, math, tensor and scf dialects on tensors
    ```

    Run it just before bufferization, which would fail without naming the op. Changes nothing. Numerics: exact.
  }];
}

def DropCacheResults : Pass<"attune-drop-cache-results", "::mlir::func::FuncOp"> {
  let summary = "drop the results of entries that are caches updated in place";
  let description = [{
    ```mlir
    func.func @decode(%mask: memref<?x?xf32> {xfmr.cache = #xfmr.cache<"visible", [slots, capacity]>})
        -> (memref<?x?xf32> {xfmr.cache = #xfmr.cache<"visible", [slots, capacity]>})
        attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
      return %mask : memref<?x?xf32>
    }
    // becomes
    func.func @decode(%mask: memref<?x?xf32> {xfmr.cache = #xfmr.cache<"visible", [slots, capacity]>})
        attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
      return
    }
    ```

    A result that is not the argument of the same cache is an error: bufferization has copied the cache. Expects bufferized
    functions. Leaves functions that are not entries alone. Numerics: exact.
  }];
}

def OutputsToArguments : Pass<"attune-outputs-to-arguments", "::mlir::func::FuncOp"> {
  let summary = "write the results of entries into buffers of the caller";
  let description = [{
    ```mlir
    func.func @forward(%x: tensor<?x8xf32>)
        -> (tensor<?x8xf32> {xfmr.output = #xfmr.output<"y", [batch, 8]>}) attributes {xfmr.entry = ...} {
      ...
      return %y : tensor<?x8xf32>
    }
    // becomes
    func.func @forward(%x: tensor<?x8xf32>, %out: memref<?x8xf32> {xfmr.output = #xfmr.output<"y", [batch, 8]>})
        attributes {xfmr.entry = ...} {
      ...
      bufferization.materialize_in_destination %y in restrict writable %out : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
      return
    }
    ```

    The new argument has the attributes of the result. Arguments and results that are caches (`xfmr.cache`) stay where they
    are and become memrefs. Run it before `attune-bufferize`. Leaves functions that are not entries alone. Numerics: exact.
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

    One-shot bufferization takes time in the square of the number of uses of a tensor; this pass leaves one use, however many
    layers there are. It converts an argument of a private function that the function only reads, if several calls pass the
    same tensor and nothing writes to the memory of any tensor that calls pass. Slices of one tensor in an entry become views
    of one buffer under the same condition. Other arguments are left alone.

    Expects functions in destination-passing style; run it before `attune-bufferize`. Numerics: exact.
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

    One-shot bufferization gives the same result, but takes time in more than the square of the number of pieces, which is the
    number of layers. A sequence of insertions ends at a tensor that has another use than the next insertion. A sequence of one
    insertion is left alone. Expects tensors; run it before `attune-bufferize`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def Bufferize : Pass<"attune-bufferize", "::mlir::ModuleOp"> {
  let summary = "turn tensors into buffers, across functions";
  let description = [{
    Runs upstream's one-shot bufferization with buffers of identity layout at function boundaries and drops results that are
    buffers of arguments:

    ```mlir
    func.func private @kernel(%x: tensor<?x8xf32>, %out: tensor<?x8xf32>) -> tensor<?x8xf32>
    // becomes
    func.func private @kernel(%x: memref<?x8xf32>, %out: memref<?x8xf32>)
    ```

    Weights (`xfmr.weight`) are taken out of the module while the pass runs, since upstream visits all symbols for every
    call. Expects functions in destination-passing style that refer to no weights (`attune-assign-weight-offsets`). Results
    of functions that are not buffers of arguments stay. Numerics: exact.
  }];
}

def PadRows : Pass<"attune-pad-rows", "::mlir::ModuleOp"> {
  let summary = "pad rows of buffers that would fall into the same sets of the L1 cache";
  let description = [{
    ```mlir
    %a = memref.alloc(%tokens) : memref<?x4096xf32>
    call @linear(%a, ...) : (memref<?x4096xf32>, ...) -> ()
    // becomes, in @linear too
    %a = memref.alloc(%tokens) : memref<?x4096xf32, strided<[4112, 1]>>
    call @linear(%a, ...) : (memref<?x4096xf32, strided<[4112, 1]>>, ...) -> ()
    ```

    A register tile of a projection reads the same columns of many rows at once. If the size of a row is a multiple
    of 4 KiB, all of them lie in one set of the L1 cache, or in two with a multiple of 2 KiB. A set has no more ways than
    the tile has rows, so the rows evict each other.

    Pads f32 rows whose size is a multiple of `multiple` bytes by `pad` bytes. Leaves alone buffers that callers of an entry
    see and buffers with a user that may depend on the stride. Expects bufferized functions; run it before
    `attune-plan-memory`. Numerics: exact.
  }];
  let options = [Option<"multiple", "multiple", "int64_t", "2048", "pad rows of a multiple of this many bytes; 0 pads none">,
                 Option<"pad", "pad", "int64_t", "64", "bytes of padding after a row">];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

def PlanMemory : Pass<"attune-plan-memory", "::mlir::ModuleOp"> {
  let summary = "place every buffer in one workspace whose size is a formula of the dims";
  let description = [{
    ```mlir
    %a = memref.alloc(%tokens) : memref<?x48xf32>
    // becomes, %workspace and %workers being new arguments of the function
    %a = memref.view %workspace[%c0][%tokens] : memref<?xi8> to memref<?x48xf32>
    ```

    Buffers with disjoint lifetimes share bytes. Buffers in the body of a parallel loop exist once for each worker. Every
    entry gets the arguments `%workspace: memref<?xi8>` and `%workers: index`, marked by `rt.role`; other functions get them if
    they or their callees have buffers. `rt.worker_count` becomes `%workers`. Every entry gets the attribute `rt.workspace`, a
    `#xfmr.formula` of its dims and of `workers`: the bytes that a call needs, an upper bound where sizes are bounds.

    The number of rows of low-precision matrices (two dimensions, elements of 8 or 16 bits) is rounded up to a multiple of
    `row-group`, since tile instructions read whole groups of rows. A buffer with padded rows (`strided<[64, 1]>`) is allocated
    with that row stride.

    Expects bufferized functions without results, and buffers whose sizes follow from the dims of the entry; a size that is
    read from memory needs a bound, `arith.minsi %size, %bound`. Other buffers, and recursion, are errors. Leaves no
    `memref.alloc` or `memref.dealloc`. Numerics: exact.
  }];
  let options = [Option<"rowGroup", "row-group", "int64_t", "::mlir::rt::Schedule().lowPrecisionGroup",
                        "low-precision rows that an instruction reads at once">];
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

    A sequence consists of calls in one block. Each call shares a row-wise argument (`tile.rows`) with an earlier one, no
    buffer is used both by rows and as a whole, and nothing between the calls accesses memory. Sequences without a private
    buffer, and kernels that may depend on the address of their first row, are left alone.

    A step has at most `rows` rows for each worker, in multiples of `multiple`, and fewer if that makes steps even. So kernels
    are divided among the workers as without this pass: by columns if there are no more rows than one step has. A buffer that
    is first written in the sequence reuses the rows of a buffer whose last reader is an earlier call.

    Kernels in sequences accept rows of a buffer (`offset: ?`). Expects bufferized functions that write no argument that
    overlaps another one; run it before `attune-plan-memory`, which replaces `rt.worker_count`. Numerics: exact.
  }];
  let options = [Option<"rows", "rows", "int64_t", "::mlir::rt::Schedule().maxBlockRows",
                        "most rows of a step for each worker; 0 leaves calls as they are">,
                 Option<"multiple", "multiple", "int64_t", "::mlir::rt::Schedule().registerRows",
                        "the rows of a step for each worker are a multiple of this, or `rows`">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::rt::RtDialect"];
}

def OutlineKernels : Pass<"attune-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "move every top-level scf.forall into a function; give private functions destinations";
  let description = [{
    ```mlir
    %e = tensor.empty(%n) : tensor<?x8xf32>
    %y = scf.forall (%i) in (%n) shared_outs(%o = %e) -> (tensor<?x8xf32>) {… rows of %x …} {tile.kernel = #tile.kernel<"norm", row_wise>}
    // becomes
    %e = tensor.empty(%n) : tensor<?x8xf32>
    %y = call @norm(%x, %e) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>

    func.func private @norm(%x: tensor<?x8xf32> {tile.rows}, %out: tensor<?x8xf32> {tile.rows}) -> tensor<?x8xf32>
        attributes {tile.kernel = #tile.kernel<"norm">}
    ```

    The arguments of the function are the values that the loop reads, then its destinations, which the function returns. Views,
    constants and index arithmetic are computed again inside. Sizes equal to those of a destination are taken from it, so that
    functions of equal loops are equal, and a later pass merges them. `tile.kernel` has the name of the kernel; its `row_wise`
    becomes `tile.rows`, which marks the arguments of which row i alone determines row i of every result (a row is an index of
    the first dimension). The kernel takes its number of rows from them. All other arguments are read as a whole. Afterwards
    every other private function takes destinations for its tensor results, too, except for results that update an argument
    in place.

    Runs after the phase `tiled`. Leaves operations outside of `scf.forall` where they are.
    Numerics: exact.
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::tensor::TensorDialect", "::mlir::tiles::TileDialect"];
}

def TileAttention : Pass<"attune-tile-attention", "::mlir::func::FuncOp"> {
  let summary = "lower attention to loops over sequences, heads and query tiles, with keys in panels";
  let description = [{
    ```mlir
    %y = xfmr.attention %q, %k, %v offsets(%off, %off) lengths(%n, %n) ...
    // becomes
    %keys = scf.forall (%sequence, %head) ... { tile.key_panel ... }
    %y = scf.forall (%sequence, %heads, %tile) ... { tile.attention_tile ... }
    ```

    The first loop transposes keys into panels. It is left out for caches, whose keys are in panels already, and for keys of bf16
    or f16, which are read as rows. An attention tile has up to 8 query heads that share keys; larger groups are divided. A row is
    one query of one head: a tile has as many queries as make `query-rows` rows, or up to `long-rows` rows if there are more than
    `key-block` keys, which is decided at run time. Integer masks become additive f32 masks.

    Expects `xfmr.attention` on tensors, after `convert-xfmr-to-linalg`. Leaves other operations alone. Numerics: those of
    `tile.attention_tile`, whose sums run over blocks of keys.
  }];
  let options = [Option<"queryRows", "query-rows", "int64_t", "::mlir::rt::Schedule().queryRows", "rows of a register tile">,
                 Option<"longRows", "long-rows", "int64_t", "::mlir::rt::Schedule().attentionRows",
                        "most rows of an attention tile over several blocks of keys">,
                 Option<"panelWidth", "panel-width", "int64_t", "::mlir::rt::Schedule().keyPanelWidth", "keys per panel">,
                 Option<"keyBlock", "key-block", "int64_t", "512", "keys per softmax block">,
                 Option<"precision", "precision", "::mlir::xfmr::Precision", "::mlir::rt::Schedule().attentionPrecision",
                        "element type to which the operands of Q K^T and P V are rounded",
                        [{::llvm::cl::values(clEnumValN(::mlir::xfmr::Precision::F32, "f32", "no rounding"),
                                             clEnumValN(::mlir::xfmr::Precision::BF16, "bf16", "bf16"),
                                             clEnumValN(::mlir::xfmr::Precision::F16, "f16", "f16"))}]>];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tiles::TileDialect"];
}

def TileQuantizedRows : Pass<"attune-tile-quantized-rows", "::mlir::func::FuncOp"> {
  let summary = "fuse quantize_rows into the loop that produces its rows, or give it a loop of its own";
  let description = [{
    ```mlir
    %y = scf.forall (%i) in (%n) shared_outs(%o = %e) -> (tensor<?x48xf32>) {… rows %i … of a norm …}
    %c = tile.quantize_rows ins(%y : tensor<?x48xf32>) outs(%d : tensor<?x48xbf16>) -> tensor<?x48xbf16>
    // becomes
    %y, %c = scf.forall (%i) in (%n) shared_outs(%o = %e, %p = %d) -> (tensor<?x48xf32>, tensor<?x48xbf16>) {
      … tile.quantize_rows ins(rows %i of %y) …
    }
    ```

    Rows that no loop produces whole get a loop of their own, over blocks of `row-block` rows. Expects `attune-tile-groups`
    done. Leaves alone ops that are inside an `scf.forall` already. Numerics: exact.
  }];
  let options = [Option<"rowBlock", "row-block", "int64_t", "::mlir::rt::Schedule().rowBlock", "rows per task">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::tiles::TileDialect"];
}

def TileHeadOps : Pass<"attune-tile-head-ops", "::mlir::func::FuncOp"> {
  let summary = "lower rotary embeddings and cache operations to parallel loops around tiles";
  let description = [{
    ```mlir
    %y = xfmr.rotary %x, %positions, %table {interleaved} : tensor<?x4x12xf32>, tensor<512x8xf32>
    // becomes
    %y = scf.forall (%block) in (%blocks) shared_outs(%o = %e) -> (tensor<?x4x12xf32>) {… tile.rotary_tile ins(%rows, %ids, %table : …) …}
    ```

    `xfmr.rotary` becomes a loop over blocks of `row-block` tokens. `xfmr.kv_cache_update` becomes a loop over sequences and heads
    that writes slices of the caches, keys by `tile.key_panel`; the caches themselves are its destinations, so that they are
    updated in place. `xfmr.kv_cache_read` becomes a loop over slots and heads with `tile.unpack_keys`.

    Expects these ops on tensors, after `convert-xfmr-to-linalg`. Leaves other ops alone. Numerics: exact; the results are those
    that the tile ops define.
  }];
  let options = [Option<"rowBlock", "row-block", "int64_t", "::mlir::rt::Schedule().rowBlock", "tokens per tile of rotary embeddings">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tiles::TileDialect"];
}

def TileGroups : Pass<"attune-tile-groups", "::mlir::func::FuncOp"> {
  let summary = "tile the last op of each kernel and fuse the other ops into its tiles";
  let description = [{
    ```mlir
    %p = linalg.generic … ins(%x, %panels : …) outs(%f : …)     // a contraction, {tile.group = …}
    %y = linalg.generic … ins(%p, %b : …)                        // + bias, the same {tile.group = …}
    // becomes
    %y = scf.forall (%i, %j) = (0, 0) to (%n, 64) step (%rows, 32) shared_outs(%o = %e) -> (tensor<?x64xf32>) {
      scf.for %k = … {linalg.generic … linalg.generic …}
    } {tile.kernel = #tile.kernel<"linear 48 -> 64, bias", row_wise>, tile.work = …}
    ```

    `tile.group` numbers the kernels. A projection becomes an `scf.forall` over blocks of rows and weight panels around an
    `scf.for` over register tiles of rows. Blocks are of about equal size, and so are register tiles if there are few. A
    `tile.grouped_product` is tiled in the same way. Other kernels become an `scf.forall` over blocks of `row-block` rows. The
    attribute `tile.kernel` of a loop says `row_wise` if a row depends neither on other rows, nor on its index, nor on the row
    count.

    Expects `convert-xfmr-to-linalg` done. Leaves alone ops with fewer than two parallel dimensions and ops inside an
    `scf.forall`. Numerics: exact; no sum is split.
  }];
  let options = [Option<"registerRows", "register-rows", "int64_t", "::mlir::rt::Schedule().registerRows", "rows of a register tile">,
                 Option<"panelWidth", "panel-width", "int64_t", "::mlir::rt::Schedule().panelWidth",
                        "columns of a register tile and of a weight panel">,
                 Option<"blockBytes", "block-bytes", "int64_t", "::mlir::rt::Schedule().blockBytes",
                        "bytes of the input rows of one block">,
                 Option<"maxBlockRows", "max-block-rows", "int64_t", "::mlir::rt::Schedule().maxBlockRows", "most rows of one block">,
                 Option<"lowPrecisionRows", "low-precision-rows", "int64_t", "::mlir::rt::Schedule().lowPrecisionRows",
                        "rows of a register tile of low-precision operands">,
                 Option<"groupedRows", "grouped-rows", "int64_t", "::mlir::rt::Schedule().groupedRows",
                        "rows of a register tile of products with scales of groups">,
                 Option<"evenLowPrecisionTiles", "even-low-precision-tiles", "bool", "::mlir::rt::Schedule().evenLowPrecisionTiles",
                        "if there are few low-precision register tiles, make them about equal, as those of f32">,
                 Option<"streamPanels", "stream-panels", "int64_t", "::mlir::rt::Schedule().streamPanels",
                        "weight panels that a block of a single row reads side by side">,
                 Option<"fewRows", "few-rows", "int64_t", "::mlir::rt::Schedule().fewRows",
                        "blocks have few-columns columns if there are at most this many rows; 0 for never">,
                 Option<"fewColumns", "few-columns", "int64_t", "::mlir::rt::Schedule().fewColumns",
                        "columns of a block if there are few rows, a divisor of panel-width">,
                 Option<"wideRows", "wide-rows", "int64_t", "::mlir::rt::Schedule().wideRows", "rows of a wide low-precision block">,
                 Option<"wideColumns", "wide-columns", "int64_t", "::mlir::rt::Schedule().wideColumns",
                        "columns of a wide block, a multiple of panel-width">,
                 Option<"wideBlocks", "wide-blocks", "int64_t", "::mlir::rt::Schedule().wideBlocks",
                        "blocks are wide if there are at least this many of them; 0 for never">,
                 Option<"rowBlock", "row-block", "int64_t", "::mlir::rt::Schedule().rowBlock", "rows per task of row-wise kernels">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tiles::TileDialect"];
}

//===----------------------------------------------------------------------===//
// Vector code (phase vector)
//===----------------------------------------------------------------------===//

def ExpandMath : Pass<"attune-expand-math"> {
  let summary = "expand exp, exp2, erf, tanh, log and rsqrt of f32 into polynomials";
  let description = [{
    ```mlir
    %y = math.exp2 %x : vector<16xf32>
    // becomes
    %r = math.fma %f, %c6, %c5 : vector<16xf32>
    … // arith, math.fma and vector ops
    ```

    Expands f32 and vectors of f32 in the same way, so that a scalar tail has the bits of the vector body. Fused multiply-adds
    are explicit, and nothing is called. With `expand-bf16`, conversions between f32 and bf16 become integer arithmetic.

    Expects vectorized code. Leaves alone other element types and functions that are instructions, such as `sqrt`, `fma` and
    `floor`.

    **Numerics**: at most 0.9 ulp (exp, exp2, log), 1.2 ulp (erf), 1.7 ulp (tanh), 1.5 ulp (rsqrt) from the exact value; 2^0 = 1;
    results of exp and exp2 below 2^-126 are 0.
  }];
  let options = [Option<"expandBF16", "expand-bf16", "bool", "false", "also make integer arithmetic of conversions between f32 and bf16">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}
