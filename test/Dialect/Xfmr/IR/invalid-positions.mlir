// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @rotary_c1_columns(%x: tensor<?x4x12xf32>, %ids: tensor<?xi64>, %t: tensor<64x14xf32>) {
  // expected-error @below {{expects a table with an even number of columns, at most the head size 12, but got 14}}
  %y = xfmr.rotary %x, %ids, %t : tensor<?x4x12xf32>, tensor<64x14xf32>
  return
}

// -----

func.func @rotary_c1_odd(%x: tensor<?x4x12xf32>, %ids: tensor<?xi64>, %t: tensor<64x7xf32>) {
  // expected-error @below {{expects a table with an even number of columns, at most the head size 12, but got 7}}
  %y = xfmr.rotary %x, %ids, %t : tensor<?x4x12xf32>, tensor<64x7xf32>
  return
}

// -----

func.func @rotary_c1_dynamic(%x: tensor<?x4x12xf32>, %ids: tensor<?xi64>, %t: tensor<?x12xf32>) {
  // expected-error @below {{expects a table of static shape, but got 'tensor<?x12xf32>'}}
  %y = xfmr.rotary %x, %ids, %t : tensor<?x4x12xf32>, tensor<?x12xf32>
  return
}

// -----

func.func @relative_position_bias_c1_dynamic(%t: tensor<?x4xf32>, %n: index) {
  // expected-error @below {{expects a table of static shape, but got 'tensor<?x4xf32>'}}
  %y = xfmr.relative_position_bias %t, %n {max_distance = 128 : i64} : tensor<?x4xf32>
  return
}

// -----

func.func @relative_position_bias_c1_odd(%t: tensor<7x4xf32>, %n: index) {
  // expected-error @below {{expects an even number of buckets, at least 4, but got 7}}
  %y = xfmr.relative_position_bias %t, %n {bidirectional, max_distance = 128 : i64} : tensor<7x4xf32>
  return
}

// -----

func.func @relative_position_bias_c1_few(%t: tensor<1x4xf32>, %n: index) {
  // expected-error @below {{expects at least 2 buckets, but got 1}}
  %y = xfmr.relative_position_bias %t, %n {max_distance = 128 : i64} : tensor<1x4xf32>
  return
}

// -----

func.func @relative_position_bias_c1_distance(%t: tensor<32x4xf32>, %n: index) {
  // expected-error @below {{expects 'max_distance' larger than 8 and at most 16777216, but got 8}}
  %y = xfmr.relative_position_bias %t, %n {bidirectional, max_distance = 8 : i64} : tensor<32x4xf32>
  return
}

// -----

func.func @alibi_bias_c1(%t: tensor<?xf32>, %n: index) {
  // expected-error @below {{expects slopes of static shape, but got 'tensor<?xf32>'}}
  %y = xfmr.alibi_bias %t, %n : tensor<?xf32>
  return
}

// -----

func.func @relative_position_bias_c1_most(%t: tensor<32x8xf32>, %n: index) {
  // expected-error @below {{expects 'max_distance' larger than 8 and at most 16777216, but got 4611686018427387904}}
  %0 = xfmr.relative_position_bias %t, %n {bidirectional, max_distance = 4611686018427387904 : i64} : tensor<32x8xf32>
  return
}

// -----

func.func @counted_positions_c1(%ids: tensor<?x?xi64>) {
  // expected-error @below {{attribute 'padding' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %p = xfmr.counted_positions %ids {padding = -1 : i64} : tensor<?x?xi64>
  return
}
