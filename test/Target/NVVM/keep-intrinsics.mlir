// RUN: attune-opt %s --pass-pipeline='builtin.module(gpu.module(attune-keep-intrinsics))' | FileCheck %s

gpu.module @kernels {
  // Functions of f32 for which the hardware has an instruction: `convert-gpu-to-nvvm` rejects these operations.
  // CHECK-LABEL: llvm.func @fires
  // CHECK-NEXT: llvm.call_intrinsic "llvm.exp2.f32"
  // CHECK-NEXT: llvm.call_intrinsic "llvm.sqrt.f32"
  // CHECK-NEXT: llvm.call_intrinsic "llvm.fabs.f32"
  // CHECK-NEXT: llvm.call_intrinsic "llvm.ceil.f32"
  // CHECK-NEXT: llvm.call_intrinsic "llvm.floor.f32"
  // CHECK-NEXT: llvm.call_intrinsic "llvm.roundeven.f32"
  // CHECK-NEXT: llvm.call_intrinsic "llvm.copysign.f32"
  llvm.func @fires(%x: f32) -> f32 {
    %0 = llvm.intr.exp2(%x) : (f32) -> f32
    %1 = llvm.intr.sqrt(%0) : (f32) -> f32
    %2 = llvm.intr.fabs(%1) : (f32) -> f32
    %3 = llvm.intr.ceil(%2) : (f32) -> f32
    %4 = llvm.intr.floor(%3) : (f32) -> f32
    %5 = llvm.intr.roundeven(%4) : (f32) -> f32
    %6 = llvm.intr.copysign(%5, %x) : (f32, f32) -> f32
    llvm.return %6 : f32
  }

  // Does not change operations that the code generator lowers itself, and other types.
  // CHECK-LABEL: llvm.func @does_not_fire
  // CHECK-NEXT: llvm.intr.fma
  // CHECK-NEXT: llvm.intr.sqrt(%{{.*}}) : (f64) -> f64
  llvm.func @does_not_fire(%x: f32, %y: f64) -> f64 {
    %0 = llvm.intr.fma(%x, %x, %x) : (f32, f32, f32) -> f32
    %1 = llvm.intr.sqrt(%y) : (f64) -> f64
    llvm.return %1 : f64
  }
}
