// RUN: attune-opt %s --xfmr-lower-precision=precision=bf16 | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: attune-opt %s --xfmr-lower-precision=precision=f16 | FileCheck %s --check-prefixes=CHECK,F16
// RUN: attune-opt %s --xfmr-lower-precision=precision=int8 | FileCheck %s --check-prefixes=CHECK,INT8
// RUN: attune-opt %s --xfmr-lower-precision=precision=f32 | FileCheck %s --check-prefix=F32
// RUN: attune-opt %s --xfmr-lower-precision=precision=int8 --remark-policy=all --remarks-filter=".*" 2>&1 >/dev/null | FileCheck %s --check-prefix=MISSED
// RUN: not attune-opt %s --xfmr-lower-precision=precision=int4 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: int4

// The other operands and attributes of the op are kept.
// CHECK-LABEL: @linear
// BF16: xfmr.linear %{{.*}}, %{{.*}} bias(%{{.*}}) residual(%{{.*}}) {activation = #xfmr.activation<relu>, precision = #xfmr.precision<bf16>}
// F16: xfmr.linear %{{.*}}, %{{.*}} bias(%{{.*}}) residual(%{{.*}}) {activation = #xfmr.activation<relu>, precision = #xfmr.precision<f16>}
// INT8: xfmr.linear %{{.*}}, %{{.*}} bias(%{{.*}}) residual(%{{.*}}) {activation = #xfmr.activation<relu>, precision = #xfmr.precision<int8>}
// F32-NOT: #xfmr.precision<bf16>
func.func @linear(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>, %r: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w bias(%b) residual(%r) {activation = #xfmr.activation<relu>} : tensor<?x8xf32>, tensor<8x8xf32>, bias tensor<8xf32>, residual tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @negative_own_precision
// CHECK: precision = #xfmr.precision<int8>
func.func @negative_own_precision(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w {precision = #xfmr.precision<int8>} : tensor<?x8xf32>, tensor<8x8xf32>
  return %y : tensor<?x8xf32>
}

// A linear with a format of weights keeps its precision.
// CHECK-LABEL: @negative_format
// CHECK: {format = #xfmr.weight_format<"bf16">} :
func.func @negative_format(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w {format = #xfmr.weight_format<"bf16">} : tensor<?x8xf32>, tensor<8x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @negative_bf16_weight
// CHECK-NOT: precision
// CHECK: return
// MISSED: its tensors are not f32
func.func @negative_bf16_weight(%x: tensor<?x8xf32>, %w: tensor<8x8xbf16>) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xbf16>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @too_deep_for_int8
// BF16: precision = #xfmr.precision<bf16>
// INT8-NOT: precision
// INT8: return
// MISSED: it has more features than 32-bit sums can hold
func.func @too_deep_for_int8(%x: tensor<?x65537xf32>, %w: tensor<8x65537xf32>) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w : tensor<?x65537xf32>, tensor<8x65537xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @scores_of_experts
// CHECK-NOT: precision
// CHECK: return
// MISSED: it scores experts
func.func @scores_of_experts(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x2xi64> {
  %y = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %c, %s = xfmr.choose_experts %y, 2 : tensor<?x8xf32>
  return %c : tensor<?x2xi64>
}
