// RUN: attune-opt %s --convert-xfmr-to-linalg="bf16-element=bf16 int8-element=i8 int8-multiple=4" --canonicalize | FileCheck %s
// RUN: attune-opt %s --convert-xfmr-to-linalg="bf16-element=f32 int8-element=i16 int8-multiple=2" --canonicalize | FileCheck %s --check-prefix=WIDE
// RUN: attune-opt %s --convert-xfmr-to-linalg="bf16-element=bf16 bf16-multiple=32 int8-element=i8 int8-multiple=64" --canonicalize | FileCheck %s --check-prefix=TILES
// RUN: attune-opt %s --convert-xfmr-to-linalg="bf16-element=bf16 bf16-group=8 bf16-multiple=16 int8-element=i8 int8-multiple=4" --canonicalize | FileCheck %s --check-prefix=CHUNKS
// RUN: not attune-opt %s --convert-xfmr-to-linalg="bf16-element=bf16 bf16-group=0" 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: error: expects 'bf16-group' to be from 1 to 2147483647, but got 0
// RUN: not attune-opt %s --convert-xfmr-to-linalg="bf16-element=i8" 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not attune-opt %s --convert-xfmr-to-linalg="int8-element=i4" 2>&1 | FileCheck %s --check-prefix=TYPE4
// RUN: not attune-opt %s --convert-xfmr-to-linalg="int8-element=i8 int8-multiple=6" 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// TYPE: 'bf16-element' cannot be 'i8'
// TYPE4: 'int8-element' cannot be 'i4'
// MULTIPLE: expects columns of low-precision operands of type i8 to be a multiple of 4, but got 6

// CHECK-DAG: #[[PAIRS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32, d2 floordiv 2, d1 mod 32, d2 mod 2)>
// CHECK-DAG: #[[FOURS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32, d2 floordiv 4, d1 mod 32, d2 mod 4)>

