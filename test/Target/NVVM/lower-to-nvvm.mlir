// RUN: attune-opt %s --pass-pipeline='builtin.module(gpu.module(attune-lower-shared-memory,attune-keep-intrinsics))' | FileCheck %s

// CHECK: gpu.module @kernels
// CHECK: llvm.mlir.global external @attune_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @shared
  // CHECK: llvm.mlir.addressof @attune_shared : !llvm.ptr<3>
  // CHECK: memref.view %{{.*}} : memref<?xi8, 3> to memref<8xf32, 3>
  gpu.func @shared(%x: f32) kernel {
    %c0 = arith.constant 0 : index
    %s = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %v = memref.view %s[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<8xf32, #gpu.address_space<workgroup>>
    memref.store %x, %v[%c0] : memref<8xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @intrinsics
  // CHECK: llvm.call_intrinsic "llvm.exp2.f32"
  // CHECK: llvm.call_intrinsic "llvm.sqrt.f32"
  // CHECK: llvm.call_intrinsic "llvm.fabs.f32"
  // CHECK: llvm.intr.fma
  gpu.func @intrinsics(%x: f32, %a: memref<f32>) kernel {
    %0 = llvm.intr.exp2(%x) : (f32) -> f32
    %1 = llvm.intr.sqrt(%0) : (f32) -> f32
    %2 = llvm.intr.fabs(%1) : (f32) -> f32
    %3 = llvm.intr.fma(%2, %2, %2) : (f32, f32, f32) -> f32
    memref.store %3, %a[] : memref<f32>
    gpu.return
  }
}
