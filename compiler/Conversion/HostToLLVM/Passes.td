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

    Runs upstream's `convert-to-llvm`. Weights (`xfmr.weight`) are taken out of the module while it runs, since it searches the
    module for the callee of every call. Expects no structured control flow and no vectors of several dimensions. Leaves
    other dialects alone. Numerics: exact.
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
    llvm.func internal @linear(%x: !llvm.ptr) attributes {no_unwind, frame_pointer = …} {…}
    ```

    Makes every function internal whose name does not begin with `attune_`. No function unwinds or keeps a frame pointer, and a
    function with several calls is not inlined. Moves allocas of constant size to the entry block. Removes the attributes of
    the xfmr, tile and rt dialects from functions and their arguments, so that LLVM's tools can read the result.

    Expects a module in the llvm dialect. Leaves allocas of dynamic size alone. Of declarations it changes only
    the attributes. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LowerParallelCalls : Pass<"attune-lower-parallel-calls", "::mlir::ModuleOp"> {
  let summary = "lower rt.parallel_call to a call of attune_host::parallel_for";
  let description = [{
    ```mlir
    rt.parallel_call %host, %n, %c1 @body(%buffer, %x) : memref<?x4xf32>, f32
    // becomes a call of attune_host::parallel_for with @body_body and a structure on the stack that holds the captures, and
    llvm.func @body_body(…)    // an attune_body_fn: unpacks the captures, calls @body
    ```

    Only the parts of a captured buffer that its type does not give are stored: pointer, dynamic sizes, strides and offset.
    Expects loops outlined by `attune-outline-parallel`. Leaves other ops alone. Numerics: exact.
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

    Copies of strided buffers become loops; copies between buffers of identity layout stay and become `memcpy`.
    `arith.ceildivsi` and `arith.floordivsi` become `arith.divsi` with a correction. A `memref.expand_shape` with several dynamic
    sizes in one group becomes `memref.reinterpret_cast`, since `expand-strided-metadata` crashes on it. Operations that need an
    allocation, or a function of libm, are errors. Run it after bufferization, before `expand-strided-metadata` and
    `convert-scf-to-cf`. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}
