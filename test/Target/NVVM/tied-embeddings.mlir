// RUN: attune-opt %s --attune-to-dialect="target=cuda gpu=sm_80 precision=bf16" --dump-pass-pipeline 2>&1 | FileCheck %s

// Kernels on a GPU read rows of embeddings from tables of f32, also if these are stored for a projection, too.
// CHECK: xfmr-split-deep-projections
// CHECK-NOT: xfmr-tie-embeddings
// CHECK: xfmr-hoist-weight-expressions
module {}
