// Products of f32 rows by panels of quantized weights have the bits of a scalar reference, by every unit of this machine and with every
// size of register tiles: all kinds of formats, numbers of rows and columns near those of a tile, numbers of blocks that are not those
// that alternate, infinities and NaNs.
//
// REQUIRES: avx2
// RUN: attune-opt %s --attune-vectorize-tiles="dot-unit=avx2 register-rows=6" --canonicalize --cse -o %t.avx2.mlir
// RUN: %S/Inputs/run-kernels %t.avx2.mlir %S/Inputs/grouped-float-product-run.c %t.avx2 %cc x86-64-v3 > %t.avx2.txt
// RUN: attune-opt %s --attune-vectorize-tiles="dot-unit=portable register-rows=1" --canonicalize --cse -o %t.portable.mlir
// RUN: %S/Inputs/run-kernels %t.portable.mlir %S/Inputs/grouped-float-product-run.c %t.portable %cc x86-64-v3 > %t.portable.txt
// RUN: cmp %t.avx2.txt %t.portable.txt
// RUN: FileCheck %s --input-file=%t.avx2.txt
// CHECK: 0 failures, results ef2c72b84aef631e

func.func @int4_32(%x: memref<?x418xf32>, %p: memref<?x14x576xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.grouped_product ins(%x, %p : memref<?x418xf32>, memref<?x14x576xi8>) outs(%sums : memref<?x?xf32>) width 32 format <"int4:32">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
func.func @int8_32_asym(%x: memref<?x64xf32>, %p: memref<?x2x1152xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.grouped_product ins(%x, %p : memref<?x64xf32>, memref<?x2x1152xi8>) outs(%sums : memref<?x?xf32>) width 32 format <"int8:32:asym">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
func.func @int4_128(%x: memref<?x300xf32>, %p: memref<?x3x2112xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.grouped_product ins(%x, %p : memref<?x300xf32>, memref<?x3x2112xi8>) outs(%sums : memref<?x?xf32>) width 32 format <"int4:128">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
func.func @int8_0_f32(%x: memref<?x460xf32>, %p: memref<?x1x15488xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.grouped_product ins(%x, %p : memref<?x460xf32>, memref<?x1x15488xi8>) outs(%sums : memref<?x?xf32>) width 32 format <"int8:0:f32">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
func.func @int4_16_asym_f32(%x: memref<?x57xf32>, %p: memref<?x4x512xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.grouped_product ins(%x, %p : memref<?x57xf32>, memref<?x4x512xi8>) outs(%sums : memref<?x?xf32>) width 32 format <"int4:16:asym:f32">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
func.func @int8_64(%x: memref<?x10xf32>, %p: memref<?x1x2112xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.grouped_product ins(%x, %p : memref<?x10xf32>, memref<?x1x2112xi8>) outs(%sums : memref<?x?xf32>) width 32 format <"int8:64">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
