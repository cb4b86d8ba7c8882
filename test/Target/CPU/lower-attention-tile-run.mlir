//===- lower-attention-tile-run.mlir - Attention tiles against double -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every number of rows, key counts around each boundary, masks, probabilities, rows without a visible key. Buffers end at pages that
// cannot be touched. The bits are the same for every split of the rows, size of register tile and instruction set.
//
// REQUIRES: avx2
// RUN: attune-opt %s --attune-attach-scratch --attune-lower-attention-tile --attune-lower-key-panel --attune-expand-math -o %t.8.mlir
// RUN: %S/Inputs/run-kernels %t.8.mlir %S/Inputs/lower-attention-tile-run.c %t.8 %cc x86-64-v3 x86-64-v4 > %t.8.txt
// RUN: attune-opt %s --attune-attach-scratch --attune-lower-attention-tile="rows=4 score-vectors=1 value-vectors=1 weight-rows=1" \
// RUN:   --attune-lower-key-panel --attune-expand-math -o %t.4.mlir
// RUN: %S/Inputs/run-kernels %t.4.mlir %S/Inputs/lower-attention-tile-run.c %t.4 %cc x86-64-v3 > %t.4.txt
// RUN: cmp %t.8.txt %t.4.txt

func.func @panel_5(%keys: memref<?x5xf32, strided<[?, 1]>>, %panel: memref<5x32xf32>) attributes {llvm.emit_c_interface} {
  xfmr.key_panel ins(%keys : memref<?x5xf32, strided<[?, 1]>>) outs(%panel : memref<5x32xf32>)
  return
}
func.func @panel_12(%keys: memref<?x12xf32, strided<[?, 1]>>, %panel: memref<12x32xf32>) attributes {llvm.emit_c_interface} {
  xfmr.key_panel ins(%keys : memref<?x12xf32, strided<[?, 1]>>) outs(%panel : memref<12x32xf32>)
  return
}
func.func @panel_64(%keys: memref<?x64xf32, strided<[?, 1]>>, %panel: memref<64x32xf32>) attributes {llvm.emit_c_interface} {
  xfmr.key_panel ins(%keys : memref<?x64xf32, strided<[?, 1]>>) outs(%panel : memref<64x32xf32>)
  return
}
func.func @panel_80(%keys: memref<?x80xf32, strided<[?, 1]>>, %panel: memref<80x32xf32>) attributes {llvm.emit_c_interface} {
  xfmr.key_panel ins(%keys : memref<?x80xf32, strided<[?, 1]>>) outs(%panel : memref<80x32xf32>)
  return
}

