// RUN: attune-opt %s | attune-opt | FileCheck %s

func.func private @body(%x: memref<4xf32>, %worker: index, %begin: index, %end: index) {
  return
}
func.func private @nothing_captured(%worker: index, %begin: index, %end: index) {
  return
}
// CHECK-LABEL: @calls
func.func @calls(%host: !llvm.ptr, %n: index, %x: memref<4xf32>) {
  // CHECK: xfmr.parallel_call %{{.*}}, %{{.*}}, %{{.*}} @body(%{{.*}}) : memref<4xf32>
  xfmr.parallel_call %host, %n, %n @body(%x) : memref<4xf32>
  // CHECK: xfmr.parallel_call %{{.*}}, %{{.*}}, %{{.*}} @nothing_captured()
  xfmr.parallel_call %host, %n, %n @nothing_captured()
  return
}
// CHECK-LABEL: @worker
func.func @worker() -> index {
  // CHECK: xfmr.worker_id
  %w = xfmr.worker_id
  return %w : index
}
// CHECK-LABEL: @device
func.func @device(%x: memref<?x768xbf16>, %rows: index, %k: index) -> (i1, index, !llvm.ptr) {
  // CHECK: xfmr.on_gpu 90
  %hopper = xfmr.on_gpu 90
  // CHECK: xfmr.worker_count
  %n = xfmr.worker_count
  // CHECK: xfmr.tensor_map %{{.*}} sizes[%{{.*}}, %{{.*}}] strides[%{{.*}}] {box = array<i64: 128, 64>, element_bytes = 2 : i64, swizzle = 128 : i64} : memref<?x768xbf16>
  %map = xfmr.tensor_map %x sizes [%rows, %k] strides [%k] {box = array<i64: 128, 64>, element_bytes = 2 : i64, swizzle = 128 : i64} : memref<?x768xbf16>
  return %hopper, %n, %map : i1, index, !llvm.ptr
}
