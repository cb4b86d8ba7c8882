// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt --mlir-print-op-generic %s | attune-opt | FileCheck %s

// CHECK-LABEL: @tiles
func.func @tiles(%keys: tensor<?x12xf32>, %panel: tensor<12x32xf32>, %q: tensor<?x2x12xf32>, %k: tensor<?x12x32xf32>, %v: tensor<?x12xf32>,
                 %d: tensor<?x2x12xf32>, %mask: tensor<1x?xf32>, %h: tensor<2xf32>, %p: tensor<2x?x?xf32>, %i: index, %ids: tensor<?xi64>,
                 %angles: tensor<64x8xf32>, %bias: tensor<2x?xf32>, %relative: tensor<1x12x45xf32>, %ofHeads: tensor<2x12x45xf32>) -> (tensor<?x2x12xf32>, tensor<?x12xf32>) {
  // CHECK: tile.key_panel ins(%{{.*}} : tensor<?x12xf32>) outs(%{{.*}} : tensor<12x32xf32>) -> tensor<12x32xf32>
  %0 = tile.key_panel ins(%keys : tensor<?x12xf32>) outs(%panel : tensor<12x32xf32>) -> tensor<12x32xf32>
  // CHECK: tile.key_panel ins(%{{.*}} : tensor<?x12xf32>) at(%{{.*}}) outs(%{{.*}} : tensor<12x32xf32>) -> tensor<12x32xf32>
  %1 = tile.key_panel ins(%keys : tensor<?x12xf32>) at(%i) outs(%0 : tensor<12x32xf32>) -> tensor<12x32xf32>
  // CHECK: tile.unpack_keys ins(%{{.*}} : tensor<12x32xf32>) outs(%{{.*}} : tensor<?x12xf32>) -> tensor<?x12xf32>
  %2 = tile.unpack_keys ins(%1 : tensor<12x32xf32>) outs(%keys : tensor<?x12xf32>) -> tensor<?x12xf32>
  // CHECK: tile.rotary_tile ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x2x12xf32>, tensor<?xi64>, tensor<64x8xf32>) outs(%{{.*}} : tensor<?x2x12xf32>) {interleaved} -> tensor<?x2x12xf32>
  %3 = tile.rotary_tile ins(%q, %ids, %angles : tensor<?x2x12xf32>, tensor<?xi64>, tensor<64x8xf32>) outs(%d : tensor<?x2x12xf32>) {interleaved} -> tensor<?x2x12xf32>
  // CHECK: tile.attention_tile ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?x2x12xf32>, tensor<?x12x32xf32>, tensor<?x12xf32>) mask(%{{.*}} : tensor<1x?xf32>) head_scale(%{{.*}} : tensor<2xf32>) outs(%{{.*}}, %{{.*}} : tensor<?x2x12xf32>, tensor<2x?x?xf32>) {key_block = 512 : i64, scale = 1.250000e-01 : f64} -> tensor<?x2x12xf32>, tensor<2x?x?xf32>
  %4:2 = tile.attention_tile ins(%3, %k, %v : tensor<?x2x12xf32>, tensor<?x12x32xf32>, tensor<?x12xf32>) mask(%mask : tensor<1x?xf32>) head_scale(%h : tensor<2xf32>)
    outs(%d, %p : tensor<?x2x12xf32>, tensor<2x?x?xf32>) {scale = 0.125 : f64, key_block = 512 : i64} -> tensor<?x2x12xf32>, tensor<2x?x?xf32>
  // CHECK: tile.attention_tile ins({{.*}}) at(%{{.*}}) distance_bias(%{{.*}} : tensor<2x?xf32>) relative_key(%{{.*}} : tensor<1x12x45xf32>) relative_query(%{{.*}} : tensor<2x12x45xf32>) outs(%{{.*}} : tensor<?x2x12xf32>) {causal, key_block = 512 : i64, scale = 1.250000e-01 : f64, window_left = 4 : i64} -> tensor<?x2x12xf32>
  %5 = tile.attention_tile ins(%4#0, %k, %v : tensor<?x2x12xf32>, tensor<?x12x32xf32>, tensor<?x12xf32>) at(%i) distance_bias(%bias : tensor<2x?xf32>)
    relative_key(%relative : tensor<1x12x45xf32>) relative_query(%ofHeads : tensor<2x12x45xf32>) outs(%d : tensor<?x2x12xf32>)
    {scale = 0.125 : f64, key_block = 512 : i64, causal, window_left = 4 : i64} -> tensor<?x2x12xf32>
  return %5, %2 : tensor<?x2x12xf32>, tensor<?x12xf32>
}

// On buffers the destinations are written and nothing is returned.
// CHECK-LABEL: @tiles_on_buffers
func.func @tiles_on_buffers(%keys: memref<?x12xf32>, %panel: memref<12x32xf32>, %q: memref<?x1x12xf32, strided<[48, 12, 1], offset: ?>>, %k: memref<?x12x32xf32>,
                            %v: memref<?x12xf32>, %d: memref<?x1x12xf32>, %s: memref<8x48xf32>, %m: memref<64x32xf32>) {
  // CHECK: tile.key_panel ins(%{{.*}} : memref<?x12xf32>) outs(%{{.*}} : memref<12x32xf32>){{$}}
  tile.key_panel ins(%keys : memref<?x12xf32>) outs(%panel : memref<12x32xf32>)
  // CHECK: tile.attention_tile ins({{.*}}) scratch(%{{.*}}, %{{.*}} : memref<8x48xf32>, memref<64x32xf32>) outs(%{{.*}} : memref<?x1x12xf32>) {key_block = 32 : i64, scale = 1.000000e+00 : f64}{{$}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32, strided<[48, 12, 1], offset: ?>>, memref<?x12x32xf32>, memref<?x12xf32>)
    scratch(%s, %m : memref<8x48xf32>, memref<64x32xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// Keys of bf16 are rows, not panels. Queries may be bf16, too.
// CHECK-LABEL: @tiles_of_half
func.func @tiles_of_half(%q: memref<?x1x16xf16>, %f: memref<?x1x16xf32>, %k: memref<?x16xf16>, %v: memref<?x8xf16>, %d: memref<?x1x8xf32>) {
  // CHECK: tile.attention_tile ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<?x1x16xf16>, memref<?x16xf16>, memref<?x8xf16>) outs(%{{.*}} : memref<?x1x8xf32>) {key_block = 32 : i64, precision = #xfmr.precision<f16>, scale = 1.000000e+00 : f64}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x16xf16>, memref<?x16xf16>, memref<?x8xf16>) outs(%d : memref<?x1x8xf32>)
    {scale = 1.0 : f64, key_block = 32 : i64, precision = #xfmr.precision<f16>}
  // CHECK: tile.attention_tile ins(%{{.*}}, %{{.*}}, %{{.*}} : memref<?x1x16xf32>, memref<?x16xf16>, memref<?x8xf16>)
  tile.attention_tile ins(%f, %k, %v : memref<?x1x16xf32>, memref<?x16xf16>, memref<?x8xf16>) outs(%d : memref<?x1x8xf32>)
    {scale = 1.0 : f64, key_block = 32 : i64, precision = #xfmr.precision<f16>}
  return
}

// CHECK-LABEL: @quantize
func.func @quantize(%x: tensor<?x6xf32>, %h: tensor<?x6xf16>, %c: tensor<?x6xbf16>, %q: tensor<?x8xi8>, %s: tensor<?xf32>, %m: memref<3x6xf32>, %mc: memref<3x32xf32>) {
  // CHECK: tile.quantize_rows ins(%{{.*}} : tensor<?x6xf32>) outs(%{{.*}} : tensor<?x6xbf16>) -> tensor<?x6xbf16>
  %0 = tile.quantize_rows ins(%x : tensor<?x6xf32>) outs(%c : tensor<?x6xbf16>) -> tensor<?x6xbf16>
  // CHECK: tile.quantize_rows ins(%{{.*}} : tensor<?x6xf32>) outs(%{{.*}} : tensor<?x6xf16>) -> tensor<?x6xf16>
  %2 = tile.quantize_rows ins(%x : tensor<?x6xf32>) outs(%h : tensor<?x6xf16>) -> tensor<?x6xf16>
  // CHECK: tile.quantize_rows ins(%{{.*}} : tensor<?x6xf32>) outs(%{{.*}}, %{{.*}} : tensor<?x8xi8>, tensor<?xf32>) -> tensor<?x8xi8>, tensor<?xf32>
  %1:2 = tile.quantize_rows ins(%x : tensor<?x6xf32>) outs(%q, %s : tensor<?x8xi8>, tensor<?xf32>) -> tensor<?x8xi8>, tensor<?xf32>
  // CHECK: tile.quantize_rows ins(%{{.*}} : memref<3x6xf32>) outs(%{{.*}} : memref<3x32xf32>)
  tile.quantize_rows ins(%m : memref<3x6xf32>) outs(%mc : memref<3x32xf32>)
  return
}
