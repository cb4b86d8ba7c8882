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
    Gives each entry, a function that applications call, the attribute `xfmr.flops`: the number of arithmetic operations
    of one call, as a formula. Each `xfmr.linear` and each product of an `xfmr.attention` counts two operations for each
    multiply-add, also in the functions that the entry calls. The products of attention are Q K^T, P V and those with
    tables of relative positions. Hidden keys count, and every sequence counts at the longest length of the batch. All
    other operations count as 0.

    The formula is in terms of the dims of the entry: the names of dynamic sizes, and of `index` arguments such as
    `past`, in its signature. A size that is read from memory, such as the number of packed tokens, counts with its
    upper bound. An operation in a loop or a branch counts once. A recursive call and a call of an external function
    count as 0. In the loop over experts (`xfmr-decompose-experts`) one iteration counts for all iterations, since the
    bound of the rows of one expert is the number of rows of all experts. With the option `known-counts` of
    `xfmr-decompose-experts` the bound is only the number of tokens, so the count is multiplied by k, the number of
    experts that each token chooses.

    ```mlir
    func.func @forward(%x: tensor<?x48xf32> {xfmr.input = #xfmr.input<"x", [tokens, 48]>}, %w: tensor<64x48xf32>)
        -> tensor<?x64xf32> attributes {xfmr.entry = #xfmr.entry<"forward">} {
      %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<64x48xf32>
      return %y : tensor<?x64xf32>
    }
    // becomes
    func.func @forward(...) attributes {
        xfmr.entry = #xfmr.entry<"forward">,
        xfmr.flops = #xfmr.formula<[tokens], affine_map<()[s0] -> (s0 * 6144)>>} {…}    // 6144 = 2 * 48 * 64
    ```

    Expects `xfmr-decompose-experts` and `xfmr-decompose-composites` done: `xfmr.experts`, `xfmr.ffn` and
    `xfmr.multi_head_attention` are errors, and so is a size that neither follows from the dims nor has a bound in terms
    of them. Changes nothing else. Numerics: exact.
  }];
}

def CountGathers : Pass<"attune-count-gathers", "::mlir::ModuleOp"> {
  let summary = "record the number of gathers of every entry, and the bytes they receive, as formulas of its dims";
  let description = [{
    Ranks are the processes that run a divided model; the attribute `xfmr.ranks` of the module is their number. If it is
    above 1, each entry, a function that applications call, gets two formulas. `xfmr.gathers` is the number of
    `xfmr.all_gather` operations in a call of the entry, also in the functions that the entry calls. `xfmr.gather_bytes`
    is the number of bytes that each rank receives from the other ranks by these operations. The formulas are in terms
    of the dims of the entry: the names of dynamic sizes, and of `index` arguments such as `past`, in its signature.
    With two ranks:

    ```mlir
    func.func @forward(%x: tensor<?x24xf32> {xfmr.input = #xfmr.input<"x", [tokens, 24]>}) -> tensor<?x48xf32>
        attributes {xfmr.entry = #xfmr.entry<"forward">} {
      %y = xfmr.all_gather %x, 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
      return %y : tensor<?x48xf32>
    }
    // becomes
    func.func @forward(...) attributes {
        xfmr.entry = #xfmr.entry<"forward">, xfmr.gathers = #xfmr.formula<[], affine_map<() -> (1)>>,
        xfmr.gather_bytes = #xfmr.formula<[tokens], affine_map<()[s0] -> (s0 * 96)>>} {…}    // 24 floats of 4 bytes
    ```

    `xfmr.gathers` counts an operation in a loop once for each iteration if the number of iterations is a constant, else
    once. In the loop over experts (`xfmr-decompose-experts`) this is an upper bound, since experts that no token
    chooses gather nothing.

    `xfmr.gather_bytes` counts an operation in a loop once. In the loop over experts one iteration counts for all
    iterations, since the bound of the rows of one expert is the number of rows of all experts. With the option
    `known-counts` of `xfmr-decompose-experts` the bound is only the number of tokens, so the bytes are multiplied by k,
    the number of experts that each token chooses.

    Both attributes count a call in a loop once, and a recursive call or a call of an external function not at all. A
    size that is read from memory, such as the number of packed tokens, counts with its upper bound; a size that neither
    follows from the dims nor has such a bound is an error. Changes nothing else. Numerics: exact.
  }];
}

