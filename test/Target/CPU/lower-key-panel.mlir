//===- lower-key-panel.mlir - Transposition in registers --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

// RUN: attune-opt %s --attune-lower-key-panel --split-input-file --verify-diagnostics | FileCheck %s

// A loop over whole blocks of 16 keys; then a block that masks the rows of keys that do not exist and gives them the
// address of row 0, also if there are no keys. The last 4 components are a masked block of their own.
// CHECK-LABEL: func @panel
// CHECK: %[[KEYS:.*]] = memref.dim %arg0
// CHECK: %[[WHOLE:.*]] = arith.muli
// CHECK: scf.for %[[COLUMN:.*]] = %{{.*}} to %[[WHOLE]] step %{{.*}} {
// CHECK: scf.for
// CHECK-COUNT-16: vector.load
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: vector.store {{.*}}, %[[COLUMN]]]
// CHECK: vector.constant_mask [4]
// CHECK: %[[MORE:.*]] = arith.cmpi sgt, %[[KEYS]], %[[WHOLE]]
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[KEYS]], %
// CHECK: %[[ANY:.*]] = arith.ori %[[MORE]], %[[NONE]]
// CHECK: scf.if %[[ANY]] {
// CHECK: %[[LEFT:.*]] = arith.subi %[[KEYS]], %[[WHOLE]]
// CHECK: %[[SECOND:.*]] = arith.addi %[[WHOLE]], %c1_{{.*}} : index
// CHECK: %[[EXISTS:.*]] = arith.cmpi sgt, %[[LEFT]], %c1_{{.*}} : index
// CHECK: %[[COUNT:.*]] = arith.select %[[EXISTS]], %c16_{{.*}}, %c0_{{.*}} : index
// CHECK: %[[ROW:.*]] = arith.select %[[EXISTS]], %[[SECOND]], %c0_{{.*}} : index
// CHECK: %[[MASK:.*]] = vector.create_mask %[[COUNT]]
// CHECK: vector.maskedload %arg0[%[[ROW]], %{{.*}}], %[[MASK]]
// CHECK-NOT: tile.key_panel
func.func @panel(%keys: memref<?x20xf32>, %panel: memref<20x16xf32>) {
  tile.key_panel ins(%keys : memref<?x20xf32>) outs(%panel : memref<20x16xf32>)
  return
}

// In a panel that a new key opens, or behind keys, one by one. Heads of 16 components have no masked block of components.
// CHECK-LABEL: func @behind
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: vector.constant_mask
// CHECK: scf.if
// CHECK: } else {
// CHECK: memref.store
// CHECK-NOT: vector.constant_mask
// CHECK: return
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
