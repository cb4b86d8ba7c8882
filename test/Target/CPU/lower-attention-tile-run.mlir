//===- lower-attention-tile-run.mlir - Attention tiles against double -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention tiles of 1 to 8 rows, with numbers of keys around each boundary, with and without masks and softmax
// probabilities, and with rows that see no key. In calls for all rows, every buffer but the key panels ends at an
// inaccessible page. A row has the same bits alone and among others, and for every size of register tile and
// instruction set. Long mode adds sizes of heads.
//
// REQUIRES: avx2
// RUN: sed -E %if long %{-n p%} %else %{'/^func.func @[a-z]+_(5|64|5_12|64_64)[(]/,/^}/d'%} %s > %t.mlir
// RUN: attune-opt %t.mlir --attune-attach-scratch --attune-lower-attention-tile --attune-lower-key-panel --attune-expand-math -o %t.8.mlir
// RUN: %S/Inputs/run-kernels %t.8.mlir %S/Inputs/lower-attention-tile-run.c %t.8 %cc x86-64-v3 x86-64-v4 > %t.8.txt
// RUN: FileCheck %s --input-file=%t.8.txt --check-prefixes=CHECK%if long %{,LONG%}
// LONG: D 5, E 12: worst error
// CHECK: D 12, E 5: worst error
// LONG: D 64, E 64: worst error
// CHECK: D 80, E 50: worst error
//
// RUN: sed -E %if long %{-n p%} %else %{'/^func.func @[a-z]+_(80|80_50)[(]/,/^}/d'%} %t.mlir > %t.small.mlir
// RUN: attune-opt %t.small.mlir --attune-attach-scratch \
// RUN:   --attune-lower-attention-tile="rows=4 score-vectors=1 value-vectors=1 softmax-rows=1" \
// RUN:   --attune-lower-key-panel --attune-expand-math -o %t.4.mlir
// RUN: %S/Inputs/run-kernels %t.4.mlir %S/Inputs/lower-attention-tile-run.c %t.4 %cc x86-64-v3 > %t.4.txt
// RUN: FileCheck %s --input-file=%t.4.txt --check-prefixes=SMALL%if long %{,ALL%}
// SMALL: D 12, E 5: worst error
// ALL: D 80, E 50: worst error
// Each line is one of the larger tiles, too.
// RUN: grep -x -F -f %t.4.txt %t.8.txt | cmp - %t.4.txt

func.func @panel_5(%keys: memref<?x5xf32, strided<[?, 1]>>, %panel: memref<5x32xf32>) attributes {llvm.emit_c_interface} {
  tile.key_panel ins(%keys : memref<?x5xf32, strided<[?, 1]>>) outs(%panel : memref<5x32xf32>)
  return
}
func.func @panel_12(%keys: memref<?x12xf32, strided<[?, 1]>>, %panel: memref<12x32xf32>) attributes {llvm.emit_c_interface} {
  tile.key_panel ins(%keys : memref<?x12xf32, strided<[?, 1]>>) outs(%panel : memref<12x32xf32>)
  return
}
func.func @panel_64(%keys: memref<?x64xf32, strided<[?, 1]>>, %panel: memref<64x32xf32>) attributes {llvm.emit_c_interface} {
  tile.key_panel ins(%keys : memref<?x64xf32, strided<[?, 1]>>) outs(%panel : memref<64x32xf32>)
  return
}
func.func @panel_80(%keys: memref<?x80xf32, strided<[?, 1]>>, %panel: memref<80x32xf32>) attributes {llvm.emit_c_interface} {
  tile.key_panel ins(%keys : memref<?x80xf32, strided<[?, 1]>>) outs(%panel : memref<80x32xf32>)
  return
}

