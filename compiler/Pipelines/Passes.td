//===- Passes.td - Phases as passes -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PIPELINES_PASSES
#define ATTUNE_PIPELINES_PASSES

include "mlir/Pass/PassBase.td"

def RunPhase : Pass<"attune-run-phase", "::mlir::ModuleOp"> {
  let summary = "lower a module to the next phase, for the target it carries";
  let description = [{
    Builds the pipeline of `phase` from the module's attributes `rt.target` and `rt.schedule` and runs it; a module without them is compiled
    for x86 with AVX-512, in f32. `rt.schedule` may be missing: it follows from the target. Numerics: those of the passes of the phase.
  }];
  let options = [Option<"phase", "phase", "std::string", "", "the phase to lower to, from the one before it">];
}

def ReplaceTarget : Pass<"attune-replace-target", "::mlir::ModuleOp"> {
  let summary = "let a module carry another target";
  let description = [{
    Replaces `rt.target` and `rt.schedule` by those of the options, so that the phases that follow are for the same machine. A module
    without `rt.target` stays without. Numerics: exact.
  }];
  let options = [
    Option<"target", "target", "std::string", "", "what kernels run on; the first target of the build by default">,
    Option<"cpu", "cpu", "std::string", "", "the CPU; x86-64-v4 by default">,
    Option<"triple", "triple", "std::string", "", "the triple of the CPU">,
    Option<"gpu", "gpu", "std::string", "", "GPUs">,
    Option<"kernels", "kernels", "std::string", "", "what makes the kernels">,
    Option<"precision", "precision", "std::string", "\"f32\"", "f32, bf16, f16 or int8">];
  let dependentDialects = ["::mlir::rt::RtDialect"];
}

#endif // ATTUNE_PIPELINES_PASSES
