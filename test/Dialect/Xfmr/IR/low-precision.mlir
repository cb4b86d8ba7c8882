// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt %s --mlir-print-op-generic | attune-opt | FileCheck %s

// CHECK: xfmr.weight @bf16 : tensor<8x6xbf16> = #xfmr.convert<#xfmr.tensor<"w" : tensor<8x6xf32>>, bf16>
xfmr.weight @bf16 : tensor<8x6xbf16> = #xfmr.convert<#xfmr.tensor<"w" : tensor<8x6xf32>>, bf16>
// CHECK: xfmr.weight @quantized : tensor<8x6xi8> = #xfmr.row_quantized<#xfmr.tensor<"w" : tensor<8x6xf32>>>
xfmr.weight @quantized : tensor<8x6xi8> = #xfmr.row_quantized<#xfmr.tensor<"w" : tensor<8x6xf32>>>
// CHECK: xfmr.weight @scales : tensor<8xf32> = #xfmr.row_scales<#xfmr.tensor<"w" : tensor<8x6xf32>>>
xfmr.weight @scales : tensor<8xf32> = #xfmr.row_scales<#xfmr.tensor<"w" : tensor<8x6xf32>>>
// CHECK: xfmr.weight @sums : tensor<8xi32> = #xfmr.row_sums<#xfmr.row_quantized<#xfmr.tensor<"w" : tensor<8x6xf32>>>>
xfmr.weight @sums : tensor<8xi32> = #xfmr.row_sums<#xfmr.row_quantized<#xfmr.tensor<"w" : tensor<8x6xf32>>>>
// 6 columns become 8, in two groups of four.
// CHECK: xfmr.weight @panels : tensor<1x2x16x4xi8> = #xfmr.grouped_panels<#xfmr.row_quantized<#xfmr.tensor<"w" : tensor<8x6xf32>>>, 16, 4, 4>
xfmr.weight @panels : tensor<1x2x16x4xi8> = #xfmr.grouped_panels<#xfmr.row_quantized<#xfmr.tensor<"w" : tensor<8x6xf32>>>, 16, 4, 4>

// CHECK-LABEL: @linear
func.func @linear(%x: tensor<?x6xf32>, %w: tensor<8x6xf32>) {
  // CHECK: xfmr.linear %{{.*}}, %{{.*}} {precision = #xfmr.precision<bf16>} : tensor<?x6xf32>, tensor<8x6xf32>
  %0 = xfmr.linear %x, %w {precision = #xfmr.precision<bf16>} : tensor<?x6xf32>, tensor<8x6xf32>
  // CHECK: xfmr.linear %{{.*}}, %{{.*}} {precision = #xfmr.precision<int8>} : tensor<?x6xf32>, tensor<8x6xf32>
  %1 = xfmr.linear %x, %w {precision = #xfmr.precision<int8>} : tensor<?x6xf32>, tensor<8x6xf32>
  // CHECK: xfmr.linear %{{.*}}, %{{.*}} : tensor<?x6xf32>, tensor<8x6xf32>
  %2 = xfmr.linear %x, %w {precision = #xfmr.precision<f32>} : tensor<?x6xf32>, tensor<8x6xf32>
  return
}

// CHECK-LABEL: @weights
func.func @weights(%w: tensor<8x6xf32>) {
  // CHECK: xfmr.weight_convert %{{.*}} : tensor<8x6xf32> -> tensor<8x6xbf16>
  %b = xfmr.weight_convert %w : tensor<8x6xf32> -> tensor<8x6xbf16>
  // CHECK: xfmr.weight_quantize %{{.*}} : tensor<8x6xf32>
  %q = xfmr.weight_quantize %w : tensor<8x6xf32>
  // CHECK: xfmr.weight_scales %{{.*}} : tensor<8x6xf32>
  %s = xfmr.weight_scales %w : tensor<8x6xf32>
  // CHECK: xfmr.weight_row_sums %{{.*}} : tensor<8x6xi8>
  %z = xfmr.weight_row_sums %q : tensor<8x6xi8>
  // CHECK: xfmr.weight_pack %{{.*}}, 16 group 2 multiple 32 : tensor<8x6xbf16>
  %p = xfmr.weight_pack %b, 16 group 2 multiple 32 : tensor<8x6xbf16>
  return
}
