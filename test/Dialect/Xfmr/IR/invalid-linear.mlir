// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @linear_c1(%x: tensor<?x8xf32>, %w: tensor<4x6xf32>) {
  // expected-error @below {{expects 'weight' to have 8 columns, the features of 'input', but got 6}}
  %y = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<4x6xf32>
  return
}

// -----

func.func @linear_c2(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{expects 'bias' to have 4 elements, the rows of 'weight', but got 8}}
  %y = xfmr.linear %x, %w bias(%b) : tensor<?x8xf32>, tensor<4x8xf32>, bias tensor<8xf32>
  return
}

// -----

func.func @linear_c3(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error @below {{expects 'residual' of the type of the result, 'tensor<?x4xf32>', but got 'tensor<?x8xf32>'}}
  %y = xfmr.linear %x, %w residual(%x) : tensor<?x8xf32>, tensor<4x8xf32>, residual tensor<?x8xf32>
  return
}

// -----

func.func @linear_c3_element(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>, %r: tensor<?x8xf16>) {
  // expected-error @below {{operand #2 must be 2D tensor of 32-bit float values, but got 'tensor<?x8xf16>'}}
  %y = xfmr.linear %x, %w residual(%r) : tensor<?x8xf32>, tensor<8x8xf32>, residual tensor<?x8xf16>
  return
}

// -----

func.func @ffn_c1_up(%x: tensor<?x8xf32>, %up: tensor<16x6xf32>, %down: tensor<8x16xf32>) {
  // expected-error @below {{expects 'up' to have 8 columns, the features of 'input', but got 6}}
  %y = xfmr.ffn <gelu> %x, %up, %down : tensor<?x8xf32>, tensor<16x6xf32>, tensor<8x16xf32>
  return
}

// -----

func.func @ffn_c1_down(%x: tensor<?x8xf32>, %up: tensor<16x8xf32>, %down: tensor<8x12xf32>) {
  // expected-error @below {{expects 'down' to have 16 columns, the rows of 'up', but got 12}}
  %y = xfmr.ffn <gelu> %x, %up, %down : tensor<?x8xf32>, tensor<16x8xf32>, tensor<8x12xf32>
  return
}

// -----