func.func @plain_5_12(%q: memref<?x5xf32, strided<[?, 1]>>, %k: memref<?x5x32xf32>, %v: memref<?x12xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x12xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  xfmr.attention_tile ins(%q, %k, %v : memref<?x5xf32, strided<[?, 1]>>, memref<?x5x32xf32>, memref<?x12xf32, strided<[?, 1]>>)
      outs(%out : memref<?x12xf32, strided<[?, 1]>>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @shared_5_12(%q: memref<?x5xf32, strided<[?, 1]>>, %k: memref<?x5x32xf32>, %v: memref<?x12xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x12xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %one = memref.cast %mask : memref<?x?xf32> to memref<1x?xf32>
  xfmr.attention_tile ins(%q, %k, %v : memref<?x5xf32, strided<[?, 1]>>, memref<?x5x32xf32>, memref<?x12xf32, strided<[?, 1]>>) mask(%one : memref<1x?xf32>)
      outs(%out, %p : memref<?x12xf32, strided<[?, 1]>>, memref<?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @rows_5_12(%q: memref<?x5xf32, strided<[?, 1]>>, %k: memref<?x5x32xf32>, %v: memref<?x12xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x12xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  xfmr.attention_tile ins(%q, %k, %v : memref<?x5xf32, strided<[?, 1]>>, memref<?x5x32xf32>, memref<?x12xf32, strided<[?, 1]>>) mask(%mask : memref<?x?xf32>) head_scale(%scale)
      outs(%out, %p : memref<?x12xf32, strided<[?, 1]>>, memref<?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64, masked_rows = #xfmr.masked_rows<zero>}
  return
}

func.func @plain_12_5(%q: memref<?x12xf32, strided<[?, 1]>>, %k: memref<?x12x32xf32>, %v: memref<?x5xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x5xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  xfmr.attention_tile ins(%q, %k, %v : memref<?x12xf32, strided<[?, 1]>>, memref<?x12x32xf32>, memref<?x5xf32, strided<[?, 1]>>)
      outs(%out : memref<?x5xf32, strided<[?, 1]>>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @shared_12_5(%q: memref<?x12xf32, strided<[?, 1]>>, %k: memref<?x12x32xf32>, %v: memref<?x5xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x5xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %one = memref.cast %mask : memref<?x?xf32> to memref<1x?xf32>
  xfmr.attention_tile ins(%q, %k, %v : memref<?x12xf32, strided<[?, 1]>>, memref<?x12x32xf32>, memref<?x5xf32, strided<[?, 1]>>) mask(%one : memref<1x?xf32>)
      outs(%out, %p : memref<?x5xf32, strided<[?, 1]>>, memref<?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @rows_12_5(%q: memref<?x12xf32, strided<[?, 1]>>, %k: memref<?x12x32xf32>, %v: memref<?x5xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x5xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  xfmr.attention_tile ins(%q, %k, %v : memref<?x12xf32, strided<[?, 1]>>, memref<?x12x32xf32>, memref<?x5xf32, strided<[?, 1]>>) mask(%mask : memref<?x?xf32>) head_scale(%scale)
      outs(%out, %p : memref<?x5xf32, strided<[?, 1]>>, memref<?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64, masked_rows = #xfmr.masked_rows<zero>}
  return
}

func.func @plain_64_64(%q: memref<?x64xf32, strided<[?, 1]>>, %k: memref<?x64x32xf32>, %v: memref<?x64xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x64xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  xfmr.attention_tile ins(%q, %k, %v : memref<?x64xf32, strided<[?, 1]>>, memref<?x64x32xf32>, memref<?x64xf32, strided<[?, 1]>>)
      outs(%out : memref<?x64xf32, strided<[?, 1]>>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @shared_64_64(%q: memref<?x64xf32, strided<[?, 1]>>, %k: memref<?x64x32xf32>, %v: memref<?x64xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x64xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %one = memref.cast %mask : memref<?x?xf32> to memref<1x?xf32>
  xfmr.attention_tile ins(%q, %k, %v : memref<?x64xf32, strided<[?, 1]>>, memref<?x64x32xf32>, memref<?x64xf32, strided<[?, 1]>>) mask(%one : memref<1x?xf32>)
      outs(%out, %p : memref<?x64xf32, strided<[?, 1]>>, memref<?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @rows_64_64(%q: memref<?x64xf32, strided<[?, 1]>>, %k: memref<?x64x32xf32>, %v: memref<?x64xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x64xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  xfmr.attention_tile ins(%q, %k, %v : memref<?x64xf32, strided<[?, 1]>>, memref<?x64x32xf32>, memref<?x64xf32, strided<[?, 1]>>) mask(%mask : memref<?x?xf32>) head_scale(%scale)
      outs(%out, %p : memref<?x64xf32, strided<[?, 1]>>, memref<?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64, masked_rows = #xfmr.masked_rows<zero>}
  return
}

func.func @plain_80_50(%q: memref<?x80xf32, strided<[?, 1]>>, %k: memref<?x80x32xf32>, %v: memref<?x50xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x50xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  xfmr.attention_tile ins(%q, %k, %v : memref<?x80xf32, strided<[?, 1]>>, memref<?x80x32xf32>, memref<?x50xf32, strided<[?, 1]>>)
      outs(%out : memref<?x50xf32, strided<[?, 1]>>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @shared_80_50(%q: memref<?x80xf32, strided<[?, 1]>>, %k: memref<?x80x32xf32>, %v: memref<?x50xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x50xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %one = memref.cast %mask : memref<?x?xf32> to memref<1x?xf32>
  xfmr.attention_tile ins(%q, %k, %v : memref<?x80xf32, strided<[?, 1]>>, memref<?x80x32xf32>, memref<?x50xf32, strided<[?, 1]>>) mask(%one : memref<1x?xf32>)
      outs(%out, %p : memref<?x50xf32, strided<[?, 1]>>, memref<?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @rows_80_50(%q: memref<?x80xf32, strided<[?, 1]>>, %k: memref<?x80x32xf32>, %v: memref<?x50xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x50xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  xfmr.attention_tile ins(%q, %k, %v : memref<?x80xf32, strided<[?, 1]>>, memref<?x80x32xf32>, memref<?x50xf32, strided<[?, 1]>>) mask(%mask : memref<?x?xf32>) head_scale(%scale)
      outs(%out, %p : memref<?x50xf32, strided<[?, 1]>>, memref<?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64, masked_rows = #xfmr.masked_rows<zero>}
  return
}
