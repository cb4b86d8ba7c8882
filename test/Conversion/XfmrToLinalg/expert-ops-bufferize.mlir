// RUN: attune-opt --convert-xfmr-to-linalg --one-shot-bufferize="bufferize-function-boundaries" %s | FileCheck %s

// Only results get buffers: choices are written in place.
// CHECK-LABEL: @choose
// CHECK-COUNT-2: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @choose(%s: tensor<?x8xf32>) -> (tensor<?x2xi64>, tensor<?x2xf32>) {
  %c, %d = xfmr.choose_experts %s, 2 {normalized} : tensor<?x8xf32>
  return %c, %d : tensor<?x2xi64>, tensor<?x2xf32>
}

// Buffers for the counts, two arrays of offsets and two of rows, and no copies.
// CHECK-LABEL: @group
// CHECK-COUNT-5: memref.alloc
// CHECK-NOT: memref.{{alloc|copy}}
// CHECK: return
func.func @group(%c: tensor<?x2xi64>, %s: tensor<?x2xf32>) -> (tensor<9xi64>, tensor<?xi64>, tensor<?xf32>) {
  %offsets, %tokens, %shares = xfmr.group_by_expert %c, %s, 8 : tensor<?x2xi64>, tensor<?x2xf32>
  return %offsets, %tokens, %shares : tensor<9xi64>, tensor<?xi64>, tensor<?xf32>
}

// Lists are written in place: only results get buffers.
// CHECK-LABEL: @list
// CHECK-COUNT-3: memref.alloc
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @list(%c: tensor<?x2xi64>, %s: tensor<?x2xf32>) -> (tensor<8xi64>, tensor<8x?xi64>, tensor<8x?xf32>) {
  %counts, %tokens, %shares = xfmr.list_by_expert %c, %s, 8 : tensor<?x2xi64>, tensor<?x2xf32>
  return %counts, %tokens, %shares : tensor<8xi64>, tensor<8x?xi64>, tensor<8x?xf32>
}
