// RUN: attune-opt --convert-xfmr-to-linalg --canonicalize --one-shot-bufferize="bufferize-function-boundaries" --cse --canonicalize %s | FileCheck %s

// Loops that carry destinations write them in place: one allocation for each result, and no copies except of rows.

// CHECK-LABEL: @pool_first_packed
// CHECK: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: memref.copy %{{.*}}, %{{.*}} : memref<1x48xf32, {{.*}}> to memref<1x48xf32, {{.*}}>
// CHECK-NOT: memref.copy
// CHECK: return
func.func @pool_first_packed(%x: tensor<?x48xf32>, %offsets: tensor<?xi64>, %positions: tensor<?xi64>, %length: index) -> tensor<?x48xf32> {
  %0 = xfmr.pool <first> %x, %offsets packed(%positions, %length) : tensor<?x48xf32>
  return %0 : tensor<?x48xf32>
}

// CHECK-LABEL: @pool_mean
// CHECK: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @pool_mean(%x: tensor<?x48xf32>, %offsets: tensor<?xi64>) -> tensor<?x48xf32> {
  %0 = xfmr.pool <mean> %x, %offsets : tensor<?x48xf32>
  return %0 : tensor<?x48xf32>
}
