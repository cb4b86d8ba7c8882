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

func.func @linear_c3_multiplier(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>) {
  // expected-error @below {{expects 'multiplier' of the type of the result, 'tensor<?x4xf32>', but got 'tensor<?x8xf32>'}}
  %y = xfmr.linear %x, %w multiplier(%x) : tensor<?x8xf32>, tensor<4x8xf32>, multiplier tensor<?x8xf32>
  return
}

// -----

func.func @epilogue_types_order(%x: tensor<?x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>, %r: tensor<?x4xf32>) {
  // expected-error @below {{expected the types of the optional operands, in their order}}
  %y = xfmr.linear %x, %w bias(%b) residual(%r) : tensor<?x8xf32>, tensor<4x8xf32>, residual tensor<?x4xf32>, bias tensor<4xf32>
  return
}
