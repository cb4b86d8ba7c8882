// RUN: attune-opt %s --attune-tile-attention | FileCheck %s
// RUN: attune-opt %s --attune-tile-attention="query-rows=4 panel-width=16 key-block=64" | FileCheck %s --check-prefix=NARROW

// Panels start afresh at each sequence, so there may be one more per sequence than full ones in all.
// CHECK-DAG: #[[BATCH:.*]] = affine_map<()[s0] -> (s0 - 1)>
// CHECK-DAG: #[[PANELS:.*]] = affine_map<()[s0, s1] -> (s0 + s1 floordiv 32 - 1)>
// CHECK-DAG: #[[LENGTH:.*]] = affine_map<(d0, d1) -> (d0 - d1)>
// CHECK-DAG: #[[OWN_PANELS:.*]] = affine_map<(d0, d1) -> ((d0 - d1) ceildiv 32)>
// CHECK-DAG: #[[FIRST_PANEL:.*]] = affine_map<(d0, d1) -> (d1 + d0 floordiv 32)>
// CHECK-DAG: #[[KEYS_LEFT:.*]] = affine_map<(d0, d1) -> (d0 - d1 * 32, 32)>
// CHECK-DAG: #[[TILES:.*]] = affine_map<()[s0] -> (s0 ceildiv 8)>
// CHECK-DAG: #[[TILE_ROW:.*]] = affine_map<(d0, d1) -> (d0, d1 * 8)>
// CHECK-DAG: #[[ROWS_LEFT:.*]] = affine_map<(d0, d1) -> (d0 - d1, 8)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0 + d1)>
// CHECK-DAG: #[[GROUP:.*]] = affine_map<(d0) -> (d0 floordiv 2)>
// NARROW-DAG: affine_map<(d0, d1) -> ((d0 - d1) ceildiv 16)>
// NARROW-DAG: affine_map<()[s0] -> (s0 ceildiv 4)>

