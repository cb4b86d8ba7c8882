//===- Passes.td - Passes that make entries callable from C ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_OBJECT_PASSES_TD
#define ATTUNE_COMPILER_OBJECT_PASSES_TD

include "mlir/Pass/PassBase.td"

def EntryWrappers : Pass<"attune-entry-wrappers", "::mlir::ModuleOp"> {
  let summary = "give every entry its C function and its size functions";
  let description = [{
    For the entry `forward`: `attune_entry_forward(host, call)`, `attune_workspace_forward(dims, workers)` and `attune_flops_forward(dims, workers)`
    of the types in attune/abi.h. Expects `attune-plan-memory` and `attune-outline-parallel` done, or `attune-outline-launches` with `device`: then the host
    that functions get is that of the call and the first error of its launches, `!llvm.struct<(ptr, i32)>`, which the entry returns. Numerics: exact.
  }];
  let options = [Option<"device", "device", "bool", "false", "kernels run on a device: entries return the first error of a launch">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect"];
}

#endif // ATTUNE_COMPILER_OBJECT_PASSES_TD
