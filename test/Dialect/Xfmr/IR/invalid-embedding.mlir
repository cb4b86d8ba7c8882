// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @embedding_c1(%ids: tensor<?xi64>, %table: tensor<?x8xf32>) {
  // expected-error @below {{expects a table of static shape, but got 'tensor<?x8xf32>'}}
  %x = xfmr.embedding %ids, %table : tensor<?x8xf32>
  return
}

// -----

func.func @embedding_table(%ids: tensor<?xi64>, %table: tensor<4x8xbf16>) {
  // expected-error @below {{operand #1 must be 2D tensor of 32-bit float values, but got 'tensor<4x8xbf16>'}}
  %x = xfmr.embedding %ids, %table : tensor<4x8xbf16>
  return
}

// -----

func.func @embedding_ids(%ids: tensor<4xi64>, %table: tensor<4x8xf32>) {
  // expected-error @below {{operand #0 must be tensor<?xi64> of ids, but got 'tensor<4xi64>'}}
  %x = "xfmr.embedding"(%ids, %table) : (tensor<4xi64>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
