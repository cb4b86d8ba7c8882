//===- Passes.td - Phases as passes -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PIPELINES_PASSES
#define ATTUNE_PIPELINES_PASSES

include "mlir/Pass/PassBase.td"

def RunPhase : Pass<"attune-run-phase", "::mlir::ModuleOp"> {
  let summary = "lower a module to the next phase, for the target it carries";
  let description = [{
    Builds the pipeline of `phase` from the module's attributes `rt.target`, `rt.schedule` and `rt.device_schedule` and runs it; a module
    without them is compiled for x86 with AVX-512, in f32, as `--attune-to-PHASE` always was. `rt.schedule` may be missing: it follows from
    the target. Numerics: those of the passes of the phase.
  }];
  let options = [Option<"phase", "phase", "std::string", "", "the phase to lower to, from the one before it">];
}

def ReplaceTarget : Pass<"attune-replace-target", "::mlir::ModuleOp"> {
  let summary = "let a module carry another target";
  let description = [{
    Replaces `rt.target`, `rt.schedule` and `rt.device_schedule` by those of the options, so that the phases that follow are for the same
    machine. A module without `rt.target` stays without. Numerics: exact.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "512", "bits of a vector register, 32 if there are none">,
    Option<"features", "features", "std::string", "\"x86\"", "features of the CPU: x86,avx512bf16,avx512vnni,avxvnni,amx-bf16,amx-int8,sse4a">,
    Option<"precision", "precision", "std::string", "\"f32\"", "f32, bf16, f16 or int8">,
    Option<"kernels", "kernels", "std::string", "\"mlir\"", "mlir or halide">,
    Option<"gpu", "gpu", "bool", "false", "kernels run on a GPU">];
  let dependentDialects = ["::mlir::rt::RtDialect"];
}

#endif // ATTUNE_PIPELINES_PASSES
