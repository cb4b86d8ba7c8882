// RUN: attune-opt %s --xfmr-split-deep-projections=max-features=128 | FileCheck %s
// RUN: attune-opt %s --xfmr-split-deep-projections=max-features=0 | FileCheck %s --check-prefix=NONE
// RUN: attune-opt %s --xfmr-split-deep-projections=max-features=128 --xfmr-hoist-weight-expressions | FileCheck %s --check-prefix=WEIGHTS

// Each part is a weight of its own.
// WEIGHTS-DAG: xfmr.weight @w.slice : tensor<8x128xf32> = #xfmr.slice<#xfmr.tensor<"w" : tensor<8x300xf32>>, 1, 0, 128>
// WEIGHTS-DAG: xfmr.weight @w.slice_0 : tensor<8x128xf32> = #xfmr.slice<#xfmr.tensor<"w" : tensor<8x300xf32>>, 1, 128, 256>
// WEIGHTS-DAG: xfmr.weight @w.slice_1 : tensor<8x44xf32> = #xfmr.slice<#xfmr.tensor<"w" : tensor<8x300xf32>>, 1, 256, 300>
// WEIGHTS-LABEL: func.func @deep
// WEIGHTS-NOT: xfmr.weight_slice
// WEIGHTS: return
xfmr.weight @w : tensor<8x300xf32> = #xfmr.tensor<"w" : tensor<8x300xf32>>
// NONE-NOT: xfmr.weight_slice

// 300 features are three parts of up to 128; bias and residual go to the first.
// CHECK-LABEL: @deep
// CHECK-SAME: (%[[X:.*]]: tensor<?x300xf32>, %[[B:.*]]: tensor<8xf32>, %[[R:.*]]: tensor<?x8xf32>)
// CHECK: %[[W:.*]] = xfmr.weight_ref @w
// CHECK: %[[T:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[X0:.*]] = tensor.extract_slice %[[X]][0, 0] [%[[T]], 128] [1, 1] : tensor<?x300xf32> to tensor<?x128xf32>
// CHECK: %[[W0:.*]] = xfmr.weight_slice %[[W]], 0 to 128
// CHECK: %[[Y0:.*]] = xfmr.linear %[[X0]], %[[W0]] bias(%[[B]]) residual(%[[R]]) :
// CHECK: %[[X1:.*]] = tensor.extract_slice %[[X]][0, 128] [%[[T]], 128] [1, 1]
// CHECK: %[[W1:.*]] = xfmr.weight_slice %[[W]], 128 to 256
// CHECK: %[[Y1:.*]] = xfmr.linear %[[X1]], %[[W1]] residual(%[[Y0]]) :
// CHECK: %[[X2:.*]] = tensor.extract_slice %[[X]][0, 256] [%[[T]], 44] [1, 1]
// CHECK: %[[W2:.*]] = xfmr.weight_slice %[[W]], 256 to 300
// CHECK: %[[Y2:.*]] = xfmr.linear %[[X2]], %[[W2]] residual(%[[Y1]]) :
// CHECK: return %[[Y2]]
func.func @deep(%x: tensor<?x300xf32>, %b: tensor<8xf32>, %r: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %w = xfmr.weight_ref @w : tensor<8x300xf32>
  %y = xfmr.linear %x, %w bias(%b) residual(%r) : tensor<?x300xf32>, tensor<8x300xf32>, bias tensor<8xf32>, residual tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// 140 features are 128 and 12, as 70 is no multiple of 64; without bias and residual nothing is added to the first.
// CHECK-LABEL: @plain
// CHECK: %[[W0:.*]] = xfmr.weight_slice %{{.*}}, 0 to 128
// CHECK: %[[Y0:.*]] = xfmr.linear %{{.*}}, %[[W0]] :
// CHECK: %[[W1:.*]] = xfmr.weight_slice %{{.*}}, 128 to 140
// CHECK: xfmr.linear %{{.*}}, %[[W1]] residual(%[[Y0]]) :
func.func private @plain(%x: tensor<?x140xf32>, %w: tensor<8x140xf32> {xfmr.weight}) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w : tensor<?x140xf32>, tensor<8x140xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @negative_shallow
// CHECK-NOT: xfmr.weight_slice
// CHECK: return
func.func private @negative_shallow(%x: tensor<?x128xf32>, %w: tensor<8x128xf32> {xfmr.weight}) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w : tensor<?x128xf32>, tensor<8x128xf32>
  return %y : tensor<?x8xf32>
}

// The activation applies to the whole sum; multiplier and residual are applied after it.
// CHECK-LABEL: @negative_activation
// CHECK-NOT: xfmr.weight_slice
// CHECK: return
func.func private @negative_activation(%x: tensor<?x300xf32>, %w: tensor<8x300xf32> {xfmr.weight}) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w {activation = #xfmr.activation<relu>} : tensor<?x300xf32>, tensor<8x300xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @negative_multiplier
// CHECK-NOT: xfmr.weight_slice
// CHECK: return
func.func private @negative_multiplier(%x: tensor<?x300xf32>, %w: tensor<8x300xf32> {xfmr.weight}, %m: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w multiplier(%m) : tensor<?x300xf32>, tensor<8x300xf32>, multiplier tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// An int8 projection is not split, since its scales are those of whole rows.
// CHECK-LABEL: @negative_precision
// CHECK-NOT: xfmr.weight_slice
// CHECK: return
func.func private @negative_precision(%x: tensor<?x300xf32>, %w: tensor<8x300xf32> {xfmr.weight}) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w {precision = #xfmr.precision<int8>} : tensor<?x300xf32>, tensor<8x300xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @negative_not_a_weight
// CHECK-NOT: xfmr.weight_slice
// CHECK: return
func.func @negative_not_a_weight(%x: tensor<?x300xf32>, %w: tensor<8x300xf32>) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w : tensor<?x300xf32>, tensor<8x300xf32>
  return %y : tensor<?x8xf32>
}

// A format stays, and so does the product.
// CHECK-LABEL: @negative_format
// CHECK-NOT: xfmr.weight_slice
// CHECK: xfmr.linear {{.*}} {format = #xfmr.weight_format<"int4:32">}
func.func @negative_format(%x: tensor<?x300xf32>) -> tensor<?x8xf32> {
  %w = xfmr.weight_ref @w : tensor<8x300xf32>
  %y = xfmr.linear %x, %w {format = #xfmr.weight_format<"int4:32">} : tensor<?x300xf32>, tensor<8x300xf32>
  return %y : tensor<?x8xf32>
}

// Weights of bf16 have the products of f32, so they are split alike.
// CHECK-LABEL: @bf16_weights
// CHECK: xfmr.weight_slice
// CHECK: xfmr.linear {{.*}} {format = #xfmr.weight_format<"bf16">}
// CHECK: xfmr.weight_slice
// CHECK: xfmr.linear {{.*}} residual(%{{.*}}) {format = #xfmr.weight_format<"bf16">}
func.func @bf16_weights(%x: tensor<?x300xf32>) -> tensor<?x8xf32> {
  %w = xfmr.weight_ref @w : tensor<8x300xf32>
  %y = xfmr.linear %x, %w {format = #xfmr.weight_format<"bf16">} : tensor<?x300xf32>, tensor<8x300xf32>
  return %y : tensor<?x8xf32>
}
