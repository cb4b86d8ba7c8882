// RUN: attune-opt %s --convert-xfmr-to-linalg | FileCheck %s

// CHECK-DAG: #[[FULL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>

// Two passes over the row: the squares are of differences from the mean.
// CHECK-LABEL: @layer_norm
// CHECK-SAME: (%[[X:.*]]: tensor<?x48xf32>, %[[W:.*]]: tensor<48xf32>, %[[B:.*]]: tensor<48xf32>)
// CHECK-DAG: %[[INVERSE:.*]] = arith.constant 0.020833334 : f32
// CHECK-DAG: %[[EPSILON:.*]] = arith.constant 9.99999996E-13 : f32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK: linalg.fill {tile.group = #tile.group<0, "layer_norm 48">}
// CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[FULL]], #[[ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]] :
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[ACCUMULATOR:.*]]: f32):
// CHECK-NEXT: arith.addf %[[ACCUMULATOR]], %[[IN]]
// CHECK: linalg.fill {tile.group = #tile.group<0, 
// CHECK: %[[SQUARES:.*]] = linalg.generic {indexing_maps = [#[[FULL]], #[[ROW]], #[[ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[SUM]] :
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[TOTAL:.*]]: f32, %[[ACCUMULATOR:.*]]: f32):
// CHECK-NEXT: %[[MEAN:.*]] = arith.mulf %[[TOTAL]], %[[INVERSE]]
// CHECK-NEXT: %[[DIFFERENCE:.*]] = arith.subf %[[IN]], %[[MEAN]]
// CHECK-NEXT: math.fma %[[DIFFERENCE]], %[[DIFFERENCE]], %[[ACCUMULATOR]]
// CHECK: linalg.generic {indexing_maps = [#[[FULL]], #[[ROW]], #[[ROW]], #[[COLUMN]], #[[COLUMN]], #[[FULL]]], iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[SUM]], %[[SQUARES]], %[[W]], %[[B]] :
// CHECK-SAME: attrs = {tile.group = #tile.group<0, "layer_norm 48">}
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[TOTAL:.*]]: f32, %[[SQUARE:.*]]: f32, %[[WEIGHT:.*]]: f32, %[[BIAS:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[VARIANCE:.*]] = math.fma %[[SQUARE]], %[[INVERSE]], %[[EPSILON]]
// CHECK-NEXT: %[[DEVIATION:.*]] = math.sqrt %[[VARIANCE]]
// CHECK-NEXT: %[[SCALE:.*]] = arith.divf %[[ONE]], %[[DEVIATION]]
// CHECK-NEXT: %[[MEAN:.*]] = arith.mulf %[[TOTAL]], %[[INVERSE]]
// CHECK-NEXT: %[[DIFFERENCE:.*]] = arith.subf %[[IN]], %[[MEAN]]
// CHECK-NEXT: %[[NORMAL:.*]] = arith.mulf %[[DIFFERENCE]], %[[SCALE]]
// CHECK-NEXT: math.fma %[[NORMAL]], %[[WEIGHT]], %[[BIAS]]
func.func @layer_norm(%x: tensor<?x48xf32>, %w: tensor<48xf32>, %b: tensor<48xf32>) -> tensor<?x48xf32> {
  %y = xfmr.layer_norm %x, %w, %b {epsilon = 1.0e-12 : f64} : tensor<?x48xf32>, tensor<48xf32>, tensor<48xf32>
  return %y : tensor<?x48xf32>
}

// The sum with the residual is computed once, in the same kernel, and read by all three passes.
// CHECK-LABEL: @residual
// CHECK-SAME: (%[[X:.*]]: tensor<?x33xf32>, %[[R:.*]]: tensor<?x33xf32>,
// CHECK: %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[FULL]], #[[FULL]], #[[FULL]]], iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[R]] :
// CHECK-SAME: attrs = {tile.group = #tile.group<0, "layer_norm 33, residual">}
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} ins(%[[SUM]] :
// CHECK: linalg.generic {{.*}} ins(%[[SUM]], %{{[^,]*}} :
// CHECK: linalg.generic {{.*}} ins(%[[SUM]], %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} :
// CHECK-NOT: xfmr
func.func @residual(%x: tensor<?x33xf32>, %r: tensor<?x33xf32>, %w: tensor<33xf32>, %b: tensor<33xf32>) -> tensor<?x33xf32> {
  %y = xfmr.layer_norm %x, %w, %b residual(%r : tensor<?x33xf32>) {epsilon = 1.0e-5 : f64} : tensor<?x33xf32>, tensor<33xf32>, tensor<33xf32>
  return %y : tensor<?x33xf32>
}

// One pass over the row: the mean of squares, then the weight.
// CHECK-LABEL: @rms_norm
// CHECK-SAME: (%[[X:.*]]: tensor<?x48xf32>, %[[W:.*]]: tensor<48xf32>)
// CHECK: %[[SQUARES:.*]] = linalg.generic {indexing_maps = [#[[FULL]], #[[ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]] :
// CHECK: math.fma %[[IN:.*]], %[[IN]], %{{.*}} : f32
// CHECK: linalg.generic {indexing_maps = [#[[FULL]], #[[ROW]], #[[COLUMN]], #[[FULL]]], {{.*}} ins(%[[X]], %[[SQUARES]], %[[W]] :
// CHECK-SAME: attrs = {tile.group = #tile.group<0, "rms_norm 48">}
// CHECK: math.sqrt
// CHECK-NEXT: arith.divf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.mulf
func.func @rms_norm(%x: tensor<?x48xf32>, %w: tensor<48xf32>) -> tensor<?x48xf32> {
  %y = xfmr.rms_norm %x, %w {epsilon = 1.0e-6 : f64} : tensor<?x48xf32>, tensor<48xf32>
  return %y : tensor<?x48xf32>
}

// Each head is a row; rows are views of the tensor.
// CHECK-LABEL: @heads
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x12xf32>, %{{.*}}: tensor<12xf32>)
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1], [2]] : tensor<?x4x12xf32> into tensor<?x12xf32>
// CHECK: ins(%[[ROWS]] :
// CHECK: %[[NORMED:.*]] = linalg.generic {{.*}} ins(%[[ROWS]],
// CHECK: tensor.expand_shape %[[NORMED]] {{\[}}[0, 1], [2]] output_shape [%{{.*}}, 4, 12] : tensor<?x12xf32> into tensor<?x4x12xf32>
func.func @heads(%x: tensor<?x4x12xf32>, %w: tensor<12xf32>) -> tensor<?x4x12xf32> {
  %y = xfmr.rms_norm %x, %w {epsilon = 1.0e-6 : f64} : tensor<?x4x12xf32>, tensor<12xf32>
  return %y : tensor<?x4x12xf32>
}

// A static number of rows is no operand of the destinations.
// CHECK-LABEL: @static_rows
// CHECK: tensor.empty() : tensor<4xf32>
// CHECK: tensor.empty() : tensor<4x48xf32>
func.func @static_rows(%x: tensor<4x48xf32>, %w: tensor<48xf32>) -> tensor<4x48xf32> {
  %y = xfmr.rms_norm %x, %w {epsilon = 1.0e-6 : f64} : tensor<4x48xf32>, tensor<48xf32>
  return %y : tensor<4x48xf32>
}
