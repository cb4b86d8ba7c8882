// RUN: rm -rf %t && split-file %s %t
// RUN: sed -e 's/TARGET/rt.target = #rt.target<"cpu", {features = ["x86"], kernels = "mlir", precision = "f32", vector_bits = 256, vector_registers = 16}>/' %t/model.mlir > %t/narrow.mlir
// RUN: sed -e 's/TARGET/test.kept/' %t/model.mlir > %t/plain.mlir

// Panels are as wide as the target wants them, or as wide as registers of AVX-512 do if the module carries no target.
// RUN: attune-opt %t/narrow.mlir --attune-to-linalg | FileCheck %s --check-prefix=NARROW
// RUN: attune-opt %t/plain.mlir --attune-to-linalg | FileCheck %s --check-prefix=WIDE --implicit-check-not=rt.target
// NARROW: rt.target = #rt.target<"cpu", {{{.*}}vector_bits = 256
// NARROW: xfmr.weight @w.panels : tensor<2x20x16xf32>
// WIDE: xfmr.weight @w.panels : tensor<1x20x32xf32>

// An option replaces the target, schedule and all; a module without a target gets that of the option, for the next phases, too.
// RUN: attune-opt %t/narrow.mlir --attune-to-linalg=cpu=x86-64-v4 | FileCheck %s --check-prefix=REPLACED
// RUN: attune-opt %t/plain.mlir --attune-to-linalg=cpu=x86-64-v3 | FileCheck %s --check-prefix=OPTION
// REPLACED: rt.schedule = #rt.schedule<>
// REPLACED-SAME: rt.target = #rt.target<"cpu", {cpu = "x86-64-v4", features = ["x86"], kernels = "mlir", precision = "f32", triple = "x86_64-unknown-linux-gnu", vector_bits = 512 : i64, vector_registers = 32 : i64}>
// REPLACED: xfmr.weight @w.panels : tensor<1x20x32xf32>
// OPTION: rt.target = #rt.target<"cpu", {cpu = "x86-64-v3"
// OPTION: xfmr.weight @w.panels : tensor<2x20x16xf32>

// The pass runs any phase. The schedule in the attributes has precedence over that of the target.
// RUN: attune-opt %t/narrow.mlir --attune-replace-target=cpu=x86-64-v4 | sed -e 's/#rt.schedule<>/#rt.schedule<panel_width = 48>/' \
// RUN:   | attune-opt --attune-run-phase=phase=linalg | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE: xfmr.weight @w.panels : tensor<1x20x48xf32>

// RUN: not attune-opt %t/plain.mlir --attune-run-phase=phase=lowered 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: error: expects a phase (import, dialect, {{.*}}), but got 'lowered'
// RUN: not attune-opt %t/plain.mlir --attune-replace-target=precision=f64 2>&1 | FileCheck %s --check-prefix=PRECISION
// PRECISION: error: expects a precision of f32, bf16, f16 or int8, but got 'f64'
// RUN: not attune-opt %t/plain.mlir --attune-to-linalg=kernels=hand 2>&1 | FileCheck %s --check-prefix=BACKEND
// BACKEND: --kernels: 'hand' is not in this build, expected mlir

// The target verifies its properties.
// RUN: sed -e 's/TARGET/rt.target = #rt.target<"cpu", {features = ["x86"], precision = "f32", vector_bits = 256}>/' %t/model.mlir > %t/properties.mlir
// RUN: not attune-opt %t/properties.mlir --attune-to-linalg 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: 'rt.target': expected property 'kernels' of target 'cpu'
// RUN: sed -e 's/TARGET/rt.target = #rt.target<"cpu", {archs = ["sm_80"], precision = "f32"}>/' %t/model.mlir > %t/properties.mlir
// RUN: not attune-opt %t/properties.mlir --attune-to-linalg 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'rt.target': target 'cpu' has no property 'archs'
// RUN: sed -e 's/TARGET/rt.target = #rt.target<"cpu", {features = "x86", precision = "f32"}>/' %t/model.mlir > %t/properties.mlir
// RUN: not attune-opt %t/properties.mlir --attune-to-linalg 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: 'rt.target': expected 'features' to be a list
// RUN: sed -e 's/TARGET/rt.target = #rt.target<"abacus", {precision = "f32"}>/' %t/model.mlir > %t/absent.mlir
// RUN: not attune-opt %t/absent.mlir --attune-to-linalg 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: error: 'rt.target': target 'abacus' is not in this build, expected cpu

// A reduced module keeps its target.
// RUN: printf '#!/bin/sh\nattune-opt --attune-to-linalg "$1" 2>/dev/null | grep -q "vector_bits = 256" && exit 1 || exit 0\n' > %t/kept.sh && chmod +x %t/kept.sh
// RUN: cd %t && attune-reduce narrow.mlir --reduction-tree='traversal-mode=0 test=./kept.sh' | FileCheck %s --check-prefix=REDUCED
// REDUCED: rt.target = #rt.target<"cpu", {{{.*}}vector_bits = 256
// REDUCED-NOT: xfmr.linear

//--- model.mlir
module attributes {TARGET} {
  xfmr.weight @w : tensor<24x20xf32> = #xfmr.tensor<"w" : tensor<24x20xf32>>
  func.func @forward(%x: tensor<?x20xf32> {xfmr.input = #xfmr.input<"x", [tokens, 20]>}) -> (tensor<?x24xf32> {xfmr.output = #xfmr.output<"y", [tokens, 24]>})
      attributes {xfmr.entry = #xfmr.entry<"forward">} {
    %w = xfmr.weight_ref @w : tensor<24x20xf32>
    %y = xfmr.linear %x, %w : tensor<?x20xf32>, tensor<24x20xf32>
    return %y : tensor<?x24xf32>
  }
}
