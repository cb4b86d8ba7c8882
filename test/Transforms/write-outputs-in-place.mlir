// RUN: attune-opt %s --attune-write-outputs-in-place | FileCheck %s
// RUN: attune-opt %s --attune-write-outputs-in-place --attune-bufferize --canonicalize | FileCheck %s --check-prefix=BUFFERS

func.func private @kernel(%x: tensor<?x8xf32>, %n: index, %d: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = scf.forall (%i) in (%n) shared_outs(%o = %d) -> (tensor<?x8xf32>) {
    %from = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %to = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %r = linalg.exp ins(%from : tensor<1x8xf32>) outs(%to : tensor<1x8xf32>) -> tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %r into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  }
  return %y : tensor<?x8xf32>
}

// The result of a call: the callee's destination is the caller's buffer, with the shape that the callee writes.
// CHECK-LABEL: func.func @reshaped
// CHECK: %[[ROWS:.*]] = memref.collapse_shape %[[OUT:.*]] {{\[\[}}0, 1], [2]] : memref<?x?x8xf32> into memref<?x8xf32>
// CHECK: %[[D:.*]] = bufferization.to_tensor %[[ROWS]] restrict writable
// CHECK: %[[Y:.*]] = call @kernel(%{{.*}}, %{{.*}}, %[[D]])
// CHECK: bufferization.materialize_in_destination %[[Y]] in restrict writable %[[ROWS]]
// BUFFERS-LABEL: func.func @reshaped
// BUFFERS-NOT: memref.alloc
// BUFFERS: call @kernel
// BUFFERS-NOT: memref.copy
// BUFFERS: return
func.func @reshaped(%x: tensor<?x8xf32>, %n: index, %batch: index, %length: index, %out: memref<?x?x8xf32>)
    attributes {xfmr.entry = #xfmr.entry<"reshaped">} {
  %d = tensor.empty(%n) : tensor<?x8xf32>
  %y = call @kernel(%x, %n, %d) : (tensor<?x8xf32>, index, tensor<?x8xf32>) -> tensor<?x8xf32>
  %z = tensor.expand_shape %y [[0, 1], [2]] output_shape [%batch, %length, 8] : tensor<?x8xf32> into tensor<?x?x8xf32>
  bufferization.materialize_in_destination %z in restrict writable %out : (tensor<?x?x8xf32>, memref<?x?x8xf32>) -> ()
  return
}

