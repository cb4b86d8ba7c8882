// RUN: attune-opt %s --attune-limit-rows --canonicalize --split-input-file | FileCheck %s

// The host uses the bound. The pass follows rows through calls and views; a function that is also called with other rows becomes two functions.
// CHECK-LABEL: func.func private @scale(
// CHECK-SAME: memref<?x8xf32>, %{{.*}}: memref<?xi64> {rt.limit = 0 : i64})
// CHECK: scf.forall (%{{.*}}) = (0) to (%{{.*}}) step (8) {
// CHECK: {rt.launch = #rt.launch<limit = 0>}
// CHECK-LABEL: func.func private @scale_0(
// CHECK-SAME: %{{[^:]*}}: memref<?x8xf32>) {
// CHECK-NOT: limit
// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %[[X:.*]]: memref<?x8xf32>, %[[O:.*]]: memref<?xi64> {rt.limit = 0 : i64})
// CHECK: call @scale(%[[X]], %[[O]])
// CHECK-LABEL: func.func @positive_rows(
// CHECK-SAME: %[[OFFSETS:.*]]: memref<?xi64>, %[[BATCH:.*]]: index, %[[BOUND:.*]]: index)
// CHECK-NOT: memref.load
// CHECK: %[[ROWS:.*]] = memref.alloc(%[[BOUND]])
// CHECK: %[[OTHER:.*]] = memref.alloc(%[[BOUND]])
// CHECK: call @layer(%[[ROWS]], %[[OFFSETS]])
// CHECK: call @scale_0(%[[OTHER]])
func.func private @scale(%x: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  %rows = memref.dim %x, %c0 : memref<?x8xf32>
  scf.forall (%i) = (0) to (%rows) step (8) {
    memref.store %two, %x[%i, %c0] : memref<?x8xf32>
  }
  return
}
func.func private @layer(%x: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8xf32>
  %heads = memref.expand_shape %x [[0], [1, 2]] output_shape [%rows, 2, 4] : memref<?x8xf32> into memref<?x2x4xf32>
  %joined = memref.collapse_shape %heads [[0], [1, 2]] : memref<?x2x4xf32> into memref<?x8xf32>
  call @scale(%joined) : (memref<?x8xf32>) -> ()
  return
}
func.func @positive_rows(%offsets: memref<?xi64>, %batch: index, %bound: index) {
  %last = memref.load %offsets[%batch] : memref<?xi64>
  %end = arith.index_cast %last : i64 to index
  %count = arith.minsi %end, %bound : index
  %rows = memref.alloc(%count) : memref<?x8xf32>
  %other = memref.alloc(%bound) : memref<?x8xf32>
  call @layer(%rows) : (memref<?x8xf32>) -> ()
  call @scale(%other) : (memref<?x8xf32>) -> ()
  return
}

// -----

// A block computes one or more whole sequences, so there is no loop over rows.
// CHECK-LABEL: func.func private @negative_loops(
// CHECK-SAME: rt.limit = 0
// CHECK: scf.forall
// CHECK-NOT: limit
// CHECK: scf.forall
// CHECK-NOT: limit
// CHECK: return
func.func private @negative_loops(%x: memref<?x8xf32>, %sequences: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %two = arith.constant 2.0 : f32
  %rows = memref.dim %x, %c0 : memref<?x8xf32>
  %blocks = arith.ceildivui %rows, %c8 : index
  scf.forall (%i) in (%blocks) {
    memref.store %two, %x[%i, %c0] : memref<?x8xf32>
  }
  scf.forall (%i) in (%sequences) {
    memref.store %two, %x[%i, %c0] : memref<?x8xf32>
  }
  return
}
func.func @caller(%offsets: memref<?xi64>, %batch: index, %bound: index) {
  %last = memref.load %offsets[%batch] : memref<?xi64>
  %end = arith.index_cast %last : i64 to index
  %count = arith.minsi %end, %bound : index
  %rows = memref.alloc(%count) : memref<?x8xf32>
  call @negative_loops(%rows, %batch) : (memref<?x8xf32>, index) -> ()
  return
}

// -----

// The least of two sizes that the host knows is one.
// CHECK-LABEL: func.func @negative_sizes
// CHECK: %[[LEAST:.*]] = arith.minsi
// CHECK: memref.alloc(%[[LEAST]])
// CHECK-NOT: limit
func.func private @use(%x: memref<?x8xf32>)
func.func @negative_sizes(%a: index, %b: index) {
  %least = arith.minsi %a, %b : index
  %rows = memref.alloc(%least) : memref<?x8xf32>
  call @use(%rows) : (memref<?x8xf32>) -> ()
  return
}

// -----

