// RUN: attune-opt %s | attune-opt | FileCheck %s

// CHECK-LABEL: func.func @forward
// CHECK-SAME: %{{.*}}: !llvm.ptr {rt.role = #rt.role<host>}, %{{.*}}: memref<?xi8> {rt.role = #rt.role<weights>}
// CHECK-SAME: %{{.*}}: memref<?xi8> {rt.role = #rt.role<workspace>}, %{{.*}}: index {rt.role = #rt.role<workers>}
// CHECK-SAME: rt.kernel_work = [#rt.kernel_work<"linear", calls = 2, flops = <[batch], affine_map<()[s0] -> (s0 * 64)>>, weight_bytes = <[], affine_map<() -> (256)>>, tensor_bytes = <[batch], affine_map<()[s0] -> (s0 * 32)>>>]
// CHECK-SAME: rt.workspace = #xfmr.formula<[workers], affine_map<()[s0] -> (s0 * 64)>>
func.func @forward(%host: !llvm.ptr {rt.role = #rt.role<host>}, %weights: memref<?xi8> {rt.role = #rt.role<weights>},
                   %workspace: memref<?xi8> {rt.role = #rt.role<workspace>}, %workers: index {rt.role = #rt.role<workers>})
    attributes {xfmr.entry = #xfmr.entry<"forward">, rt.workspace = #xfmr.formula<[workers], affine_map<()[s0] -> (s0 * 64)>>,
                rt.kernel_work = [#rt.kernel_work<"linear", calls = 2, flops = <[batch], affine_map<()[s0] -> (s0 * 64)>>,
                                                  weight_bytes = <[], affine_map<() -> (256)>>, tensor_bytes = <[batch], affine_map<()[s0] -> (s0 * 32)>>>]} {
  return
}
// CHECK-LABEL: func.func @loops(
// CHECK-SAME: memref<?xi64> {rt.limit = 1 : i64}
func.func @loops(%offsets: memref<?xi64> {rt.limit = 1 : i64}, %n: index) {
  // CHECK: {rt.launch = #rt.launch<grid = true>}
  scf.forall (%i) in (%n) {
  } {rt.launch = #rt.launch<grid = true>}
  // CHECK: {rt.launch = #rt.launch<threads = 384, shared_bytes = 128, arch = 90, limit = 1>}
  scf.forall (%i) in (%n) {
  } {rt.launch = #rt.launch<threads = 384, shared_bytes = 128, arch = 90, limit = 1>}
  return
}
// CHECK: llvm.func @lowered(!llvm.ptr {rt.role = #rt.role<host>}, i64 {rt.role = #rt.role<workers>})
llvm.func @lowered(!llvm.ptr {rt.role = #rt.role<host>}, i64 {rt.role = #rt.role<workers>})
gpu.module @device {
  // CHECK: gpu.func @plain() kernel attributes {rt.device_function = #rt.device_function<"loops", shared_bytes = 0>}
  gpu.func @plain() kernel attributes {rt.device_function = #rt.device_function<"loops", shared_bytes = 0>} {
    gpu.return
  }
  // CHECK: llvm.func @specific() attributes {rt.device_function = #rt.device_function<"loops", shared_bytes = 128, arch = 90, tensor_maps = 2>}
  llvm.func @specific() attributes {rt.device_function = #rt.device_function<"loops", shared_bytes = 128, arch = 90, tensor_maps = 2>}
}
