//===- Passes.td - Phases as passes ------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

include "mlir/Pass/PassBase.td"

def RunPhase : Pass<"attune-run-phase", "::mlir::ModuleOp"> {
  let summary = "lower a module from one phase to the next, for the target that it carries";
  let description = [{
    Builds the pipeline of `phase` from the module's attributes `rt.target` and `rt.schedule` and runs it:

    ```mlir
    module attributes {rt.target = …} {… xfmr ops …}       // as the phase `import` leaves it
    // becomes, with phase=dialect
    module attributes {rt.target = …} {… optimized xfmr ops …}
    ```

    A phase is a step of a compilation: import, dialect, linalg, tiled, kernels, bufferized, vector, target, llvm and
    object (docs/architecture.md). `rt.target` describes the machine to compile for, the precisions and the formats of
    weights; `rt.schedule` has the tile sizes and the layouts of operands. A module without `rt.target` is compiled for
    the first target of the build (`cpu`: x86 with AVX-512), in f32; without `rt.schedule`, the schedule follows from
    the target. Expects the module that the previous phase leaves. The phases `import`, `llvm` and `object` have no
    passes: with one of these, the module stays as it is. It is an error if the phase is unknown, if this build lacks
    the target, or if the target does not accept the properties in `rt.target`. Numerics: those of the passes of the
    phase.
  }];
  let options = [Option<"phase", "phase", "std::string", "",
                        "the phase to lower to: dialect, linalg, tiled, kernels, bufferized, vector or target">];
}

def ReplaceTarget : Pass<"attune-replace-target", "::mlir::ModuleOp"> {
  let summary = "replace the target that a module carries";
  let description = [{
    Replaces `rt.target` and `rt.schedule` by the target that the options describe and its schedule, so that the next
    phases compile for this target:

    ```mlir
    module attributes {rt.target = …, rt.schedule = …} {…}
    // becomes the same module with the target and the schedule of, for example, cpu=x86-64-v3
    ```

    Run the pass on the output of the phase `import`. On the output of a later phase, the results of the earlier phases
    stay: after `linalg`, for example, weights keep the layout of the old target. Options that are not given have their
    defaults, not the values of the old target. Options that the target does not accept are an error. A module without
    `rt.target` and `rt.schedule` gets both. Numerics: exact.
  }];
  let options = [
    Option<"target", "target", "std::string", "", "target of the kernels; the first target of the build by default">,
    Option<"cpu", "cpu", "std::string", "",
           "the CPU; by default x86-64-v4, or the baseline CPU of another architecture">,
    Option<"triple", "triple", "std::string", "", "the target triple of LLVM; x86_64-unknown-linux-gnu by default">,
    Option<"gpu", "gpu", "std::string", "",
           "GPU architectures, separated by commas, for the target cuda; sm_80,sm_90a by default">,
    Option<"kernels", "kernels", "std::string", "", "generator of kernels for the CPU: mlir, the default, or halide">,
    Option<"precision", "precision", "std::string", "\"f32\"",
           "type to which operands of projections are rounded: f32, bf16, f16 (target cuda) or int8 (target cpu)">,
    Option<"weightsFormat", "weights-format", "std::string", "",
           "formats of weights, such as int4:32 (4 bits, a scale per 32 columns) or int4:32,lm_head=int8:32; none by "
           "default">,
    Option<"cachePrecision", "cache-precision", "std::string", "\"f32\"",
           "type of the elements of caches of keys and values: f32, bf16, f16 or int8">];
  let dependentDialects = ["::mlir::rt::RtDialect"];
}
