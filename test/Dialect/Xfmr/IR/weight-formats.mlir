// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt %s --mlir-print-op-generic | attune-opt | FileCheck %s

// 20 rows are two panels of 16; 40 columns are two groups of 32. A group has 16 scales of 2 bytes and 16 x 32 halves of a byte.
// CHECK: xfmr.weight @int4 : tensor<2x2x288xi8> = #xfmr.quantized_panels<#xfmr.tensor<"w" : tensor<20x40xf32>>, 16, <"int4:32">>
xfmr.weight @int4 : tensor<2x2x288xi8> = #xfmr.quantized_panels<#xfmr.tensor<"w" : tensor<20x40xf32>>, 16, <"int4:32">>
// With minima and numbers of 4 bytes.
// CHECK: xfmr.weight @minima : tensor<2x3x384xi8> = #xfmr.quantized_panels<#xfmr.tensor<"w" : tensor<20x40xf32>>, 16, <"int8:16:asym:f32">>
xfmr.weight @minima : tensor<2x3x384xi8> = #xfmr.quantized_panels<#xfmr.tensor<"w" : tensor<20x40xf32>>, 16, <"int8:16:asym:f32">>
// A group per row is padded to a multiple of 32 columns.
// CHECK: xfmr.weight @row : tensor<2x1x1056xi8> = #xfmr.quantized_panels<#xfmr.tensor<"w" : tensor<20x40xf32>>, 16, <"int8:0">>
xfmr.weight @row : tensor<2x1x1056xi8> = #xfmr.quantized_panels<#xfmr.tensor<"w" : tensor<20x40xf32>>, 16, <"int8:0">>

// CHECK-LABEL: @weights
func.func @weights(%w: tensor<20x40xf32>, %s: tensor<3x20x40xf32>) {
  // CHECK: xfmr.weight_quantize_panels %{{.*}}, 32 format <"int4:64:asym"> : tensor<20x40xf32>
  %0 = xfmr.weight_quantize_panels %w, 32 format <"int4:64:asym"> : tensor<20x40xf32>
  // CHECK: xfmr.weight_quantize_panels %{{.*}}, 16 format <"int4:32"> : tensor<3x20x40xf32>
  %1 = xfmr.weight_quantize_panels %s, 16 format <"int4:32"> : tensor<3x20x40xf32>
  return
}

// CHECK-LABEL: @linear
func.func @linear(%x: tensor<?x40xf32>, %w: tensor<20x40xf32>) {
  // CHECK: xfmr.linear %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"int8:32">, precision = #xfmr.precision<int8>}
  %0 = xfmr.linear %x, %w {format = #xfmr.weight_format<"int8:32">, precision = #xfmr.precision<int8>} : tensor<?x40xf32>, tensor<20x40xf32>
  // CHECK: xfmr.linear %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"int4:0">} :
  %1 = xfmr.linear %x, %w {format = #xfmr.weight_format<"int4:0">} : tensor<?x40xf32>, tensor<20x40xf32>
  // CHECK: xfmr.linear %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"f16">} :
  %2 = xfmr.linear %x, %w {format = #xfmr.weight_format<"f16">} : tensor<?x40xf32>, tensor<20x40xf32>
  return
}

// CHECK-LABEL: @embedding
func.func @embedding(%ids: tensor<?xi64>, %w: tensor<20x40xf32>) {
  // CHECK: xfmr.embedding %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"bf16">} :
  %0 = xfmr.embedding %ids, %w {format = #xfmr.weight_format<"bf16">} : tensor<20x40xf32>
  // CHECK: xfmr.embedding %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"f16">, tied = #xfmr.precision<f32>} :
  %1 = xfmr.embedding %ids, %w {format = #xfmr.weight_format<"f16">, tied = #xfmr.precision<f32>} : tensor<20x40xf32>
  return
}

// CHECK-LABEL: @tiles
func.func @tiles(%x: tensor<?x40xf32>, %q: tensor<?x64xi8>, %s: tensor<?x2xf32>, %z: tensor<?x2xi32>, %p: tensor<2x2x288xi8>, %y: tensor<?x20xf32>) {
  // CHECK: tile.quantize_rows ins(%{{.*}} : tensor<?x40xf32>) group 32 outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>
  %0:3 = tile.quantize_rows ins(%x : tensor<?x40xf32>) group 32 outs(%q, %s, %z : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>)
      -> tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>
  // CHECK: tile.grouped_product ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<2x2x288xi8>) outs(%{{.*}} : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  %1 = tile.grouped_product ins(%0#0, %0#1, %0#2, %p : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<2x2x288xi8>)
      outs(%y : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  // CHECK: tile.grouped_product ins(%{{.*}}, %{{.*}} : tensor<?x40xf32>, tensor<2x2x288xi8>) outs(%{{.*}} : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  %2 = tile.grouped_product ins(%x, %p : tensor<?x40xf32>, tensor<2x2x288xi8>)
      outs(%y : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  return
}
