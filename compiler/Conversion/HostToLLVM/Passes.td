//===- Passes.td - Passes that lower host code to LLVM -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

def ConvertRestToLLVM : Pass<"attune-convert-rest-to-llvm", "::mlir::ModuleOp"> {
  let summary = "convert arith, cf, func, index, math, memref and ub to the llvm dialect";
  let description = [{
    ```mlir
    %y = arith.addf %x, %x : f32
    // becomes
    %y = llvm.fadd %x, %x : f32
    ```

    Converts the dialects that earlier passes leave in host code, which is the code that is not in a `gpu.module`. One
    run of MLIR's `convert-to-llvm` converts all of them, which is faster than one run for each dialect. A module has an
    `xfmr.weight`, a symbol, for each weight of the model, and `convert-to-llvm` searches all symbols for the callee of
    every call. Of each sequence of adjacent `xfmr.weight` operations, this pass therefore takes all but the first out
    of the module, and puts them back after the conversion. Expects no structured control flow (`scf`) and no vectors of
    several dimensions. Leaves other dialects alone. Numerics: exact.
  }];
  // Upstream's pass requires that the dialects it converts are loaded.
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::func::FuncDialect", "::mlir::index::IndexDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::ub::UBDialect"];
}

def FinishFunctions : Pass<"attune-finish-functions", "::mlir::ModuleOp"> {
  let summary = "set linkage and attributes of functions in the llvm dialect";
  let description = [{
    ```mlir
    llvm.func @linear(%x: !llvm.ptr {tile.rows}) attributes {tile.kernel = …} {…}
    // becomes
    llvm.func internal @linear(%x: !llvm.ptr) attributes {no_unwind, frame_pointer = #llvm.framePointerKind<none>} {…}
    ```

    Every function with a body gets `no_unwind` and no frame pointer, and becomes internal unless its name begins with
    `attune_`, as the names of the functions that the runtime calls do. A function with more than one call, such as that
    of a layer, gets `no_inline`, so that compile time does not grow with the number of layers. Allocas of constant size
    move to the entry block, so that loops do not grow the stack. Functions and arguments lose the attributes of the
    xfmr, tile and rt dialects, so that LLVM's tools can read the result.

    Expects a module in the llvm dialect. Leaves allocas of dynamic size alone. Declarations change only in that they
    lose the attributes of the three dialects. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LowerCollectives : Pass<"attune-lower-collectives", "::mlir::ModuleOp"> {
  let summary = "lower rt.rank and rt.all_gather to reads and calls of attune_host";
  let description = [{
    ```mlir
    rt.all_gather ins(%x : memref<?x24xf32>) outs(%y, %parts : memref<?x48xf32>, memref<2x?x24xf32>) 1 at [0, 24]
    // becomes a call of attune_host::all_gather with an attune_gather on the stack, which points to the constant array
    // @begins_0_24 of the numbers 0 and 24
    ```

    Ranks are the processes that run a divided model. `rt.all_gather` joins their shards `%x` along dimension 1, the
    `axis`, to `%y`: the shard of rank 0 begins at index 0, that of rank 1 at index 24. `%parts` is scratch memory in
    which the host collects the shards of all ranks. `attune_host`, the structure of functions that the runtime provides
    to compiled code, and `attune_gather` are declared in attune/abi.h. `rt.rank`, the number of this process, becomes a
    load of `attune_host::rank`. If a gather fails, the host keeps the first error and reports it when the entry, the
    function that the application called, has returned.

    Each function with one of these operations must have a pointer to the `attune_host` as its first argument, which
    `attune-outline-parallel` adds. `rt.all_gather` must be on buffers. The types of `%x` and `%y` must show that these
    buffers are dense, that is without gaps between elements, from dimension `axis` on; the type of `%parts` must show
    this from dimension 0 on. If one of these conditions does not hold, the pass fails with an error. Leaves no
    `rt.rank` and no `rt.all_gather`, and other operations alone. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LowerParallelCalls : Pass<"attune-lower-parallel-calls", "::mlir::ModuleOp"> {
  let summary = "lower rt.parallel_call to a call of attune_host::parallel_for";
  let description = [{
    ```mlir
    rt.parallel_call %host, %n, %c1 @body(%buffer, %x) : memref<?x4xf32>, f32
    // becomes a call of attune_host::parallel_for with @body_body and a structure on the stack that holds the captures
    // %buffer and %x, and
    llvm.func @body_body(…)    // an attune_body_fn: unpacks the captures, calls @body
    ```

    `attune_host`, the structure of functions that the runtime provides to compiled code, and `attune_body_fn` are
    declared in attune/abi.h. `%host` is the pointer to the `attune_host` that the compiled function got from its
    caller. `parallel_for` calls `@body_body` from several workers, each time with a range of the `%n` iterations. The
    length of a range, except the last, is a multiple of the grain, here 1. Of a captured buffer, the structure holds
    only the parts that the buffer's type does not give: the pointer, and dynamic sizes, strides and offset.

    Expects loops outlined by `attune-outline-parallel`, each into a body of its own. It is an error if a captured
    buffer has a layout that is not strided, or if the module already has a symbol with the name of the new function,
    such as `@body_body`. Leaves no `rt.parallel_call`, and other operations alone. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect"];
}

def PrepareForLLVM : Pass<"attune-prepare-for-llvm", "::mlir::ModuleOp"> {
  let summary = "expand copies and divisions, reject what would become library calls or allocations";
  let description = [{
    ```mlir
    memref.copy %a, %b : memref<?x8xf32, strided<[16, 1]>> to memref<?x8xf32>
    // becomes
    scf.for %i = … {scf.for … {vector.load … vector.store …} scf.for … {memref.load … memref.store …}}
    ```

    Compiled objects link against no library: they may call only `memcpy`, `memmove` and `memset`.

    - A copy from or to a buffer whose layout is not the identity, for which MLIR would call a runtime function, becomes
      loops. The innermost loops copy a row 16 elements at a time, then the rest of the row one element at a time. All
      elements are copied one at a time if the last stride of a buffer is not 1, or if elements cannot be in a vector or
      are not whole bytes. A copy between buffers of identity layout is not changed; later it becomes `memcpy`.
    - `arith.ceildivsi`, `arith.ceildivui` and `arith.floordivsi` become truncating divisions with a correction.
    - A `memref.expand_shape` with several dynamic sizes in one group becomes `memref.reinterpret_cast`, since
      `expand-strided-metadata` of MLIR 22 crashes on it.
    - `memref.alloc`, `memref.realloc` and `memref.dealloc` are errors; `memref.alloca`, on the stack, stays.
    - `arith.remf` is an error, and so are all operations of `math` except `absf`, `absi`, `ceil`, `floor`, `trunc`,
      `roundeven`, `sqrt`, `fma`, `copysign`, `ctlz`, `cttz`, `ctpop`, `isnan`, `isinf` and `isfinite`, for which LLVM
      has code without a call on every CPU that Attune supports. An x86-64 CPU that Attune supports has AVX2 and FMA.

    Expects code on buffers. Run it after `attune-plan-memory` and `attune-expand-math`, and before
    `expand-strided-metadata` and `convert-scf-to-cf`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}
