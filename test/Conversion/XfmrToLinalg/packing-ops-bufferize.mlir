// RUN: attune-opt --convert-xfmr-to-linalg --canonicalize --one-shot-bufferize="bufferize-function-boundaries" --cse --canonicalize %s | FileCheck %s

// Loops that carry destinations write them in place: one allocation for each result, and no copies except of rows.

// CHECK-LABEL: @scatter_tokens
// CHECK: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK: memref.copy %{{.*}}, %{{.*}} : memref<1x48xf32, {{.*}}> to memref<1x48xf32, {{.*}}>
// CHECK-NOT: memref.copy
// CHECK: return
func.func @scatter_tokens(%x: tensor<?x48xf32>, %positions: tensor<?xi64>, %rows: index) -> tensor<?x48xf32> {
  %0 = xfmr.scatter_tokens %x, %positions, %rows : tensor<?x48xf32>
  return %0 : tensor<?x48xf32>
}

// CHECK-LABEL: @pack_tokens
// CHECK-COUNT-2: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @pack_tokens(%mask: tensor<?x?xi64>) -> (tensor<?xi64>, tensor<?xi64>) {
  %offsets, %positions = xfmr.pack_tokens %mask : tensor<?x?xi64>
  return %offsets, %positions : tensor<?xi64>, tensor<?xi64>
}

// CHECK-LABEL: @scatter_probabilities
// CHECK: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return
func.func @scatter_probabilities(%p: tensor<?x4x?x?xf32>, %offsets: tensor<?xi64>, %positions: tensor<?xi64>) -> tensor<?x4x?x?xf32> {
  %0 = xfmr.scatter_probabilities %p, %offsets, %positions : tensor<?x4x?x?xf32>
  return %0 : tensor<?x4x?x?xf32>
}
