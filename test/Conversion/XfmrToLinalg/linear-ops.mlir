// RUN: attune-opt %s --convert-xfmr-to-linalg | FileCheck %s
// RUN: attune-opt %s --convert-xfmr-to-linalg="panel-width=16" | FileCheck %s --check-prefix=NARROW

// All operations of a kernel have the same kernel number.
// CHECK-DAG: #[[FULL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMNS:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// NARROW-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 16, d2, d1 mod 16)>

// Without bias, activation and residual there is no epilogue.
// CHECK-LABEL: @plain
// CHECK-SAME: (%[[X:.*]]: tensor<?x48xf32>, %[[W:.*]]: tensor<64x48xf32>)
// CHECK: %[[T:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[D:.*]] = tensor.empty(%[[T]]) : tensor<?x64xf32>
// CHECK: %[[ZERO:.*]] = linalg.fill {tile.group = #tile.group<0, "linear 48 -> 64">} {{.*}} outs(%[[D]]
// CHECK: %[[P:.*]] = xfmr.weight_pack %[[W]], 32 : tensor<64x48xf32>
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %[[P]] : tensor<?x48xf32>, tensor<2x48x32xf32>) outs(%[[ZERO]]
// CHECK-SAME: attrs = {tile.group = #tile.group<0, "linear 48 -> 64">}
// CHECK-NEXT: ^bb0(%[[LEFT:.*]]: f32, %[[RIGHT:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[LEFT]], %[[RIGHT]]
// CHECK-NEXT: arith.addf %[[SUM]], %[[PRODUCT]]
// CHECK: return %[[R]]
// NARROW-LABEL: @plain
// NARROW: %[[P:.*]] = xfmr.weight_pack %{{.*}}, 16 : tensor<64x48xf32>
// NARROW: linalg.generic {indexing_maps = [#{{.*}}, #[[B]], #{{.*}}]{{.*}} ins(%{{.*}}, %[[P]] : tensor<?x48xf32>, tensor<4x48x16xf32>)
func.func @plain(%x: tensor<?x48xf32>, %w: tensor<64x48xf32>) -> tensor<?x64xf32> {
  %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<64x48xf32>
  return %y : tensor<?x64xf32>
}

// The last panel of 50 columns is padded; the result is not.
// CHECK-LABEL: @tail_columns
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x48xf32>, tensor<2x48x32xf32>) outs(%{{.*}} : tensor<?x50xf32>)
// NARROW-LABEL: @tail_columns
// NARROW: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x48xf32>, tensor<4x48x16xf32>) outs(%{{.*}} : tensor<?x50xf32>)
func.func @tail_columns(%x: tensor<?x48xf32>, %w: tensor<50x48xf32>) -> tensor<?x50xf32> {
  %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<50x48xf32>
  return %y : tensor<?x50xf32>
}

// CHECK-LABEL: @bias
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: tensor<50xf32>
// CHECK: %[[PRODUCT:.*]] = linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]]
// CHECK: linalg.generic {indexing_maps = [#[[FULL]], #[[COLUMNS]], #[[FULL]]], iterator_types = ["parallel", "parallel"]} ins(%[[PRODUCT]], %[[BIAS]] :
// CHECK-SAME: attrs = {tile.group = #tile.group<0, "linear 48 -> 50, bias">}
// CHECK-NEXT: ^bb0(%[[Y:.*]]: f32, %[[ADDED:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[Y]], %[[ADDED]]
// CHECK-NEXT: linalg.yield %[[SUM]]
func.func @bias(%x: tensor<?x48xf32>, %w: tensor<50x48xf32>, %b: tensor<50xf32>) -> tensor<?x50xf32> {
  %y = xfmr.linear %x, %w bias(%b) : tensor<?x48xf32>, tensor<50x48xf32>, bias tensor<50xf32>
  return %y : tensor<?x50xf32>
}

