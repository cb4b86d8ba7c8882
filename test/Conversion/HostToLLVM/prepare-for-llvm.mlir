// RUN: attune-opt %s -attune-prepare-for-llvm | FileCheck %s

// Rows are copied by vectors, their ends element by element.
// CHECK-LABEL: func.func @strided
// CHECK: scf.for
// CHECK: scf.for %{{.*}} step %c16
// CHECK: vector.load
// CHECK: vector.store
// CHECK: scf.for
// CHECK: memref.load
// CHECK: memref.store
// CHECK-NOT: memref.copy
func.func @strided(%x: memref<?x?xf32, strided<[64, 1], offset: ?>>, %y: memref<?x?xf32>) {
  memref.copy %x, %y : memref<?x?xf32, strided<[64, 1], offset: ?>> to memref<?x?xf32>
  return
}

// CHECK-LABEL: func.func @transposed
// CHECK-NOT: vector
// CHECK: memref.load
// CHECK-NOT: memref.copy
func.func @transposed(%x: memref<4x4xf32, strided<[1, 4]>>, %y: memref<4x4xf32>) {
  memref.copy %x, %y : memref<4x4xf32, strided<[1, 4]>> to memref<4x4xf32>
  return
}

// A vector of i1 would be two bytes.
// CHECK-LABEL: func.func @bits
// CHECK-NOT: vector
// CHECK: memref.load
// CHECK-NOT: memref.copy
func.func @bits(%x: memref<?x?xi1, strided<[64, 1], offset: ?>>, %y: memref<?x?xi1>) {
  memref.copy %x, %y : memref<?x?xi1, strided<[64, 1], offset: ?>> to memref<?x?xi1>
  return
}

// A copy that LLVM lowers to memcpy is not changed.
// CHECK-LABEL: func.func @dense
// CHECK: memref.copy
func.func @dense(%x: memref<?x4xf32>, %y: memref<?x4xf32>) {
  memref.copy %x, %y : memref<?x4xf32> to memref<?x4xf32>
  return
}

// Operations with an instruction of their own are not expanded.
// CHECK-LABEL: func.func @instructions
// CHECK: math.fma
// CHECK: math.sqrt
// CHECK-NOT: arith.ceildivsi
func.func @instructions(%x: f32, %n: index) -> (f32, index) {
  %c8 = arith.constant 8 : index
  %a = math.fma %x, %x, %x : f32
  %b = math.sqrt %a : f32
  %c = arith.ceildivsi %n, %c8 : index
  return %b, %c : f32, index
}
