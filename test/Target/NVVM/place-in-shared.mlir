// RUN: attune-opt %s --attune-place-in-shared=bytes=1024 --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @scratch
// CHECK: scf.forall
// CHECK-NEXT: %[[SHARED:.*]] = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
// CHECK: memref.view %[[SHARED]][%c64{{.*}}][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<8xf32, #gpu.address_space<workgroup>>
// CHECK-NOT: xfmr.worker_id
// CHECK: } {xfmr.shared_bytes = 128 : i64}
func.func @scratch(%w: memref<?xi8>, %x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.forall (%i) in (%n) {
    %id = xfmr.worker_id
    %base = arith.muli %id, %c128 : index
    %at = arith.addi %base, %c64 : index
    %v = memref.view %w[%at][] : memref<?xi8> to memref<8xf32>
    memref.store %x, %v[%c0] : memref<8xf32>
  }
  return
}

// -----

// More than a block has: stays in the workspace.
// CHECK-LABEL: func.func @negative_large
// CHECK: xfmr.worker_id
// CHECK-NOT: gpu.dynamic_shared_memory
func.func @negative_large(%w: memref<?xi8>, %x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c2048 = arith.constant 2048 : index
  scf.forall (%i) in (%n) {
    %id = xfmr.worker_id
    %base = arith.muli %id, %c2048 : index
    %v = memref.view %w[%base][] : memref<?xi8> to memref<512xf32>
    memref.store %x, %v[%c0] : memref<512xf32>
  }
  return
}

// -----

// Allocations come first.
// CHECK-LABEL: func.func @allocation
// CHECK: memref.view {{.*}} to memref<100xf32, #gpu.address_space<workgroup>>
// CHECK: } {xfmr.shared_bytes = 512 : i64}
func.func @allocation(%x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  scf.forall (%i) in (%n) {
    %v = memref.alloc() : memref<100xf32, #gpu.address_space<workgroup>>
    memref.store %x, %v[%c0] : memref<100xf32, #gpu.address_space<workgroup>>
  }
  return
}

// -----

func.func @too_much(%x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{needs 2048 bytes of shared memory, expected at most 1024}}
  scf.forall (%i) in (%n) {
    %v = memref.alloc() : memref<512xf32, #gpu.address_space<workgroup>>
    memref.store %x, %v[%c0] : memref<512xf32, #gpu.address_space<workgroup>>
  }
  return
}
