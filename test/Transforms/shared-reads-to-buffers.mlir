// RUN: attune-opt %s --attune-shared-reads-to-buffers | FileCheck %s
// RUN: attune-opt %s --attune-shared-reads-to-buffers --attune-bufferize --canonicalize | FileCheck %s --check-prefix=BUFFERS \
// RUN:   --implicit-check-not='{{ (tensor|bufferization)[.]}}'

func.func private @scale(%x: tensor<?xf32>, %mask: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.mul ins(%x, %mask : tensor<?xf32>, tensor<?xf32>) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// The mask is read through another function; operands that differ between calls stay tensors.
// CHECK-LABEL: func.func private @layer
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32>, %[[MASK:.*]]: memref<?xf32>, %[[OUT:.*]]: tensor<?xf32>) -> tensor<?xf32>
// CHECK: %[[READ:.*]] = bufferization.to_tensor %[[MASK]] restrict : memref<?xf32> to tensor<?xf32>
// CHECK: call @scale(%[[X]], %[[READ]], %[[OUT]])
func.func private @layer(%x: tensor<?xf32>, %mask: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32> {
  %r = call @scale(%x, %mask, %out) : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @shared
// CHECK: %[[MASK:.*]] = linalg.exp
// CHECK-NEXT: %[[BUFFER:.*]] = bufferization.to_buffer %[[MASK]] read_only : tensor<?xf32> to memref<?xf32>
// CHECK: %[[A:.*]] = call @layer(%{{.*}}, %[[BUFFER]], %{{.*}}) : (tensor<?xf32>, memref<?xf32>, tensor<?xf32>) -> tensor<?xf32>
// CHECK: call @layer(%[[A]], %[[BUFFER]], %{{.*}})
// BUFFERS-LABEL: func.func @shared
// BUFFERS: memref.alloc
// BUFFERS: memref.alloc
// BUFFERS: memref.alloc
// BUFFERS-NOT: memref.alloc
// BUFFERS: return
func.func @shared(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {xfmr.entry = #xfmr.entry<"shared">} {
  %e = tensor.empty(%n) : tensor<?xf32>
  %mask = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %e1 = tensor.empty(%n) : tensor<?xf32>
  %a = call @layer(%x, %mask, %e1) : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %e2 = tensor.empty(%n) : tensor<?xf32>
  %b = call @layer(%a, %mask, %e2) : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %b : tensor<?xf32>
}

// Something writes to the memory of the mask after the first call: it stays a tensor, and bufferization copies it.
// CHECK-LABEL: func.func private @other_layer
// CHECK-SAME: (%{{.*}}: tensor<?xf32>, %{{.*}}: tensor<?xf32>, %{{.*}}: tensor<?xf32>)
func.func private @other_layer(%x: tensor<?xf32>, %mask: tensor<?xf32>, %out: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.add ins(%x, %mask : tensor<?xf32>, tensor<?xf32>) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @negative_written
// CHECK-NOT: to_buffer
// CHECK: return
func.func @negative_written(%x: tensor<?xf32>, %n: index) -> (tensor<?xf32>, tensor<?xf32>) attributes {xfmr.entry = #xfmr.entry<"written">} {
  %e = tensor.empty(%n) : tensor<?xf32>
  %mask = linalg.exp ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %e1 = tensor.empty(%n) : tensor<?xf32>
  %a = call @other_layer(%x, %mask, %e1) : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %again = linalg.log ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %e2 = tensor.empty(%n) : tensor<?xf32>
  %b = call @other_layer(%a, %mask, %e2) : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %b, %again : tensor<?xf32>, tensor<?xf32>
}

// An argument that the callee writes to stays a tensor.
// CHECK-LABEL: func.func private @in_place
// CHECK-SAME: (%{{.*}}: tensor<?xf32>) -> tensor<?xf32>
func.func private @in_place(%x: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.exp ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
// CHECK-LABEL: func.func @negative_in_place
// CHECK-NOT: to_buffer
// CHECK: return
func.func @negative_in_place(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) attributes {xfmr.entry = #xfmr.entry<"in_place">} {
  %a = call @in_place(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %b = call @in_place(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

// Slices, one for each layer, are views of one buffer.
// CHECK-LABEL: func.func @slices
// CHECK: %[[BUFFER:.*]] = bufferization.to_buffer %{{.*}} read_only : tensor<2x4xf32> to memref<2x4xf32>
// CHECK: %[[FIRST:.*]] = memref.subview %[[BUFFER]][0, 0] [1, 4] [1, 1] : memref<2x4xf32> to memref<4xf32, strided<[1]>>
// CHECK: bufferization.to_tensor %[[FIRST]] restrict
// CHECK: %[[SECOND:.*]] = memref.subview %[[BUFFER]][1, 0] [1, 4] [1, 1] : memref<2x4xf32> to memref<4xf32, strided<[1], offset: 4>>
// CHECK: bufferization.to_tensor %[[SECOND]] restrict
func.func @slices(%x: tensor<2x4xf32>) -> tensor<4xf32> attributes {xfmr.entry = #xfmr.entry<"slices">} {
  %a = tensor.extract_slice %x[0, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
  %b = tensor.extract_slice %x[1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.add ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
