// RUN: attune-opt --split-input-file --verify-diagnostics %s

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
