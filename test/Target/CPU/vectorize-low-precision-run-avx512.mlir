// Low-precision contractions with vectors of 512 bits, by the tests of vectorize-low-precision-run.mlir.
//
// REQUIRES: avx512-dots
// RUN: split-file %s %t.parts
// RUN: attune-opt %t.parts/words.mlir --attune-vectorize-tiles=dot-unit=avx512 --canonicalize -o %t.words.mlir
// RUN: %S/Inputs/run-kernels %t.words.mlir %S/Inputs/vectorize-low-precision-run.c %t.words %cc x86-64-v4 | FileCheck %s
// RUN: attune-opt %t.parts/bytes.mlir --attune-vectorize-tiles=dot-unit=avx512 --canonicalize -o %t.bytes.mlir
// RUN: %S/Inputs/run-kernels %t.bytes.mlir %S/Inputs/vectorize-low-precision-run.c %t.bytes %cc cooperlake -DBYTES | FileCheck %s
// CHECK: 0 failures

//--- words.mlir
func.func @float_dots(%x: memref<?x128xf32>, %w: memref<?x64x?x2xbf16, strided<[4096, 64, 2, 1]>>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 32, k floordiv 2, n mod 32, k mod 2)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x128xf32>, memref<?x64x?x2xbf16, strided<[4096, 64, 2, 1]>>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: bf16, %acc: f32):
    %r = arith.extf %b : bf16 to f32
    %p = arith.mulf %a, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
func.func @int_dots(%x: memref<?x128xi16>, %w: memref<?x64x?x2xi8, strided<[4096, 64, 2, 1]>>, %out: memref<?x?xi32>) attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%out : memref<?x?xi32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 32, k floordiv 2, n mod 32, k mod 2)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x128xi16>, memref<?x64x?x2xi8, strided<[4096, 64, 2, 1]>>) outs(%out : memref<?x?xi32>) {
  ^bb0(%a: i16, %b: i8, %acc: i32):
    %l = arith.extsi %a : i16 to i32
    %r = arith.extsi %b : i8 to i32
    %p = arith.muli %l, %r : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  }
  return
}

//--- bytes.mlir
func.func @float_dots(%x: memref<?x128xbf16>, %w: memref<?x64x?x2xbf16, strided<[4096, 64, 2, 1]>>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 32, k floordiv 2, n mod 32, k mod 2)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x128xbf16>, memref<?x64x?x2xbf16, strided<[4096, 64, 2, 1]>>) outs(%out : memref<?x?xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %l = arith.extf %a : bf16 to f32
    %r = arith.extf %b : bf16 to f32
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
func.func @int_dots(%x: memref<?x128xi8>, %w: memref<?x32x?x4xi8, strided<[4096, 128, 4, 1]>>, %out: memref<?x?xi32>) attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%out : memref<?x?xi32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 32, k floordiv 4, n mod 32, k mod 4)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x128xi8>, memref<?x32x?x4xi8, strided<[4096, 128, 4, 1]>>) outs(%out : memref<?x?xi32>) {
  ^bb0(%a: i8, %b: i8, %acc: i32):
    %l = arith.extui %a : i8 to i32
    %r = arith.extsi %b : i8 to i32
    %p = arith.muli %l, %r : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  }
  return
}
