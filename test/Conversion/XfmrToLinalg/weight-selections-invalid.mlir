// RUN: attune-opt --convert-xfmr-to-linalg --split-input-file --verify-diagnostics %s

// A weight expression over a weight that is chosen while the model runs must take the whole stack.
func.func private @transpose(%stack: tensor<2x8x4xf32> {xfmr.weight}, %e: index) -> tensor<4x8xf32> {
  %w = xfmr.weight_select %stack[%e] : tensor<2x8x4xf32>
  // expected-error @below {{'xfmr.weight_transpose' op cannot be computed before the model runs, since 'xfmr.weight_select' chooses its operand}}
  %t = xfmr.weight_transpose %w : tensor<8x4xf32>
  return %t : tensor<4x8xf32>
}

// -----

func.func private @concat(%stack: tensor<2x8x4xf32> {xfmr.weight}, %other: tensor<8x4xf32> {xfmr.weight}, %e: index) -> tensor<16x4xf32> {
  %w = xfmr.weight_select %stack[%e] : tensor<2x8x4xf32>
  // expected-error @below {{'xfmr.weight_concat' op cannot be computed before the model runs, since 'xfmr.weight_select' chooses its operand}}
  %c = xfmr.weight_concat 0, %w, %other : tensor<8x4xf32>, tensor<8x4xf32>
  return %c : tensor<16x4xf32>
}
