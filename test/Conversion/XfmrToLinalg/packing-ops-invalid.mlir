// RUN: attune-opt --convert-xfmr-to-linalg --split-input-file --verify-diagnostics %s

// The conversion needs static sizes except for the number of tokens.
func.func @gather_dynamic_features(%x: tensor<?x?xf32>, %positions: tensor<?xi64>) -> tensor<?x?xf32> {
  // expected-error @below {{failed to legalize operation 'xfmr.gather_tokens'}}
  %0 = xfmr.gather_tokens %x, %positions : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
