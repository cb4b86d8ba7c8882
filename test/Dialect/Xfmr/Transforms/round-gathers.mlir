// RUN: attune-opt %s --xfmr-round-gathers | FileCheck %s
// RUN: attune-opt %s --xfmr-round-gathers --remark-policy=all --remarks-filter=".*" 2>&1 >/dev/null | FileCheck %s --check-prefix=PASSED

// PASSED: {{.*}}xfmr-round-gathers{{.*}}its readers round to bf16

// CHECK-LABEL: @bf16
// CHECK: %[[ROUNDED:.*]] = arith.truncf %arg0 : tensor<?x24xf32> to tensor<?x24xbf16>
// CHECK: %[[WHOLE:.*]] = xfmr.all_gather %[[ROUNDED]], 1 at [0, 24] : tensor<?x24xbf16> -> tensor<?x48xbf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[WHOLE]] : tensor<?x48xbf16> to tensor<?x48xf32>
// CHECK: tensor.dim %[[WIDE]]
// CHECK: xfmr.linear %[[WIDE]], %arg1 {
// CHECK: xfmr.linear %[[WIDE]], %arg2 {
func.func @bf16(%x: tensor<?x24xf32>, %w: tensor<16x48xf32>, %v: tensor<8x48xf32>) -> (tensor<?x16xf32>, tensor<?x8xf32>, index) {
  %g = xfmr.all_gather %x, 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
  %c0 = arith.constant 0 : index
  %t = tensor.dim %g, %c0 : tensor<?x48xf32>
  %y = xfmr.linear %g, %w {precision = #xfmr.precision<bf16>} : tensor<?x48xf32>, tensor<16x48xf32>
  %z = xfmr.linear %g, %v {precision = #xfmr.precision<bf16>} : tensor<?x48xf32>, tensor<8x48xf32>
  return %y, %z, %t : tensor<?x16xf32>, tensor<?x8xf32>, index
}

// CHECK-LABEL: @f16
// CHECK: xfmr.all_gather %{{.*}}, 1 at [0, 8, 12] : tensor<?x8xf16> -> tensor<?x20xf16>
func.func @f16(%x: tensor<?x8xf32>, %w: tensor<16x20xf32>) -> tensor<?x16xf32> {
  %g = xfmr.all_gather %x, 1 at [0, 8, 12] : tensor<?x8xf32> -> tensor<?x20xf32>
  %y = xfmr.linear %g, %w {precision = #xfmr.precision<f16>} : tensor<?x20xf32>, tensor<16x20xf32>
  return %y : tensor<?x16xf32>
}

// Somebody needs all bits: a sum, the residual of the linear itself, a linear of f32, or the caller.
// CHECK-LABEL: @negative_readers
// CHECK-NOT: truncf
// CHECK: return
func.func @negative_readers(%x: tensor<?x24xf32>, %w: tensor<48x48xf32>) -> (tensor<?x48xf32>, tensor<?x48xf32>, tensor<?x48xf32>, tensor<?x48xf32>) {
  %a = xfmr.all_gather %x, 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
  %0 = xfmr.linear %a, %w {precision = #xfmr.precision<bf16>} : tensor<?x48xf32>, tensor<48x48xf32>
  %1 = arith.addf %a, %0 : tensor<?x48xf32>
  %b = xfmr.all_gather %x, 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
  %2 = xfmr.linear %b, %w residual(%b) {precision = #xfmr.precision<bf16>} : tensor<?x48xf32>, tensor<48x48xf32>, residual tensor<?x48xf32>
  %c = xfmr.all_gather %x, 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
  %3 = xfmr.linear %c, %w {precision = #xfmr.precision<bf16>} : tensor<?x48xf32>, tensor<48x48xf32>
  %4 = xfmr.linear %c, %w : tensor<?x48xf32>, tensor<48x48xf32>
  %5 = arith.addf %3, %4 : tensor<?x48xf32>
  %d = xfmr.all_gather %x, 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
  return %1, %2, %5, %d : tensor<?x48xf32>, tensor<?x48xf32>, tensor<?x48xf32>, tensor<?x48xf32>
}

// int8 linears need the largest magnitude of the whole row; two linears round differently; nobody reads.
// CHECK-LABEL: @negative_types
// CHECK-NOT: truncf
// CHECK: return
func.func @negative_types(%x: tensor<?x24xf32>, %w: tensor<48x48xf32>) -> (tensor<?x48xf32>, tensor<?x48xf32>) {
  %a = xfmr.all_gather %x, 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
  %0 = xfmr.linear %a, %w {precision = #xfmr.precision<int8>} : tensor<?x48xf32>, tensor<48x48xf32>
  %b = xfmr.all_gather %x, 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
  %1 = xfmr.linear %b, %w {precision = #xfmr.precision<bf16>} : tensor<?x48xf32>, tensor<48x48xf32>
  %2 = xfmr.linear %b, %w residual(%1) {precision = #xfmr.precision<f16>} : tensor<?x48xf32>, tensor<48x48xf32>, residual tensor<?x48xf32>
  %c = xfmr.all_gather %x, 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
  return %0, %2 : tensor<?x48xf32>, tensor<?x48xf32>
}
