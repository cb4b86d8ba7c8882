// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @gather_tokens_rank(%x: tensor<f32>, %p: tensor<?xi64>) {
  // expected-error @below {{expects an input of rank 1 or more, but got 'tensor<f32>'}}
  %y = xfmr.gather_tokens %x, %p : tensor<f32>
  return
}

// -----

func.func @embedding_c1(%ids: tensor<?xi64>, %table: tensor<?x8xf32>) {
  // expected-error @below {{expects a table of static shape, but got 'tensor<?x8xf32>'}}
  %x = xfmr.embedding %ids, %table : tensor<?x8xf32>
  return
}

// -----

func.func @embedding_ids(%ids: tensor<4xi64>, %table: tensor<4x8xf32>) {
  // expected-error @below {{operand #0 must be tensor<?xi64> of ids, but got 'tensor<4xi64>'}}
  %x = "xfmr.embedding"(%ids, %table) : (tensor<4xi64>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pool_c2(%x: tensor<?x8xf32>, %off: tensor<?xi64>) {
  // expected-error @below {{expects no 'skip' of the kind 'first'}}
  %y = xfmr.pool <first> %x, %off skip(%off) : tensor<?x8xf32>
  return
}

// -----

func.func @pool_c1(%x: tensor<?x8xf32>, %off: tensor<?xi64>) {
  // expected-error @below {{expects 'positions' and 'length' together}}
  %y = "xfmr.pool"(%x, %off, %off) {kind = #xfmr.pool_kind<first>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}
    : (tensor<?x8xf32>, tensor<?xi64>, tensor<?xi64>) -> tensor<?x8xf32>
  return
}

// -----

func.func @additive_mask_element(%m: tensor<?x?xf32>) {
  // expected-error @below {{operand #0 must be ranked tensor of 64-bit signless integer values, but got 'tensor<?x?xf32>'}}
  %y = xfmr.additive_mask %m : tensor<?x?xf32>
  return
}

// -----

func.func @counted_positions_c1(%ids: tensor<?x?xi64>) {
  // expected-error @below {{attribute 'padding' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %p = xfmr.counted_positions %ids {padding = -1 : i64} : tensor<?x?xi64>
  return
}
