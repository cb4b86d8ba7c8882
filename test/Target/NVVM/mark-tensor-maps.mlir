// RUN: attune-opt %s --pass-pipeline='builtin.module(gpu.module(attune-mark-tensor-maps))' --split-input-file --verify-diagnostics | FileCheck %s

gpu.module @device {
  // The first two parameters are TMA descriptors, 128 bytes each in the constant memory of parameters; the third is an ordinary pointer.
  // CHECK-LABEL: llvm.func @fires
  // CHECK-SAME: (%{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %{{.*}}: !llvm.ptr)
  llvm.func @fires(%a: !llvm.ptr, %b: !llvm.ptr, %x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel, rt.device_function = #rt.device_function<"fires", shared_bytes = 0, arch = 90, tensor_maps = 2>} {
    llvm.return
  }
  // CHECK-LABEL: llvm.func @does_not_fire
  // CHECK-SAME: (%{{.*}}: !llvm.ptr)
  llvm.func @does_not_fire(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}

// -----

gpu.module @device {
  // expected-error @below {{expects at most 1 tensor maps, one for each parameter, but got 2}}
  llvm.func @refuses(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel, rt.device_function = #rt.device_function<"refuses", shared_bytes = 0, arch = 90, tensor_maps = 2>} {
    llvm.return
  }
}