// An odd number of columns is padded, in the quantized rows and in the packed panels; products are added in f32.
// CHECK-LABEL: @bf16
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<?x9xf32>, %[[W:[a-z0-9]+]]: tensor<20x9xf32>)
// CHECK: %[[D:.*]] = tensor.empty(%{{.*}}) : tensor<?x10xbf16>
// CHECK: %[[C:.*]] = tile.quantize_rows ins(%[[X]] : tensor<?x9xf32>) outs(%[[D]] : tensor<?x10xbf16>) {tile.group = #tile.group<"rows of 9 as bf16">}
// CHECK: %[[B:.*]] = xfmr.weight_convert %[[W]] : tensor<20x9xf32> -> tensor<20x9xbf16>
// CHECK: %[[P:.*]] = xfmr.weight_pack %[[B]], 32 group 2 multiple 2
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[PAIRS]], #{{.*}}], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[C]], %[[P]] : tensor<?x10xbf16>, tensor<1x5x32x2xbf16>)
// CHECK-SAME: #tile.group<{{[0-9]+}}, "linear 9 -> 20, bf16">
// CHECK: %[[L:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[R:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.mulf %[[L]], %[[R]]
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
// WIDE-LABEL: @bf16
// WIDE: tile.quantize_rows ins({{.*}}) outs(%{{.*}} : tensor<?x10xf32>)
// WIDE: ins(%{{.*}}, %{{.*}} : tensor<?x10xf32>, tensor<1x5x32x2xbf16>)
// TILES-LABEL: @bf16
// TILES: ins(%{{.*}}, %{{.*}} : tensor<?x32xbf16>, tensor<1x16x32x2xbf16>)
// CHUNKS-LABEL: @bf16
// CHUNKS: ins(%{{.*}}, %{{.*}} : tensor<?x16xbf16>, tensor<1x2x32x8xbf16>)
func.func @bf16(%x: tensor<?x9xf32>, %w: tensor<20x9xf32>) -> tensor<?x20xf32> {
  %y = xfmr.linear %x, %w {precision = #xfmr.precision<bf16>} : tensor<?x9xf32>, tensor<20x9xf32>
  return %y : tensor<?x20xf32>
}

// f16 has the layout of bf16.
// CHECK-LABEL: @f16
// CHECK: tile.quantize_rows {{.*}} outs(%{{.*}} : tensor<?x10xf16>) {tile.group = #tile.group<"rows of 9 as f16">}
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<?x10xf16>, tensor<1x5x32x2xf16>)
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHUNKS-LABEL: @f16
// CHUNKS: ins(%{{.*}}, %{{.*}} : tensor<?x16xf16>, tensor<1x2x32x8xf16>)
func.func @f16(%x: tensor<?x9xf32>, %w: tensor<20x9xf32>) -> tensor<?x20xf32> {
  %y = xfmr.linear %x, %w {precision = #xfmr.precision<f16>} : tensor<?x9xf32>, tensor<20x9xf32>
  return %y : tensor<?x20xf32>
}

// Sums of bytes; the epilogue subtracts 128 times the sums of the weights and applies both scales before all else.
// CHECK-LABEL: @int8
// CHECK: %[[C:.*]]:2 = tile.quantize_rows {{.*}} -> tensor<?x12xi8>, tensor<?xf32>
// CHECK: %[[Q:.*]] = xfmr.weight_quantize
// CHECK: %[[P:.*]] = xfmr.weight_pack %[[Q]], 32 group 4 multiple 4
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[FOURS]], #{{.*}}], {{.*}}} ins(%[[C]]#0, %[[P]] : tensor<?x12xi8>, tensor<1x3x32x4xi8>) outs(%{{.*}} : tensor<?x20xi32>)
// CHECK: arith.extui
// CHECK: arith.extsi
// CHECK: arith.muli
// CHECK: arith.addi
// CHECK: %[[S:.*]] = xfmr.weight_scales
// CHECK: %[[Z:.*]] = xfmr.weight_row_sums %[[Q]]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[C]]#1, %[[S]], %[[Z]], %{{.*}}, %{{.*}} : tensor<?x20xi32>, tensor<?xf32>, tensor<20xf32>, tensor<20xi32>, tensor<20xf32>, tensor<?x20xf32>)
// CHECK-SAME: #tile.group<{{[0-9]+}}, "linear 9 -> 20, bias, relu, residual, int8">
// CHECK: %[[SHIFTED:.*]] = arith.shli %{{.*}}, %c7_i32
// CHECK: arith.subi %{{.*}}, %[[SHIFTED]]
// CHECK: arith.sitofp
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: arith.addf
// Quantized rows of i16 are signed, so nothing corrects an added 128: no sum of weights is subtracted.
// WIDE-LABEL: @int8
// WIDE: tile.quantize_rows {{.*}} -> tensor<?x10xi16>, tensor<?xf32>
// WIDE: ins(%{{.*}}, %{{.*}} : tensor<?x10xi16>, tensor<1x5x32x2xi8>)
// WIDE: arith.extsi
// WIDE: arith.extsi
// WIDE-NOT: xfmr.weight_row_sums
// WIDE-NOT: arith.subi
// WIDE: return
// TILES-LABEL: @int8
// TILES: ins(%{{.*}}, %{{.*}} : tensor<?x64xi8>, tensor<1x16x32x4xi8>)
func.func @int8(%x: tensor<?x9xf32>, %w: tensor<20x9xf32>, %b: tensor<20xf32>, %r: tensor<?x20xf32>) -> tensor<?x20xf32> {
  %y = xfmr.linear %x, %w bias(%b) residual(%r) {activation = #xfmr.activation<relu>, precision = #xfmr.precision<int8>}
      : tensor<?x9xf32>, tensor<20x9xf32>, bias tensor<20xf32>, residual tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// Two projections of the same rows round them once.
// CHECK-LABEL: @shared_rows
// CHECK: %[[C:.*]] = tile.quantize_rows
// CHECK-NOT: tile.quantize_rows
// CHECK: ins(%[[C]],
// CHECK: ins(%[[C]],
func.func @shared_rows(%x: tensor<?x8xf32>, %w: tensor<20x8xf32>, %v: tensor<16x8xf32>) -> (tensor<?x20xf32>, tensor<?x16xf32>) {
  %y = xfmr.linear %x, %w {precision = #xfmr.precision<bf16>} : tensor<?x8xf32>, tensor<20x8xf32>
  %z = xfmr.linear %x, %v {precision = #xfmr.precision<bf16>} : tensor<?x8xf32>, tensor<16x8xf32>
  return %y, %z : tensor<?x20xf32>, tensor<?x16xf32>
}

// A value that only projections in bf16 read is stored in bf16.
// CHECK-LABEL: @stored_rounded
// CHECK: tile.quantize_rows
// CHECK-NOT: tile.quantize_rows
// CHECK: math.erf
// CHECK: %[[T:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT: linalg.yield %[[T]] : bf16
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<?x20xbf16>, tensor<1x10x32x2xbf16>)
// WIDE-LABEL: @stored_rounded
// WIDE: %[[T:.*]] = arith.truncf
// WIDE-NEXT: %[[E:.*]] = arith.extf %[[T]] : bf16 to f32
// WIDE-NEXT: linalg.yield %[[E]] : f32
func.func @stored_rounded(%x: tensor<?x8xf32>, %w: tensor<20x8xf32>, %v: tensor<8x20xf32>) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w {activation = #xfmr.activation<gelu>, precision = #xfmr.precision<bf16>} : tensor<?x8xf32>, tensor<20x8xf32>
  %z = xfmr.linear %y, %v {precision = #xfmr.precision<bf16>} : tensor<?x20xf32>, tensor<8x20xf32>
  return %z : tensor<?x8xf32>
}

// Not if something else reads it, if columns must be added, or if the scale of a row must be known first.
// CHECK-LABEL: @negative_other_reader
// CHECK-COUNT-2: tile.quantize_rows
func.func @negative_other_reader(%x: tensor<?x8xf32>, %w: tensor<20x8xf32>, %v: tensor<8x20xf32>) -> (tensor<?x20xf32>, tensor<?x8xf32>) {
  %y = xfmr.linear %x, %w {activation = #xfmr.activation<gelu>, precision = #xfmr.precision<bf16>} : tensor<?x8xf32>, tensor<20x8xf32>
  %z = xfmr.linear %y, %v {precision = #xfmr.precision<bf16>} : tensor<?x20xf32>, tensor<8x20xf32>
  return %y, %z : tensor<?x20xf32>, tensor<?x8xf32>
}
// CHECK-LABEL: @negative_padded
// CHECK-COUNT-2: tile.quantize_rows
func.func @negative_padded(%x: tensor<?x8xf32>, %w: tensor<21x8xf32>, %v: tensor<8x21xf32>) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w {activation = #xfmr.activation<gelu>, precision = #xfmr.precision<bf16>} : tensor<?x8xf32>, tensor<21x8xf32>
  %z = xfmr.linear %y, %v {precision = #xfmr.precision<bf16>} : tensor<?x21xf32>, tensor<8x21xf32>
  return %z : tensor<?x8xf32>
}
// CHECK-LABEL: @negative_scaled
// CHECK-COUNT-2: tile.quantize_rows
func.func @negative_scaled(%x: tensor<?x8xf32>, %w: tensor<20x8xf32>, %v: tensor<8x20xf32>) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w {activation = #xfmr.activation<gelu>, precision = #xfmr.precision<int8>} : tensor<?x8xf32>, tensor<20x8xf32>
  %z = xfmr.linear %y, %v {precision = #xfmr.precision<int8>} : tensor<?x20xf32>, tensor<8x20xf32>
  return %z : tensor<?x8xf32>
}