// One value that is two outputs is computed in the first and copied to the second.
// CHECK-LABEL: func.func @twice
// CHECK: %[[D:.*]] = bufferization.to_tensor %[[A:.*]] restrict writable
// CHECK: %[[Y:.*]] = call @kernel(%{{.*}}, %{{.*}}, %[[D]])
// CHECK: bufferization.materialize_in_destination %[[Y]] in restrict writable %[[A]]
// CHECK: bufferization.materialize_in_destination %[[Y]] in restrict writable %{{.*}}
// BUFFERS-LABEL: func.func @twice
// BUFFERS-SAME: %[[A:[a-z0-9]+]]: memref<?x8xf32>, %[[B:[a-z0-9]+]]: memref<?x8xf32>)
// BUFFERS-NOT: memref.alloc
// BUFFERS: memref.copy %[[A]], %[[B]] :
// BUFFERS-NOT: memref.copy
// BUFFERS: return
func.func @twice(%x: tensor<?x8xf32>, %n: index, %a: memref<?x8xf32>, %b: memref<?x8xf32>) attributes {xfmr.entry = #xfmr.entry<"twice">} {
  %d = tensor.empty(%n) : tensor<?x8xf32>
  %y = call @kernel(%x, %n, %d) : (tensor<?x8xf32>, index, tensor<?x8xf32>) -> tensor<?x8xf32>
  bufferization.materialize_in_destination %y in restrict writable %a : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  bufferization.materialize_in_destination %y in restrict writable %b : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// An argument, and memory that has other users, are copied.
// CHECK-LABEL: func.func @negative
// CHECK-NOT: bufferization.to_tensor
// CHECK: return
func.func @negative(%x: tensor<?x8xf32>, %n: index, %a: memref<?x8xf32>, %b: memref<?x8xf32>, %c: memref<?x8xf32>)
    attributes {xfmr.entry = #xfmr.entry<"negative">} {
  bufferization.materialize_in_destination %x in restrict writable %a : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  %d = tensor.empty(%n) : tensor<?x8xf32>
  %y = call @kernel(%x, %n, %d) : (tensor<?x8xf32>, index, tensor<?x8xf32>) -> tensor<?x8xf32>
  %z = call @kernel(%y, %n, %d) : (tensor<?x8xf32>, index, tensor<?x8xf32>) -> tensor<?x8xf32>
  bufferization.materialize_in_destination %y in restrict writable %b : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  bufferization.materialize_in_destination %z in restrict writable %c : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// A result without values.
// CHECK-LABEL: func.func @negative_empty
// CHECK-NOT: bufferization.to_tensor
// CHECK: return
func.func @negative_empty(%n: index, %a: memref<?x8xf32>) attributes {xfmr.entry = #xfmr.entry<"empty">} {
  %d = tensor.empty(%n) : tensor<?x8xf32>
  bufferization.materialize_in_destination %d in restrict writable %a : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @negative_no_entry
// CHECK-NOT: bufferization.to_tensor
// CHECK: return
func.func @negative_no_entry(%x: tensor<?x8xf32>, %n: index, %a: memref<?x8xf32>) {
  %d = tensor.empty(%n) : tensor<?x8xf32>
  %y = call @kernel(%x, %n, %d) : (tensor<?x8xf32>, index, tensor<?x8xf32>) -> tensor<?x8xf32>
  bufferization.materialize_in_destination %y in restrict writable %a : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// A result that is the memory of a later one: the first is computed in its buffer, and the second in a copy of it.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?x8xf32>, %[[B:[a-z0-9]+]]: memref<?x8xf32>)
// CHECK: bufferization.to_tensor %[[B]]
// CHECK-NOT: bufferization.to_tensor
// CHECK: return
// BUFFERS-LABEL: func.func @chain
// BUFFERS-SAME: %[[A:[a-z0-9]+]]: memref<?x8xf32>, %[[B:[a-z0-9]+]]: memref<?x8xf32>)
// BUFFERS: call @kernel(%{{.*}}, %{{.*}}, %[[B]])
// BUFFERS: memref.copy %[[B]], %[[COPY:.*]] :
// BUFFERS: call @kernel(%{{.*}}, %{{.*}}, %[[COPY]])
// BUFFERS: memref.copy %[[COPY]], %[[A]] :
func.func @chain(%x: tensor<?x8xf32>, %x2: tensor<?x8xf32>, %n: index, %a: memref<?x8xf32>, %b: memref<?x8xf32>) attributes {xfmr.entry = #xfmr.entry<"chain">} {
  %d = tensor.empty(%n) : tensor<?x8xf32>
  %y = call @kernel(%x, %n, %d) : (tensor<?x8xf32>, index, tensor<?x8xf32>) -> tensor<?x8xf32>
  %z = call @kernel(%x2, %n, %y) : (tensor<?x8xf32>, index, tensor<?x8xf32>) -> tensor<?x8xf32>
  bufferization.materialize_in_destination %z in restrict writable %a : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  bufferization.materialize_in_destination %y in restrict writable %b : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

func.func private @two_results(%x: tensor<?x8xf32>, %w: tensor<?x8xf32>, %n: index, %d: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %y = scf.forall (%i) in (%n) shared_outs(%o = %d) -> (tensor<?x8xf32>) {
    %from = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %from into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  }
  %z = scf.forall (%i) in (%n) shared_outs(%o = %d) -> (tensor<?x8xf32>) {
    %from = tensor.extract_slice %w[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %from into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  }
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}

// Memory that two results of a call share.
// CHECK-LABEL: func.func @negative_shared
// CHECK-NOT: bufferization.to_tensor
// CHECK: return
func.func @negative_shared(%x: tensor<?x8xf32>, %w: tensor<?x8xf32>, %n: index, %a: memref<?x8xf32>, %b: memref<?x8xf32>) attributes {xfmr.entry = #xfmr.entry<"shared">} {
  %d = tensor.empty(%n) : tensor<?x8xf32>
  %y:2 = call @two_results(%x, %w, %n, %d) : (tensor<?x8xf32>, tensor<?x8xf32>, index, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  bufferization.materialize_in_destination %y#0 in restrict writable %a : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  bufferization.materialize_in_destination %y#1 in restrict writable %b : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// A buffer that is read, too.
// CHECK-LABEL: func.func @negative_read
// CHECK: bufferization.to_tensor
// CHECK-NOT: bufferization.to_tensor
// CHECK: return
func.func @negative_read(%x: tensor<?x8xf32>, %n: index, %c: memref<?x8xf32>) attributes {xfmr.entry = #xfmr.entry<"read">} {
  %t = bufferization.to_tensor %c restrict writable : memref<?x8xf32> to tensor<?x8xf32>
  %d = tensor.empty(%n) : tensor<?x8xf32>
  %y = call @kernel(%t, %n, %d) : (tensor<?x8xf32>, index, tensor<?x8xf32>) -> tensor<?x8xf32>
  bufferization.materialize_in_destination %y in restrict writable %c : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

func.func private @two_blocks(%x: tensor<?x8xf32>, %n: index, %d: tensor<?x8xf32>) -> tensor<?x8xf32> {
  cf.br ^bb1
^bb1:
  return %d : tensor<?x8xf32>
}

// A callee with several blocks.
// CHECK-LABEL: func.func @negative_blocks
// CHECK-NOT: bufferization.to_tensor
// CHECK: return
func.func @negative_blocks(%x: tensor<?x8xf32>, %n: index, %a: memref<?x8xf32>) attributes {xfmr.entry = #xfmr.entry<"blocks">} {
  %d = tensor.empty(%n) : tensor<?x8xf32>
  %y = call @two_blocks(%x, %n, %d) : (tensor<?x8xf32>, index, tensor<?x8xf32>) -> tensor<?x8xf32>
  bufferization.materialize_in_destination %y in restrict writable %a : (tensor<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// An output of static size.
// CHECK-LABEL: func.func @negative_size
// CHECK-NOT: bufferization.to_tensor
// CHECK: return
func.func @negative_size(%x: tensor<?x8xf32>, %n: index, %a: memref<4x8xf32>) attributes {xfmr.entry = #xfmr.entry<"size">} {
  %d = tensor.empty(%n) : tensor<?x8xf32>
  %y = call @kernel(%x, %n, %d) : (tensor<?x8xf32>, index, tensor<?x8xf32>) -> tensor<?x8xf32>
  bufferization.materialize_in_destination %y in restrict writable %a : (tensor<?x8xf32>, memref<4x8xf32>) -> ()
  return
}
