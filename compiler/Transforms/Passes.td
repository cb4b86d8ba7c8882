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
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def PlanMemory : Pass<"attune-plan-memory", "::mlir::ModuleOp"> {
  let summary = "place every buffer in one workspace whose size is a closed form of the dims";
}

#endif // ATTUNE_TRANSFORMS_PASSES_TD
