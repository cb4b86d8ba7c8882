// RUN: attune-opt %s -verify-diagnostics --attune-vectorize-tiles
// RUN: not attune-opt %s --attune-vectorize-tiles=prefetch-streams=3 2>&1 | FileCheck %s --check-prefix=OPTIONS
// RUN: not attune-opt %s --attune-vectorize-tiles=prefetch-ahead=-1 2>&1 | FileCheck %s --check-prefix=OPTIONS
// OPTIONS: error: expects prefetch-streams to be a power of two and prefetch-ahead not to be negative, but got {{3 and 16384|4 and -1}}

func.func @tensors(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{expects buffers, but has tensor operands}}
  %y = linalg.fill ins(%zero : f32) outs(%x : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
