// Products of float rows by panels of quantized weights by tables of AVX-512: those of f32 rows have the bits of the tests of
// grouped-float-product-run.mlir, those of bf16 rows are near the product in double.
//
// REQUIRES: avx512-dots
// RUN: attune-opt %S/grouped-float-product-run.mlir --attune-vectorize-tiles="dot-unit=avx512 register-rows=12" --canonicalize --cse -o %t.f32.mlir
// RUN: %S/Inputs/run-kernels %t.f32.mlir %S/Inputs/grouped-float-product-run.c %t.f32 %cc x86-64-v4 | FileCheck %s
// RUN: attune-opt %s --attune-vectorize-tiles="dot-unit=avx512 register-rows=12" --canonicalize --cse -o %t.bf16.mlir
// RUN: %S/Inputs/run-kernels %t.bf16.mlir %S/Inputs/grouped-float-product-run.c %t.bf16 %cc cooperlake -DBF16 | FileCheck %s --check-prefix=BF16
// CHECK: 0 failures, results ef2c72b84aef631e
// BF16: 0 failures

func.func @int4_32_bf16(%x: memref<?x418xbf16>, %p: memref<?x14x576xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.grouped_product ins(%x, %p : memref<?x418xbf16>, memref<?x14x576xi8>) outs(%sums : memref<?x?xf32>) width 32 format <"int4:32">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
func.func @int8_32_asym_bf16(%x: memref<?x64xbf16>, %p: memref<?x2x1152xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.grouped_product ins(%x, %p : memref<?x64xbf16>, memref<?x2x1152xi8>) outs(%sums : memref<?x?xf32>) width 32 format <"int8:32:asym">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
func.func @int4_128_bf16(%x: memref<?x300xbf16>, %p: memref<?x3x2112xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.grouped_product ins(%x, %p : memref<?x300xbf16>, memref<?x3x2112xi8>) outs(%sums : memref<?x?xf32>) width 32 format <"int4:128">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
func.func @int8_0_f32_bf16(%x: memref<?x460xbf16>, %p: memref<?x1x15488xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.grouped_product ins(%x, %p : memref<?x460xbf16>, memref<?x1x15488xi8>) outs(%sums : memref<?x?xf32>) width 32 format <"int8:0:f32">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
func.func @int4_16_asym_f32_bf16(%x: memref<?x58xbf16>, %p: memref<?x4x512xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.grouped_product ins(%x, %p : memref<?x58xbf16>, memref<?x4x512xi8>) outs(%sums : memref<?x?xf32>) width 32 format <"int4:16:asym:f32">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
func.func @int8_64_bf16(%x: memref<?x10xbf16>, %p: memref<?x1x2112xi8>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  %sums = memref.alloca(%m, %n) : memref<?x?xf32>
  tile.grouped_product ins(%x, %p : memref<?x10xbf16>, memref<?x1x2112xi8>) outs(%sums : memref<?x?xf32>) width 32 format <"int8:64">
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<?x?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %r = arith.addf %a, %one : f32
    linalg.yield %r : f32
  }
  return
}
