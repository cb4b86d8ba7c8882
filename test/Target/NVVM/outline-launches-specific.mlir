// RUN: attune-opt %s --attune-outline-launches=threads=64 | FileCheck %s
// RUN: attune-opt %s --attune-outline-launches=threads=64 --attune-lower-to-nvvm | FileCheck %s --check-prefix=LOWERED

// A kernel of one GPU has threads of its own, and maps of tensors as first parameters: the map itself, which the host makes.
// CHECK-LABEL: func.func private @specific
// CHECK: %[[MAP:.*]] = rt.tensor_map
// CHECK: gpu.launch_func @attune_device::@specific {{.*}} threads in (%c384{{.*}} args(%[[MAP]] : !llvm.ptr
// LOWERED: llvm.func {{.*}}@specific(
// LOWERED: llvm.mlir.constant(65626 : {{.*}}) : i32
// LOWERED: llvm.icmp "eq"
// LOWERED: llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
// LOWERED: gpu.module
// LOWERED: llvm.func @specific(%{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
func.func private @specific(%a: memref<?xf32>, %x: f32, %n: index) {
  %hopper = rt.device_arch_is 90
  scf.if %hopper {
    %map = rt.tensor_map %a sizes [%n] strides [] {box = array<i64: 64>, element_bytes = 4 : i64, swizzle = 0 : i64} : memref<?xf32>
    scf.forall (%i) in (%n) {
      memref.store %x, %a[%i] : memref<?xf32>
      nvvm.prefetch tensormap, %map : !llvm.ptr
    } {rt.launch = #rt.launch<threads = 384, arch = 90>}
  }
  return
}
// CHECK: gpu.func @specific(%{{[a-z0-9]*}}: !llvm.ptr, {{.*}}) kernel attributes {known_block_size = array<i32: 384, 1, 1>, nvvm.minctasm = 1 : i32, rt.device_function = #rt.device_function<"specific", shared_bytes = 0, arch = 90, tensor_maps = 1>}
