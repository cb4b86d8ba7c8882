// RUN: attune-opt %s --attune-assign-weight-offsets --split-input-file --verify-diagnostics

xfmr.weight @a : tensor<8xf32> = #xfmr.tensor<"a" : tensor<8xf32>>
func.func private @layer() -> tensor<8xf32> {
  // expected-error @below {{expects weights to be named in entries only, but @a is used in a function without 'xfmr.entry'}}
  %a = xfmr.weight_ref @a : tensor<8xf32>
  return %a : tensor<8xf32>
}

// -----

func.func @forward() -> tensor<1x8x32xf32> attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %w = arith.constant dense<1.0> : tensor<8x8xf32>
  // expected-error @below {{expects a weight, an xfmr.weight_ref or, in a private function that gets weights in every call, an argument with 'xfmr.weight', but got the result of 'arith.constant'}}
  %p = xfmr.weight_pack %w, 32 : tensor<8x8xf32>
  return %p : tensor<1x8x32xf32>
}

// -----

xfmr.weight @a : tensor<8x8xf32> = #xfmr.tensor<"a" : tensor<8x8xf32>>
func.func @forward(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<1x8x32xf32> attributes {xfmr.entry = #xfmr.entry<"forward">} {
  // expected-error @below {{but got argument #1 of 'forward'}}
  %t = xfmr.weight_transpose %w : tensor<8x8xf32>
  %p = xfmr.weight_pack %t, 32 : tensor<8x8xf32>
  return %p : tensor<1x8x32xf32>
}
