// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @gather_tokens_rank(%x: tensor<f32>, %p: tensor<?xi64>) {
  // expected-error @below {{expects an input of rank 1 or more, but got 'tensor<f32>'}}
  %y = xfmr.gather_tokens %x, %p : tensor<f32>
  return
}
