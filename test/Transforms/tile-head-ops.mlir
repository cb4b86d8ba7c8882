// RUN: attune-opt %s --attune-tile-head-ops --canonicalize | FileCheck %s
// RUN: attune-opt %s --attune-tile-head-ops=row-block=2 --canonicalize | FileCheck %s --check-prefix=TWO

// A rotary embedding is tiled by blocks of 8 tokens with all heads. The last block is shorter.
// CHECK-DAG: #[[BLOCKS:.*]] = affine_map<()[s0] -> (s0 ceildiv 8)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0) -> (d0 * 8)>
// CHECK-DAG: #[[COUNT:.*]] = affine_map<(d0)[s0] -> (d0 * -8 + s0, 8)>
// CHECK-LABEL: @rotary
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x12xf32>, %[[POSITIONS:.*]]: tensor<?xi64>, %[[TABLE:.*]]: tensor<512x8xf32>)
// CHECK: %[[B:.*]] = affine.apply #[[BLOCKS]]
// CHECK: scf.forall (%[[I:.*]]) in (%[[B]]) shared_outs(%[[OUT:.*]] = %{{.*}}) -> (tensor<?x4x12xf32>)
// CHECK-DAG: %[[T:.*]] = affine.apply #[[FIRST]](%[[I]])
// CHECK-DAG: %[[N:.*]] = affine.min #[[COUNT]](%[[I]])
// CHECK-DAG: %[[HEADS:.*]] = tensor.extract_slice %[[X]][%[[T]], 0, 0] [%[[N]], 4, 12]
// CHECK-DAG: %[[IDS:.*]] = tensor.extract_slice %[[POSITIONS]][%[[T]]] [%[[N]]]
// CHECK: tile.rotary_tile ins(%[[HEADS]], %[[IDS]], %[[TABLE]] : {{.*}}) outs({{.*}}) {interleaved}
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[OUT]][%[[T]], 0, 0] [%[[N]], 4, 12]
// CHECK: tile.kernel = #tile.kernel<"rotary of 4 heads x 12">
// TWO-DAG: affine_map<(d0)[s0] -> (d0 * -2 + s0, 2)>
// TWO-DAG: affine_map<()[s0] -> (s0 ceildiv 2)>
// TWO-LABEL: @rotary
func.func @rotary(%x: tensor<?x4x12xf32>, %positions: tensor<?xi64>, %table: tensor<512x8xf32>) -> tensor<?x4x12xf32> {
  %y = xfmr.rotary %x, %positions, %table {interleaved} : tensor<?x4x12xf32>, tensor<512x8xf32>
  return %y : tensor<?x4x12xf32>
}

// New keys and values of packed tokens go to the slot of their sequence, after its past tokens. A sequence and head is
// an iteration; the panels that its keys fall into are a loop, and the caches themselves are the only destinations.
// CHECK-LABEL: @update
// CHECK-SAME: (%[[K:.*]]: tensor<?x2x12xf32>, %[[V:.*]]: tensor<?x2x20xf32>, %[[KEYS:.*]]: tensor<?x2x?x12x64xf32>, %[[VALUES:.*]]: tensor<?x2x?x20xf32>, %[[PAST:.*]]: tensor<?xi64>, %[[SLOTS:.*]]: tensor<?xi64>, %[[OFFSETS:.*]]: tensor<?xi64>)
// CHECK-NOT: tensor.empty
// CHECK: %[[R:.*]]:2 = scf.forall (%[[S:.*]], %[[H:.*]]) in (%{{.*}}, 2) shared_outs(%[[KC:.*]] = %[[KEYS]], %[[VC:.*]] = %[[VALUES]])
// CHECK-DAG: %[[P:.*]] = tensor.extract %[[PAST]][%[[S]]]
// CHECK-DAG: tensor.extract %[[SLOTS]][%[[S]]]
// CHECK-DAG: tensor.extract %[[OFFSETS]][%[[S]]]
// CHECK: tensor.extract_slice %[[V]][%{{.*}}, %[[H]], 0] [%{{.*}}, 1, 20]
// CHECK: scf.for
// CHECK: tensor.extract_slice %[[K]][%{{.*}}, %[[H]], 0] [%{{.*}}, 1, 12]
// CHECK: tile.key_panel ins(%{{.*}}) at(%{{.*}}) outs(%{{.*}} : tensor<12x64xf32>)
// CHECK: scf.yield
// CHECK: linalg.copy
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[KC]]
// CHECK: tensor.parallel_insert_slice %{{.*}} into %[[VC]]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @update(%k: tensor<?x2x12xf32>, %v: tensor<?x2x20xf32>, %keys: tensor<?x2x?x12x64xf32>, %values: tensor<?x2x?x20xf32>, %past: tensor<?xi64>,
                  %slots: tensor<?xi64>, %offsets: tensor<?xi64>) -> (tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>) {
  %r:2 = xfmr.kv_cache_update %k, %v into %keys, %values at(%past) slots(%slots) offsets(%offsets)
    : tensor<?x2x12xf32>, tensor<?x2x20xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
  return %r#0, %r#1 : tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
}

