// Compares with double: projections of every number of rows and columns of a register tile, projections larger than one
// tile, and reductions and gathers of rows of 0 to 50 columns. Buffers of floats end at inaccessible pages. The bits
// are the same for every size of register tile and instruction set.
//
// REQUIRES: avx2
// RUN: attune-opt %s --attune-vectorize-tiles=register-rows=8 -o %t.8.mlir
// RUN: %S/Inputs/run-kernels %t.8.mlir %S/Inputs/vectorize-tiles-run.c %t.8 %cc x86-64-v3 x86-64-v4 > %t.8.txt
// RUN: attune-opt %s --attune-vectorize-tiles="register-rows=6" -o %t.6.mlir
// RUN: %S/Inputs/run-kernels %t.6.mlir %S/Inputs/vectorize-tiles-run.c %t.6 %cc x86-64-v3 > %t.6.txt
// RUN: cmp %t.8.txt %t.6.txt
// RUN: FileCheck %s --input-file=%t.8.txt
// CHECK: 0 failures

#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>

func.func @project(%x: memref<?x9xf32>, %w: memref<?x9x?xf32, strided<[288, 32, 1]>>, %bias: memref<?xf32>, %sum: memref<?x?xf32>, %out: memref<?x?xf32>)
    attributes {llvm.emit_c_interface} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<?x?xf32>)
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 32, k, n mod 32)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x9xf32>, memref<?x9x?xf32, strided<[288, 32, 1]>>) outs(%sum : memref<?x?xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#full, #column, #full], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %bias : memref<?x?xf32>, memref<?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %s = arith.addf %l, %r : f32
    linalg.yield %s : f32
  }
  return
}
func.func @row_sum(%x: memref<?x?xf32>, %out: memref<?xf32>) attributes {llvm.emit_c_interface} {
  linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%out : memref<?xf32>) {
  ^bb0(%l: f32, %acc: f32):
    %s = arith.addf %acc, %l : f32
    linalg.yield %s : f32
  }
  return
}
func.func @row_squares(%x: memref<?x?xf32>, %out: memref<?xf32>) attributes {llvm.emit_c_interface} {
  linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%out : memref<?xf32>) {
  ^bb0(%l: f32, %acc: f32):
    %s = math.fma %l, %l, %acc : f32
    linalg.yield %s : f32
  }
  return
}
func.func @row_max(%x: memref<?x?xf32>, %out: memref<?xf32>) attributes {llvm.emit_c_interface} {
  linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%x : memref<?x?xf32>) outs(%out : memref<?xf32>) {
  ^bb0(%l: f32, %acc: f32):
    %s = arith.maximumf %acc, %l : f32
    linalg.yield %s : f32
  }
  return
}
func.func @gather(%ids: memref<?xi64>, %table: memref<?x?xf32>, %out: memref<?x?xf32>) attributes {llvm.emit_c_interface} {
  linalg.generic {indexing_maps = [#row, #full], iterator_types = ["parallel", "parallel"]} ins(%ids : memref<?xi64>) outs(%out : memref<?x?xf32>) {
  ^bb0(%id: i64, %o: f32):
    %r = arith.index_cast %id : i64 to index
    %c = linalg.index 1 : index
    %v = memref.load %table[%r, %c] : memref<?x?xf32>
    linalg.yield %v : f32
  }
  return
}
