// RUN: attune-opt --duplicate-function-elimination %s | FileCheck %s

// Layers of one signature are one function; the upstream pass does it, this shows that it does for ours.
// CHECK-LABEL: func.func private @layer.0
func.func private @layer.0(%x: tensor<?x8xf32>, %w: tensor<8x8xf32> {xfmr.weight}) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w {activation = #xfmr.activation<relu>} : tensor<?x8xf32>, tensor<8x8xf32>
  return %y : tensor<?x8xf32>
}
// CHECK-NOT: @layer.1
func.func private @layer.1(%x: tensor<?x8xf32>, %w: tensor<8x8xf32> {xfmr.weight}) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w {activation = #xfmr.activation<relu>} : tensor<?x8xf32>, tensor<8x8xf32>
  return %y : tensor<?x8xf32>
}
// Layers with different activations are not shared.
// CHECK: func.func private @layer.2
func.func private @layer.2(%x: tensor<?x8xf32>, %w: tensor<8x8xf32> {xfmr.weight}) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w {activation = #xfmr.activation<tanh>} : tensor<?x8xf32>, tensor<8x8xf32>
  return %y : tensor<?x8xf32>
}
// CHECK-LABEL: @forward
// CHECK-NEXT: call @layer.0
// CHECK-NEXT: call @layer.0
// CHECK-NEXT: call @layer.2
func.func @forward(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %0 = call @layer.0(%x, %w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %1 = call @layer.1(%0, %w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %2 = call @layer.2(%1, %w) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}
