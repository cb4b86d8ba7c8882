//===- lower-key-panel.mlir - Transposition in registers --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

// RUN: attune-opt %s --attune-lower-key-panel --split-input-file --verify-diagnostics | FileCheck %s

// Whole blocks of 16 keys, or blocks that mask the rows of keys that do not exist and give them the address of row 0; the
// last 4 components are a masked block of their own.
// CHECK-LABEL: func @panel
// CHECK: scf.if
// CHECK-COUNT-16: vector.load
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: vector.store
// CHECK: vector.constant_mask [4]
// CHECK: } else {
// CHECK: %[[EXISTS:.*]] = arith.cmpi sgt, %{{.*}}, %c1_{{.*}} : index
// CHECK: %[[COUNT:.*]] = arith.select %[[EXISTS]], %c16_{{.*}}, %c0_{{.*}} : index
// CHECK: %[[ROW:.*]] = arith.select %[[EXISTS]], %c1_{{.*}}, %c0_{{.*}} : index
// CHECK: %[[MASK:.*]] = vector.create_mask %[[COUNT]]
// CHECK: vector.maskedload %arg0[%[[ROW]], %{{.*}}], %[[MASK]]
// CHECK-NOT: tile.key_panel
func.func @panel(%keys: memref<?x20xf32>, %panel: memref<20x16xf32>) {
  tile.key_panel ins(%keys : memref<?x20xf32>) outs(%panel : memref<20x16xf32>)
  return
}

// Behind keys, or in a panel that a new key opens: the second 16 columns are touched only if there is a 17th key.
// CHECK-LABEL: func @behind
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK: %[[C32:.*]] = arith.constant 32 : index
// CHECK-NEXT: arith.cmpi sge, %{{.*}}, %[[C32]]
// CHECK: } else {
// CHECK-NEXT: %[[C17:.*]] = arith.constant 17 : index
// CHECK-NEXT: %[[ANY:.*]] = arith.cmpi sge, %{{.*}}, %[[C17]]
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK: memref.store
func.func @behind(%keys: memref<?x16xf32>, %panel: memref<16x32xf32>, %column: index) {
  tile.key_panel ins(%keys : memref<?x16xf32>) at(%column) outs(%panel : memref<16x32xf32>)
  return
}

// CHECK-LABEL: func @tensors
// CHECK: tile.key_panel
func.func @tensors(%keys: tensor<?x20xf32>, %panel: tensor<20x16xf32>) -> tensor<20x16xf32> {
  %0 = tile.key_panel ins(%keys : tensor<?x20xf32>) outs(%panel : tensor<20x16xf32>) -> tensor<20x16xf32>
  return %0 : tensor<20x16xf32>
}

// -----

func.func @odd_width(%keys: memref<?x20xf32>, %panel: memref<20x24xf32>) {
  // expected-error @below {{expects a panel width that is a multiple of 16, but got 24}}
  tile.key_panel ins(%keys : memref<?x20xf32>) outs(%panel : memref<20x24xf32>)
  return
}

// -----

func.func @strided(%keys: memref<?x20xf32, strided<[40, 2]>>, %panel: memref<20x16xf32>) {
  // expected-error @below {{expects buffers with a contiguous last dimension, but got 'memref<?x20xf32, strided<[40, 2]>>'}}
  tile.key_panel ins(%keys : memref<?x20xf32, strided<[40, 2]>>) outs(%panel : memref<20x16xf32>)
  return
}
