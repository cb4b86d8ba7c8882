// RUN: attune-opt %s --pass-pipeline='builtin.module(gpu.module(attune-lower-shared-memory))' --split-input-file | FileCheck %s

// All shared memory of a module is one external array, which the assembler places after static shared memory. The
// address space of buffers becomes its number.
// CHECK: gpu.module @fires
// CHECK: llvm.mlir.global external @attune_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK-NOT: llvm.mlir.global
gpu.module @fires {
  // CHECK-LABEL: gpu.func @store
  // CHECK: llvm.mlir.addressof @attune_shared : !llvm.ptr<3>
  // CHECK: memref.view %{{.*}} : memref<?xi8, 3> to memref<8xf32, 3>
  gpu.func @store(%x: f32) kernel {
    %c0 = arith.constant 0 : index
    %s = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %v = memref.view %s[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<8xf32, #gpu.address_space<workgroup>>
    memref.store %x, %v[%c0] : memref<8xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @again
  // CHECK: llvm.mlir.addressof @attune_shared : !llvm.ptr<3>
  gpu.func @again(%x: i8) kernel {
    %c0 = arith.constant 0 : index
    %s = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %x, %s[%c0] : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// A module without shared memory gets no array.
// CHECK: gpu.module @does_not_fire
// CHECK-NOT: llvm.mlir.global
// CHECK: gpu.func @global
gpu.module @does_not_fire {
  gpu.func @global(%x: f32, %a: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    memref.store %x, %a[%c0] : memref<8xf32>
    gpu.return
  }
}
