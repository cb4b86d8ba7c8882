// Low-precision contractions against plain sums, for numbers of rows and columns near those of a tile; K is 128. This
// file tests the units avx2 and portable; the files vectorize-low-precision-run-*.mlir test units of newer CPUs.
// Integer sums are exact, so all units give the same bits. All buffers end at inaccessible pages. Operands have memory
// for a multiple of 32 rows, because the code for AMX tiles reads 16 or 32 rows at a time.
//
// REQUIRES: avx2
// RUN: split-file %s %t.parts
// RUN: attune-opt %t.parts/words.mlir --attune-vectorize-tiles=dot-unit=avx2 --canonicalize -o %t.avx2.mlir
// RUN: %S/Inputs/run-kernels %t.avx2.mlir %S/Inputs/vectorize-low-precision-run.c %t.avx2 %cc x86-64-v3 > %t.avx2.txt
// RUN: attune-opt %t.parts/words.mlir --attune-vectorize-tiles=dot-unit=portable --canonicalize -o %t.portable.mlir
// RUN: %S/Inputs/run-kernels %t.portable.mlir %S/Inputs/vectorize-low-precision-run.c %t.portable %cc x86-64-v3 > %t.portable.txt
// RUN: cmp %t.avx2.txt %t.portable.txt
// RUN: FileCheck %s --input-file=%t.avx2.txt
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
