// RUN: attune-opt %s --attune-tile-attention --remark-policy=all --remarks-filter=".*" 2>&1 >/dev/null | FileCheck %s
// RUN: attune-opt %s --attune-tile-attention | FileCheck %s --check-prefix=WORK

// A length that is read from memory has no bound: the arithmetic counts as 0, and a remark says so.
// CHECK: remark: {{.*}}Missed{{.*}}CountWork{{.*}}its arithmetic does not follow from the dims and counts as 0
// CHECK-NOT: CountWork
// WORK-LABEL: @length_from_memory
// WORK-NOT: tile.work
// WORK-LABEL: @length_of_argument
// WORK: tile.work
func.func @length_from_memory(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>) -> tensor<?x4x12xf32> {
  %c0 = arith.constant 0 : index
  %count = tensor.extract %offsets[%c0] : tensor<?xi64>
  %length = arith.index_cast %count : i64 to index
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}
func.func @length_of_argument(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index) -> tensor<?x4x12xf32> {
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}