func.func @ffn_c2(%x: tensor<?x8xf32>, %up: tensor<16x8xf32>, %down: tensor<8x16xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{expects 'up_bias' to have 16 elements, the rows of 'up', but got 8}}
  %y = xfmr.ffn <gelu> %x, %up, %down bias(%b, %b) : tensor<?x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>, bias tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @ffn_c2_one_bias(%x: tensor<?x8xf32>, %up: tensor<16x8xf32>, %down: tensor<8x16xf32>, %b: tensor<16xf32>) {
  // expected-error @below {{expects 'up_bias' and 'down_bias' together}}
  %y = "xfmr.ffn"(%x, %up, %down, %b) {activation = #xfmr.activation<gelu>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 1, 0, 0>}
    : (tensor<?x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @ffn_c3(%x: tensor<?x8xf32>, %up: tensor<16x8xf32>, %down: tensor<4x16xf32>) {
  // expected-error @below {{expects 'residual' of the type of the result, 'tensor<?x4xf32>', but got 'tensor<?x8xf32>'}}
  %y = xfmr.ffn <gelu> %x, %up, %down residual(%x) : tensor<?x8xf32>, tensor<16x8xf32>, tensor<4x16xf32>, residual tensor<?x8xf32>
  return
}

// -----

func.func @layer_norm_c1(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{expects 'bias' to have 8 elements, the last dimension of 'input', but got 4}}
  %y = xfmr.layer_norm %x, %g, %b {epsilon = 1.0e-5 : f64} : tensor<?x8xf32>, tensor<8xf32>, tensor<4xf32>
  return
}

// -----

func.func @layer_norm_c2(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>, %g: tensor<8xf32>) {
  // expected-error @below {{expects 'residual' of the type of the result, 'tensor<?x8xf32>', but got 'tensor<?x4xf32>'}}
  %y = xfmr.layer_norm %x, %g, %g residual(%r : tensor<?x4xf32>) {epsilon = 1.0e-5 : f64} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @layer_norm_c3(%x: tensor<?x8xf32>, %g: tensor<8xf32>) {
  // expected-error @below {{expects 'epsilon' not to be negative, but got -1.000000e+00 : f64}}
  %y = xfmr.layer_norm %x, %g, %g {epsilon = -1.0 : f64} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @softmax_c1(%x: tensor<?x?xf32>) {
  // expected-error @below {{expects a static last dimension, but got 'tensor<?x?xf32>'}}
  %y = xfmr.softmax %x : tensor<?x?xf32>
  return
}

// -----

func.func @dropout_c1(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects 'rate' from 0 to 1, but got 1.500000e+00 : f64}}
  %y = xfmr.dropout %x {rate = 1.5 : f64} : tensor<?x8xf32>
  return
}

// -----

func.func @linear_c3_multiplier(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error @below {{expects 'multiplier' of the type of the result, 'tensor<?x4xf32>', but got 'tensor<?x8xf32>'}}
  %y = xfmr.linear %x, %w multiplier(%x) : tensor<?x8xf32>, tensor<4x8xf32>, multiplier tensor<?x8xf32>
  return
}

// -----

func.func @ffn_c1_gate(%x: tensor<?x8xf32>, %up: tensor<16x8xf32>, %down: tensor<8x16xf32>, %gate: tensor<12x8xf32>) {
  // expected-error @below {{expects 'gate' of the type of 'up', 'tensor<16x8xf32>', but got 'tensor<12x8xf32>'}}
  %y = xfmr.ffn <silu> %x, %up, %down gate(%gate : tensor<12x8xf32>) : tensor<?x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>
  return
}

// -----

func.func @ffn_c2_gate_bias(%x: tensor<?x8xf32>, %up: tensor<16x8xf32>, %down: tensor<8x16xf32>, %b: tensor<16xf32>) {
  // expected-error @below {{expects 'gate_bias' and 'up_bias' together}}
  %y = xfmr.ffn <silu> %x, %up, %down gate(%up, %b : tensor<16x8xf32>, tensor<16xf32>) : tensor<?x8xf32>, tensor<16x8xf32>, tensor<8x16xf32>
  return
}

// -----

func.func @rms_norm_c1(%x: tensor<?x8xf32>, %g: tensor<4xf32>) {
  // expected-error @below {{expects 'weight' to have 8 elements, the last dimension of 'input', but got 4}}
  %y = xfmr.rms_norm %x, %g {epsilon = 1.0e-6 : f64} : tensor<?x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @rms_norm_c1_heads(%x: tensor<?x4x8xf32>, %g: tensor<32xf32>) {
  // expected-error @below {{expects 'weight' to have 8 elements, the last dimension of 'input', but got 32}}
  %y = xfmr.rms_norm %x, %g {epsilon = 1.0e-6 : f64} : tensor<?x4x8xf32>, tensor<32xf32>
  return
}

// -----

func.func @rms_norm_c2(%x: tensor<?x8xf32>, %r: tensor<?x4xf32>, %g: tensor<8xf32>) {
  // expected-error @below {{expects 'residual' of the type of the result, 'tensor<?x8xf32>', but got 'tensor<?x4xf32>'}}
  %y = xfmr.rms_norm %x, %g residual(%r : tensor<?x4xf32>) {epsilon = 1.0e-6 : f64} : tensor<?x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @rms_norm_c3(%x: tensor<?x8xf32>, %g: tensor<8xf32>) {
  // expected-error @below {{expects 'epsilon' not to be negative, but got -1.000000e+00 : f64}}
  %y = xfmr.rms_norm %x, %g {epsilon = -1.0 : f64} : tensor<?x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @epilogue_types_order(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>, %r: tensor<?x4xf32>) {
  // expected-error @below {{expected the types of the optional operands, in their order}}
  %y = xfmr.linear %x, %w bias(%b) residual(%r) : tensor<?x8xf32>, tensor<4x8xf32>, residual tensor<?x4xf32>, bias tensor<4xf32>
  return
}
