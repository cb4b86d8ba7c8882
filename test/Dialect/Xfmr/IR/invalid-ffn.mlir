// RUN: attune-opt --split-input-file --verify-diagnostics %s

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
