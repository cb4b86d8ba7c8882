// RUN: attune-opt %s -verify-diagnostics --attune-vectorize-tiles

func.func @tensors(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{expects buffers, but has tensor operands}}
  %y = linalg.fill ins(%zero : f32) outs(%x : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
