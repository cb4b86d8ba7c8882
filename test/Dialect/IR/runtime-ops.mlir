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
