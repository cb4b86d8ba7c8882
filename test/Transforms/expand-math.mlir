//===- expand-math.mlir - Which functions become polynomials ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

// RUN: attune-opt %s --attune-expand-math | FileCheck %s

// CHECK-LABEL: func @scalar_and_vector
// CHECK-NOT: math.exp
// CHECK-COUNT-6: math.fma {{.*}} : f32
// CHECK: %[[S:.*]] = arith.select {{.*}} : f32
// CHECK-COUNT-6: math.fma {{.*}} : vector<16xf32>
// CHECK: %[[V:.*]] = arith.select {{.*}} : vector<16xi1>, vector<16xf32>
// CHECK: return %[[S]], %[[V]]
func.func @scalar_and_vector(%s: f32, %v: vector<16xf32>) -> (f32, vector<16xf32>) {
  %0 = math.exp2 %s : f32
  %1 = math.exp2 %v : vector<16xf32>
  return %0, %1 : f32, vector<16xf32>
}

// Approximations on two ranges, joined by a select. erf and tanh copy the sign of the argument.
// CHECK-LABEL: func @by_ranges
// CHECK: math.copysign
// CHECK: math.copysign
// CHECK-NOT: math.{{erf|tanh|exp}}
func.func @by_ranges(%x: vector<4x16xf32>) -> vector<4x16xf32> {
  %0 = math.erf %x : vector<4x16xf32>
  %1 = math.tanh %0 : vector<4x16xf32>
  return %1 : vector<4x16xf32>
}

// Exact, so that machines with and without an instruction for it give the same bits.
// CHECK-LABEL: func @rsqrt
// CHECK: %[[ROOT:.*]] = math.sqrt
// CHECK: arith.divf %{{.*}}, %[[ROOT]] : vector<16xf32>
func.func @rsqrt(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.rsqrt %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: func @log
// CHECK-NOT: math.log
// CHECK-COUNT-12: math.fma
func.func @log(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.log %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: func @stay
// CHECK: math.sqrt
// CHECK: math.exp {{.*}} : f64
// CHECK: math.tanh {{.*}} : vector<16xbf16>
// CHECK: math.exp {{.*}} : tensor<4xf32>
func.func @stay(%a: f32, %b: f64, %c: vector<16xbf16>, %d: tensor<4xf32>) -> (f32, f64, vector<16xbf16>, tensor<4xf32>) {
  %0 = math.sqrt %a : f32
  %1 = math.exp %b : f64
  %2 = math.tanh %c : vector<16xbf16>
  %3 = math.exp %d : tensor<4xf32>
  return %0, %1, %2, %3 : f32, f64, vector<16xbf16>, tensor<4xf32>
}