// CHECK-LABEL: @activation
// CHECK: linalg.generic {indexing_maps = [#[[FULL]], #[[FULL]]]
// CHECK-SAME: #tile.group<{{[0-9]+}}, "linear 48 -> 50, relu">
// CHECK-NEXT: ^bb0(%[[Y:.*]]: f32, %{{.*}}: f32):
// CHECK: arith.maximumf %[[Y]], %{{.*}}
func.func @activation(%x: tensor<?x48xf32>, %w: tensor<50x48xf32>) -> tensor<?x50xf32> {
  %y = xfmr.linear %x, %w {activation = #xfmr.activation<relu>} : tensor<?x48xf32>, tensor<50x48xf32>
  return %y : tensor<?x50xf32>
}

// CHECK-LABEL: @residual
// CHECK-SAME: %[[RESIDUAL:[a-z0-9]+]]: tensor<?x50xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[FULL]], #[[FULL]], #[[FULL]]]{{.*}} ins(%{{.*}}, %[[RESIDUAL]] :
// CHECK-SAME: #tile.group<{{[0-9]+}}, "linear 48 -> 50, residual">
// CHECK-NEXT: ^bb0(%[[Y:.*]]: f32, %[[ADDED:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.addf %[[Y]], %[[ADDED]]
func.func @residual(%x: tensor<?x48xf32>, %w: tensor<50x48xf32>, %r: tensor<?x50xf32>) -> tensor<?x50xf32> {
  %y = xfmr.linear %x, %w residual(%r) : tensor<?x48xf32>, tensor<50x48xf32>, residual tensor<?x50xf32>
  return %y : tensor<?x50xf32>
}

// activation(x + bias) + residual, in this order.
// CHECK-LABEL: @bias_activation_residual
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: tensor<50xf32>, %[[RESIDUAL:[a-z0-9]+]]: tensor<?x50xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[FULL]], #[[COLUMNS]], #[[FULL]], #[[FULL]]]{{.*}} ins(%{{.*}}, %[[BIAS]], %[[RESIDUAL]] :
// CHECK-SAME: #tile.group<{{[0-9]+}}, "linear 48 -> 50, bias, tanh, residual">
// CHECK-NEXT: ^bb0(%[[Y:.*]]: f32, %[[B1:.*]]: f32, %[[R1:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[BIASED:.*]] = arith.addf %[[Y]], %[[B1]]
// CHECK-NEXT: %[[ACTIVE:.*]] = math.tanh %[[BIASED]]
// CHECK-NEXT: arith.addf %[[ACTIVE]], %[[R1]]
func.func @bias_activation_residual(%x: tensor<?x48xf32>, %w: tensor<50x48xf32>, %b: tensor<50xf32>, %r: tensor<?x50xf32>) -> tensor<?x50xf32> {
  %y = xfmr.linear %x, %w bias(%b) residual(%r) {activation = #xfmr.activation<tanh>}
    : tensor<?x48xf32>, tensor<50x48xf32>, bias tensor<50xf32>, residual tensor<?x50xf32>
  return %y : tensor<?x50xf32>
}

// The second kernel has the next number and the first one's result.
// CHECK-LABEL: @two_kernels
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}}tile.group = #tile.group<0, "linear 48 -> 50">
// CHECK: linalg.fill {tile.group = #tile.group<1, "linear 50 -> 8">}
// CHECK: linalg.generic {{.*}} ins(%[[FIRST]], %{{.*}}tile.group = #tile.group<1, "linear 50 -> 8">
func.func @two_kernels(%x: tensor<?x48xf32>, %w: tensor<50x48xf32>, %v: tensor<8x50xf32>) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<50x48xf32>
  %z = xfmr.linear %y, %v : tensor<?x50xf32>, tensor<8x50xf32>
  return %z : tensor<?x8xf32>
}

// Heads are views.
// CHECK-LABEL: @heads
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] {{.*}} : tensor<?x48xf32> into tensor<?x4x12xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<?x2x24xf32> into tensor<?x48xf32>
func.func @heads(%x: tensor<?x48xf32>, %y: tensor<?x2x24xf32>) -> (tensor<?x4x12xf32>, tensor<?x48xf32>) {
  %split = xfmr.split_heads %x, 4 : tensor<?x48xf32>
  %merged = xfmr.merge_heads %y : tensor<?x2x24xf32>
  return %split, %merged : tensor<?x4x12xf32>, tensor<?x48xf32>
}

// Attention is tiled whole, weight expressions are hoisted: neither is converted.
// CHECK-LABEL: @negative_attention
// CHECK: xfmr.weight_concat 0
// CHECK: xfmr.attention
// CHECK-NOT: linalg
func.func @negative_attention(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index, %w: tensor<8x48xf32>)
    -> (tensor<?x4x12xf32>, tensor<16x48xf32>) {
  %both = xfmr.weight_concat 0, %w, %w : tensor<8x48xf32>, tensor<8x48xf32>
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %y, %both : tensor<?x4x12xf32>, tensor<16x48xf32>
}

// Weights of bf16 and f16 have the panels of f32 and are widened in the contraction.
// CHECK-LABEL: @bf16_weights
// CHECK: %[[ROUNDED:.*]] = xfmr.weight_convert %{{.*}} : tensor<64x48xf32> -> tensor<64x48xbf16>
// CHECK: %[[P:.*]] = xfmr.weight_pack %[[ROUNDED]], 32 : tensor<64x48xbf16>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[P]] : tensor<?x48xf32>, tensor<2x48x32xbf16>) outs(%{{.*}} : tensor<?x64xf32>)
// CHECK-SAME: attrs = {tile.group = #tile.group<{{[0-9]+}}, "linear 48 -> 64, bf16">}
// CHECK-NEXT: ^bb0(%[[LEFT:.*]]: f32, %[[RIGHT:.*]]: bf16, %[[SUM:.*]]: f32):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[RIGHT]] : bf16 to f32
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[LEFT]], %[[WIDE]]
// CHECK-NEXT: arith.addf %[[SUM]], %[[PRODUCT]]
// CHECK: xfmr.weight_convert %{{.*}} : tensor<50x64xf32> -> tensor<50x64xf16>
// CHECK: linalg.generic {{.*}} tensor<2x64x32xf16>) outs(%{{.*}} : tensor<?x50xf32>)
func.func @bf16_weights(%x: tensor<?x48xf32>, %w: tensor<64x48xf32>, %v: tensor<50x64xf32>) -> tensor<?x50xf32> {
  %y = xfmr.linear %x, %w {format = #xfmr.weight_format<"bf16">} : tensor<?x48xf32>, tensor<64x48xf32>
  %z = xfmr.linear %y, %v {format = #xfmr.weight_format<"f16">} : tensor<?x64xf32>, tensor<50x64xf32>
  return %z : tensor<?x50xf32>
}

// A static number of rows is no operand of the destination.
// CHECK-LABEL: @static_rows
// CHECK: tensor.empty() : tensor<4x64xf32>
func.func @static_rows(%x: tensor<4x48xf32>, %w: tensor<64x48xf32>) -> tensor<4x64xf32> {
  %y = xfmr.linear %x, %w : tensor<4x48xf32>, tensor<64x48xf32>
  return %y : tensor<4x64xf32>
}
