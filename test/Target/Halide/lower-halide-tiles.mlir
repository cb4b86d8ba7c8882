// RUN: attune-opt %s --attune-lower-halide-tiles --split-input-file --verify-diagnostics | FileCheck %s

// The Halide function's parameters: inputs, scalars, dynamic strides, destinations.
// CHECK: llvm.func @scale(!llvm.ptr, i32, i32, !llvm.ptr)
// CHECK-LABEL: func.func @tile
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
// CHECK-DAG: %[[FROM:.*]] = memref.extract_aligned_pointer_as_index
// CHECK-DAG: %[[SIZE:.*]] = arith.index_cast %[[N]] : index to i32
// CHECK: llvm.call @scale(%{{.*}}, %[[SIZE]], %{{.*}}, %{{.*}}) : (!llvm.ptr, i32, i32, !llvm.ptr) -> ()
// CHECK: llvm.call @scale
// CHECK-NOT: halide.tile
func.func @tile(%x: memref<?x8xf32, strided<[24, 1], offset: ?>>, %y: memref<?x?xf32>, %n: index) {
  halide.tile "scale" with(%n) ins(%x : memref<?x8xf32, strided<[24, 1], offset: ?>>) outs(%y : memref<?x?xf32>)
      {description = "(kernel scale)", strides = [array<i64: 24, 1>, array<i64: -9223372036854775808, 1>]}
  halide.tile "scale" with(%n) ins(%x : memref<?x8xf32, strided<[24, 1], offset: ?>>) outs(%y : memref<?x?xf32>)
      {description = "(kernel scale)", strides = [array<i64: 24, 1>, array<i64: -9223372036854775808, 1>]}
  return
}

// -----

func.func @other_stride(%x: memref<?x8xf32>) {
  // expected-error @below {{expects stride 24 of dimension 0, but got 'memref<?x8xf32>'}}
  halide.tile "scale" outs(%x : memref<?x8xf32>) {description = "(kernel scale)", strides = [array<i64: 24, 1>]}
  return
}
