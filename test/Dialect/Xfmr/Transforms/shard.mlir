// RUN: attune-opt %s --xfmr-shard --split-input-file --verify-diagnostics | FileCheck %s

// A layer of two ranks: heads and columns are divided, the sums over all columns get whole tensors. A rank adds the residual
// to its columns, in the projection, as one rank does.
module attributes {xfmr.ranks = 2 : i64} {
  // CHECK-LABEL: func.func private @layer
  // CHECK-SAME: (%[[X:.*]]: tensor<?x48xf32>, %[[OFF:.*]]: tensor<?xi64>, %[[LEN:.*]]: index, %[[WQ:.*]]: tensor<48x48xf32> {xfmr.weight}, %[[BQ:.*]]: tensor<48xf32> {xfmr.weight}, %[[WK:.*]]: tensor<24x48xf32> {xfmr.weight}, %[[WO:.*]]: tensor<48x48xf32> {xfmr.weight}
  func.func private @layer(%x: tensor<?x48xf32>, %off: tensor<?xi64>, %len: index, %wq: tensor<48x48xf32> {xfmr.weight}, %bq: tensor<48xf32> {xfmr.weight},
                           %wk: tensor<24x48xf32> {xfmr.weight}, %wo: tensor<48x48xf32> {xfmr.weight}, %up: tensor<130x48xf32> {xfmr.weight},
                           %gate: tensor<130x48xf32> {xfmr.weight}, %down: tensor<48x130xf32> {xfmr.weight}) -> tensor<?x48xf32> {
    // CHECK: %[[WQ0:.*]] = xfmr.weight_shard %[[WQ]], 0 at [0, 24] : tensor<48x48xf32> -> tensor<24x48xf32>
    // CHECK: %[[BQ0:.*]] = xfmr.weight_shard %[[BQ]], 0 at [0, 24] : tensor<48xf32> -> tensor<24xf32>
    // CHECK: %[[Q:.*]] = xfmr.linear %[[X]], %[[WQ0]] bias(%[[BQ0]]) : tensor<?x48xf32>, tensor<24x48xf32>, bias tensor<24xf32>
    %q = xfmr.linear %x, %wq bias(%bq) : tensor<?x48xf32>, tensor<48x48xf32>, bias tensor<48xf32>
    // CHECK: %[[QH:.*]] = xfmr.split_heads %[[Q]], 2 : tensor<?x24xf32>
    %qh = xfmr.split_heads %q, 4 : tensor<?x48xf32>
    // CHECK: xfmr.weight_shard %[[WK]], 0 at [0, 12] : tensor<24x48xf32> -> tensor<12x48xf32>
    %k = xfmr.linear %x, %wk : tensor<?x48xf32>, tensor<24x48xf32>
    // CHECK: %[[KH:.*]] = xfmr.split_heads %{{.*}}, 1 : tensor<?x12xf32>
    %kh = xfmr.split_heads %k, 2 : tensor<?x24xf32>
    // CHECK: %[[A:.*]] = xfmr.attention %[[QH]], %[[KH]], %[[KH]] {{.*}} : tensor<?x2x12xf32>, tensor<?x1x12xf32>, tensor<?x1x12xf32> -> tensor<?x2x12xf32>
    %a = xfmr.attention %qh, %kh, %kh offsets(%off, %off) lengths(%len, %len) {scale = 1.0 : f64}
      : tensor<?x4x12xf32>, tensor<?x2x12xf32>, tensor<?x2x12xf32> -> tensor<?x4x12xf32>
    // CHECK: %[[M:.*]] = xfmr.merge_heads %[[A]] : tensor<?x2x12xf32>
    // CHECK: %[[ALL:.*]] = xfmr.all_gather %[[M]], 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
    %m = xfmr.merge_heads %a : tensor<?x4x12xf32>
    // CHECK: %[[WO0:.*]] = xfmr.weight_shard %[[WO]], 0 at [0, 24]
    // CHECK: %[[X0:.*]] = xfmr.rank_slice %[[X]], 1 at [0, 24] : tensor<?x48xf32> -> tensor<?x24xf32>
    // CHECK: %[[O:.*]] = xfmr.linear %[[ALL]], %[[WO0]] residual(%[[X0]]) : tensor<?x48xf32>, tensor<24x48xf32>
    // CHECK: %[[SUM:.*]] = xfmr.all_gather %[[O]], 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
    %o = xfmr.linear %m, %wo residual(%x) : tensor<?x48xf32>, tensor<48x48xf32>, residual tensor<?x48xf32>
    // Features of 65 and more are divided at multiples of 16; parts overlap. The multiplier is divided alike.
    // CHECK: %[[U:.*]] = xfmr.linear %[[SUM]], %{{.*}} : tensor<?x48xf32>, tensor<80x48xf32>
    %u = xfmr.linear %o, %up : tensor<?x48xf32>, tensor<130x48xf32>
    // CHECK: xfmr.weight_shard %{{.*}}, 0 at [0, 50] : tensor<130x48xf32> -> tensor<80x48xf32>
    // CHECK: %[[G:.*]] = xfmr.linear %[[SUM]], %{{.*}} multiplier(%[[U]]) {activation = #xfmr.activation<silu>}
    // CHECK: %[[GALL:.*]] = xfmr.all_gather %[[G]], 1 at [0, 50] : tensor<?x80xf32> -> tensor<?x130xf32>
    %g = xfmr.linear %o, %gate multiplier(%u) {activation = #xfmr.activation<silu>} : tensor<?x48xf32>, tensor<130x48xf32>, multiplier tensor<?x130xf32>
    // The addition becomes the residual of the projection before anything is divided.
    // CHECK: %[[D:.*]] = xfmr.linear %[[GALL]], %{{.*}} residual(%[[O]])
    // CHECK: %[[DALL:.*]] = xfmr.all_gather %[[D]]
    // CHECK-NOT: arith.addf
    %d = xfmr.linear %g, %down : tensor<?x130xf32>, tensor<48x130xf32>
    %y = arith.addf %d, %o : tensor<?x48xf32>
    // CHECK: return %[[DALL]]
    return %y : tensor<?x48xf32>
  }
}

// -----

// More ranks than heads of keys: each head of keys is on three ranks, which divide its three query heads. Biases and
// masks of heads are sliced; sinks are weights.
module attributes {xfmr.ranks = 6 : i64} {
  // CHECK-LABEL: func.func private @few_key_heads
  func.func private @few_key_heads(%x: tensor<?x12xf32>, %off: tensor<?xi64>, %len: index, %bias: tensor<6x?xf32>, %heads: tensor<6xf32>,
                                   %wq: tensor<12x12xf32> {xfmr.weight}, %wk: tensor<4x12xf32> {xfmr.weight}) -> tensor<?x6x2xf32> {
    // CHECK: xfmr.weight_shard %{{.*}}, 0 at [0, 2, 4, 6, 8, 10] : tensor<12x12xf32> -> tensor<2x12xf32>
    %q = xfmr.linear %x, %wq : tensor<?x12xf32>, tensor<12x12xf32>
    %qh = xfmr.split_heads %q, 6 : tensor<?x12xf32>
    // CHECK: xfmr.weight_shard %{{.*}}, 0 at [0, 0, 0, 2, 2, 2] : tensor<4x12xf32> -> tensor<2x12xf32>
    %k = xfmr.linear %x, %wk : tensor<?x12xf32>, tensor<4x12xf32>
    %kh = xfmr.split_heads %k, 2 : tensor<?x4xf32>
    // CHECK-DAG: %[[BIAS:.*]] = xfmr.rank_slice %{{.*}}, 0 at [0, 1, 2, 3, 4, 5] : tensor<6x?xf32> -> tensor<1x?xf32>
    // CHECK-DAG: %[[HEADS:.*]] = xfmr.rank_slice %{{.*}}, 0 at [0, 1, 2, 3, 4, 5] : tensor<6xf32> -> tensor<1xf32>
    // CHECK: %[[A:.*]] = xfmr.attention {{.*}} head_mask(%[[HEADS]] : tensor<1xf32>) distance_bias(%[[BIAS]] : tensor<1x?xf32>)
    %a = xfmr.attention %qh, %kh, %kh offsets(%off, %off) lengths(%len, %len) head_mask(%heads : tensor<6xf32>) distance_bias(%bias : tensor<6x?xf32>)
      {scale = 1.0 : f64} : tensor<?x6x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32> -> tensor<?x6x2xf32>
    // CHECK: %[[ALL:.*]] = xfmr.all_gather %[[A]], 1 at [0, 1, 2, 3, 4, 5] : tensor<?x1x2xf32> -> tensor<?x6x2xf32>
    // CHECK: return %[[ALL]]
    return %a : tensor<?x6x2xf32>
  }
}

// -----

// Caches have the heads of the rank, in the entry and in the function of the layer.
module attributes {xfmr.ranks = 2 : i64} {
  // CHECK: func.func private @step(%{{.*}}: tensor<?x3x2xf32>, %{{.*}}: tensor<?x2x?x2x64xf32>, %{{.*}}: tensor<?x2x?x2xf32>, {{.*}}) -> (tensor<?x2x?x2x64xf32>, tensor<?x2x?x2xf32>)
  func.func private @step(%h: tensor<?x3x2xf32>, %keys: tensor<?x3x?x2x64xf32>, %values: tensor<?x3x?x2xf32>, %past: tensor<?xi64>, %off: tensor<?xi64>)
      -> (tensor<?x3x?x2x64xf32>, tensor<?x3x?x2xf32>) {
    // Three heads are divided into two and the last two.
    // CHECK: %[[K:.*]] = xfmr.rank_slice %{{.*}}, 1 at [0, 1] : tensor<?x3x2xf32> -> tensor<?x2x2xf32>
    // CHECK: xfmr.kv_cache_update
    %k, %v = xfmr.kv_cache_update %h, %h into %keys, %values at(%past) offsets(%off)
      : tensor<?x3x2xf32>, tensor<?x3x2xf32>, tensor<?x3x?x2x64xf32>, tensor<?x3x?x2xf32>
    return %k, %v : tensor<?x3x?x2x64xf32>, tensor<?x3x?x2xf32>
  }
  // CHECK: func.func @prefill
  // CHECK-SAME: tensor<?x2x?x2x64xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 2, panels, 2, 64]>}
  // CHECK-SAME: -> (tensor<?x2x?x2x64xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 2, panels, 2, 64]>}
  func.func @prefill(%h: tensor<?x3x2xf32> {xfmr.input = #xfmr.input<"h", [tokens, 3, 2]>}, %past: tensor<?xi64> {xfmr.input = #xfmr.input<"p", [batch]>},
                     %off: tensor<?xi64> {xfmr.input = #xfmr.input<"o", [ends]>},
                     %keys: tensor<?x3x?x2x64xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 3, panels, 2, 64]>},
                     %values: tensor<?x3x?x2xf32> {xfmr.cache = #xfmr.cache<"v", [slots, 3, capacity, 2]>})
      -> (tensor<?x3x?x2x64xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 3, panels, 2, 64]>}, tensor<?x3x?x2xf32> {xfmr.cache = #xfmr.cache<"v", [slots, 3, capacity, 2]>})
      attributes {xfmr.entry = #xfmr.entry<"prefill", caches = append>} {
    %k, %v = call @step(%h, %keys, %values, %past, %off)
      : (tensor<?x3x2xf32>, tensor<?x3x?x2x64xf32>, tensor<?x3x?x2xf32>, tensor<?xi64>, tensor<?xi64>) -> (tensor<?x3x?x2x64xf32>, tensor<?x3x?x2xf32>)
    return %k, %v : tensor<?x3x?x2x64xf32>, tensor<?x3x?x2xf32>
  }
}

// -----

// The embeddings of one width are divided alike, so that their sum needs one gather. A projection of fewer features than
// ranks, and one that chooses experts, are whole. So is one whose matrix is computed.
module attributes {xfmr.ranks = 4 : i64} {
  // CHECK-LABEL: func.func private @whole
  func.func private @whole(%ids: tensor<?xi64>, %words: tensor<9x32xf32> {xfmr.weight}, %places: tensor<5x32xf32> {xfmr.weight},
                           %few: tensor<3x32xf32> {xfmr.weight}, %router: tensor<8x32xf32> {xfmr.weight}, %made: tensor<16x32xf32>)
      -> (tensor<?x3xf32>, tensor<?x2xi64>, tensor<?x16xf32>) {
    // CHECK: %[[A:.*]] = xfmr.embedding %{{.*}}, %{{.*}} : tensor<9x8xf32>
    // CHECK: %[[B:.*]] = xfmr.embedding %{{.*}}, %{{.*}} : tensor<5x8xf32>
    // CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : tensor<?x8xf32>
    // CHECK: %[[X:.*]] = xfmr.all_gather %[[SUM]], 1 at [0, 8, 16, 24]
    // CHECK-NOT: xfmr.all_gather
    // CHECK-NOT: xfmr.weight_shard
    %a = xfmr.embedding %ids, %words : tensor<9x32xf32>
    %b = xfmr.embedding %ids, %places : tensor<5x32xf32>
    %x = arith.addf %a, %b : tensor<?x32xf32>
    // CHECK: xfmr.linear %[[X]], %{{.*}} : tensor<?x32xf32>, tensor<3x32xf32>
    %y = xfmr.linear %x, %few : tensor<?x32xf32>, tensor<3x32xf32>
    %scores = xfmr.linear %x, %router : tensor<?x32xf32>, tensor<8x32xf32>
    %choices, %shares = xfmr.choose_experts %scores, 2 : tensor<?x8xf32>
    %z = xfmr.linear %x, %made : tensor<?x32xf32>, tensor<16x32xf32>
    return %y, %choices, %z : tensor<?x3xf32>, tensor<?x2xi64>, tensor<?x16xf32>
  }
}

// -----

// One rank changes nothing.
// CHECK-LABEL: func.func private @alone
// CHECK-NOT: xfmr.weight_shard
func.func private @alone(%x: tensor<?x48xf32>, %w: tensor<48x48xf32> {xfmr.weight}) -> tensor<?x48xf32> {
  %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<48x48xf32>
  return %y : tensor<?x48xf32>
}

// -----

module attributes {xfmr.ranks = 2 : i64} {
  func.func private @heads_of_mask(%q: tensor<?x4x12xf32>, %k: tensor<?x4x?x12x64xf32>, %v: tensor<?x4x?x12xf32>, %off: tensor<?xi64>, %lens: tensor<?xi64>,
                                   %len: index, %mask: tensor<?x?x?x?xf32>) -> tensor<?x4x12xf32> {
    // expected-error @below {{has a mask or a table of relative positions for each head that cannot be divided among ranks}}
    %a = xfmr.attention %q, %k, %v offsets(%off) lengths(%len, %len) key_lengths(%lens) mask(%mask : tensor<?x?x?x?xf32>)
      {scale = 1.0 : f64} : tensor<?x4x12xf32>, tensor<?x4x?x12x64xf32>, tensor<?x4x?x12xf32> -> tensor<?x4x12xf32>
    return %a : tensor<?x4x12xf32>
  }
}
