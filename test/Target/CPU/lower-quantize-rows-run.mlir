//===- lower-quantize-rows-run.mlir - Quantized rows against plain ones --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows are quantized with two destinations as tile.quantize_rows defines it; by its N1, an infinity or NaN in any
// column makes the scale infinite or NaN. The numbers of columns, 5, 64 and 131, are and are not multiples of the steps
// of 16 and 64 columns.
//
// REQUIRES: avx2
// RUN: attune-opt %s --attune-lower-quantize-rows -o %t.mlir
// RUN: %S/Inputs/run-kernels %t.mlir %S/Inputs/lower-quantize-rows-run.c %t %cc x86-64-v3 x86-64-v4

func.func @bytes_131(%x: memref<?x131xf32>, %q: memref<?x132xi8>, %s: memref<?xf32>) attributes {llvm.emit_c_interface} {
  tile.quantize_rows ins(%x : memref<?x131xf32>) outs(%q, %s : memref<?x132xi8>, memref<?xf32>)
  return
}
func.func @bytes_64(%x: memref<?x64xf32>, %q: memref<?x64xi8>, %s: memref<?xf32>) attributes {llvm.emit_c_interface} {
  tile.quantize_rows ins(%x : memref<?x64xf32>) outs(%q, %s : memref<?x64xi8>, memref<?xf32>)
  return
}
func.func @bytes_5(%x: memref<?x5xf32>, %q: memref<?x8xi8>, %s: memref<?xf32>) attributes {llvm.emit_c_interface} {
  tile.quantize_rows ins(%x : memref<?x5xf32>) outs(%q, %s : memref<?x8xi8>, memref<?xf32>)
  return
}
