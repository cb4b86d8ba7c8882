// RUN: attune-opt %S/Inputs/layer.mlir --attune-to-dialect --attune-to-linalg=cpu=x86-64-v3 --attune-to-tiled=cpu=x86-64-v3 --attune-to-kernels \
// RUN:   --attune-to-bufferized=cpu=x86-64-v3 --attune-to-vector=cpu=x86-64-v3 | FileCheck %s

// 16 registers of 256 bits: panels of 16 columns, tiles of 4 rows. Vectors still have 16 lanes, so that sums have one order everywhere.
// CHECK: xfmr.weight @q0.panels : tensor<2x20x16xf32>
// CHECK-LABEL: func.func private @linear_20_60_bias(
// CHECK: scf.for {{.*}} step %c4
// CHECK: %{{.*}}:4 = scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
