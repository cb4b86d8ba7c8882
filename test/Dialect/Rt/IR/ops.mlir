// RUN: attune-opt %s | attune-opt | FileCheck %s

func.func private @body(%x: memref<4xf32>, %worker: index, %begin: index, %end: index) {
  return
}
func.func private @nothing_captured(%worker: index, %begin: index, %end: index) {
  return
}
// CHECK-LABEL: @calls
func.func @calls(%host: !llvm.ptr, %n: index, %x: memref<4xf32>) {
  // CHECK: rt.parallel_call %{{.*}}, %{{.*}}, %{{.*}} @body(%{{.*}}) : memref<4xf32>
  rt.parallel_call %host, %n, %n @body(%x) : memref<4xf32>
  // CHECK: rt.parallel_call %{{.*}}, %{{.*}}, %{{.*}} @nothing_captured()
  rt.parallel_call %host, %n, %n @nothing_captured()
  return
}
// CHECK-LABEL: @worker
func.func @worker() -> index {
  // CHECK: rt.worker_id
  %w = rt.worker_id
  return %w : index
}
// CHECK-LABEL: @device
func.func @device(%x: memref<?x768xbf16>, %rows: index, %k: index) -> (i1, index, !llvm.ptr) {
  // CHECK: rt.device_arch_is 90
  %hopper = rt.device_arch_is 90
  // CHECK: rt.worker_count
  %n = rt.worker_count
  // CHECK: rt.tensor_map %{{.*}} sizes[%{{.*}}, %{{.*}}] strides[%{{.*}}] {box = array<i64: 128, 64>, element_bytes = 2 : i64, swizzle = 128 : i64} : memref<?x768xbf16>
  %map = rt.tensor_map %x sizes [%rows, %k] strides [%k] {box = array<i64: 128, 64>, element_bytes = 2 : i64, swizzle = 128 : i64} : memref<?x768xbf16>
  return %hopper, %n, %map : i1, index, !llvm.ptr
}
// CHECK-LABEL: @ranks
func.func @ranks(%x: tensor<?x24xf32>, %d: tensor<?x48xf32>, %s: tensor<2x?x24xf32>, %xb: memref<?x24xf32>, %db: memref<?x48xf32>, %sb: memref<2x?x24xf32>)
    -> (index, tensor<?x48xf32>) {
  // CHECK: rt.rank
  %rank = rt.rank
  // CHECK: rt.all_gather ins(%{{.*}} : tensor<?x24xf32>) outs(%{{.*}}, %{{.*}} : tensor<?x48xf32>, tensor<2x?x24xf32>) 1 at [0, 24] -> tensor<?x48xf32>, tensor<2x?x24xf32>
  %y:2 = rt.all_gather ins(%x : tensor<?x24xf32>) outs(%d, %s : tensor<?x48xf32>, tensor<2x?x24xf32>) 1 at [0, 24] -> tensor<?x48xf32>, tensor<2x?x24xf32>
  // CHECK: rt.all_gather ins(%{{.*}} : memref<?x24xf32>) outs(%{{.*}}, %{{.*}} : memref<?x48xf32>, memref<2x?x24xf32>) 1 at [0, 24]
  rt.all_gather ins(%xb : memref<?x24xf32>) outs(%db, %sb : memref<?x48xf32>, memref<2x?x24xf32>) 1 at [0, 24]
  return %rank, %y#0 : index, tensor<?x48xf32>
}
