// Quantized rows and products by panels of quantized weights, by every unit of this machine, have the bits of a scalar reference: all formats, numbers of rows
// and columns near those of a tile, groups that are partly beyond K, groups of zeros, infinities and NaNs.
//
// REQUIRES: avx2
// RUN: attune-opt %s --attune-vectorize-tiles="dot-unit=avx2" --attune-lower-quantize-rows --canonicalize --cse -o %t.avx2.mlir
// RUN: %S/Inputs/run-kernels %t.avx2.mlir %S/Inputs/grouped-product-run.c %t.avx2 %cc x86-64-v3 > %t.avx2.txt
// RUN: attune-opt %s --attune-vectorize-tiles="dot-unit=portable" --attune-lower-quantize-rows --canonicalize --cse -o %t.portable.mlir
// RUN: %S/Inputs/run-kernels %t.portable.mlir %S/Inputs/grouped-product-run.c %t.portable %cc x86-64-v3 > %t.portable.txt
// RUN: cmp %t.avx2.txt %t.portable.txt
// RUN: FileCheck %s --input-file=%t.avx2.txt
// CHECK: 0 failures

func.func @int4_32(%x: memref<?x100xf32>, %q: memref<?x128xi8>, %s: memref<?x4xf32>, %z: memref<?x4xi32>, %p: memref<?x4x576xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.quantize_rows ins(%x : memref<?x100xf32>) group 32 outs(%q, %s, %z : memref<?x128xi8>, memref<?x4xf32>, memref<?x4xi32>)
  tile.grouped_product ins(%q, %s, %z, %p : memref<?x128xi8>, memref<?x4xf32>, memref<?x4xi32>, memref<?x4x576xi8>)
      outs(%sums : memref<?x?xf32>) width 32 format <"int4:32">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
func.func @int8_32_asym(%x: memref<?x64xf32>, %q: memref<?x64xi8>, %s: memref<?x2xf32>, %z: memref<?x2xi32>, %p: memref<?x2x1152xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.quantize_rows ins(%x : memref<?x64xf32>) group 32 outs(%q, %s, %z : memref<?x64xi8>, memref<?x2xf32>, memref<?x2xi32>)
  tile.grouped_product ins(%q, %s, %z, %p : memref<?x64xi8>, memref<?x2xf32>, memref<?x2xi32>, memref<?x2x1152xi8>)
      outs(%sums : memref<?x?xf32>) width 32 format <"int8:32:asym">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
func.func @int4_128(%x: memref<?x300xf32>, %q: memref<?x384xi8>, %s: memref<?x3xf32>, %z: memref<?x3xi32>, %p: memref<?x3x2112xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.quantize_rows ins(%x : memref<?x300xf32>) group 128 outs(%q, %s, %z : memref<?x384xi8>, memref<?x3xf32>, memref<?x3xi32>)
  tile.grouped_product ins(%q, %s, %z, %p : memref<?x384xi8>, memref<?x3xf32>, memref<?x3xi32>, memref<?x3x2112xi8>)
      outs(%sums : memref<?x?xf32>) width 32 format <"int4:128">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
func.func @int8_0_f32(%x: memref<?x460xf32>, %q: memref<?x480xi8>, %s: memref<?x1xf32>, %z: memref<?x1xi32>, %p: memref<?x1x15488xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.quantize_rows ins(%x : memref<?x460xf32>) group 480 outs(%q, %s, %z : memref<?x480xi8>, memref<?x1xf32>, memref<?x1xi32>)
  tile.grouped_product ins(%q, %s, %z, %p : memref<?x480xi8>, memref<?x1xf32>, memref<?x1xi32>, memref<?x1x15488xi8>)
      outs(%sums : memref<?x?xf32>) width 32 format <"int8:0:f32">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
func.func @int4_16_asym_f32(%x: memref<?x48xf32>, %q: memref<?x48xi8>, %s: memref<?x3xf32>, %z: memref<?x3xi32>, %p: memref<?x3x512xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.quantize_rows ins(%x : memref<?x48xf32>) group 16 outs(%q, %s, %z : memref<?x48xi8>, memref<?x3xf32>, memref<?x3xi32>)
  tile.grouped_product ins(%q, %s, %z, %p : memref<?x48xi8>, memref<?x3xf32>, memref<?x3xi32>, memref<?x3x512xi8>)
      outs(%sums : memref<?x?xf32>) width 32 format <"int4:16:asym:f32">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