def CountKernelWork : Pass<"attune-count-kernel-work", "::mlir::ModuleOp"> {
  let summary = "record the arithmetic and the memory traffic of each kernel in a call of every entry";
  let description = [{
    `attune bench` compares the time of kernels with the work that this pass records. The pass gives each entry, a
    function that applications call, the attribute `rt.kernel_work`. It has an element for each kernel of the module, in
    the order of the module's functions: the number of calls of the kernel in a call of the entry, 0 if the entry does
    not call it, and formulas for the arithmetic and the bytes of all these calls. Formulas are in terms of the dims of
    the entry: the names of dynamic sizes, and of `index` arguments such as `past`, in its signature.

    ```mlir
    %y = call @linear(%x, %w, %d)
        {tile.work = #tile.work<flops = <[#xfmr.argument<0, 0>], affine_map<()[s0] -> (s0 * 64)>>>} ...
    // becomes, in the entry @forward
    func.func @forward(...) attributes {xfmr.entry = ..., rt.kernel_work = [
        #rt.kernel_work<"linear", calls = 1, flops = <[batch], affine_map<()[s0] -> (s0 * 64)>>,
                        weight_bytes = ..., tensor_bytes = ...>]}
    %y = call @linear(%x, %w, %d) ...
    ```

    The bytes are those that must be moved if nothing stays in a hardware cache from one kernel to the next: each weight
    (`weight_bytes`) and each other input (`tensor_bytes`) is read once, and each result is written once
    (`tensor_bytes`). There are three exceptions:

    - If the kernel takes slices of an input before its loop, only the bytes of the slices count.
    - If the kernel looks up elements of a table, only these elements count, each as often as it is looked up: for an
      embedding as many elements as the result has, for the scales of its rows an element for each row of the result,
      for rotary embeddings a row of the table for each row of the result. The whole table counts instead if it is
      provably smaller.
    - Caches of keys and values count with the tokens that a call accesses, as `cache_bytes` of `tile.work` says. In a
      call with `cache_bytes`, the arguments that are caches do not count by their sizes. In a kernel with a result of
      five dimensions, which updates caches, these are the results of four or more dimensions. In other kernels they are
      the inputs of four or more dimensions, except a mask.

    A call in a loop or a branch counts once. A size that is read from memory, such as the number of packed tokens,
    counts with its upper bound.

    The attribute `tile.work` of a call has formulas of the arithmetic of the call and of the bytes of caches
    (`cache_bytes`), which count as `tensor_bytes`. Their symbols are arguments of the calling function, here
    `#xfmr.argument<0, 0>` for dimension 0 of argument 0; in an entry they are its dims. All other bytes follow from the
    arguments of the kernel. `attune-tile-groups`, `attune-tile-attention` and `attune-tile-head-ops` set `tile.work` on
    loops, `attune-outline-kernels` moves it to calls, and this pass removes it.

    An entry gets no `rt.kernel_work`, and a remark says so, in two cases: the size of an operand of a kernel neither
    follows from the dims nor has a bound in terms of them, or the entry calls a recursive function. Arithmetic that
    does not follow from the dims counts as 0; a remark of the pass that tiles the kernel says so. Runs in the phase
    `kernels` after `attune-outline-kernels`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::rt::RtDialect"];
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def CheckTensorOps : Pass<"attune-check-tensor-ops", "::mlir::func::FuncOp"> {
  let summary = "reject ops on tensors that bufferization does not support";
  let description = [{
    Walks each function and reports an error at the first operation that has a tensor as an operand or a result but does
    not implement `BufferizableOpInterface`:

    ```mlir
    %y = tosa.add %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    // error: 'tosa.add' op cannot be compiled: expected ops of the xfmr, linalg, arith, math, tensor and scf dialects
    // on tensors
    ```

    Hand-written modules may have operations of any registered dialect. Run the pass before `attune-bufferize`, whose
    error does not say which dialects are supported. Changes nothing. Numerics: exact.
  }];
}

def DropCacheResults : Pass<"attune-drop-cache-results", "::mlir::func::FuncOp"> {
  let summary = "drop results of entries: caches that the entries update in place";
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

    A cache is an argument of an entry (a function that applications call), marked `xfmr.cache`, whose content is kept
    from one call to the next: keys, values or a mask. `caches = continue` says that the entry appends to caches of
    sequences that have tokens already. On tensors an entry returns each cache that it updates. After bufferization the
    result must be the buffer of the argument, which callers already have. Another buffer as the result is an error,
    since bufferization has then copied the cache. A result that is not a cache is an error, too.

    Expects bufferized functions, after `attune-outputs-to-arguments`. Leaves functions that are not entries alone.
    Numerics: exact.
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

    An entry is a function that applications call. Compiled code allocates nothing, so the application passes the memory
    for the results. The new argument has the attributes of the result. Arguments and results that are caches
    (`xfmr.cache`) stay where they are, and the pass makes them memrefs: an entry updates them in place, and
    `attune-drop-cache-results` removes the results after bufferization.

    Expects ranked tensors as results; another type is an error. Run it before `attune-bufferize`. Leaves functions that
    are not entries alone. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def WriteOutputsInPlace : Pass<"attune-write-outputs-in-place", "::mlir::ModuleOp"> {
  let summary = "compute results of entries in the buffers of the caller";
  let description = [{
    ```mlir
    %d = tensor.empty(%tokens) : tensor<?x8xf32>
    %y = call @linear(%x, %d) : (...) -> tensor<?x8xf32>
    %z = tensor.expand_shape %y [[0, 1], [2]] output_shape [%batch, %length, 8] : tensor<?x8xf32> into tensor<?x?x8xf32>
    bufferization.materialize_in_destination %z in restrict writable %out : (tensor<?x?x8xf32>, memref<?x?x8xf32>) -> ()
    // becomes
    %rows = memref.collapse_shape %out [[0, 1], [2]] : memref<?x?x8xf32> into memref<?x8xf32>
    %d = bufferization.to_tensor %rows restrict writable : memref<?x8xf32> to tensor<?x8xf32>
    %y = call @linear(%x, %d) : (...) -> tensor<?x8xf32>
    bufferization.materialize_in_destination %y in restrict writable %rows : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
    ```

    An entry is a function that applications call. Here `%out` is the buffer in which the application wants the output
    `%z`, and `%d` is the destination in which `@linear` computes `%y`. After bufferization, the last operation copies a
    buffer to itself and folds. A value that is several outputs is computed in the buffer of the first and copied to the
    others.

    A copy also remains in these cases:

    - The value is not computed in a `tensor.empty` at the top level of the entry.
    - That `tensor.empty` has other users, or is also the destination of another result of the same operation.
    - A static size or the element type of the value differs from that of the output's buffer.
    - A reshape other than `tensor.expand_shape` follows the computation.
    - The entry also uses the output's buffer in another way.

    Expects the output buffers of `attune-outputs-to-arguments` and functions that take destinations
    (`attune-outline-kernels`). Run it before `attune-bufferize`. Leaves functions that are not entries alone. The phase
    `bufferized` runs it if the schedule has `outputs_in_place`, as for GPUs. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def SharedReadsToBuffers : Pass<"attune-shared-reads-to-buffers", "::mlir::ModuleOp"> {
  let summary = "make one buffer of each tensor that several calls read, and pass this buffer to the calls";
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

    One-shot bufferization compares every use of a tensor with every other one, which is slow for a mask that all layers
    read. This pass replaces the uses in calls by one use, the conversion to a buffer. It converts an argument of a
    private function under four conditions:

    - The function only reads the argument.
    - At least two calls pass the same tensor for the argument.
    - After a call's tensor for the argument has been computed, nothing writes to its memory.
    - Nothing but calls refers to the function.

    Inside the function, `bufferization.to_tensor` makes a tensor of the buffer. The pass also converts slices: two or
    more slices of one tensor at the top level of an entry, a function that applications call, become views of one
    buffer if nothing writes to the memory of the tensor after it has been computed. Other arguments and slices are left
    alone.

    Expects functions in destination-passing style; run it before `attune-bufferize`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def StacksToBuffers : Pass<"attune-stacks-to-buffers", "::mlir::func::FuncOp"> {
  let summary = "copy the slices of a stacked tensor to a buffer one by one";
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

    A stacked tensor is an output that has a slice for each layer, such as all hidden states. One-shot bufferization
    gives the same result, but its time grows with the square of the number of slices or faster. The pass rewrites a
    `tensor.empty` and two or more `tensor.insert_slice` in its block: the first inserts into the `tensor.empty`, and
    each other one into the result of the one before. The `tensor.empty` and the results of all insertions but the last
    must have no other use. The inserted tensors may have other uses. The alignment of 64 bytes is the default of
    bufferization.

    Expects tensors; run it before `attune-bufferize`. Leaves single insertions alone. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect"];
}

def Bufferize : Pass<"attune-bufferize", "::mlir::ModuleOp"> {
  let summary = "turn tensors into buffers, across functions";
  let description = [{
    Runs upstream's one-shot bufferization with buffers of identity layout at function boundaries. Then drops those
    results of private functions that are buffers of their arguments:

    ```mlir
    func.func private @kernel(%x: tensor<?x8xf32>, %out: tensor<?x8xf32>) -> tensor<?x8xf32>
    // becomes
    func.func private @kernel(%x: memref<?x8xf32>, %out: memref<?x8xf32>)
    ```

    A module has an `xfmr.weight`, a symbol, for each weight of the model, and upstream visits all symbols for every
    call. So the pass takes all but the first `xfmr.weight` of each run of adjacent ones out of the module while
    bufferization runs, and puts them back afterwards.

    Expects functions in destination-passing style, without `xfmr.weight_ref` (`attune-assign-weight-offsets` replaces
    them). Leaves no tensors. Results that are not buffers of arguments, and all results of public functions, stay
    results. Numerics: exact.
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

    A register tile of a projection, the rows whose sums are in registers at once, reads the same column of up to 12
    rows. An L1 cache of 64 sets of 64-byte lines maps addresses 4 KiB apart to the same set. So if the size of a row is
    a multiple of 4 KiB, the elements of a column lie in one set; if it is an odd multiple of 2 KiB, they lie in two.
    The 12 rows then need 12 lines of one set, or 6 lines of each of two. A set has 8 or 12 lines, and the weights that
    are read in between need lines, too. So the line of a row may be evicted before the next column is read from it. A
    pad of one line moves each row to the next set.

    A row has all dimensions of the buffer but the first. The pass adds `pad` bytes to f32 rows whose size is a multiple
    of `multiple` bytes, here from 4096 floats to 4112. It leaves alone:

    - rows of dynamic size;
    - rows of other element types, which f32 register tiles do not read;
    - buffers that callers of an entry, a function that applications call, see;
    - buffers with a user that may depend on the stride;
    - buffers that some call passes for an argument for which another call passes a buffer that keeps its type.

    Expects bufferized functions; run it before `attune-plan-memory`. Numerics: exact.
  }];
  let options = [Option<"multiple", "multiple", "int64_t", "2048",
                        "pad rows whose size is a multiple of this many bytes; 0 pads none">,
                 Option<"pad", "pad", "int64_t", "64", "bytes of padding after a row, a multiple of 4">];
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

    Compiled code allocates nothing: the runtime allocates one workspace before a call. Each buffer gets an offset in
    the workspace that is a multiple of 64 bytes. Buffers with disjoint lifetimes can share bytes if one is provably at
    least as large as the other. Buffers in the body of an outermost parallel loop exist once for each worker, a thread
    that runs iterations (on a GPU, a thread block that runs at the same time as others).

    Every entry, a function that applications call, gets the arguments `%workspace: memref<?xi8>` and `%workers: index`,
    the number of workers, marked by `rt.role`. Another function gets both if it or a function that it calls has
    buffers. `rt.worker_count`, the operation for the number of workers, becomes `%workers`; in a function that does not
    get this argument it is an error.

    Every entry gets the attribute `rt.workspace`: the bytes that a call needs, or an upper bound if sizes are known
    only by bounds. The attribute is a `#xfmr.formula` of `workers` and of the dims of the entry: the names of dynamic
    sizes, and of `index` arguments such as `past`, in its signature.

    The number of allocated rows of a matrix with elements of at most 16 bits is rounded up to a multiple of
    `row-group`, since AMX instructions read whole groups of rows. A buffer with padded rows (such as
    `memref<?x48xf32, strided<[64, 1]>>`, see `attune-pad-rows`) is allocated with that row stride.

    Expects bufferized functions without results, and buffers whose sizes follow from the dims of the entry. A size that
    is read from memory needs a bound, such as `arith.minsi %size, %bound`. Leaves no `memref.alloc` or
    `memref.dealloc`. These are errors:

    - a size without a bound;
    - a buffer that has neither identity layout nor padded rows, is in another memory space than the default one, or has
      an alignment above 64 bytes;
    - a buffer that leaves the loop iteration that allocates it, or leaves its region other than by `scf.yield`;
    - recursion, and a call of an external function;
    - a parallel loop that calls a function which has a parallel loop with buffers.

    Numerics: exact.
  }];
  let options = [Option<"rowGroup", "row-group", "int64_t", "::mlir::rt::Schedule().lowPrecisionGroup",
                        "rows of matrices with elements of at most 16 bits that instructions read together: 32 with "
                        "AMX, else 1">];
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
    %step = … * rt.worker_count    // a few rows for each worker
    scf.for %i = %c0 to %tokens step %step {    // %n = min(%step, %tokens - %i)
      %x_i = memref.subview %x[%i, 0] [%n, 32] [1, 1]
          : memref<?x32xf32> to memref<?x32xf32, strided<[32, 1], offset: ?>>
      %y_i = memref.subview %y[%i, 0] [%n, 48] [1, 1] : …
      %a_i = memref.alloc(%n) : memref<?x48xf32>
      call @linear(%x_i, %w, %a_i)    // %a_i is first cast to a type with a dynamic offset
      call @layer_norm(%a_i, %g, %y_i)
    }
    ```

    A kernel is row-wise if row i of its results depends only on row i of the arguments that are marked `tile.rows`, and
    on the other arguments as a whole; `attune-outline-kernels` sets the mark. A call uses a buffer *by rows* if it
    passes the buffer for an argument with `tile.rows`, else *as a whole*. The pass rewrites sequences of two or more
    calls of row-wise kernels in one basic block, under four conditions:

    - Each call after the first uses by rows a buffer that an earlier call of the sequence uses by rows.
    - All uses of a buffer in the sequence are of one kind: by rows and of the same value, or as a whole. So no other
      view of a buffer that is used by rows is used.
    - No operation between the calls accesses memory; allocations are allowed.
    - At least one buffer, such as `%a`, is private: only the calls of the sequence use it. Of a private buffer, only
      the rows of one step are allocated.

    Other sequences are left alone, and so are calls of kernels that have results, have a static number of rows, or may
    depend on the offset of a buffer that they use by rows.

    The number of rows of a step is chosen as follows. All rows are divided into blocks of about equal size, of at most
    `rows` rows. The size of a block is rounded up to a multiple of `multiple`, but not above `rows`. A step has one
    such block for each worker, a thread that runs parallel loops. The kernel of a projection divides its rows in the
    same way (`attune-tile-groups` with `max-block-rows`), so in one step it has about one block of rows for each
    worker, unless `block-bytes` makes its blocks smaller. If all rows fit in one step, the loop has one iteration, in
    which each kernel divides its work among the workers as it does without the pass; projections also divide their
    columns.

    A buffer B whose first use is a call of the sequence may take over the memory of another buffer A. A is not private,
    its last use is an earlier call of the sequence, and it has the type of B or, in f32, can be collapsed to that type.
    When the calls write the rows of a step of B, they have read those of A, and no later step reads these rows.

    The kernels of rewritten sequences then accept rows from the middle of a buffer (`offset: ?`). Expects bufferized
    functions that write no argument that overlaps another one; run the pass before `attune-plan-memory`, which replaces
    `rt.worker_count`. Negative `rows`, and a `multiple` below 1 unless `rows` is 0, are errors. Numerics: exact.
  }];
  let options = [Option<"rows", "rows", "int64_t", "::mlir::rt::Schedule().maxBlockRows",
                        "most rows of a step for each worker; 0 leaves calls as they are">,
                 Option<"multiple", "multiple", "int64_t", "::mlir::rt::Schedule().registerRows",
                        "the rows of a step for each worker are rounded up to a multiple of this number, but not above "
                        "`rows`; usually the rows of a register tile or, with AMX, 32">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::rt::RtDialect"];
}

def OutlineKernels : Pass<"attune-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "move every top-level scf.forall into a function; pass destinations to private functions";
  let description = [{
    ```mlir
    %e = tensor.empty(%n) : tensor<?x8xf32>
    %y = scf.forall (%i) in (%n) shared_outs(%o = %e) -> (tensor<?x8xf32>) {… row %i of %x …}
        {tile.kernel = #tile.kernel<"norm", row_wise>}
    // becomes
    %e = tensor.empty(%n) : tensor<?x8xf32>
    %y = call @norm(%x, %e) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>

    func.func private @norm(%x: tensor<?x8xf32> {tile.rows}, %out: tensor<?x8xf32> {tile.rows}) -> tensor<?x8xf32>
        attributes {tile.kernel = #tile.kernel<"norm">}
    ```

    The function, a kernel, is in destination-passing style: its last arguments are the tensors that it overwrites and
    returns. Before them are the values that the loop reads. Views, constants and index arithmetic are not passed but
    computed again inside. A size that equals a size of a destination is read from the destination, so that equal loops
    become equal functions, which `duplicate-function-elimination` merges afterwards.

    A loop is top-level if no other `scf.forall` contains it; an `scf.if` or `scf.for` may contain it. The name of the
    function is made from the text of the loop's attribute `tile.kernel`; it is `kernel` if the loop has none.

    If `tile.kernel` says `row_wise`, the pass marks by `tile.rows` the arguments that the loop reads or writes row by
    row: index i of their first dimension for row i of every result. The mark promises that the kernel takes its number
    of rows from these arguments and reads all other arguments as a whole. If the pass cannot show this, or if the
    number of rows is static, it marks no argument.

    The group numbers `tile.group`, by which `attune-tile-groups` found the operations of the loop, are removed. The
    attribute `tile.work` moves from the loop to the call. It has formulas of the arithmetic of the loop and of the
    bytes of key/value caches that the loop accesses; their symbols are arguments of the calling function or, in an
    entry, its dims.

    Every other private function then takes destinations for its tensor results, too, except for results that update an
    argument in place, such as a cache. It is an error if the size of such a function's result does not follow from its
    arguments, or if no kernel computes the result in a `tensor.empty` of its own. The pass begins the phase `kernels`.
    Leaves operations outside of `scf.forall` where they are. Numerics: exact.
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

    A panel has `panel-width` keys of one head, transposed: one row for each component, so that a vector load reads the
    same component of several keys. The first loop fills the panels. There is no first loop for caches, whose keys are
    in panels already (of the cache's width), nor for keys of bf16 or f16 outside of caches, which tensor cores read as
    rows. The second loop runs over sequences, tiles of heads and tiles of queries.

    A row of an attention tile is one query of one head. The heads of a tile share their keys. A tile has up to 8 heads;
    if more heads share keys, they are divided among several tiles. `query-rows` is the number of rows whose scores are
    in registers at once. The number of rows of a tile is the least common multiple of `query-rows` and of the number of
    heads of the tile, so that the tile has whole queries.

    All tiles of the batch have up to `long-rows` rows instead if the operand `key_length` exceeds `key-block` and the
    operand `query_length` exceeds the number of queries of a tile of that size. One read of a block of keys from memory
    then serves more rows. Both operands are compared at run time.

    A mask of integers becomes one of f32, with 0 where an element is nonzero and the most negative f32 where it is 0. A
    mask with one element for all keys becomes one with an element for each key.

    Expects `xfmr.attention` on tensors, after `convert-xfmr-to-linalg`, and leaves none. Leaves other operations alone.
    Numerics: those of `tile.attention_tile`, whose sums run over blocks of keys.
  }];
  let options = [Option<"queryRows", "query-rows", "int64_t", "::mlir::rt::Schedule().queryRows",
                        "rows of an attention tile whose scores are in registers at once, a power of two">,
                 Option<"longRows", "long-rows", "int64_t", "::mlir::rt::Schedule().attentionRows",
                        "most rows of an attention tile if there are more than `key-block` keys">,
                 Option<"panelWidth", "panel-width", "int64_t", "::mlir::rt::Schedule().keyPanelWidth",
                        "keys of a panel outside of caches, a multiple of 16">,
                 Option<"keyBlock", "key-block", "int64_t", "512",
                        "keys whose scores are computed before the maximum and sum of a row are updated, a multiple of "
                        "the width of panels">,
                 Option<"precision", "precision", "::mlir::xfmr::Precision", "::mlir::rt::Schedule().attentionPrecision",
                        "type to which operands of Q K^T and P V may be rounded; keys of bf16 or f16 outside of caches "
                        "have precedence",
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

    `tile.quantize_rows` rounds rows of f32 to bf16 or f16, as here, or quantizes them to integers of 8 bits with a
    scale for each row or each group of columns. In the fused loop it reads the rows while they are in the L1 cache. The
    text of the loop's attribute `tile.kernel`, which describes the kernel, gets the new type as a suffix, such as
    `, bf16`.

    A loop can be fused only if it is in the block of the operation and writes whole rows, since the scale of a row can
    depend on all of its elements. A loop that writes parts of rows, as that of a projection does, is not fused. Without
    a loop that can be fused, the operation gets a loop of its own over blocks of `row-block` rows.

    Expects `attune-tile-groups` and `attune-tile-attention` done. Leaves alone operations inside an `scf.forall`.
    Numerics: exact; the results are those that `tile.quantize_rows` defines.
  }];
  let options = [Option<"rowBlock", "row-block", "int64_t", "::mlir::rt::Schedule().quantizedRowBlock",
                        "rows of one iteration of a loop of its own">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::tiles::TileDialect"];
}

def TileHeadOps : Pass<"attune-tile-head-ops", "::mlir::func::FuncOp"> {
  let summary = "lower rotary embeddings and cache operations to parallel loops around tiles";
  let description = [{
    ```mlir
    %y = xfmr.rotary %x, %positions, %table {interleaved} : tensor<?x4x12xf32>, tensor<512x8xf32>
    // becomes
    %y = scf.forall (%block) in (%blocks) shared_outs(%o = %e) -> (tensor<?x4x12xf32>) {
      … tile.rotary_tile ins(%rows, %ids, %table : …) …
    }
    ```

    The pass lowers operations that handle each head by itself:

    - `xfmr.rotary`, rotary position embeddings, becomes a loop over blocks of `row-block` tokens with
      `tile.rotary_tile`.
    - `xfmr.kv_cache_update`, which appends keys and values to caches, becomes a loop over sequences and heads. The loop
      copies values, or converts them by `tile.cache_rows` if the cache has another element type. It writes keys by
      `tile.key_panel`, since a cache has keys in panels: blocks of keys, transposed to one row for each component. The
      caches themselves are the destinations of the loop, so that bufferization updates them in place.
    - `xfmr.kv_cache_read`, which returns the first `length` keys and values of every slot of a cache, becomes a loop
      over slots and heads. A slot is the part of a cache for one sequence. The loop copies values, and transposes
      panels of keys back to rows by `tile.unpack_keys`.

    Expects these operations on tensors, after `convert-xfmr-to-linalg`, and leaves none. Leaves other operations alone.
    Numerics: exact; the results are those that the tile operations define.
  }];
  let options = [Option<"rowBlock", "row-block", "int64_t", "::mlir::rt::Schedule().rowBlock",
                        "tokens in one iteration of the loop of rotary embeddings">];
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
    %y = scf.forall (%i, %j) = (0, 0) to (%n, 64) step (%rows, %columns) shared_outs(%o = %e) -> (tensor<?x64xf32>) {
      scf.for %row = … {linalg.generic … linalg.generic …}
    } {tile.kernel = #tile.kernel<"linear 48 -> 64, bias", row_wise>, tile.work = …}
    ```

    Operations with the same number in `tile.group` become one kernel; an operation without a number is a kernel by
    itself. The last operation of a kernel is tiled, and the others are fused into its tiles.

    **Projections** become an `scf.forall` over blocks of rows and columns, around an `scf.for` over register tiles. A
    register tile is the rows of a block whose sums are in registers at once. A block has the columns of one weight
    panel (`%columns`), except as `stream-panels`, `few-rows` and `wide-blocks` say. All blocks have about the same
    number of rows (here `%rows`), at most `max-block-rows`. Every panel reads the input rows of the block again, from
    the L2 cache. So these have at most `block-bytes` bytes, unless that is less than one register tile. Wide blocks
    have `wide-rows` rows instead. If a block has at most three register tiles, these have about the same number of
    rows, too; low-precision tiles only with `even-low-precision-tiles`.

    **Products by weights with a scale per group** (`tile.grouped_product`) are tiled in the same way. If `wide-blocks`
    is not 0, they are tiled like other low-precision products. If it is 0, their register tiles have at most
    `grouped-rows` rows for quantized rows and at most `register-rows` for rows of floats, and up to three register
    tiles of a block always have about the same number of rows.

    **Other kernels** become an `scf.forall` over blocks of `row-block` rows, the last dimension but one, and over
    single indices of the dimensions before it. The last dimension stays whole.

    The attribute `tile.kernel` of a loop describes the kernel. It says `row_wise` if the pass finds that a row of the
    results depends neither on other rows, nor on its index, nor on the number of rows. On the loop of a product,
    `tile.work` has the number of arithmetic operations of all iterations, two for each multiply-add. It is a formula
    whose symbols are index arguments and sizes of arguments of the function or, in an entry, its dims. A number that
    has no such formula counts as 0, with a remark.

    Expects `convert-xfmr-to-linalg` and `attune-tile-attention` done. A dimension that is known to have size 0 is an
    error. Leaves alone kernels whose last operation has fewer than two parallel dimensions, and operations inside an
    `scf.forall`. Numerics: exact; no sum is split.
  }];
  let options = [Option<"registerRows", "register-rows", "int64_t", "::mlir::rt::Schedule().registerRows",
                        "most rows of a register tile of f32, and of products of float rows by weights with a scale "
                        "per group">,
                 Option<"panelWidth", "panel-width", "int64_t", "::mlir::rt::Schedule().panelWidth",
                        "columns of a register tile and of a weight panel, a multiple of 16">,
                 Option<"blockBytes", "block-bytes", "int64_t", "::mlir::rt::Schedule().blockBytes",
                        "most bytes of the input rows of one block if they were f32, but at least one register tile">,
                 Option<"maxBlockRows", "max-block-rows", "int64_t", "::mlir::rt::Schedule().maxBlockRows",
                        "most rows of one block">,
                 Option<"lowPrecisionRows", "low-precision-rows", "int64_t", "::mlir::rt::Schedule().lowPrecisionRows",
                        "most rows of a register tile of low-precision operands, except of products by weights with a "
                        "scale per group if `wide-blocks` is 0">,
                 Option<"groupedRows", "grouped-rows", "int64_t", "::mlir::rt::Schedule().groupedRows",
                        "most rows of a register tile of products of quantized rows by weights with a scale per group">,
                 Option<"evenLowPrecisionTiles", "even-low-precision-tiles", "bool", "::mlir::rt::Schedule().evenLowPrecisionTiles",
                        "up to three low-precision register tiles of a block have about equal sizes, as those of f32 "
                        "have">,
                 Option<"streamPanels", "stream-panels", "int64_t", "::mlir::rt::Schedule().streamPanels",
                        "weight panels that a block of an f32 product reads side by side if there is a single row and "
                        "`few-rows` is 0: several streams use more of the memory's bandwidth">,
                 Option<"fewRows", "few-rows", "int64_t", "::mlir::rt::Schedule().fewRows",
                        "blocks have `few-columns` columns if there are at most this many rows, so that there are "
                        "enough blocks; 0 for never">,
                 Option<"fewColumns", "few-columns", "int64_t", "::mlir::rt::Schedule().fewColumns",
                        "columns of a block if there are at most `few-rows` rows, a multiple of 16 that divides "
                        "`panel-width`">,
                 Option<"wideRows", "wide-rows", "int64_t", "::mlir::rt::Schedule().wideRows",
                        "rows of a wide low-precision block, which reads fewer operands for each product">,
                 Option<"wideColumns", "wide-columns", "int64_t", "::mlir::rt::Schedule().wideColumns",
                        "columns of a wide block, a multiple of `panel-width`">,
                 Option<"wideBlocks", "wide-blocks", "int64_t", "::mlir::rt::Schedule().wideBlocks",
                        "low-precision blocks are wide if the product has at least this many wide blocks, more than "
                        "half of `wide-rows` rows and more than `panel-width` columns; 0 for never">,
                 Option<"rowBlock", "row-block", "int64_t", "::mlir::rt::Schedule().rowBlock",
                        "rows of one iteration of a kernel without a product">];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::tiles::TileDialect"];
}

//===----------------------------------------------------------------------===//
// Vector code (phase vector)
//===----------------------------------------------------------------------===//

def ExpandMath : Pass<"attune-expand-math"> {
  let summary = "expand exp, exp2, erf, tanh, log and rsqrt of f32 into arithmetic that needs no library";
  let description = [{
    ```mlir
    %y = math.exp2 %x : vector<16xf32>
    // becomes
    %r = math.fma %c6, %f, %c5 : vector<16xf32>
    … // arith, math.fma and vector ops; %f is the fraction of %x, %c6 and %c5 are coefficients
    ```

    Compiled code calls no mathematical library. Scalars and vectors are expanded in the same way, so that the last
    elements of a row, computed one by one, have the same bits as in a vector. exp, exp2, erf, tanh and log become
    polynomials, with a division in tanh, and rsqrt becomes a division by `sqrt`. Multiply-adds that are to be fused are
    `math.fma`. With `expand-bf16`, conversions between f32 and bf16 become integer arithmetic, and conversions between
    integers and bf16 go through f32; the target `cuda` and CPUs without an instruction that rounds to bf16 need this.

    Runs on any operation; expects code of vectors or, on a GPU, of one thread. Leaves alone other element types, and
    functions that are instructions, such as `sqrt`, `fma` and `floor`. All other functions of the math dialect stay,
    too; `attune-prepare-for-llvm` rejects them later.

    **Numerics**: results are at most 0.8 ulp (exp2), 0.9 ulp (exp, log), 1.2 ulp (erf), 1.5 ulp (rsqrt) or 1.7 ulp
    (tanh) from the exact value, as measured on about 10.8 million values of f32; 1 ulp is the spacing of f32 at the
    exact value. The exception is exp and exp2 where the exact value is below 2^-126: there the result is 0. 2^0 = 1.
  }];
  let options = [Option<"expandBF16", "expand-bf16", "bool", "false",
                        "also expand conversions to and from bf16 into integer arithmetic">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::vector::VectorDialect"];
}
