// RUN: attune-opt %s --attune-place-in-shared=bytes=1024 --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @scratch
// CHECK: scf.forall
// CHECK-NEXT: %[[SHARED:.*]] = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
// CHECK: memref.view %[[SHARED]][%c0{{.*}}][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<8xf32, #gpu.address_space<workgroup>>
// CHECK-NOT: rt.worker_id
// CHECK: } {rt.launch = #rt.launch<shared_bytes = 128>}
func.func @scratch(%w: memref<?xi8>, %x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  scf.forall (%i) in (%n) {
    %id = rt.worker_id
    %base = arith.muli %id, %c128 : index
    %at = arith.addi %base, %c64 : index
    %v = memref.view %w[%at][] : memref<?xi8> to memref<8xf32>
    memref.store %x, %v[%c0] : memref<8xf32>
  }
  return
}

// -----

// A buffer larger than the shared memory of a block stays in the workspace.
// CHECK-LABEL: func.func @negative_large
// CHECK: rt.worker_id
// CHECK-NOT: gpu.dynamic_shared_memory
func.func @negative_large(%w: memref<?xi8>, %x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c2048 = arith.constant 2048 : index
  scf.forall (%i) in (%n) {
    %id = rt.worker_id
    %base = arith.muli %id, %c2048 : index
    %v = memref.view %w[%base][] : memref<?xi8> to memref<512xf32>
    memref.store %x, %v[%c0] : memref<512xf32>
  }
  return
}

// -----

// Only views that are used take shared memory, one after the other: 32 bytes where views overlap, 128 bytes of an
// unknown shape up to the next offset. An allocation and a view without users take none.
// CHECK-LABEL: func.func @unused
// CHECK-NOT: memref.alloc
// CHECK-NOT: rt.worker_id
// CHECK: memref.view {{.*}}[%c0{{[_0-9]*}}][] : {{.*}} to memref<8xf32, #gpu.address_space<workgroup>>
// CHECK: memref.view {{.*}}[%c0{{[_0-9]*}}][] : {{.*}} to memref<4xf32, #gpu.address_space<workgroup>>
// CHECK: memref.view {{.*}}[%c128{{[_0-9]*}}][%{{.*}}] : {{.*}} to memref<?xf32, #gpu.address_space<workgroup>>
// CHECK: } {rt.launch = #rt.launch<shared_bytes = 256>}
func.func @unused(%w: memref<?xi8>, %x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %c768 = arith.constant 768 : index
  %c896 = arith.constant 896 : index
  %c16384 = arith.constant 16384 : index
  scf.forall (%i) in (%n) {
    %none = memref.alloc() : memref<200xf32, #gpu.address_space<workgroup>>
    %id = rt.worker_id
    %base = arith.muli %id, %c16384 : index
    %unused = memref.view %w[%base][%n] : memref<?xi8> to memref<?xf32>
    %part = memref.subview %unused[0] [4] [1] : memref<?xf32> to memref<4xf32, strided<[1]>>
    %at = arith.addi %base, %c512 : index
    %u = memref.view %w[%at][] : memref<?xi8> to memref<8xf32>
    memref.store %x, %u[%c0] : memref<8xf32>
    %v = memref.view %w[%at][] : memref<?xi8> to memref<4xf32>
    memref.store %x, %v[%c0] : memref<4xf32>
    %next = arith.addi %base, %c768 : index
    %dynamic = memref.view %w[%next][%n] : memref<?xi8> to memref<?xf32>
    memref.store %x, %dynamic[%c0] : memref<?xf32>
    %last = arith.addi %base, %c896 : index
    %late = memref.view %w[%last][] : memref<?xi8> to memref<8xf32>
  }
  return
}

// -----

// An alloc in the address space of workgroups becomes a view of the block's shared memory.
// CHECK-LABEL: func.func @allocation
// CHECK: memref.view {{.*}} to memref<100xf32, #gpu.address_space<workgroup>>
// CHECK: } {rt.launch = #rt.launch<shared_bytes = 512>}
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
