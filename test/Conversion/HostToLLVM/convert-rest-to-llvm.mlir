// RUN: attune-opt %s --attune-convert-rest-to-llvm | FileCheck %s

// Weights are of the xfmr dialect and stay; they are outside of the module only while the conversion runs.
// CHECK: xfmr.weight @w
xfmr.weight @w : tensor<4xf32> = #xfmr.tensor<"w" : tensor<4xf32>>

// CHECK-LABEL: llvm.func @math
// CHECK: llvm.fadd
// CHECK: llvm.intr.sqrt
// CHECK: llvm.cond_br
// CHECK-NOT: {{ (arith|cf|func|index|math|memref)\.}}
func.func @math(%x: f32, %a: memref<4xf32>, %i: index, %again: i1) -> f32 {
  %sum = arith.addf %x, %x : f32
  %root = math.sqrt %sum : f32
  memref.store %root, %a[%i] : memref<4xf32>
  cf.cond_br %again, ^more, ^done
^more:
  %other = call @math(%root, %a, %i, %again) : (f32, memref<4xf32>, index, i1) -> f32
  return %other : f32
^done:
  return %root : f32
}

// The pass does not convert other dialects.
// CHECK-LABEL: llvm.func @vectors
// CHECK: vector.fma
func.func @vectors(%x: vector<8xf32>) -> vector<8xf32> {
  %y = vector.fma %x, %x, %x : vector<8xf32>
  return %y : vector<8xf32>
}
