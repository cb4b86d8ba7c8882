//===- Passes.td - Passes that make code for CPUs ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_TARGET_CPU_PASSES_TD
#define ATTUNE_TARGET_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Lowering to LLVM (phase target)
//===----------------------------------------------------------------------===//

def EntryWrappers : Pass<"attune-entry-wrappers", "::mlir::ModuleOp"> {
  let summary = "give every entry its C function and its size functions";
}

def LowerToLLVM : Pass<"attune-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "everything left becomes the llvm dialect";
}

def OutlineParallel : Pass<"attune-outline-parallel", "::mlir::ModuleOp"> {
  let summary = "bodies of parallel loops become functions that the host's parallel_for calls";
}

#endif // ATTUNE_TARGET_CPU_PASSES_TD
