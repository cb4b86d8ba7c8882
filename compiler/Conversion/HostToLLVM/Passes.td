//===- Passes.td - Passes that lower host code to LLVM -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_PASSES_TD
#define ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertRestToLLVM : Pass<"attune-convert-rest-to-llvm", "::mlir::ModuleOp"> {
  let summary = "arith, cf, func, index, math, memref and ub become the llvm dialect";
  let description = [{
    Upstream's `convert-to-llvm`, with the weights (`xfmr.weight`) out of the module meanwhile, as it searches the module for the callee of
    every call. Numerics: exact.
  }];
  // Upstream's pass expects the dialects that it converts to be loaded.
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect", "::mlir::index::IndexDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::ub::UBDialect"];
}

def FinishFunctions : Pass<"attune-finish-functions", "::mlir::ModuleOp"> {
  let summary = "linkage and attributes of functions in the llvm dialect";
  let description = [{
    Makes every function internal whose name does not begin with `attune_`. No function unwinds or has a frame pointer, and one with several
    calls is not inlined. Moves allocas of constant size to the entry block. Functions and their arguments lose the attributes of the xfmr,
    tile and rt dialects, so LLVM's tools read the result. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LowerParallelCalls : Pass<"attune-lower-parallel-calls", "::mlir::ModuleOp"> {
  let summary = "rt.parallel_call becomes a call of attune_host::parallel_for";
  let description = [{
    Captures are stored in a structure on the stack, of which a function `<body>_body` of the type attune_body_fn takes them. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect"];
}

def PrepareForLLVM : Pass<"attune-prepare-for-llvm", "::mlir::ModuleOp"> {
  let summary = "expand or reject what LLVM would make calls of a library of";
  let description = [{
    Copies of strided buffers become loops, rounding divisions become plain ones. memref.alloc and functions of libm are errors. Numerics: exact.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // ATTUNE_COMPILER_CONVERSION_HOSTTOLLVM_PASSES_TD
