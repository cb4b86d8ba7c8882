// RUN: attune-opt %s --attune-place-on-device=threads=128 --split-input-file --verify-diagnostics | FileCheck %s

// A copy is shared by the grid: a thread for 4 elements, so a block for 512, up to a number of blocks.
// CHECK-LABEL: func.func @copy
// CHECK: %[[ELEMENTS:.*]] = arith.muli
// CHECK: %[[MOST:.*]] = arith.constant 4096 : index
// CHECK: %[[EACH:.*]] = arith.constant 512 : index
// CHECK: %[[NEEDED:.*]] = arith.ceildivui %[[ELEMENTS]], %[[EACH]]
// CHECK: %[[BLOCKS:.*]] = arith.minui %[[NEEDED]], %[[MOST]]
// CHECK: scf.forall (%{{.*}}) in (%[[BLOCKS]]) {
// CHECK-NEXT: memref.copy
// CHECK-NEXT: } {rt.launch = #rt.launch<grid = true>}
func.func @copy(%a: memref<?x8xf32>, %b: memref<?x8xf32>) {
  memref.copy %a, %b : memref<?x8xf32> to memref<?x8xf32>
  return
}

// -----

// A loop over elements runs in one block, as one loop.
// CHECK-LABEL: func.func @loop
// CHECK: scf.forall (%{{.*}}) in (1) {
// CHECK-NEXT: scf.for
// CHECK-NOT: rt.launch
func.func @loop(%a: memref<?xi64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %a[%i] : memref<?xi64>
    memref.store %v, %a[%c0] : memref<?xi64>
  }
  return
}

// -----

// Does not change operations in parallel loops and arithmetic on sizes.
// CHECK-LABEL: func.func @negative_sizes
// CHECK-NEXT: arith.constant
// CHECK-NEXT: memref.dim
// CHECK-NEXT: scf.forall (%{{.*}}) in (%{{.*}}) {
// CHECK-NEXT: memref.store
func.func @negative_sizes(%a: memref<?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  scf.forall (%i) in (%n) {
    memref.store %x, %a[%i] : memref<?xf32>
  }
  return
}

// -----

func.func @size_from_data(%a: memref<?xi64>, %b: memref<?xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{the host needs a value that only the device knows}}
  %v = memref.load %a[%c0] : memref<?xi64>
  %n = arith.index_cast %v : i64 to index
  scf.forall (%i) in (%n) {
    memref.store %x, %b[%i] : memref<?xf32>
  }
  return
}