func.func @plain_5_12(%q: memref<?x5xf32, strided<[?, 1]>>, %k: memref<?x5x32xf32>, %v: memref<?x12xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x12xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.dim %q, %c0 : memref<?x5xf32, strided<[?, 1]>>
  %s = memref.dim %p, %c1 : memref<?x?xf32>
  %q3 = memref.expand_shape %q [[0], [1, 2]] output_shape [%r, 1, 5] : memref<?x5xf32, strided<[?, 1]>> into memref<?x1x5xf32, strided<[?, 5, 1]>>
  %out3 = memref.expand_shape %out [[0], [1, 2]] output_shape [%r, 1, 12] : memref<?x12xf32, strided<[?, 1]>> into memref<?x1x12xf32, strided<[?, 12, 1]>>
  tile.attention_tile ins(%q3, %k, %v : memref<?x1x5xf32, strided<[?, 5, 1]>>, memref<?x5x32xf32>, memref<?x12xf32, strided<[?, 1]>>)
      outs(%out3 : memref<?x1x12xf32, strided<[?, 12, 1]>>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @shared_5_12(%q: memref<?x5xf32, strided<[?, 1]>>, %k: memref<?x5x32xf32>, %v: memref<?x12xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x12xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.dim %q, %c0 : memref<?x5xf32, strided<[?, 1]>>
  %s = memref.dim %p, %c1 : memref<?x?xf32>
  %q3 = memref.expand_shape %q [[0], [1, 2]] output_shape [%r, 1, 5] : memref<?x5xf32, strided<[?, 1]>> into memref<?x1x5xf32, strided<[?, 5, 1]>>
  %out3 = memref.expand_shape %out [[0], [1, 2]] output_shape [%r, 1, 12] : memref<?x12xf32, strided<[?, 1]>> into memref<?x1x12xf32, strided<[?, 12, 1]>>
  %p3 = memref.expand_shape %p [[0, 1], [2]] output_shape [1, %r, %s] : memref<?x?xf32> into memref<1x?x?xf32>
  %one = memref.cast %mask : memref<?x?xf32> to memref<1x?xf32>
  tile.attention_tile ins(%q3, %k, %v : memref<?x1x5xf32, strided<[?, 5, 1]>>, memref<?x5x32xf32>, memref<?x12xf32, strided<[?, 1]>>) mask(%one : memref<1x?xf32>)
      outs(%out3, %p3 : memref<?x1x12xf32, strided<[?, 12, 1]>>, memref<1x?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @rows_5_12(%q: memref<?x5xf32, strided<[?, 1]>>, %k: memref<?x5x32xf32>, %v: memref<?x12xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x12xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.dim %q, %c0 : memref<?x5xf32, strided<[?, 1]>>
  %s = memref.dim %p, %c1 : memref<?x?xf32>
  %q3 = memref.expand_shape %q [[0], [1, 2]] output_shape [%r, 1, 5] : memref<?x5xf32, strided<[?, 1]>> into memref<?x1x5xf32, strided<[?, 5, 1]>>
  %out3 = memref.expand_shape %out [[0], [1, 2]] output_shape [%r, 1, 12] : memref<?x12xf32, strided<[?, 1]>> into memref<?x1x12xf32, strided<[?, 12, 1]>>
  %p3 = memref.expand_shape %p [[0, 1], [2]] output_shape [1, %r, %s] : memref<?x?xf32> into memref<1x?x?xf32>
  %heads = memref.alloca() : memref<1xf32>
  memref.store %scale, %heads[%c0] : memref<1xf32>
  tile.attention_tile ins(%q3, %k, %v : memref<?x1x5xf32, strided<[?, 5, 1]>>, memref<?x5x32xf32>, memref<?x12xf32, strided<[?, 1]>>) mask(%mask : memref<?x?xf32>) head_scale(%heads : memref<1xf32>)
      outs(%out3, %p3 : memref<?x1x12xf32, strided<[?, 12, 1]>>, memref<1x?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64, masked_rows = #xfmr.masked_rows<zero>}
  return
}

func.func @plain_12_5(%q: memref<?x12xf32, strided<[?, 1]>>, %k: memref<?x12x32xf32>, %v: memref<?x5xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x5xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.dim %q, %c0 : memref<?x12xf32, strided<[?, 1]>>
  %s = memref.dim %p, %c1 : memref<?x?xf32>
  %q3 = memref.expand_shape %q [[0], [1, 2]] output_shape [%r, 1, 12] : memref<?x12xf32, strided<[?, 1]>> into memref<?x1x12xf32, strided<[?, 12, 1]>>
  %out3 = memref.expand_shape %out [[0], [1, 2]] output_shape [%r, 1, 5] : memref<?x5xf32, strided<[?, 1]>> into memref<?x1x5xf32, strided<[?, 5, 1]>>
  tile.attention_tile ins(%q3, %k, %v : memref<?x1x12xf32, strided<[?, 12, 1]>>, memref<?x12x32xf32>, memref<?x5xf32, strided<[?, 1]>>)
      outs(%out3 : memref<?x1x5xf32, strided<[?, 5, 1]>>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @shared_12_5(%q: memref<?x12xf32, strided<[?, 1]>>, %k: memref<?x12x32xf32>, %v: memref<?x5xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x5xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.dim %q, %c0 : memref<?x12xf32, strided<[?, 1]>>
  %s = memref.dim %p, %c1 : memref<?x?xf32>
  %q3 = memref.expand_shape %q [[0], [1, 2]] output_shape [%r, 1, 12] : memref<?x12xf32, strided<[?, 1]>> into memref<?x1x12xf32, strided<[?, 12, 1]>>
  %out3 = memref.expand_shape %out [[0], [1, 2]] output_shape [%r, 1, 5] : memref<?x5xf32, strided<[?, 1]>> into memref<?x1x5xf32, strided<[?, 5, 1]>>
  %p3 = memref.expand_shape %p [[0, 1], [2]] output_shape [1, %r, %s] : memref<?x?xf32> into memref<1x?x?xf32>
  %one = memref.cast %mask : memref<?x?xf32> to memref<1x?xf32>
  tile.attention_tile ins(%q3, %k, %v : memref<?x1x12xf32, strided<[?, 12, 1]>>, memref<?x12x32xf32>, memref<?x5xf32, strided<[?, 1]>>) mask(%one : memref<1x?xf32>)
      outs(%out3, %p3 : memref<?x1x5xf32, strided<[?, 5, 1]>>, memref<1x?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @rows_12_5(%q: memref<?x12xf32, strided<[?, 1]>>, %k: memref<?x12x32xf32>, %v: memref<?x5xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x5xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.dim %q, %c0 : memref<?x12xf32, strided<[?, 1]>>
  %s = memref.dim %p, %c1 : memref<?x?xf32>
  %q3 = memref.expand_shape %q [[0], [1, 2]] output_shape [%r, 1, 12] : memref<?x12xf32, strided<[?, 1]>> into memref<?x1x12xf32, strided<[?, 12, 1]>>
  %out3 = memref.expand_shape %out [[0], [1, 2]] output_shape [%r, 1, 5] : memref<?x5xf32, strided<[?, 1]>> into memref<?x1x5xf32, strided<[?, 5, 1]>>
  %p3 = memref.expand_shape %p [[0, 1], [2]] output_shape [1, %r, %s] : memref<?x?xf32> into memref<1x?x?xf32>
  %heads = memref.alloca() : memref<1xf32>
  memref.store %scale, %heads[%c0] : memref<1xf32>
  tile.attention_tile ins(%q3, %k, %v : memref<?x1x12xf32, strided<[?, 12, 1]>>, memref<?x12x32xf32>, memref<?x5xf32, strided<[?, 1]>>) mask(%mask : memref<?x?xf32>) head_scale(%heads : memref<1xf32>)
      outs(%out3, %p3 : memref<?x1x5xf32, strided<[?, 5, 1]>>, memref<1x?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64, masked_rows = #xfmr.masked_rows<zero>}
  return
}

func.func @plain_64_64(%q: memref<?x64xf32, strided<[?, 1]>>, %k: memref<?x64x32xf32>, %v: memref<?x64xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x64xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.dim %q, %c0 : memref<?x64xf32, strided<[?, 1]>>
  %s = memref.dim %p, %c1 : memref<?x?xf32>
  %q3 = memref.expand_shape %q [[0], [1, 2]] output_shape [%r, 1, 64] : memref<?x64xf32, strided<[?, 1]>> into memref<?x1x64xf32, strided<[?, 64, 1]>>
  %out3 = memref.expand_shape %out [[0], [1, 2]] output_shape [%r, 1, 64] : memref<?x64xf32, strided<[?, 1]>> into memref<?x1x64xf32, strided<[?, 64, 1]>>
  tile.attention_tile ins(%q3, %k, %v : memref<?x1x64xf32, strided<[?, 64, 1]>>, memref<?x64x32xf32>, memref<?x64xf32, strided<[?, 1]>>)
      outs(%out3 : memref<?x1x64xf32, strided<[?, 64, 1]>>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @shared_64_64(%q: memref<?x64xf32, strided<[?, 1]>>, %k: memref<?x64x32xf32>, %v: memref<?x64xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x64xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.dim %q, %c0 : memref<?x64xf32, strided<[?, 1]>>
  %s = memref.dim %p, %c1 : memref<?x?xf32>
  %q3 = memref.expand_shape %q [[0], [1, 2]] output_shape [%r, 1, 64] : memref<?x64xf32, strided<[?, 1]>> into memref<?x1x64xf32, strided<[?, 64, 1]>>
  %out3 = memref.expand_shape %out [[0], [1, 2]] output_shape [%r, 1, 64] : memref<?x64xf32, strided<[?, 1]>> into memref<?x1x64xf32, strided<[?, 64, 1]>>
  %p3 = memref.expand_shape %p [[0, 1], [2]] output_shape [1, %r, %s] : memref<?x?xf32> into memref<1x?x?xf32>
  %one = memref.cast %mask : memref<?x?xf32> to memref<1x?xf32>
  tile.attention_tile ins(%q3, %k, %v : memref<?x1x64xf32, strided<[?, 64, 1]>>, memref<?x64x32xf32>, memref<?x64xf32, strided<[?, 1]>>) mask(%one : memref<1x?xf32>)
      outs(%out3, %p3 : memref<?x1x64xf32, strided<[?, 64, 1]>>, memref<1x?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @rows_64_64(%q: memref<?x64xf32, strided<[?, 1]>>, %k: memref<?x64x32xf32>, %v: memref<?x64xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x64xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.dim %q, %c0 : memref<?x64xf32, strided<[?, 1]>>
  %s = memref.dim %p, %c1 : memref<?x?xf32>
  %q3 = memref.expand_shape %q [[0], [1, 2]] output_shape [%r, 1, 64] : memref<?x64xf32, strided<[?, 1]>> into memref<?x1x64xf32, strided<[?, 64, 1]>>
  %out3 = memref.expand_shape %out [[0], [1, 2]] output_shape [%r, 1, 64] : memref<?x64xf32, strided<[?, 1]>> into memref<?x1x64xf32, strided<[?, 64, 1]>>
  %p3 = memref.expand_shape %p [[0, 1], [2]] output_shape [1, %r, %s] : memref<?x?xf32> into memref<1x?x?xf32>
  %heads = memref.alloca() : memref<1xf32>
  memref.store %scale, %heads[%c0] : memref<1xf32>
  tile.attention_tile ins(%q3, %k, %v : memref<?x1x64xf32, strided<[?, 64, 1]>>, memref<?x64x32xf32>, memref<?x64xf32, strided<[?, 1]>>) mask(%mask : memref<?x?xf32>) head_scale(%heads : memref<1xf32>)
      outs(%out3, %p3 : memref<?x1x64xf32, strided<[?, 64, 1]>>, memref<1x?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64, masked_rows = #xfmr.masked_rows<zero>}
  return
}

func.func @plain_80_50(%q: memref<?x80xf32, strided<[?, 1]>>, %k: memref<?x80x32xf32>, %v: memref<?x50xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x50xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.dim %q, %c0 : memref<?x80xf32, strided<[?, 1]>>
  %s = memref.dim %p, %c1 : memref<?x?xf32>
  %q3 = memref.expand_shape %q [[0], [1, 2]] output_shape [%r, 1, 80] : memref<?x80xf32, strided<[?, 1]>> into memref<?x1x80xf32, strided<[?, 80, 1]>>
  %out3 = memref.expand_shape %out [[0], [1, 2]] output_shape [%r, 1, 50] : memref<?x50xf32, strided<[?, 1]>> into memref<?x1x50xf32, strided<[?, 50, 1]>>
  tile.attention_tile ins(%q3, %k, %v : memref<?x1x80xf32, strided<[?, 80, 1]>>, memref<?x80x32xf32>, memref<?x50xf32, strided<[?, 1]>>)
      outs(%out3 : memref<?x1x50xf32, strided<[?, 50, 1]>>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @shared_80_50(%q: memref<?x80xf32, strided<[?, 1]>>, %k: memref<?x80x32xf32>, %v: memref<?x50xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x50xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.dim %q, %c0 : memref<?x80xf32, strided<[?, 1]>>
  %s = memref.dim %p, %c1 : memref<?x?xf32>
  %q3 = memref.expand_shape %q [[0], [1, 2]] output_shape [%r, 1, 80] : memref<?x80xf32, strided<[?, 1]>> into memref<?x1x80xf32, strided<[?, 80, 1]>>
  %out3 = memref.expand_shape %out [[0], [1, 2]] output_shape [%r, 1, 50] : memref<?x50xf32, strided<[?, 1]>> into memref<?x1x50xf32, strided<[?, 50, 1]>>
  %p3 = memref.expand_shape %p [[0, 1], [2]] output_shape [1, %r, %s] : memref<?x?xf32> into memref<1x?x?xf32>
  %one = memref.cast %mask : memref<?x?xf32> to memref<1x?xf32>
  tile.attention_tile ins(%q3, %k, %v : memref<?x1x80xf32, strided<[?, 80, 1]>>, memref<?x80x32xf32>, memref<?x50xf32, strided<[?, 1]>>) mask(%one : memref<1x?xf32>)
      outs(%out3, %p3 : memref<?x1x50xf32, strided<[?, 50, 1]>>, memref<1x?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
func.func @rows_80_50(%q: memref<?x80xf32, strided<[?, 1]>>, %k: memref<?x80x32xf32>, %v: memref<?x50xf32, strided<[?, 1]>>, %scale: f32, %mask: memref<?x?xf32>, %out: memref<?x50xf32, strided<[?, 1]>>, %p: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.dim %q, %c0 : memref<?x80xf32, strided<[?, 1]>>
  %s = memref.dim %p, %c1 : memref<?x?xf32>
  %q3 = memref.expand_shape %q [[0], [1, 2]] output_shape [%r, 1, 80] : memref<?x80xf32, strided<[?, 1]>> into memref<?x1x80xf32, strided<[?, 80, 1]>>
  %out3 = memref.expand_shape %out [[0], [1, 2]] output_shape [%r, 1, 50] : memref<?x50xf32, strided<[?, 1]>> into memref<?x1x50xf32, strided<[?, 50, 1]>>
  %p3 = memref.expand_shape %p [[0, 1], [2]] output_shape [1, %r, %s] : memref<?x?xf32> into memref<1x?x?xf32>
  %heads = memref.alloca() : memref<1xf32>
  memref.store %scale, %heads[%c0] : memref<1xf32>
  tile.attention_tile ins(%q3, %k, %v : memref<?x1x80xf32, strided<[?, 80, 1]>>, memref<?x80x32xf32>, memref<?x50xf32, strided<[?, 1]>>) mask(%mask : memref<?x?xf32>) head_scale(%heads : memref<1xf32>)
      outs(%out3, %p3 : memref<?x1x50xf32, strided<[?, 50, 1]>>, memref<1x?x?xf32>) {scale = 0.5 : f64, key_block = 512 : i64, masked_rows = #xfmr.masked_rows<zero>}
  return
}
