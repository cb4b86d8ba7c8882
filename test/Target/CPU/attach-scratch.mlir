//===- attach-scratch.mlir - Buffers for scores, per parallel loop ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

// RUN: attune-opt %s --attune-attach-scratch | FileCheck %s
// RUN: attune-opt %s --attune-attach-scratch="rows=4 state-rows=96" | FileCheck %s --check-prefix=FOUR
// RUN: attune-opt %s --attune-attach-scratch="rows=16" | FileCheck %s --check-prefix=SIXTEEN

// RUN: attune-opt %s --attune-attach-scratch="rows=64" | FileCheck %s --check-prefix=EQUAL

// In the parallel loop (every worker has its own), outside the sequential one, shared by the tiles of equal key blocks.
// CHECK-LABEL: func @in_parallel_loop
// CHECK: scf.forall
// CHECK-NEXT: %[[WIDE:.*]] = memref.alloc() {{.*}} : memref<8x80xf32>
// CHECK-NEXT: %[[STATE:.*]] = memref.alloc() {{.*}} : memref<64x32xf32>
// CHECK-NEXT: %[[BUFFER:.*]] = memref.alloc() {{.*}} : memref<8x528xf32>
// CHECK: scf.for
// CHECK: tile.attention_tile {{.*}} scratch(%[[BUFFER]], %[[STATE]] : memref<8x528xf32>, memref<64x32xf32>)
// CHECK: tile.attention_tile {{.*}} scratch(%[[BUFFER]], %[[STATE]] : memref<8x528xf32>, memref<64x32xf32>)
// CHECK: tile.attention_tile {{.*}} scratch(%[[WIDE]], %[[STATE]] : memref<8x80xf32>, memref<64x32xf32>)
// FOUR: memref<4x80xf32>
// FOUR: memref<96x32xf32>
func.func @in_parallel_loop(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %o: memref<?x1x12xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%h) in (%n) {
    scf.for %i = %c0 to %n step %c1 {
      tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) outs(%o : memref<?x1x12xf32>)
          {scale = 0.5 : f64, key_block = 512 : i64}
      tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) outs(%o : memref<?x1x12xf32>)
          {scale = 0.5 : f64, key_block = 512 : i64}
    }
    tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) outs(%o : memref<?x1x12xf32>)
        {scale = 0.5 : f64, key_block = 64 : i64}
  }
  return
}

// CHECK-LABEL: func @leaves_given_and_tensors
// CHECK-NOT: memref.alloc
func.func @leaves_given_and_tensors(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %s: memref<8x64xf32>, %m: memref<64x32xf32>,
                                    %v: memref<?x12xf32>, %tq: tensor<?x1x12xf32>, %tk: tensor<?x12x32xf32>, %tv: tensor<?x12xf32>) -> tensor<?x1x12xf32> {
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) scratch(%s, %m : memref<8x64xf32>, memref<64x32xf32>)
      outs(%q : memref<?x1x12xf32>) {scale = 0.5 : f64, key_block = 64 : i64}
  %0 = tile.attention_tile ins(%tq, %tk, %tv : tensor<?x1x12xf32>, tensor<?x12x32xf32>, tensor<?x12xf32>)
      outs(%tq : tensor<?x1x12xf32>) {scale = 0.5 : f64, key_block = 64 : i64} -> tensor<?x1x12xf32>
  return %0 : tensor<?x1x12xf32>
}

// Tiles of 7 heads have 112 rows or more if their rows are whole groups of 16.
// CHECK-LABEL: func @seven_heads
// CHECK: scratch(%{{.*}}, %{{.*}} : memref<8x80xf32>, memref<64x32xf32>)
// SIXTEEN-LABEL: func @seven_heads
// SIXTEEN: scratch(%{{.*}}, %{{.*}} : memref<16x80xf32>, memref<112x32xf32>)
func.func @seven_heads(%q: memref<?x7x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %o: memref<?x7x12xf32>) {
  tile.attention_tile ins(%q, %k, %v : memref<?x7x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) outs(%o : memref<?x7x12xf32>)
      {scale = 0.5 : f64, key_block = 64 : i64}
  return
}

// Scores and state have buffers of their own, even of one type.
// EQUAL-LABEL: func @equal_types
// EQUAL: %[[SCORES:.*]] = memref.alloc() {{.*}} : memref<64x32xf32>
// EQUAL: %[[STATE:.*]] = memref.alloc() {{.*}} : memref<64x32xf32>
// EQUAL: scratch({{%.*}}, {{%.*}} : memref<64x32xf32>, memref<64x32xf32>)
func.func @equal_types(%q: memref<?x1x12xf32>, %k: memref<?x12x16xf32>, %v: memref<?x12xf32>, %o: memref<?x1x12xf32>) {
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x16xf32>, memref<?x12xf32>) outs(%o : memref<?x1x12xf32>)
      {scale = 0.5 : f64, key_block = 16 : i64}
  return
}
