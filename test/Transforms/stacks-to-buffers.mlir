// RUN: attune-opt %s --attune-stacks-to-buffers | FileCheck %s
// Bufferization without this pass gives the same result, but takes longer.
// RUN: attune-opt %s --attune-stacks-to-buffers --attune-bufferize --canonicalize -o %t.stacks.mlir
// RUN: attune-opt %s --attune-bufferize --canonicalize -o %t.chains.mlir
// RUN: cmp %t.stacks.mlir %t.chains.mlir

// CHECK-LABEL: func.func @stack
// CHECK: %[[ALL:.*]] = memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<2x?xf32>
// CHECK: %[[P:.*]] = memref.subview %[[ALL]][0, 0] [1, %{{.*}}] [1, 1] : memref<2x?xf32> to memref<?xf32, strided<[1]>>
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[P]]
// CHECK: %[[Q:.*]] = memref.subview %[[ALL]][1, 0] [1, %{{.*}}] [1, 1] : memref<2x?xf32> to memref<?xf32, strided<[1], offset: ?>>
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[Q]]
// CHECK: %[[WHOLE:.*]] = bufferization.to_tensor %[[ALL]] restrict writable
// CHECK: bufferization.materialize_in_destination %[[WHOLE]] in restrict writable %{{.*}}
func.func @stack(%a: tensor<?xf32>, %b: tensor<?xf32>, %n: index, %out: memref<2x?xf32>) {
  %0 = tensor.empty(%n) : tensor<2x?xf32>
  %1 = tensor.insert_slice %a into %0[0, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<2x?xf32>
  %2 = tensor.insert_slice %b into %1[1, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<2x?xf32>
  bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<2x?xf32>, memref<2x?xf32>) -> ()
  return
}

// A link of the chain that has another reader stays a tensor, and so do all links after it.
// CHECK-LABEL: func.func @negative_read_between
// CHECK-NOT: memref.alloc
// CHECK-COUNT-2: tensor.insert_slice
func.func @negative_read_between(%a: tensor<4xf32>, %out: memref<2x4xf32>, %first: memref<2x4xf32>) {
  %0 = tensor.empty() : tensor<2x4xf32>
  %1 = tensor.insert_slice %a into %0[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
  bufferization.materialize_in_destination %1 in restrict writable %first : (tensor<2x4xf32>, memref<2x4xf32>) -> ()
  %2 = tensor.insert_slice %a into %1[1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
  bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<2x4xf32>, memref<2x4xf32>) -> ()
  return
}