// Keys and values of a padded batch: sequence b has slot b.
// CHECK-LABEL: @update_padded
// CHECK-SAME: (%[[K:[^:]*]]: tensor<?x2x?x12xf32>, %[[V:[^:]*]]: tensor<?x2x?x20xf32>,
// CHECK: scf.forall (%[[S:.*]], %[[H:.*]]) in
// CHECK: tensor.extract_slice %[[V]][%[[S]], %[[H]], 0, 0] [1, 1, %{{.*}}, 20]
// CHECK: tensor.extract_slice %[[K]][%[[S]], %[[H]], %{{.*}}, 0] [1, 1, %{{.*}}, 12]
// CHECK: tensor.parallel_insert_slice %{{.*}}[%[[S]], %[[H]],
func.func @update_padded(%k: tensor<?x2x?x12xf32>, %v: tensor<?x2x?x20xf32>, %keys: tensor<?x2x?x12x64xf32>, %values: tensor<?x2x?x20xf32>,
                         %past: tensor<?xi64>) -> (tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>) {
  %r:2 = xfmr.kv_cache_update %k, %v into %keys, %values at(%past)
    : tensor<?x2x?x12xf32>, tensor<?x2x?x20xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
  return %r#0, %r#1 : tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
}

// Caches as outputs: keys panel by panel, values by a copy.
// CHECK-LABEL: @read
// CHECK-SAME: (%[[KEYS:.*]]: tensor<?x2x?x12x64xf32>, %[[VALUES:.*]]: tensor<?x2x?x20xf32>, %[[LENGTH:.*]]: index)
// CHECK: scf.forall (%[[S:.*]], %[[H:.*]]) in (%{{.*}}, 2)
// CHECK: tensor.extract_slice %[[VALUES]][%[[S]], %[[H]], 0, 0] [1, 1, %[[LENGTH]], 20]
// CHECK: linalg.copy
// CHECK: tensor.extract_slice %[[KEYS]][%[[S]], %[[H]], 0, 0, 0]
// CHECK: scf.for
// CHECK: tile.unpack_keys ins(%{{.*}} : tensor<12x64xf32>) outs(%{{.*}} : tensor<?x12xf32>)
// CHECK: tile.kernel = #tile.kernel<"read cache of 2 heads x 12">, tile.work = #tile.work<cache_bytes =
// CHECK-SAME: affine_map<()[s0, s1] -> ((s0 * s1) * 256)>
func.func @read(%keys: tensor<?x2x?x12x64xf32>, %values: tensor<?x2x?x20xf32>, %length: index) -> (tensor<?x2x?x12xf32>, tensor<?x2x?x20xf32>) {
  %k, %v = xfmr.kv_cache_read %keys, %values, %length : tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
  return %k, %v : tensor<?x2x?x12xf32>, tensor<?x2x?x20xf32>
}

// Attention has a pass of its own.
// CHECK-LABEL: @attention
// CHECK-NOT: scf.forall
// CHECK: xfmr.attention
func.func @attention(%q: tensor<?x4x12xf32>, %k: tensor<?x4x12xf32>, %v: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index) -> tensor<?x4x12xf32> {
  %o = xfmr.attention %q, %k, %v offsets(%offsets, %offsets) lengths(%length, %length) {scale = 0.125 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %o : tensor<?x4x12xf32>
}
