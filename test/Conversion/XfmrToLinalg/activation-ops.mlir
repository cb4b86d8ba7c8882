// RUN: attune-opt --convert-xfmr-to-linalg %s | FileCheck %s

// CHECK-LABEL: @gelu
// CHECK: linalg.generic {{.*}} attrs = {tile.group = #tile.group<0, "activation gelu">}
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[S:.*]] = arith.mulf %[[X]], %{{.*}}
// CHECK: %[[E:.*]] = math.erf %[[S]]
// CHECK: %[[H:.*]] = arith.mulf %[[X]], %{{.*}}
// CHECK: %[[P:.*]] = arith.addf %{{.*}}, %[[E]]
// CHECK: arith.mulf %[[H]], %[[P]]
func.func @gelu(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.activation <gelu> %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @gelu_tanh
// CHECK: math.tanh
func.func @gelu_tanh(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.activation <gelu_tanh> %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @relu
// CHECK: arith.maximumf
func.func @relu(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.activation <relu> %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @silu
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[N:.*]] = arith.negf %[[X]]
// CHECK: %[[E:.*]] = math.exp %[[N]]
// CHECK: %[[D:.*]] = arith.addf %{{.*}}, %[[E]]
// CHECK: arith.divf %[[X]], %[[D]]
func.func @silu(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.activation <silu> %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @tanh
// CHECK: math.tanh
func.func @tanh(%x: tensor<?x8x4xf32>) -> tensor<?x8x4xf32> {
  %0 = xfmr.activation <tanh> %x : tensor<?x8x4xf32>
  return %0 : tensor<?x8x4xf32>
}

// CHECK-LABEL: @quick_gelu
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[S:.*]] = arith.mulf %[[X]], %{{.*}}
// CHECK: %[[N:.*]] = arith.negf %[[S]]
// CHECK: math.exp %[[N]]
// CHECK: arith.divf %[[X]], %{{.*}}
func.func @quick_gelu(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.activation <quick_gelu> %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @sigmoid
// CHECK: arith.divf %{{cst.*}}, %{{.*}}
func.func @sigmoid(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.activation <sigmoid> %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @relu6
// CHECK: %[[R:.*]] = arith.maximumf
// CHECK: arith.minimumf %[[R]]
func.func @relu6(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.activation <relu6> %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @squared_relu
// CHECK: %[[R:.*]] = arith.maximumf
// CHECK: arith.mulf %[[R]], %[[R]]
func.func @squared_relu(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.activation <squared_relu> %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @leaky_relu
// CHECK: %[[S:.*]] = arith.mulf %[[X:.*]], %{{.*}}
// CHECK: arith.maximumf %[[X]], %[[S]]
func.func @leaky_relu(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.activation <leaky_relu> %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// All operations of a kernel have the same kernel number.
// CHECK-LABEL: @softmax
// CHECK: linalg.fill {tile.group = #tile.group<[[G:.*]], "softmax 48">}
// CHECK: arith.maximumf
// CHECK: tile.group = #tile.group<[[G]], 
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: tile.group = #tile.group<[[G]], 
// CHECK: arith.divf
func.func @softmax(%x: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %0 = xfmr.softmax %x : tensor<?x48xf32>
  return %0 : tensor<?x48xf32>
}

// CHECK-LABEL: @log_softmax
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: math.log
// CHECK: arith.subf
// CHECK-NOT: arith.divf
// CHECK: return
func.func @log_softmax(%x: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %0 = xfmr.softmax log %x : tensor<?x48xf32>
  return %0 : tensor<?x48xf32>
}
