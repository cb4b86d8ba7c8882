// RUN: attune-opt %s -split-input-file -attune-outline-parallel -cse | FileCheck %s

// One loop: the range is the iteration variable. %c3 is repeated in the body, %x, %y and the size are captured.
// CHECK-LABEL: func.func private @flat_parallel
// CHECK-SAME: (%[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>, %[[WORKER:.*]]: index, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK: scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: %[[AT:.*]] = arith.addi %[[I]], %[[C3]]
// CHECK: memref.load %[[X]][%[[AT]]]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[WORKER]]]
// CHECK-LABEL: func.func @flat
// CHECK-SAME: (%[[HOST:.*]]: !llvm.ptr {rt.role = #rt.role<host>}, %[[X:.*]]: memref<?xf32>, %[[Y:.*]]: memref<?xf32>, %[[N:.*]]: index)
// CHECK: %[[COUNT:.*]] = arith.maxsi %[[N]]
// CHECK: rt.parallel_call %[[HOST]], %[[COUNT]], %c1 @flat_parallel(%[[X]], %[[Y]]) : memref<?xf32>, memref<?xf32>
func.func @flat(%x: memref<?xf32>, %y: memref<?xf32>, %n: index) {
  %c3 = arith.constant 3 : index
  scf.forall (%i) in (%n) {
    %w = rt.worker_id
    %at = arith.addi %i, %c3 : index
    %v = memref.load %x[%at] : memref<?xf32>
    memref.store %v, %y[%w] : memref<?xf32>
  }
  return
}
// A caller passes its own argument %host.
// CHECK-LABEL: func.func @caller
// CHECK-SAME: (%[[HOST:.*]]: !llvm.ptr
// CHECK: call @flat(%[[HOST]],
func.func @caller(%x: memref<?xf32>, %n: index) {
  call @flat(%x, %x, %n) : (memref<?xf32>, memref<?xf32>, index) -> ()
  return
}

// -----

// Two dimensions with bounds and steps: the last one is the fastest; no division in the loop. A view of the workspace is rebuilt in the body.
// CHECK-LABEL: func.func private @grid_parallel
// CHECK-SAME: (%[[ARENA:[^:]*]]: memref<?xi8>, %[[LOWER:[^:]*]]: index, %{{[^:]*}}: index, %[[BEGIN:[^:]*]]: index, %[[END:[^:]*]]: index)
// CHECK: memref.view %[[ARENA]]
// CHECK: %[[J0:.*]] = arith.remui %[[BEGIN]], %[[C3:.*]] :
// CHECK: %[[I0:.*]] = arith.divui %[[BEGIN]], %[[C3]]
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %{{.*}} iter_args(%[[I:.*]] = %[[I0]], %[[J:.*]] = %[[J0]])
// CHECK: %[[SCALED:.*]] = arith.muli %[[I]], %c8
// CHECK: %[[ROW:.*]] = arith.addi %[[SCALED]], %[[LOWER]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[ROW]], %[[J]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[J]], %c1
// CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[NEXT]], %[[C3]]
// CHECK-NOT: div
// CHECK: scf.yield
// CHECK-LABEL: func.func @grid
// CHECK: rt.parallel_call
// CHECK-NOT: scf.forall
func.func @grid(%arena: memref<?xi8>, %lower: index, %upper: index) {
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  %x = memref.view %arena[%c64][] : memref<?xi8> to memref<64x3xf32>
  scf.forall (%i, %j) = (%lower, 0) to (%upper, 3) step (8, 1) {
    memref.store %one, %x[%i, %j] : memref<64x3xf32>
  }
  return
}

// -----

// One iteration, and a loop inside a body, need no host; outside a parallel loop the worker is 0.
// CHECK-LABEL: func.func private @inner_parallel
// CHECK: scf.for
// CHECK: scf.for
// CHECK-LABEL: func.func @inner
// CHECK-LABEL: func.func @once
// CHECK-SAME: (%{{[^,]*}}: memref<4xf32>)
// CHECK-NOT: xfmr.
func.func @inner(%x: memref<4x4xf32>) {
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (4) {
    scf.forall (%j) in (4) {
      memref.store %one, %x[%i, %j] : memref<4x4xf32>
    }
  }
  return
}
func.func @once(%x: memref<4xf32>) {
  %one = arith.constant 1.0 : f32
  scf.forall (%i, %j) in (1, 1) {
    %w = rt.worker_id
    memref.store %one, %x[%w] : memref<4xf32>
  }
  return
}
