//===- lower-attention-tile-invalid.mlir - Tiles that cannot be lowered ===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

// RUN: attune-opt %s --attune-lower-attention-tile --split-input-file --verify-diagnostics

func.func @no_scratch(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>) {
  // expected-error @below {{expects a scratch buffer; attune-attach-scratch adds it}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>)
      outs(%q : memref<?x1x12xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}

// -----

func.func @few_scratch_rows(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %s: memref<4x512xf32>, %m: memref<64x32xf32>) {
  // expected-error @below {{expects a scratch buffer of at least 8 rows, but got 4}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) scratch(%s, %m : memref<4x512xf32>, memref<64x32xf32>)
      outs(%q : memref<?x1x12xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}

// -----

func.func @c4_scratch_columns(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %s: memref<8x256xf32>, %m: memref<64x32xf32>) {
  // expected-error @below {{expects a 'scratch' of at least 512 columns, but got 256}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) scratch(%s, %m : memref<8x256xf32>, memref<64x32xf32>)
      outs(%q : memref<?x1x12xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}

// -----

func.func @c4_dynamic_scratch(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %s: memref<?x512xf32>, %m: memref<64x32xf32>) {
  // expected-error @below {{expects a contiguous f32 'scratch' of static shape, but got 'memref<?x512xf32>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) scratch(%s, %m : memref<?x512xf32>, memref<64x32xf32>)
      outs(%q : memref<?x1x12xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}

// -----

func.func @strided_columns(%q: memref<?x1x12xf32, strided<[24, 24, 2]>>, %o: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %s: memref<8x512xf32>, %m: memref<64x32xf32>) {
  // expected-error @below {{expects f32 buffers with a contiguous last dimension, but got 'memref<?x1x12xf32, strided<[24, 24, 2]>>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32, strided<[24, 24, 2]>>, memref<?x12x32xf32>, memref<?x12xf32>) scratch(%s, %m : memref<8x512xf32>, memref<64x32xf32>)
      outs(%o : memref<?x1x12xf32>) {scale = 0.5 : f64, key_block = 512 : i64}
  return
}
