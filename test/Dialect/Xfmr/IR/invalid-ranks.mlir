// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @c1_axis(%x: tensor<?x4x8xf32>) {
  // expected-error @below {{expects an axis from 0 to 1, but got 2}}
  %y = xfmr.all_gather %x, 2 at [0, 8] : tensor<?x4x8xf32> -> tensor<?x4x16xf32>
  return
}

// -----

func.func @c1_types(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects types that differ only in the static size of dimension 1, but got 'tensor<4x16xf32>' and 'tensor<?x8xf32>'}}
  %y = xfmr.all_gather %x, 1 at [0, 8] : tensor<?x8xf32> -> tensor<4x16xf32>
  return
}

// -----

func.func @c1_dynamic(%x: tensor<?x?xf32>) {
  // expected-error @below {{expects types that differ only in the static size of dimension 1}}
  %y = xfmr.rank_slice %x, 1 at [0, 8] : tensor<?x?xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @c2_first(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects the shards to begin at 0, but got 1}}
  %y = xfmr.all_gather %x, 1 at [1, 8] : tensor<?x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @c2_none(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects the shards to begin at 0, but got -1}}
  %y = xfmr.all_gather %x, 1 at [] : tensor<?x8xf32> -> tensor<?x16xf32>
  return
}

// -----

func.func @c2_gap(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects a shard to begin from 0 to 0 + 8, but got 9}}
  %y = xfmr.all_gather %x, 1 at [0, 9] : tensor<?x8xf32> -> tensor<?x17xf32>
  return
}

// -----

func.func @c2_order(%w: tensor<16x4xf32>) {
  // expected-error @below {{expects a shard to begin from 8 to 8 + 8, but got 4}}
  %y = xfmr.weight_shard %w, 0 at [0, 8, 4] : tensor<16x4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @c2_end(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects the last shard to end at 20, but got 8 + 8}}
  %y = xfmr.all_gather %x, 1 at [0, 8] : tensor<?x8xf32> -> tensor<?x20xf32>
  return
}

// -----

// expected-error @below {{expects the last shard to end at 64, but got 24 + 24}}
xfmr.weight @end : tensor<24x8xf32> = #xfmr.shard<#xfmr.tensor<"w" : tensor<64x8xf32>>, 0, 24, [0, 24]>

// -----

// expected-error @below {{expects an axis from 0 to 1, but got 2}}
xfmr.weight @axis : tensor<24x8xf32> = #xfmr.shard<#xfmr.tensor<"w" : tensor<64x8xf32>>, 2, 24, [0, 24]>

// -----

// expected-error @below {{expects 'xfmr.ranks' to be a positive i64, but got 0 : i64}}
module attributes {xfmr.ranks = 0 : i64} {}

// -----

// expected-error @below {{expects 'xfmr.ranks' on a module}}
func.func private @ranks() attributes {xfmr.ranks = 2 : i64}
