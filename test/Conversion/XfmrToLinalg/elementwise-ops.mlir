// RUN: attune-opt %s --convert-xfmr-to-linalg | FileCheck %s

// An addition gets a new destination.
// CHECK-LABEL: func @add
// CHECK-SAME: %[[A:.*]]: tensor<?x48xf32>, %[[B:.*]]: tensor<?x48xf32>
func.func @add(%a: tensor<?x48xf32>, %b: tensor<?x48xf32>) -> tensor<?x48xf32> {
  // CHECK: %[[E:.*]] = tensor.empty
  // CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[E]] : {{.*}}) attrs = {tile.group = #tile.group<{{[0-9]+}}, "addf">}
  // CHECK: arith.addf
  %0 = arith.addf %a, %b : tensor<?x48xf32>
  return %0 : tensor<?x48xf32>
}

// Operations on scalars are not converted.
// CHECK-LABEL: func @negative_scalar
func.func @negative_scalar(%a: f32, %b: f32) -> f32 {
  // CHECK-NOT: linalg
  // CHECK: arith.addf
  %0 = arith.addf %a, %b : f32
  return %0 : f32
}

// So does every other elementwise op.
// CHECK-LABEL: func @tanh
func.func @tanh(%a: tensor<?x48xf32>) -> tensor<?x48xf32> {
  // CHECK: %[[E:.*]] = tensor.empty
  // CHECK: linalg.generic {{.*}} outs(%[[E]] : {{.*}}) attrs = {tile.group = #tile.group<{{[0-9]+}}, "tanh">}
  // CHECK: math.tanh {{.*}} : f32
  %0 = math.tanh %a : tensor<?x48xf32>
  return %0 : tensor<?x48xf32>
}
