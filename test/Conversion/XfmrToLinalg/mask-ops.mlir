// RUN: attune-opt --convert-xfmr-to-linalg %s | FileCheck %s

// 1 visible, 0 masked; any rank.
// CHECK-LABEL: @additive_mask
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant -3.40282347E+38 : f32
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x?x?xi64>) outs(%{{.*}} : tensor<?x?x?xf32>)
// CHECK: %[[V:.*]] = arith.sitofp %{{.*}} : i64 to f32
// CHECK: %[[H:.*]] = arith.subf %[[ONE]], %[[V]]
// CHECK: arith.mulf %[[H]], %[[LOWEST]]
func.func @additive_mask(%mask: tensor<?x?x?xi64>) -> tensor<?x?x?xf32> {
  %0 = xfmr.additive_mask %mask : tensor<?x?x?xi64>
  return %0 : tensor<?x?x?xf32>
}
