//===- cache-types-run.mlir - Caches of bf16, f16 and int8 ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys and values are stored in chunks of all sizes; the bytes equal those of plain C, and those of one chunk. Attention
// over them equals attention over the same numbers in f32: bit for bit with bf16 and f16, within rounding with i8.
// Subnormal numbers, zeros, ties, infinities and NaNs are among the keys. Long mode adds heads of 64 components.
//
// REQUIRES: avx2
// RUN: sed %if long %{-n p%} %else %{'/^func.func @.*_64(/,/^}/d'%} %s > %t.all.mlir
// RUN: attune-opt %t.all.mlir --attune-attach-scratch --attune-lower-attention-tile --attune-lower-cache-rows --attune-expand-math \
// RUN:   --attune-lower-key-panel -o %t.mlir
// RUN: %S/Inputs/run-kernels %t.mlir %S/Inputs/cache-types-run.c %t %cc x86-64-v3 x86-64-v4 \
// RUN:   | FileCheck %s --check-prefixes=CHECK%if long %{,LONG%}
// CHECK: D 20
// LONG: D 64
// CHECK: 0 failures

func.func @keys_bf16_20(%keys: memref<?x20xf32>, %column: index, %panel: memref<20x64xbf16>) attributes {llvm.emit_c_interface} {
  tile.key_panel ins(%keys : memref<?x20xf32>) at(%column) outs(%panel : memref<20x64xbf16>)
  return
}
func.func @rows_bf16_20(%values: memref<?x20xf32>, %rows: memref<?x20xbf16>) attributes {llvm.emit_c_interface} {
  tile.cache_rows ins(%values : memref<?x20xf32>) outs(%rows : memref<?x20xbf16>)
  return
}
func.func @attend_bf16_20(%q: memref<?x1x20xf32>, %k: memref<?x20x64xbf16>, %v: memref<?x20xbf16>, %at: index, %out: memref<?x1x20xf32>)
    attributes {llvm.emit_c_interface} {
  tile.attention_tile ins(%q, %k, %v : memref<?x1x20xf32>, memref<?x20x64xbf16>, memref<?x20xbf16>) at(%at) outs(%out : memref<?x1x20xf32>)
      {scale = 0.5 : f64, key_block = 512 : i64, causal}
  return
}
func.func @keys_f16_20(%keys: memref<?x20xf32>, %column: index, %panel: memref<20x64xf16>) attributes {llvm.emit_c_interface} {
  tile.key_panel ins(%keys : memref<?x20xf32>) at(%column) outs(%panel : memref<20x64xf16>)
  return
}
func.func @rows_f16_20(%values: memref<?x20xf32>, %rows: memref<?x20xf16>) attributes {llvm.emit_c_interface} {
  tile.cache_rows ins(%values : memref<?x20xf32>) outs(%rows : memref<?x20xf16>)
  return
}
func.func @attend_f16_20(%q: memref<?x1x20xf32>, %k: memref<?x20x64xf16>, %v: memref<?x20xf16>, %at: index, %out: memref<?x1x20xf32>)
    attributes {llvm.emit_c_interface} {
  tile.attention_tile ins(%q, %k, %v : memref<?x1x20xf32>, memref<?x20x64xf16>, memref<?x20xf16>) at(%at) outs(%out : memref<?x1x20xf32>)
      {scale = 0.5 : f64, key_block = 512 : i64, causal}
  return
}
func.func @keys_i8_20(%keys: memref<?x20xf32>, %column: index, %panel: memref<24x64xi8>) attributes {llvm.emit_c_interface} {
  tile.key_panel ins(%keys : memref<?x20xf32>) at(%column) outs(%panel : memref<24x64xi8>)
  return
}
func.func @rows_i8_20(%values: memref<?x20xf32>, %rows: memref<?x24xi8>) attributes {llvm.emit_c_interface} {
  tile.cache_rows ins(%values : memref<?x20xf32>) outs(%rows : memref<?x24xi8>)
  return
}
func.func @attend_i8_20(%q: memref<?x1x20xf32>, %k: memref<?x24x64xi8>, %v: memref<?x24xi8>, %at: index, %out: memref<?x1x20xf32>)
    attributes {llvm.emit_c_interface} {
  tile.attention_tile ins(%q, %k, %v : memref<?x1x20xf32>, memref<?x24x64xi8>, memref<?x24xi8>) at(%at) outs(%out : memref<?x1x20xf32>)
      {scale = 0.5 : f64, key_block = 512 : i64, causal}
  return
}
func.func @keys_f32_20(%keys: memref<?x20xf32>, %column: index, %panel: memref<20x64xf32>) attributes {llvm.emit_c_interface} {
  tile.key_panel ins(%keys : memref<?x20xf32>) at(%column) outs(%panel : memref<20x64xf32>)
  return
}
func.func @attend_f32_20(%q: memref<?x1x20xf32>, %k: memref<?x20x64xf32>, %v: memref<?x20xf32>, %at: index, %out: memref<?x1x20xf32>)
    attributes {llvm.emit_c_interface} {
  tile.attention_tile ins(%q, %k, %v : memref<?x1x20xf32>, memref<?x20x64xf32>, memref<?x20xf32>) at(%at) outs(%out : memref<?x1x20xf32>)
      {scale = 0.5 : f64, key_block = 512 : i64, causal}
  return
}
func.func @keys_bf16_64(%keys: memref<?x64xf32>, %column: index, %panel: memref<64x64xbf16>) attributes {llvm.emit_c_interface} {
  tile.key_panel ins(%keys : memref<?x64xf32>) at(%column) outs(%panel : memref<64x64xbf16>)
  return
}
func.func @rows_bf16_64(%values: memref<?x64xf32>, %rows: memref<?x64xbf16>) attributes {llvm.emit_c_interface} {
  tile.cache_rows ins(%values : memref<?x64xf32>) outs(%rows : memref<?x64xbf16>)
  return
}
func.func @attend_bf16_64(%q: memref<?x1x64xf32>, %k: memref<?x64x64xbf16>, %v: memref<?x64xbf16>, %at: index, %out: memref<?x1x64xf32>)
    attributes {llvm.emit_c_interface} {
  tile.attention_tile ins(%q, %k, %v : memref<?x1x64xf32>, memref<?x64x64xbf16>, memref<?x64xbf16>) at(%at) outs(%out : memref<?x1x64xf32>)
      {scale = 0.5 : f64, key_block = 512 : i64, causal}
  return
}
func.func @keys_f16_64(%keys: memref<?x64xf32>, %column: index, %panel: memref<64x64xf16>) attributes {llvm.emit_c_interface} {
  tile.key_panel ins(%keys : memref<?x64xf32>) at(%column) outs(%panel : memref<64x64xf16>)
  return
}
func.func @rows_f16_64(%values: memref<?x64xf32>, %rows: memref<?x64xf16>) attributes {llvm.emit_c_interface} {
  tile.cache_rows ins(%values : memref<?x64xf32>) outs(%rows : memref<?x64xf16>)
  return
}
func.func @attend_f16_64(%q: memref<?x1x64xf32>, %k: memref<?x64x64xf16>, %v: memref<?x64xf16>, %at: index, %out: memref<?x1x64xf32>)
    attributes {llvm.emit_c_interface} {
  tile.attention_tile ins(%q, %k, %v : memref<?x1x64xf32>, memref<?x64x64xf16>, memref<?x64xf16>) at(%at) outs(%out : memref<?x1x64xf32>)
      {scale = 0.5 : f64, key_block = 512 : i64, causal}
  return
}
func.func @keys_i8_64(%keys: memref<?x64xf32>, %column: index, %panel: memref<68x64xi8>) attributes {llvm.emit_c_interface} {
  tile.key_panel ins(%keys : memref<?x64xf32>) at(%column) outs(%panel : memref<68x64xi8>)
  return
}
func.func @rows_i8_64(%values: memref<?x64xf32>, %rows: memref<?x68xi8>) attributes {llvm.emit_c_interface} {
  tile.cache_rows ins(%values : memref<?x64xf32>) outs(%rows : memref<?x68xi8>)
  return
}
func.func @attend_i8_64(%q: memref<?x1x64xf32>, %k: memref<?x68x64xi8>, %v: memref<?x68xi8>, %at: index, %out: memref<?x1x64xf32>)
    attributes {llvm.emit_c_interface} {
  tile.attention_tile ins(%q, %k, %v : memref<?x1x64xf32>, memref<?x68x64xi8>, memref<?x68xi8>) at(%at) outs(%out : memref<?x1x64xf32>)
      {scale = 0.5 : f64, key_block = 512 : i64, causal}
  return
}
func.func @keys_f32_64(%keys: memref<?x64xf32>, %column: index, %panel: memref<64x64xf32>) attributes {llvm.emit_c_interface} {
  tile.key_panel ins(%keys : memref<?x64xf32>) at(%column) outs(%panel : memref<64x64xf32>)
  return
}
func.func @attend_f32_64(%q: memref<?x1x64xf32>, %k: memref<?x64x64xf32>, %v: memref<?x64xf32>, %at: index, %out: memref<?x1x64xf32>)
    attributes {llvm.emit_c_interface} {
  tile.attention_tile ins(%q, %k, %v : memref<?x1x64xf32>, memref<?x64x64xf32>, memref<?x64xf32>) at(%at) outs(%out : memref<?x1x64xf32>)
      {scale = 0.5 : f64, key_block = 512 : i64, causal}
  return
}
