// RUN: attune-opt --split-input-file --verify-diagnostics %s

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

func.func @clamped_glu_c1(%g: tensor<?x48xf32>) {
  // expected-error @below {{expects a positive 'limit', but got -1.000000e+00 : f64}}
  %y = xfmr.clamped_glu %g, %g {alpha = 1.702 : f64, limit = -1.0 : f64} : tensor<?x48xf32>
  return
}
