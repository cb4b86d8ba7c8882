//===- Passes.td - Passes on xfmr operations -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef XFMR_TRANSFORMS_PASSES_TD
#define XFMR_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def DecomposeComposites : Pass<"xfmr-decompose-composites", "::mlir::func::FuncOp"> {
  let summary = "rewrite multi_head_attention and ffn as projections and attention";
}

#endif // XFMR_TRANSFORMS_PASSES_TD
