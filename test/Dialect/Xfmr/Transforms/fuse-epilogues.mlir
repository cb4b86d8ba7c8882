// RUN: attune-opt --xfmr-fuse-epilogues %s | FileCheck %s
// RUN: attune-opt --xfmr-fuse-epilogues --remark-policy=all --remarks-filter=".*" %s 2>&1 >/dev/null | FileCheck --check-prefix=REMARK %s

// CHECK-LABEL: @activation
// CHECK-NEXT: xfmr.linear %arg0, %arg1 {activation = #xfmr.activation<tanh>}
// CHECK-NEXT: return
func.func @activation(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = xfmr.activation <tanh> %0 : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// The activation comes before the residual, so both fit into one epilogue.
// CHECK-LABEL: @activation_then_residual
// CHECK-NEXT: xfmr.linear %arg0, %arg1 residual(%arg0) {activation = #xfmr.activation<relu>}
// CHECK-NEXT: return
func.func @activation_then_residual(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = xfmr.activation <relu> %0 : tensor<?x8xf32>
  %2 = arith.addf %x, %1 : tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// CHECK-LABEL: @negative_residual_then_activation
// CHECK-NEXT: xfmr.linear %arg0, %arg1 residual(%arg0) :
// CHECK-NEXT: xfmr.activation <relu>
func.func @negative_residual_then_activation(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = arith.addf %0, %x : tensor<?x8xf32>
  %2 = xfmr.activation <relu> %1 : tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// The later of two linears adds the earlier one's result.
// CHECK-LABEL: @two_linears
// CHECK-NEXT: %[[A:.*]] = xfmr.linear %arg0, %arg1 :
// CHECK-NEXT: xfmr.linear %arg0, %arg2 residual(%[[A]])
// CHECK-NEXT: return
func.func @two_linears(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = xfmr.linear %x, %v : tensor<?x8xf32>, tensor<8x8xf32>
  %2 = arith.addf %1, %0 : tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// The residual is computed after the linear.
// CHECK-LABEL: @late_residual
// CHECK-NEXT: %[[R:.*]] = xfmr.softmax
// CHECK-NEXT: xfmr.linear %arg0, %arg1 residual(%[[R]])
func.func @late_residual(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = xfmr.softmax %x : tensor<?x8xf32>
  %2 = arith.addf %0, %1 : tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// CHECK-LABEL: @norm_after_linear
// CHECK-NEXT: %[[Y:.*]] = xfmr.linear %arg0, %arg1 residual(%arg0)
// CHECK-NEXT: xfmr.layer_norm %[[Y]], %arg2, %arg2 {epsilon
func.func @norm_after_linear(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = xfmr.layer_norm %0, %g, %g residual(%x : tensor<?x8xf32>) {epsilon = 1.0e-5 : f64} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK-LABEL: @norm_with_linear_as_residual
// CHECK-NEXT: %[[Y:.*]] = xfmr.linear %arg0, %arg1 residual(%arg0)
// CHECK-NEXT: xfmr.layer_norm %[[Y]], %arg2, %arg2 {epsilon
func.func @norm_with_linear_as_residual(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = xfmr.layer_norm %x, %g, %g residual(%0 : tensor<?x8xf32>) {epsilon = 1.0e-5 : f64} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %1 : tensor<?x8xf32>
}

// The addition of embeddings has no linear to be fused into, and is fused into the norm.
// CHECK-LABEL: @norm_of_sum
// CHECK-NEXT: %[[S:.*]] = arith.addf %arg0, %arg1
// CHECK-NEXT: xfmr.layer_norm %[[S]], %arg3, %arg3 residual(%arg2 : tensor<?x8xf32>)
func.func @norm_of_sum(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>, %c: tensor<?x8xf32>, %g: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = arith.addf %a, %b : tensor<?x8xf32>
  %1 = arith.addf %0, %c : tensor<?x8xf32>
  %2 = xfmr.layer_norm %1, %g, %g {epsilon = 1.0e-5 : f64} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %2 : tensor<?x8xf32>
}

// REMARK: [Missed] FuseEpilogues {{.*}}"the projection's result has other uses
// CHECK-LABEL: @negative_two_uses
// CHECK-NEXT: %[[Y:.*]] = xfmr.linear %arg0, %arg1 :
// CHECK-NEXT: %[[Z:.*]] = arith.addf %[[Y]], %arg0
// CHECK-NEXT: return %[[Y]], %[[Z]]
func.func @negative_two_uses(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = arith.addf %0, %x : tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// REMARK: [Missed] FuseEpilogues {{.*}}Function=negative_norm_of_used_linear {{.*}}"the projection's result has other uses
// REMARK-NOT: Function=negative_norm_without_sum
// CHECK-LABEL: @negative_norm_of_used_linear
// CHECK-NEXT: %[[Y:.*]] = xfmr.linear %arg0, %arg1 :
// CHECK-NEXT: xfmr.rms_norm %[[Y]], %arg2 residual(%arg0 : tensor<?x8xf32>)
func.func @negative_norm_of_used_linear(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = arith.addf %0, %x : tensor<?x8xf32>
  %2 = xfmr.rms_norm %1, %g {epsilon = 1.0e-5 : f64} : tensor<?x8xf32>, tensor<8xf32>
  return %0, %2 : tensor<?x8xf32>, tensor<?x8xf32>
}
func.func @negative_norm_without_sum(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %g: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = xfmr.rms_norm %0, %g {epsilon = 1.0e-5 : f64} : tensor<?x8xf32>, tensor<8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: @negative_added_to_itself
// CHECK-NEXT: xfmr.linear %arg0, %arg1 :
// CHECK-NEXT: arith.addf
func.func @negative_added_to_itself(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = arith.addf %0, %0 : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// A linear has one residual, so the second addition is fused into the norm.
// CHECK-LABEL: @second_residual
// CHECK-NEXT: %[[Y:.*]] = xfmr.linear %arg0, %arg1 residual(%arg0)
// CHECK-NEXT: xfmr.layer_norm %[[Y]], %arg3, %arg3 residual(%arg2 : tensor<?x8xf32>)
func.func @second_residual(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %r: tensor<?x8xf32>, %g: tensor<8xf32>) -> tensor<?x8xf32> {
  %0 = xfmr.linear %x, %w residual(%x) : tensor<?x8xf32>, tensor<8x8xf32>, residual tensor<?x8xf32>
  %1 = arith.addf %0, %r : tensor<?x8xf32>
  %2 = xfmr.layer_norm %1, %g, %g {epsilon = 1.0e-5 : f64} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %2 : tensor<?x8xf32>
}

// A linear before a loop is not moved into the loop.
// CHECK-LABEL: @negative_other_block
// CHECK: xfmr.linear
// CHECK: scf.for
// CHECK: arith.addf
func.func @negative_other_block(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %n: index) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<?x8xf32> {
    %2 = arith.addf %s, %0 : tensor<?x8xf32>
    scf.yield %2 : tensor<?x8xf32>
  }
  return %1 : tensor<?x8xf32>
}

// The residual of a norm has no heads.
// CHECK-LABEL: @negative_heads
// CHECK-NEXT: %[[S:.*]] = arith.addf
// CHECK-NEXT: xfmr.rms_norm %[[S]], %arg2 {epsilon = 1.000000e-05 : f64} : tensor<?x4x12xf32>, tensor<12xf32>
func.func @negative_heads(%a: tensor<?x4x12xf32>, %b: tensor<?x4x12xf32>, %w: tensor<12xf32>) -> tensor<?x4x12xf32> {
  %0 = arith.addf %a, %b : tensor<?x4x12xf32>
  %1 = xfmr.rms_norm %0, %w {epsilon = 1.0e-5 : f64} : tensor<?x4x12xf32>, tensor<12xf32>
  return %1 : tensor<?x4x12xf32>
}
