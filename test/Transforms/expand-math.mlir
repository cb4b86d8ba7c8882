//===- expand-math.mlir - Which functions become polynomials ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

// RUN: attune-opt %s --attune-expand-math | FileCheck %s
// RUN: attune-opt %s --attune-expand-math=expand-bf16 | FileCheck %s --check-prefix=BF16

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

// Rounding to bf16 becomes integer arithmetic where that is asked for. The canonicalizer makes one conversion of those
// from an integer to f32 and on to bf16; it becomes two again.
// CHECK-LABEL: func @conversions
// CHECK: arith.truncf
// CHECK: arith.sitofp {{.*}} : vector<16xi64> to vector<16xbf16>
// CHECK: arith.fptosi {{.*}} : bf16 to i32
// BF16-LABEL: func @conversions
// BF16-SAME: (%{{.*}}, %[[INTEGERS:[a-z0-9]+]]: vector<16xi64>, %[[BF16:[a-z0-9]+]]: bf16)
// BF16-NOT: arith.truncf
// BF16: arith.bitcast {{.*}} : vector<16xi16> to vector<16xbf16>
// BF16: %[[FLOATS:.*]] = arith.sitofp %[[INTEGERS]] : vector<16xi64> to vector<16xf32>
// BF16: arith.bitcast %[[FLOATS]] : vector<16xf32> to vector<16xi32>
// BF16-NOT: arith.truncf
// BF16: arith.bitcast {{.*}} : vector<16xi16> to vector<16xbf16>
// BF16: arith.bitcast %[[BF16]] : bf16 to i16
// BF16: %[[FLOAT:.*]] = arith.bitcast {{.*}} : i32 to f32
// BF16: arith.fptosi %[[FLOAT]] : f32 to i32
func.func @conversions(%a: vector<16xf32>, %b: vector<16xi64>, %c: bf16) -> (vector<16xbf16>, vector<16xbf16>, i32) {
  %0 = arith.truncf %a : vector<16xf32> to vector<16xbf16>
  %1 = arith.sitofp %b : vector<16xi64> to vector<16xbf16>
  %2 = arith.fptosi %c : bf16 to i32
  return %0, %1, %2 : vector<16xbf16>, vector<16xbf16>, i32
}