// CHECK-LABEL: @plain
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: tensor<?x4x12xf32>, %[[K:[a-z0-9]+]]: tensor<?x4x12xf32>, %[[V:[a-z0-9]+]]: tensor<?x4x20xf32>, %[[OFFSETS:[a-z0-9]+]]: tensor<?xi64>, %[[MOST:[a-z0-9]+]]: index)
// CHECK: %[[B:.*]] = affine.apply #[[BATCH]]()
// CHECK: %[[COUNT:.*]] = affine.apply #[[PANELS]]()
// CHECK: %[[EMPTY:.*]] = tensor.empty(%[[COUNT]]) : tensor<4x?x12x32xf32>
// CHECK: %[[KEYS:.*]] = scf.forall (%[[SEQUENCE:.*]], %[[HEAD:.*]]) in (%[[B]], 4) shared_outs(%{{.*}} = %[[EMPTY]])
// CHECK: %[[BEGIN:.*]] = arith.index_cast
// CHECK: %[[END:.*]] = arith.index_cast
// CHECK: %[[TOKENS:.*]] = affine.apply #[[LENGTH]](%[[END]], %[[BEGIN]])
// CHECK: %[[OWN:.*]] = affine.apply #[[OWN_PANELS]](%[[END]], %[[BEGIN]])
// CHECK: %[[FIRST:.*]] = affine.apply #[[FIRST_PANEL]](%[[BEGIN]], %[[SEQUENCE]])
// CHECK: scf.for %[[PANEL:.*]] = %{{.*}} to %[[OWN]]
// CHECK: affine.min #[[KEYS_LEFT]](%[[TOKENS]], %[[PANEL]])
// CHECK: xfmr.key_panel
// CHECK: tensor.parallel_insert_slice {{.*}}[%[[HEAD]], %[[FIRST]], 0, 0] [1, %[[OWN]], 12, 32]
// CHECK: {attune.op = "keys of 4 heads x 12 in panels"}
// CHECK: %[[OUT:.*]] = tensor.empty(%{{.*}}) : tensor<?x4x20xf32>
// CHECK: %[[T:.*]] = affine.apply #[[TILES]]()[%[[MOST]]]
// CHECK: scf.forall (%[[SEQUENCE:.*]], %[[HEAD:.*]], %[[TILE:.*]]) in (%[[B]], 4, %[[T]]) shared_outs(%{{.*}} = %[[OUT]])
// A tile beyond the end of its sequence has no rows.
// CHECK: %[[START:.*]] = affine.min #[[TILE_ROW]](%[[LEN:.*]], %[[TILE]])
// CHECK: %[[ROWS:.*]] = affine.min #[[ROWS_LEFT]](%[[LEN]], %[[START]])
// CHECK: %[[AT:.*]] = affine.apply #[[ROW]](%{{.*}}, %[[START]])
// CHECK: %[[QT:.*]] = tensor.extract_slice %[[Q]][%[[AT]], %[[HEAD]], 0] [%[[ROWS]], 1, 12]
// CHECK: %[[VT:.*]] = tensor.extract_slice %[[V]]
// CHECK: %[[KT:.*]] = tensor.extract_slice %[[KEYS]][
// CHECK: %[[OT:.*]] = tensor.extract_slice
// CHECK: xfmr.attention_tile ins(%[[QT]], %[[KT]], %[[VT]] : tensor<?x12xf32>, tensor<?x12x32xf32>, tensor<?x20xf32>) outs(%[[OT]] : tensor<?x20xf32>) {key_block = 512 : i64, scale = 2.500000e-01 : f64}
// CHECK: tensor.parallel_insert_slice {{.*}}[%[[AT]], %[[HEAD]], 0] [%[[ROWS]], 1, 20]
// CHECK: {attune.op = "attention 4 heads x 12"}
// NARROW-LABEL: @plain
// NARROW: xfmr.key_panel {{.*}} -> tensor<12x16xf32>
// NARROW: xfmr.attention_tile {{.*}} {key_block = 64 : i64
func.func @plain(%q: tensor<?x4x12xf32>, %k: tensor<?x4x12xf32>, %v: tensor<?x4x20xf32>, %offsets: tensor<?xi64>, %length: index) -> tensor<?x4x20xf32> {
  %y = xfmr.attention %q, %k, %v offsets(%offsets, %offsets) lengths(%length, %length) {scale = 0.25 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x20xf32> -> tensor<?x4x20xf32>
  return %y : tensor<?x4x20xf32>
}

// Two query heads read one key and value head; keys of another sequence have offsets of their own.
// CHECK-LABEL: @grouped_heads
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<?x2x12xf32>, %[[QO:[a-z0-9]+]]: tensor<?xi64>, %[[KO:[a-z0-9]+]]: tensor<?xi64>
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (%{{.*}}, 2)
// CHECK: tensor.extract %[[KO]]
// CHECK: scf.forall (%{{.*}}, %[[HEAD:.*]], %{{.*}}) in (%{{.*}}, 4, %{{.*}})
// CHECK: tensor.extract %[[QO]]
// CHECK: tensor.extract %[[KO]]
// CHECK: %[[SHARED:.*]] = affine.apply #[[GROUP]](%[[HEAD]])
// CHECK: tensor.extract_slice %[[V]][%{{.*}}, %[[SHARED]], 0]
// CHECK: tensor.extract_slice %{{.*}}[%[[SHARED]], %{{.*}}, 0, 0] {{.*}} : tensor<2x?x12x32xf32>
func.func @grouped_heads(%q: tensor<?x4x12xf32>, %k: tensor<?x2x12xf32>, %v: tensor<?x2x12xf32>, %query_offsets: tensor<?xi64>,
                         %key_offsets: tensor<?xi64>, %queries: index, %keys: index) -> tensor<?x4x12xf32> {
  %y = xfmr.attention %q, %k, %v offsets(%query_offsets, %key_offsets) lengths(%queries, %keys) {scale = 0.25 : f64}
    : tensor<?x4x12xf32>, tensor<?x2x12xf32>, tensor<?x2x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}

// [B, K], f32: once for all rows, in units of log2, kept finite.
// CHECK-LABEL: @mask_per_sequence_f32
// CHECK-SAME: %[[MASK:[a-z0-9]+]]: tensor<?x?xf32>)
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[MASK]] : tensor<?x?xf32>) outs(%{{.*}} : tensor<?x?xf32>) attrs = {attune.op = "attention mask"}
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
// CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[X]], %[[LOG2E]]
// CHECK-NEXT: %[[LOWEST:.*]] = arith.constant -3.40282347E+38 : f32
// CHECK-NEXT: arith.maximumf %[[SCALED]], %[[LOWEST]]
// CHECK: scf.forall (%[[SEQUENCE:.*]], %{{.*}}, %{{.*}}) in
// CHECK: %[[TILE:.*]] = tensor.extract_slice %[[M]][%[[SEQUENCE]], 0] [1, %{{.*}}] [1, 1] : tensor<?x?xf32> to tensor<1x?xf32>
// CHECK: xfmr.attention_tile {{.*}} mask(%[[TILE]] : tensor<1x?xf32>)
// CHECK: attune.op = "attention 4 heads x 12, mask"
func.func @mask_per_sequence_f32(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index, %mask: tensor<?x?xf32>) -> tensor<?x4x12xf32> {
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) mask(%mask : tensor<?x?xf32>) {scale = 0.25 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}

