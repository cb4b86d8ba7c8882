// RUN: attune-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(attune-check-tensor-ops))' | FileCheck %s

// Operations that bufferization supports are accepted, and so are those without tensors.
// CHECK-LABEL: func.func @known
// CHECK: linalg.add
func.func @known(%x: tensor<8xf32>, %m: memref<8xf32>, %i: index) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.add ins(%x, %x : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v = memref.load %m[%i] : memref<8xf32>
  %z = tensor.insert %v into %y[%i] : tensor<8xf32>
  return %z : tensor<8xf32>
}

// -----

func.func @unknown(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'tosa.add' op cannot be compiled: expected ops of the xfmr, linalg, arith, math, tensor and scf dialects on tensors}}
  %y = tosa.add %x, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