// The host calls functions for every list of a table; the number of rows of a list is the only element of a view. Minima inside of parallel
// loops and of loops without calls are device code.
// CHECK-LABEL: func.func private @copy_listed(
// CHECK-SAME: %{{.*}}: memref<1xi64, strided<[1], offset: ?>> {rt.limit = 0 : i64})
// CHECK: scf.forall
// CHECK: arith.minsi
// CHECK: {rt.launch = #rt.launch<limit = 0>}
// CHECK-LABEL: func.func @positive_lists(
// CHECK-SAME: %[[COUNTS:.*]]: memref<4xi64>, %[[LISTS:.*]]: memref<4x?xi64>, %[[ROWS:.*]]: memref<?x8xf32>, %[[BOUND:.*]]: index)
// CHECK: scf.for %[[I:.*]] =
// CHECK: %[[OWN:.*]] = memref.subview %[[COUNTS]][%[[I]]] [1] [1]
// CHECK-NOT: arith.minsi
// CHECK: %[[LIST:.*]] = memref.subview %[[LISTS]][%[[I]], 0] [1, %[[BOUND]]] [1, 1]
// CHECK: call @copy_listed(%[[LIST]], %[[ROWS]], %{{.*}}, %[[OWN]])
// CHECK: scf.for
// CHECK: arith.minsi
func.func private @copy_listed(%list: memref<?xi64, strided<[1], offset: ?>>, %from: memref<?x8xf32>, %to: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %list, %c0 : memref<?xi64, strided<[1], offset: ?>>
  %last = memref.dim %from, %c0 : memref<?x8xf32>
  scf.forall (%i) = (0) to (%rows) step (1) {
    %v = memref.load %list[%i] : memref<?xi64, strided<[1], offset: ?>>
    %j = arith.index_cast %v : i64 to index
    %k = arith.minsi %j, %last : index
    %x = memref.load %from[%k, %c0] : memref<?x8xf32>
    memref.store %x, %to[%i, %c0] : memref<?x8xf32>
  }
  return
}
func.func @positive_lists(%counts: memref<4xi64>, %lists: memref<4x?xi64>, %rows: memref<?x8xf32>, %bound: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %c4 step %c1 {
    %own = memref.subview %counts[%i] [1] [1] : memref<4xi64> to memref<1xi64, strided<[1], offset: ?>>
    %n = memref.load %own[%c0] : memref<1xi64, strided<[1], offset: ?>>
    %end = arith.index_cast %n : i64 to index
    %count = arith.minsi %end, %bound : index
    %list = memref.subview %lists[%i, 0] [1, %count] [1, 1] : memref<4x?xi64> to memref<?xi64, strided<[1], offset: ?>>
    %to = memref.alloc(%count) : memref<?x8xf32>
    func.call @copy_listed(%list, %rows, %to) : (memref<?xi64, strided<[1], offset: ?>>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %n = memref.load %counts[%i] : memref<4xi64>
    %end = arith.index_cast %n : i64 to index
    %count = arith.minsi %end, %bound : index
    %back = arith.index_cast %count : index to i64
    memref.store %back, %counts[%i] : memref<4xi64>
  }
  return
}

// -----

// Rows that are counted by buffers of other types, all tokens and those of an expert, need a version for each type.
// CHECK-LABEL: func.func private @kernel(
// CHECK-SAME: memref<?x8xf32>, %{{.*}}: memref<?xi64> {rt.limit = 0 : i64})
// CHECK-LABEL: func.func private @kernel_0(
// CHECK-SAME: memref<?x8xf32>, %{{.*}}: memref<1xi64, strided<[1], offset: ?>> {rt.limit = 0 : i64})
// CHECK-LABEL: func.func @two_types(
// CHECK-DAG: call @kernel(%{{.*}}, %{{.*}}) : (memref<?x8xf32>, memref<?xi64>) -> ()
// CHECK-DAG: call @kernel_0(%{{.*}}, %{{.*}}) : (memref<?x8xf32>, memref<1xi64, strided<[1], offset: ?>>) -> ()
func.func private @kernel(%x: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  %rows = memref.dim %x, %c0 : memref<?x8xf32>
  scf.forall (%i) = (0) to (%rows) step (8) {
    memref.store %two, %x[%i, %c0] : memref<?x8xf32>
  }
  return
}
func.func @two_types(%offsets: memref<?xi64>, %counts: memref<4xi64>, %batch: index, %expert: index, %bound: index) {
  %c0 = arith.constant 0 : index
  %last = memref.load %offsets[%batch] : memref<?xi64>
  %end = arith.index_cast %last : i64 to index
  %tokens = arith.minsi %end, %bound : index
  %all = memref.alloc(%tokens) : memref<?x8xf32>
  call @kernel(%all) : (memref<?x8xf32>) -> ()
  %own = memref.subview %counts[%expert] [1] [1] : memref<4xi64> to memref<1xi64, strided<[1], offset: ?>>
  %number = memref.load %own[%c0] : memref<1xi64, strided<[1], offset: ?>>
  %count = arith.index_cast %number : i64 to index
  %chosen = arith.minsi %count, %bound : index
  %some = memref.alloc(%chosen) : memref<?x8xf32>
  call @kernel(%some) : (memref<?x8xf32>) -> ()
  return
}