// [B, Q, K], i64: 0 hides.
// CHECK-LABEL: @mask_per_query_i64
// CHECK: %[[M:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x?x?xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: i64, %{{.*}}: f32):
// CHECK: %[[HIDDEN:.*]] = arith.cmpi eq, %[[X]], %{{.*}} : i64
// CHECK: %[[LOWEST:.*]] = arith.constant -3.40282347E+38 : f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
// CHECK: arith.select %[[HIDDEN]], %[[LOWEST]], %[[ZERO]]
// CHECK: scf.forall (%[[SEQUENCE:.*]], %{{.*}}, %[[T:.*]]) in
// CHECK: %[[ROW:.*]] = affine.min #[[TILE_ROW]](%{{.*}}, %[[T]])
// CHECK: %[[ROWS:.*]] = affine.min #[[ROWS_LEFT]](
// CHECK: tensor.extract_slice %[[M]][%[[SEQUENCE]], %[[ROW]], 0] [1, %[[ROWS]], %{{.*}}] [1, 1, 1] : tensor<?x?x?xf32> to tensor<?x?xf32>
func.func @mask_per_query_i64(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index, %mask: tensor<?x?x?xi64>) -> tensor<?x4x12xf32> {
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) mask(%mask : tensor<?x?x?xi64>) {scale = 0.25 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}

// [B, H, Q, K], i1.
// CHECK-LABEL: @mask_per_head_i1
// CHECK: ^bb0(%[[X:.*]]: i1, %{{.*}}: f32):
// CHECK: arith.cmpi eq, %[[X]], %{{.*}} : i1
// CHECK: scf.forall (%[[SEQUENCE:.*]], %[[HEAD:.*]], %[[T:.*]]) in
// CHECK: %[[ROW:.*]] = affine.min #[[TILE_ROW]](%{{.*}}, %[[T]])
// CHECK: tensor.extract_slice %{{.*}}[%[[SEQUENCE]], %[[HEAD]], %[[ROW]], 0] [1, 1, %{{.*}}, %{{.*}}] [1, 1, 1, 1] : tensor<?x4x?x?xf32> to tensor<?x?xf32>
func.func @mask_per_head_i1(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index, %mask: tensor<?x4x?x?xi1>) -> tensor<?x4x12xf32> {
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) mask(%mask : tensor<?x4x?x?xi1>) {scale = 0.25 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}

