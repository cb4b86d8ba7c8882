// REQUIRES: nvvm
// RUN: rm -rf %t && split-file %s %t
// RUN: not attune-opt %t/unknown.mlir --attune-to-linalg 2>&1 | FileCheck %s --check-prefix=GPU
// GPU: error: 'rt.target': expected sm_80, sm_86, sm_87, sm_89, sm_90, sm_90a, got 'sm_7'

// The passes for a GPU, with kernels that need no test tool.
// RUN: attune-opt %t/known.mlir --attune-to-bufferized=target=cuda --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=UNCHAINED
// RUN: attune-opt %t/known.mlir --attune-to-vector=target=cuda --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=DEVICE
// UNCHAINED: attune-shared-reads-to-buffers,
// UNCHAINED-NEXT: attune-write-outputs-in-place,
// UNCHAINED-NEXT: attune-bufferize,
// UNCHAINED: attune-limit-rows
// UNCHAINED-NOT: attune-block-rows-across-kernels
// RUN: attune-opt %t/known.mlir --attune-to-tiled=target=cuda --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: attune-tile-head-ops{row-block=4},
// ROWS: attune-tile-quantized-rows{row-block=1},
// DEVICE:      attune-place-on-device{threads=128},
// DEVICE-NEXT: attune-distribute-to-threads{specific-arch=90 specific-cache-bytes=33554432 specific-columns=256 specific-stages=4 threads=128},
// DEVICE-NEXT: attune-place-in-shared{bytes=73728 specific-bytes=232448},
// DEVICE-NEXT: attune-expand-math{expand-bf16=true},
// DEVICE-NEXT: cse

// Only test tools know emulated GPUs.
// RUN: not attune-opt %t/known.mlir --attune-to-vector="target=cuda gpu=emulator" 2>&1 | FileCheck %s --check-prefix=EMULATOR
// EMULATOR: --gpu: expected sm_80, {{.*}}sm_90a, got 'emulator'
// RUN: attune-opt-emulated %t/known.mlir --attune-to-vector="target=cuda gpu=emulator_90a" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=EMULATED
// EMULATED: attune-distribute-to-threads{specific-arch=10 specific-cache-bytes=98304

//--- unknown.mlir
module attributes {rt.target = #rt.target<"cuda", {archs = ["sm_7"], precision = "f32"}>} {}
//--- known.mlir
module {}
