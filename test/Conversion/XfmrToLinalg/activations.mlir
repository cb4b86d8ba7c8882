// RUN: attune-opt --convert-xfmr-to-linalg %s | FileCheck %s

// CHECK-LABEL: @gelu
// CHECK: linalg.generic {{.*}} attrs = {attune.group = 0 : i64, attune.op = "activation gelu"}
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
