// RUN: attune-opt %s --attune-lower-rotary-tile --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Halves of 20 components: vectors of 16, then the 4 that remain under a mask. Components 40 to 43 are not rotated.
// CHECK-LABEL: @halves
// CHECK-SAME: (%[[X:.*]]: memref<?x3x44xf32>, %[[POSITIONS:.*]]: memref<?xi64>, %[[TABLE:.*]]: memref<64x40xf32>, %[[Y:.*]]: memref<?x3x44xf32>)
// CHECK-DAG: %[[C20:.*]] = arith.constant 20 : index
// CHECK: scf.for %[[T:.*]] =
// CHECK: %[[ID:.*]] = memref.load %[[POSITIONS]][%[[T]]]
// CHECK: %[[P:.*]] = arith.index_cast %[[ID]] : i64 to index
// CHECK: scf.for %[[H:.*]] =
// CHECK-DAG: %[[COS:.*]] = vector.load %[[TABLE]][%[[P]], %c0
// CHECK-DAG: %[[SIN:.*]] = vector.load %[[TABLE]][%[[P]], %[[C20]]]
// CHECK-DAG: %[[A:.*]] = vector.load %[[X]][%[[T]], %[[H]], %c0
// CHECK-DAG: %[[B:.*]] = vector.load %[[X]][%[[T]], %[[H]], %[[C20]]]
// CHECK-DAG: %[[MINUS:.*]] = arith.negf %[[SIN]]
// CHECK-DAG: %[[AC:.*]] = arith.mulf %[[A]], %[[COS]]
// CHECK-DAG: %[[FIRST:.*]] = {{(math|vector)}}.fma %[[B]], %[[MINUS]], %[[AC]]
// CHECK-DAG: %[[BC:.*]] = arith.mulf %[[B]], %[[COS]]
// CHECK-DAG: %[[SECOND:.*]] = {{(math|vector)}}.fma %[[A]], %[[SIN]], %[[BC]]
// CHECK: vector.store %[[FIRST]], %[[Y]][%[[T]], %[[H]], %c0
// CHECK: vector.store %[[SECOND]], %[[Y]][%[[T]], %[[H]], %[[C20]]]
// CHECK-COUNT-4: vector.maskedload
// CHECK-COUNT-2: vector.maskedstore
// CHECK: %[[REST:.*]] = vector.maskedload %[[X]]
// CHECK: vector.maskedstore %[[Y]]{{.*}}, %[[REST]]
// CHECK-NOT: tile.rotary_tile
func.func @halves(%x: memref<?x3x44xf32>, %positions: memref<?xi64>, %table: memref<64x40xf32>, %y: memref<?x3x44xf32>) {
  tile.rotary_tile ins(%x, %positions, %table : memref<?x3x44xf32>, memref<?xi64>, memref<64x40xf32>) outs(%y : memref<?x3x44xf32>)
  return
}

// Interleaved pairs: 8 are a vector. A shuffle exchanges neighbors, two repeat cosine and sine for both, and the sine is negative in even lanes.
// CHECK-LABEL: @pairs
// CHECK-DAG: arith.constant dense<[-1.000000e+00, 1.000000e+00, -1.000000e+00,
// CHECK-COUNT-2: vector.shuffle {{.*}} [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7]
// CHECK: vector.shuffle {{.*}} [1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14]
// CHECK: vector.store
// CHECK-NOT: vector.store
// CHECK: return
func.func @pairs(%x: memref<?x3x16xf32>, %positions: memref<?xi64>, %table: memref<64x16xf32>, %y: memref<?x3x16xf32>) {
  tile.rotary_tile ins(%x, %positions, %table : memref<?x3x16xf32>, memref<?xi64>, memref<64x16xf32>) outs(%y : memref<?x3x16xf32>) {interleaved}
  return
}

// Keys of a panel, one per row: element by element.
// CHECK-LABEL: @keys
// CHECK-SAME: (%[[PANEL:.*]]: memref<12x64xf32>, %[[ROWS:.*]]: memref<?x12xf32>)
// CHECK: scf.for %[[J:.*]] =
// CHECK: scf.for %[[D:.*]] =
// CHECK: %[[X:.*]] = memref.load %[[PANEL]][%[[D]], %[[J]]]
// CHECK: memref.store %[[X]], %[[ROWS]][%[[J]], %[[D]]]
func.func @keys(%panel: memref<12x64xf32>, %rows: memref<?x12xf32>) {
  tile.unpack_keys ins(%panel : memref<12x64xf32>) outs(%rows : memref<?x12xf32>)
  return
}

// Operations on tensors are not lowered before bufferization.
// CHECK-LABEL: @tensors
// CHECK: tile.unpack_keys
func.func @tensors(%panel: tensor<12x64xf32>, %rows: tensor<?x12xf32>) -> tensor<?x12xf32> {
  %k = tile.unpack_keys ins(%panel : tensor<12x64xf32>) outs(%rows : tensor<?x12xf32>) -> tensor<?x12xf32>
  return %k : tensor<?x12xf32>
}

// -----

func.func @refuses_strides(%panel: memref<12x64xf32>, %rows: memref<?x12xf32, strided<[24, 2]>>) {
  // expected-error @below {{expects f32 buffers with a contiguous last dimension, but got 'memref<?x12xf32, strided<[24, 2]>>'}}
  tile.unpack_keys ins(%panel : memref<12x64xf32>) outs(%rows : memref<?x12xf32, strided<[24, 2]>>)
  return
}

// -----

func.func @refuses_type(%x: memref<?x3x16xf16>, %positions: memref<?xi64>, %table: memref<64x16xf16>) {
  // expected-error @below {{expects f32 buffers with a contiguous last dimension, but got 'memref<?x3x16xf16>'}}
  tile.rotary_tile ins(%x, %positions, %table : memref<?x3x16xf16>, memref<?xi64>, memref<64x16xf16>) outs(%x : memref<?x3x16xf16>)
  return
}
