// RUN: attune-opt %s --convert-xfmr-to-linalg=panel-width=16 --canonicalize | FileCheck %s --check-prefixes=CHECK,WIDENED
// RUN: attune-opt %s --convert-xfmr-to-linalg="panel-width=16 bf16-element=bf16 bf16-multiple=32" --canonicalize | FileCheck %s --check-prefixes=CHECK,PAIRS

// Rows and weights have the same groups; the epilogue is one elementwise op of the same kernel.
// CHECK-LABEL: @epilogue
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<?x40xf32>, %[[W:[a-z0-9]+]]: tensor<20x40xf32>, %[[B:[a-z0-9]+]]: tensor<20xf32>)
// CHECK: %[[Q:.*]]:3 = tile.quantize_rows ins(%[[X]] : tensor<?x40xf32>) group 32 outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>)
// CHECK-SAME: {tile.group = #tile.group<"rows of 40 as int8 in groups of 32">}
// CHECK: %[[P:.*]] = xfmr.weight_quantize_panels %[[W]], 16 format <"int4:32"> : tensor<20x40xf32>
// CHECK: %[[S:.*]] = tile.grouped_product ins(%[[Q]]#0, %[[Q]]#1, %[[Q]]#2, %[[P]] : {{.*}}) outs(%{{.*}} : tensor<?x20xf32>) width 16 format <"int4:32">
// CHECK-SAME: {tile.group = #tile.group<0, "linear 40 -> 20, bias, relu, int4:32">}
// CHECK: linalg.generic {{.*}} ins(%[[S]], %[[B]] : tensor<?x20xf32>, tensor<20xf32>)
// CHECK-SAME: {tile.group = #tile.group<0, "linear 40 -> 20, bias, relu, int4:32">}
func.func @epilogue(%x: tensor<?x40xf32>, %w: tensor<20x40xf32>, %b: tensor<20xf32>) -> tensor<?x20xf32> {
  %y = xfmr.linear %x, %w bias(%b) {activation = #xfmr.activation<relu>, format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<int8>}
      : tensor<?x40xf32>, tensor<20x40xf32>, bias tensor<20xf32>
  return %y : tensor<?x20xf32>
}

// Without an epilogue the product is the result. A group per row is as long as a padded row.
// CHECK-LABEL: @row
// CHECK: tile.quantize_rows {{.*}} group 64 outs(%{{.*}} : tensor<?x64xi8>, tensor<?x1xf32>, tensor<?x1xi32>)
// CHECK: %[[S:.*]] = tile.grouped_product {{.*}} tensor<2x1x1056xi8>) {{.*}} format <"int8:0">
// CHECK-NOT: linalg.generic
// CHECK: return %[[S]]
func.func @row(%x: tensor<?x40xf32>, %w: tensor<20x40xf32>) -> tensor<?x20xf32> {
  %y = xfmr.linear %x, %w {format = #xfmr.weight_format<"int8:0">, precision = #xfmr.precision<int8>} : tensor<?x40xf32>, tensor<20x40xf32>
  return %y : tensor<?x20xf32>
}

// Two projections with equal groups read the same quantized rows; those with other groups, or without, have their own.
// CHECK-LABEL: @shared
// CHECK-COUNT-1: group 32 outs
// CHECK-NOT: group 32 outs
// CHECK: group 64 outs
// CHECK: tile.quantize_rows ins(%{{.*}} : tensor<?x64xf32>) outs(%{{.*}}, %{{.*}} : tensor<?x64xi16>, tensor<?xf32>)
// CHECK-NOT: tile.quantize_rows
// CHECK: return
func.func @shared(%x: tensor<?x64xf32>, %a: tensor<20x64xf32>, %b: tensor<20x64xf32>) -> (tensor<?x20xf32>, tensor<?x20xf32>, tensor<?x20xf32>, tensor<?x20xf32>) {
  %0 = xfmr.linear %x, %a {format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<int8>} : tensor<?x64xf32>, tensor<20x64xf32>
  %1 = xfmr.linear %x, %b {format = #xfmr.weight_format<"int8:32">, precision = #xfmr.precision<int8>} : tensor<?x64xf32>, tensor<20x64xf32>
  %2 = xfmr.linear %x, %b {format = #xfmr.weight_format<"int8:64">, precision = #xfmr.precision<int8>} : tensor<?x64xf32>, tensor<20x64xf32>
  %3 = xfmr.linear %x, %b {precision = #xfmr.precision<int8>} : tensor<?x64xf32>, tensor<20x64xf32>
  return %0, %1, %2, %3 : tensor<?x20xf32>, tensor<?x20xf32>, tensor<?x20xf32>, tensor<?x20xf32>
}

// A selection of one expert becomes a slice of the panels of all.
// CHECK-LABEL: @experts
// CHECK: %[[P:.*]] = xfmr.weight_quantize_panels %{{.*}}, 16 format <"int8:32"> : tensor<3x20x64xf32>
// CHECK: %[[ONE:.*]] = tensor.extract_slice %[[P]][%{{.*}}, 0, 0, 0] [1, 2, 2, 544] [1, 1, 1, 1] : tensor<3x2x2x544xi8> to tensor<2x2x544xi8>
// CHECK: tile.grouped_product ins(%{{.*}}, %{{.*}}, %{{.*}}, %[[ONE]]
func.func @experts(%x: tensor<?x64xf32>, %w: tensor<3x20x64xf32>, %e: index) -> tensor<?x20xf32> {
  %one = xfmr.weight_select %w[%e] : tensor<3x20x64xf32>
  %y = xfmr.linear %x, %one {format = #xfmr.weight_format<"int8:32">, precision = #xfmr.precision<int8>} : tensor<?x64xf32>, tensor<20x64xf32>
  return %y : tensor<?x20xf32>
}

// With f32 the product reads the rows as they are, of any number of columns.
// CHECK-LABEL: @f32
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<?x41xf32>
// CHECK-NOT: tile.quantize_rows
// CHECK: %[[P:.*]] = xfmr.weight_quantize_panels %{{.*}}, 16 format <"int4:32"> : tensor<20x41xf32>
// CHECK: tile.grouped_product ins(%[[X]], %[[P]] : tensor<?x41xf32>, tensor<2x2x288xi8>) outs(%{{.*}} : tensor<?x20xf32>) width 16 format <"int4:32">
// CHECK-SAME: {tile.group = #tile.group<{{[0-9]+}}, "linear 41 -> 20, relu, int4:32, f32 rows">}
// CHECK: linalg.generic
func.func @f32(%x: tensor<?x41xf32>, %w: tensor<20x41xf32>) -> tensor<?x20xf32> {
  %y = xfmr.linear %x, %w {activation = #xfmr.activation<relu>, format = #xfmr.weight_format<"int4:32">} : tensor<?x41xf32>, tensor<20x41xf32>
  return %y : tensor<?x20xf32>
}

// With bf16 rows are rounded; pairs of bf16 need an even number of columns.
// CHECK-LABEL: @bf16
// WIDENED: %[[Q:.*]] = tile.quantize_rows ins(%{{.*}} : tensor<?x41xf32>) outs(%{{.*}} : tensor<?x42xf32>)
// PAIRS: %[[Q:.*]] = tile.quantize_rows ins(%{{.*}} : tensor<?x41xf32>) outs(%{{.*}} : tensor<?x64xbf16>)
// CHECK-SAME: {tile.group = #tile.group<"rows of 41 as bf16">}
// CHECK: tile.grouped_product ins(%[[Q]], %{{.*}} : tensor<?x{{42xf32|64xbf16}}>, tensor<2x2x288xi8>)
// CHECK-SAME: {tile.group = #tile.group<{{[0-9]+}}, "linear 41 -> 20, int4:32, bf16 rows">}
func.func @bf16(%x: tensor<?x41xf32>, %w: tensor<20x41xf32>) -> tensor<?x20xf32> {
  %y = xfmr.linear %x, %w {format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<bf16>} : tensor<?x41xf32>, tensor<20x41xf32>
  return %y : tensor<?x20xf32>
}