// [B, 1, 1, K] and [B, 1, Q, K]: what has size 1 is the same for all.
// CHECK-LABEL: @mask_broadcast
// CHECK: scf.forall (%[[SEQUENCE:.*]], %{{.*}}, %{{.*}}) in (%{{.*}}, 4, %{{.*}})
// CHECK: tensor.extract_slice %{{.*}}[%[[SEQUENCE]], 0, 0, 0] [1, 1, 1, %{{.*}}] [1, 1, 1, 1] : tensor<?x1x1x?xf32> to tensor<1x?xf32>
// CHECK: scf.forall (%[[SEQUENCE:.*]], %{{.*}}, %[[T:.*]]) in (%{{.*}}, 4, %{{.*}})
// CHECK: %[[ROW:.*]] = affine.min #[[TILE_ROW]](%{{.*}}, %[[T]])
// CHECK: tensor.extract_slice %{{.*}}[%[[SEQUENCE]], 0, %[[ROW]], 0] [1, 1, %{{.*}}, %{{.*}}] [1, 1, 1, 1] : tensor<?x1x?x?xf32> to tensor<?x?xf32>
func.func @mask_broadcast(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index, %keys: tensor<?x1x1x?xf32>, %rows: tensor<?x1x?x?xf32>)
    -> tensor<?x4x12xf32> {
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) mask(%keys : tensor<?x1x1x?xf32>) {scale = 0.25 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  %z = xfmr.attention %y, %y, %y offsets(%offsets, %offsets) lengths(%length, %length) mask(%rows : tensor<?x1x?x?xf32>) {scale = 0.25 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %z : tensor<?x4x12xf32>
}

// CHECK-LABEL: @head_mask
// CHECK-SAME: %[[SCALES:[a-z0-9]+]]: tensor<4xf32>)
// CHECK: scf.forall (%{{.*}}, %[[HEAD:.*]], %{{.*}}) in
// CHECK: %[[SCALE:.*]] = tensor.extract %[[SCALES]][%[[HEAD]]]
// CHECK: xfmr.attention_tile {{.*}} head_scale(%[[SCALE]])
// CHECK-SAME: masked_rows = #xfmr.masked_rows<zero>
func.func @head_mask(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index, %scales: tensor<4xf32>) -> tensor<?x4x12xf32> {
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) head_mask(%scales : tensor<4xf32>)
    {scale = 0.25 : f64, masked_rows = #xfmr.masked_rows<zero>} : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}

// Zero where a sequence has no such token: tiles write only their own part.
// CHECK-LABEL: @probabilities
// CHECK-SAME: %[[QUERIES:[a-z0-9]+]]: index, %[[KEYS:[a-z0-9]+]]: index)
// CHECK: %[[EMPTY:.*]] = tensor.empty(%[[B:.*]], %[[QUERIES]], %[[KEYS]]) : tensor<?x4x?x?xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[EMPTY]]
// CHECK: %[[R:.*]]:2 = scf.forall (%[[SEQUENCE:.*]], %[[HEAD:.*]], %{{.*}}) in (%[[B]], 4, %{{.*}}) shared_outs(%{{.*}} = %{{.*}}, %[[P:.*]] = %[[ZEROS]])
// CHECK: %[[ROW:.*]] = affine.min #[[TILE_ROW]](
// CHECK: %[[TILE:.*]] = tensor.extract_slice %[[P]][%[[SEQUENCE]], %[[HEAD]], %[[ROW]], 0] [1, 1, %{{.*}}, %{{.*}}] [1, 1, 1, 1] : tensor<?x4x?x?xf32> to tensor<?x?xf32>
// CHECK: %[[PAIR:.*]]:2 = xfmr.attention_tile {{.*}} outs(%{{.*}}, %[[TILE]] :
// CHECK: tensor.parallel_insert_slice %[[PAIR]]#1 into %[[P]][%[[SEQUENCE]], %[[HEAD]], %[[ROW]], 0]
// CHECK: attune.op = "attention 4 heads x 12, probabilities"
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @probabilities(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %queries: index, %keys: index) -> (tensor<?x4x12xf32>, tensor<?x4x?x?xf32>) {
  %y, %p = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%queries, %keys) {scale = 0.25 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>, tensor<?x4x?x?xf32>
  return %y, %p : tensor<?x4x12xf32>, tensor<?x4x?x?xf32>
}

// CHECK-LABEL: @negative_other_ops
// CHECK-NOT: scf.forall
// CHECK: xfmr.linear
func.func @negative_other_ops(%x: tensor<?x48xf32>, %w: tensor<8x48xf32>) -> tensor<?x8xf32> {
  %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<8x48xf32>
  return %y : tensor<?x8xf32>
}
