//===- lower-attention-tile.mlir - Register tiles of attention --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

// RUN: attune-opt %s --attune-lower-attention-tile --canonicalize | FileCheck %s
// RUN: attune-opt %s --attune-lower-attention-tile="rows=4 score-vectors=1 value-vectors=1" --canonicalize | FileCheck %s --check-prefix=AVX2

// One row: scores of 32 keys in two registers, then probabilities, then 12 columns in one register whose last 4 lanes are neither read nor written.
// CHECK-LABEL: func @one_row
// CHECK-NOT: tile.attention_tile
// Blocks of keys around groups of rows; a maximum and a sum come from the block before, if there is one.
// CHECK: scf.for
// CHECK: scf.if {{.*}} -> (f32, vector<16xf32>)
// CHECK: memref.load %{{.*}} : memref<64x32xf32>
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
// CHECK: vector.load %{{.*}} : memref<?x12x32xf32>, vector<16xf32>
// CHECK-COUNT-2: math.fma
// CHECK: vector.create_mask
// CHECK: vector.store %{{.*}} : memref<8x528xf32>, vector<16xf32>
// The maximum of 16 lanes by halving the vector.
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK: vector.shuffle {{.*}} [8, 9, 10, 11, 12, 13, 14, 15]
// Values are read in place, and their next rows are prefetched.
// CHECK: memref.prefetch
// CHECK: vector.maskedload %{{.*}} : memref<?x12xf32>
// CHECK: vector.maskedstore
func.func @one_row(%q: memref<1x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %s: memref<8x528xf32>, %m: memref<64x32xf32>, %o: memref<1x1x12xf32>) {
  tile.attention_tile ins(%q, %k, %v : memref<1x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) scratch(%s, %m : memref<8x528xf32>, memref<64x32xf32>)
      outs(%o : memref<1x1x12xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}

// 8 rows x 2 vectors of accumulators, and 8 maxima around them; 64 columns are two groups of two vectors.
// CHECK-LABEL: func @eight_rows
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK: scf.for {{.*}} iter_args({{(%[a-z0-9_]+ = %[a-z0-9_]+(, )?){16} *}})
// CHECK-COUNT-64: math.fma
// AVX2-LABEL: func @eight_rows
// AVX2: scf.for
// AVX2: scf.for {{.*}} iter_args({{(%[a-z0-9_]+ = %[a-z0-9_]+(, )?){4} *}})
// AVX2-COUNT-16: math.fma
func.func @eight_rows(%q: memref<8x1x64xf32>, %k: memref<?x64x32xf32>, %v: memref<?x64xf32>, %s: memref<8x528xf32>, %m: memref<64x32xf32>, %o: memref<8x1x64xf32>) {
  tile.attention_tile ins(%q, %k, %v : memref<8x1x64xf32>, memref<?x64x32xf32>, memref<?x64xf32>) scratch(%s, %m : memref<8x528xf32>, memref<64x32xf32>)
      outs(%o : memref<8x1x64xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}

// Operations on tensors are not lowered before bufferization.
// CHECK-LABEL: func @tensors
// CHECK: tile.attention_tile
func.func @tensors(%q: tensor<?x1x12xf32>, %k: tensor<?x12x32xf32>, %v: tensor<?x12xf32>) -> tensor<?x1x12xf32> {
  %0 = tile.attention_tile ins(%q, %k, %v : tensor<?x1x12xf32>, tensor<?x12x32xf32>, tensor<?x12xf32>)
      outs(%q : tensor<?x1x12xf32>) {scale = 0.5 : f64, key_block = 64 : i64} -> tensor<?x1x12xf32>
  return %0 : tensor<?x1x12xf32>
}

// Relative tables: one addition and two fused products for each vector of a row. Rows of one head address a table by one column where it
// has all their distances; otherwise each row and vector has a column that is kept within the table.
// CHECK-LABEL: func @relative
// CHECK: %[[INSIDE:.*]] = arith.andi
// CHECK: scf.if %{{.*}} -> (vector<16xf32>
// CHECK-NOT: arith.maxsi
// CHECK: scf.for
// CHECK: arith.addf
// CHECK-COUNT-2: math.fma
// CHECK: } else {
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: scf.for
// CHECK: arith.addf
// CHECK-COUNT-2: math.fma
func.func @relative(%q: memref<8x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %p: index, %a: memref<1x12x45xf32>, %b: memref<1x12x45xf32>,
                    %s: memref<8x528xf32>, %m: memref<64x32xf32>, %o: memref<8x1x12xf32>) {
  tile.attention_tile ins(%q, %k, %v : memref<8x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) at(%p) relative_key(%a : memref<1x12x45xf32>)
      relative_query(%b : memref<1x12x45xf32>) scratch(%s, %m : memref<8x528xf32>, memref<64x32xf32>)
      outs(%o : memref<8x1x12xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}

// A single row shares nothing with other rows, so there is no branch.
// CHECK-LABEL: func @relative_one_row
// CHECK-NOT: scf.if %{{.*}} -> (vector<16xf32>, vector<16xf32>)
// CHECK: arith.minsi
// CHECK: math.fma
func.func @relative_one_row(%q: memref<1x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %p: index, %a: memref<1x12x45xf32>,
                            %s: memref<8x528xf32>, %m: memref<64x32xf32>, %o: memref<1x1x12xf32>) {
  tile.attention_tile ins(%q, %k, %v : memref<1x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) at(%p) relative_query(%a : memref<1x12x45xf32>)
      scratch(%s, %m : memref<8x528xf32>, memref<64x32xf32>) outs(%o : memref<1x1x12xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
