// RUN: attune-opt %s --attune-bufferize | FileCheck %s

// Weights keep their positions and order; results that are buffers of arguments are removed.
// CHECK: xfmr.weight @a :
// CHECK-NEXT: xfmr.weight @b :
// CHECK-NEXT: func.func private @kernel(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>) {
// CHECK: xfmr.weight @c :
// CHECK-NEXT: func.func @forward(%[[X:.*]]: memref<4xf32>, %[[OUT:.*]]: memref<4xf32>)
// CHECK: call @kernel(%[[X]], %[[BUFFER:.*]]) : (memref<4xf32>, memref<4xf32>) -> ()
// CHECK: memref.copy %[[BUFFER]], %[[OUT]]
// CHECK: xfmr.weight @d :
xfmr.weight @a : tensor<4xf32> = #xfmr.tensor<"a" : tensor<4xf32>>
xfmr.weight @b : tensor<4xf32> = #xfmr.tensor<"b" : tensor<4xf32>>
func.func private @kernel(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.exp ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
xfmr.weight @c : tensor<4xf32> = #xfmr.tensor<"c" : tensor<4xf32>>
func.func @forward(%x: tensor<4xf32>, %out: memref<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %y = call @kernel(%x, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  bufferization.materialize_in_destination %y in restrict writable %out : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
xfmr.weight @d : tensor<4xf32> = #xfmr.tensor<"d" : tensor<4xf32>>
