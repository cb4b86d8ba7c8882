// RUN: attune-opt %s --attune-tile-attention | FileCheck %s
// RUN: attune-opt %s --attune-tile-attention="query-rows=4 long-rows=32 panel-width=16 key-block=64" | FileCheck %s --check-prefix=NARROW

// Panels start afresh at each sequence, so there may be one more per sequence than full ones in all.
// CHECK-DAG: #[[BATCH:.*]] = affine_map<()[s0] -> (s0 - 1)>
// CHECK-DAG: #[[PANELS:.*]] = affine_map<()[s0, s1] -> (s0 + s1 floordiv 32 - 1)>
// CHECK-DAG: #[[LENGTH:.*]] = affine_map<(d0, d1) -> (d0 - d1)>
// CHECK-DAG: #[[OWN_PANELS:.*]] = affine_map<(d0, d1) -> ((d0 - d1) ceildiv 32)>
// CHECK-DAG: #[[FIRST_PANEL:.*]] = affine_map<(d0, d1) -> (d1 + d0 floordiv 32)>
// CHECK-DAG: #[[KEYS_LEFT:.*]] = affine_map<(d0, d1) -> (d0 - d1 * 32, 32)>
// CHECK-DAG: #[[SMALLER:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[SUM:.*]] = affine_map<(d0, d1) -> (d0 + d1)>
// CHECK-DAG: #[[TWICE:.*]] = affine_map<(d0) -> (d0 * 2)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1) -> (d0, d1 - 1)>
// CHECK-DAG: #[[REST:.*]] = affine_map<(d0)[s0] -> (-d0 + s0)>
// NARROW-DAG: affine_map<(d0, d1) -> ((d0 - d1) ceildiv 16)>

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
// CHECK: tile.key_panel
// CHECK: tensor.parallel_insert_slice {{.*}}[%[[HEAD]], %[[FIRST]], 0, 0] [1, %[[OWN]], 12, 32]
// CHECK: {tile.kernel = #tile.kernel<"keys of 4 heads x 12 in panels">}
// CHECK: %[[OUT:.*]] = tensor.empty(%{{.*}}) : tensor<?x4x20xf32>
// Tiles are larger if there are many keys and many queries.
// CHECK: %[[MANY_KEYS:.*]] = arith.cmpi sgt, %[[MOST]], %c512
// CHECK: %[[MANY_QUERIES:.*]] = arith.cmpi sgt, %[[MOST]], %c64
// CHECK: %[[LONG:.*]] = arith.andi %[[MANY_KEYS]], %[[MANY_QUERIES]]
// CHECK: %[[ROWS:.*]] = arith.select %[[LONG]], %c64{{.*}}, %c8
// CHECK: %[[T:.*]] = arith.ceildivui %[[MOST]], %[[ROWS]]
// CHECK: scf.forall (%[[SEQUENCE:.*]], %[[HEAD:.*]], %[[TILE:.*]]) in (%[[B]], 4, %[[T]]) shared_outs(%{{.*}} = %[[OUT]])
// A tile beyond the end of its sequence has no rows.
// CHECK: %[[BEGIN:.*]] = arith.muli %[[TILE]], %[[ROWS]]
// CHECK: %[[START:.*]] = affine.min #[[SMALLER]](%[[LEN:.*]], %[[BEGIN]])
// CHECK: %[[COUNT:.*]] = arith.minsi %{{.*}}, %[[ROWS]]
// CHECK: %[[AT:.*]] = affine.apply #[[SUM]](%{{.*}}, %[[START]])
// CHECK: %[[OT:.*]] = tensor.extract_slice
// CHECK: %[[QT:.*]] = tensor.extract_slice %[[Q]][%[[AT]], %[[HEAD]], 0] [%[[COUNT]], 1, 12]
// CHECK: %[[KT:.*]] = tensor.extract_slice %[[KEYS]][
// CHECK: %[[VT:.*]] = tensor.extract_slice %[[V]]
// CHECK: tile.attention_tile ins(%[[QT]], %[[KT]], %[[VT]] : tensor<?x1x12xf32>, tensor<?x12x32xf32>, tensor<?x20xf32>) outs(%[[OT]] : tensor<?x1x20xf32>) {key_block = 512 : i64, scale = 2.500000e-01 : f64}
// CHECK: tensor.parallel_insert_slice {{.*}}[%[[AT]], %[[HEAD]], 0] [%[[COUNT]], 1, 20]
// Two products: 2 * 4 heads * (12 + 20) operations per score, sequences being one less than offsets.
// CHECK: {tile.kernel = #tile.kernel<"attention 4 heads x 12">, tile.work = #tile.work<flops = <[#xfmr.argument<3, 0>, #xfmr.argument<4>], affine_map<()[s0, s1] -> (((s0 * s1) * s1) * 256 - (s1 * s1) * 256)>>>}
// NARROW-LABEL: @plain
// NARROW: tile.key_panel {{.*}} -> tensor<12x16xf32>
// NARROW: arith.select %{{.*}}, %c32{{.*}}, %c4
// NARROW: tile.attention_tile {{.*}} {key_block = 64 : i64
func.func @plain(%q: tensor<?x4x12xf32>, %k: tensor<?x4x12xf32>, %v: tensor<?x4x20xf32>, %offsets: tensor<?xi64>, %length: index) -> tensor<?x4x20xf32> {
  %y = xfmr.attention %q, %k, %v offsets(%offsets, %offsets) lengths(%length, %length) {scale = 0.25 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x20xf32> -> tensor<?x4x20xf32>
  return %y : tensor<?x4x20xf32>
}

// The two query heads that read one key and value head are rows of one tile; keys of another sequence have offsets of their own.
// CHECK-LABEL: @grouped_heads
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x4x12xf32>, %{{.*}}: tensor<?x2x12xf32>, %[[V:[a-z0-9]+]]: tensor<?x2x12xf32>, %[[QO:[a-z0-9]+]]: tensor<?xi64>, %[[KO:[a-z0-9]+]]: tensor<?xi64>
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (%{{.*}}, 2)
// CHECK: tensor.extract %[[KO]]
// CHECK: arith.select %{{.*}}, %c32{{.*}}, %c4
// CHECK: scf.forall (%{{.*}}, %[[SHARED:.*]], %{{.*}}) in (%{{.*}}, 2, %{{.*}})
// CHECK: %[[HEAD:.*]] = affine.apply #[[TWICE]](%[[SHARED]])
// CHECK: tensor.extract %[[QO]]
// CHECK: tensor.extract %[[KO]]
// CHECK: tensor.extract_slice %[[Q]][%{{.*}}, %[[HEAD]], 0] [%{{.*}}, 2, 12]
// CHECK: tensor.extract_slice %{{.*}}[%[[SHARED]], %{{.*}}, 0, 0] {{.*}} : tensor<2x?x12x32xf32>
// CHECK: tensor.extract_slice %[[V]][%{{.*}}, %[[SHARED]], 0]
// CHECK: tile.kernel = #tile.kernel<"attention 4 heads x 12, grouped"
func.func @grouped_heads(%q: tensor<?x4x12xf32>, %k: tensor<?x2x12xf32>, %v: tensor<?x2x12xf32>, %query_offsets: tensor<?xi64>,
                         %key_offsets: tensor<?xi64>, %queries: index, %keys: index) -> tensor<?x4x12xf32> {
  %y = xfmr.attention %q, %k, %v offsets(%query_offsets, %key_offsets) lengths(%queries, %keys) {scale = 0.25 : f64}
    : tensor<?x4x12xf32>, tensor<?x2x12xf32>, tensor<?x2x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}

// Eleven query heads share keys: one tile has eight of them, the next one three.
// CHECK-LABEL: @uneven_group
// CHECK: scf.forall (%{{.*}}, %[[NUMBER:.*]], %{{.*}}) in (%{{.*}}, 2, %{{.*}})
// CHECK: %[[KV:.*]] = affine.apply #{{.*}}(%[[NUMBER]])
// CHECK: %[[HEADS:.*]] = affine.min #{{.*}}(%[[NUMBER]])
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, %{{.*}}, 0] [%{{.*}}, %[[HEADS]], 12] [1, 1, 1] : tensor<?x11x12xf32> to tensor<?x?x12xf32>
func.func @uneven_group(%q: tensor<?x11x12xf32>, %k: tensor<?x1x12xf32>, %offsets: tensor<?xi64>, %length: index) -> tensor<?x11x12xf32> {
  %y = xfmr.attention %q, %k, %k offsets(%offsets, %offsets) lengths(%length, %length) {scale = 0.25 : f64}
    : tensor<?x11x12xf32>, tensor<?x1x12xf32>, tensor<?x1x12xf32> -> tensor<?x11x12xf32>
  return %y : tensor<?x11x12xf32>
}

// Keys and values of a cache are not packed: tiles read its panels and rows in place.
// CHECK-LABEL: @cached
// CHECK-SAME: %[[KC:[a-z0-9]+]]: tensor<?x2x?x12x64xf32>, %[[VC:[a-z0-9]+]]: tensor<?x2x?x20xf32>, %{{.*}}: tensor<?xi64>, %[[TOTAL:[a-z0-9]+]]: tensor<?xi64>
// CHECK-NOT: tile.key_panel
// CHECK: scf.forall (%[[SLOT:.*]], %[[HEAD:.*]], %{{.*}}) in
// CHECK: %[[ROW:[0-9]+]] = affine.min #[[SMALLER]](
// CHECK: tensor.extract %[[TOTAL]][%[[SLOT]]]
// The position of a query among the keys: the last query has that of the last key.
// CHECK: %[[POSITION:[0-9]+]] = affine.apply #{{.*}}(%[[ROW]], %{{.*}}, %{{.*}}, %{{.*}})
// CHECK: tensor.extract_slice %[[KC]][%[[SLOT]], %[[HEAD]], 0, 0, 0] [1, 1, %{{.*}}, 12, 64] {{.*}} to tensor<?x12x64xf32>
// CHECK: tensor.extract_slice %[[VC]][%[[SLOT]], %[[HEAD]], 0, 0] [1, 1, %{{.*}}, 20] {{.*}} to tensor<?x20xf32>
// CHECK: tile.attention_tile {{.*}} at(%[[POSITION]]) outs(%{{.*}} : tensor<?x2x20xf32>) {causal, key_block
// CHECK: tile.kernel = #tile.kernel<"attention 4 heads x 12, grouped, cache, causal"
func.func @cached(%q: tensor<?x4x12xf32>, %k: tensor<?x2x?x12x64xf32>, %v: tensor<?x2x?x20xf32>, %offsets: tensor<?xi64>, %total: tensor<?xi64>,
                  %queries: index, %keys: index) -> tensor<?x4x20xf32> {
  %y = xfmr.attention %q, %k, %v offsets(%offsets) lengths(%queries, %keys) key_lengths(%total) {scale = 0.25 : f64, causal}
    : tensor<?x4x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32> -> tensor<?x4x20xf32>
  return %y : tensor<?x4x20xf32>
}

// Aligned at the start, a query's position is its number. A table of distances and given lengths go with the tile.
// CHECK-LABEL: @window
// CHECK-SAME: %[[LENS:[a-z0-9]+]]: tensor<?xi64>, %[[BIAS:[a-z0-9]+]]: tensor<4x?xf32>
// CHECK: scf.forall
// CHECK: %[[GIVEN:.*]] = tensor.extract %[[LENS]]
// CHECK: affine.min #[[SMALLER]](%{{.*}}, %{{.*}})
// CHECK: scf.forall (%{{.*}}, %[[HEAD:.*]], %{{.*}}) in
// CHECK: %[[ROW:.*]] = affine.min #[[SMALLER]](
// CHECK: tensor.extract %[[LENS]]
// CHECK: %[[TABLE:.*]] = tensor.extract_slice %[[BIAS]][%[[HEAD]], 0] [1, %{{.*}}] [1, 1] : tensor<4x?xf32> to tensor<1x?xf32>
// CHECK: tile.attention_tile {{.*}} at(%[[ROW]]) distance_bias(%[[TABLE]] : tensor<1x?xf32>) {{.*}} {key_block = 512 : i64, scale = 2.500000e-01 : f64, softcap = 3.000000e+01 : f64, window_left = 7 : i64, window_right = 2 : i64}
func.func @window(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %lens: tensor<?xi64>, %bias: tensor<4x?xf32>, %length: index) -> tensor<?x4x12xf32> {
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) key_lengths(%lens) distance_bias(%bias : tensor<4x?xf32>)
    {scale = 0.25 : f64, window_left = 7 : i64, window_right = 2 : i64, softcap = 30.0 : f64, alignment = #xfmr.alignment<start>}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}

// [B, K], f32: unchanged.
// CHECK-LABEL: @mask_per_sequence_f32
// CHECK-SAME: %[[MASK:[a-z0-9]+]]: tensor<?x?xf32>)
// CHECK-NOT: linalg.generic
// CHECK: scf.forall (%[[SEQUENCE:.*]], %{{.*}}, %{{.*}}) in (%{{.*}}, 4, %{{.*}})
// CHECK: %[[SIZE:.*]] = tensor.dim %[[MASK]], %c0
// A mask with the batch size 1 applies to all sequences.
// CHECK: %[[AT:.*]] = affine.min #[[LAST]](%[[SEQUENCE]], %[[SIZE]])
// CHECK: %[[TILE:.*]] = tensor.extract_slice %[[MASK]][%[[AT]], 0] [1, %{{.*}}] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
// CHECK: tile.attention_tile {{.*}} mask(%[[TILE]] : tensor<?xf32>)
// CHECK: tile.kernel = #tile.kernel<"attention 4 heads x 12, mask"
func.func @mask_per_sequence_f32(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index, %mask: tensor<?x?xf32>) -> tensor<?x4x12xf32> {
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) mask(%mask : tensor<?x?xf32>) {scale = 0.25 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}

// [B, Q, K], i64: 0 hides. Queries may be one for all: no more rows than the mask has.
// CHECK-LABEL: @mask_per_query_i64
// CHECK: %[[M:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x?x?xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: i64, %{{.*}}: f32):
// CHECK: %[[HIDDEN:.*]] = arith.cmpi eq, %[[X]], %{{.*}} : i64
// CHECK: %[[LOWEST:.*]] = arith.constant -3.40282347E+38 : f32
// CHECK: %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
// CHECK: arith.select %[[HIDDEN]], %[[LOWEST]], %[[ZERO]]
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}}, 4, %{{.*}})
// CHECK: %[[ROW:.*]] = affine.min #[[SMALLER]](
// CHECK: %[[COUNT:.*]] = arith.minsi
// CHECK: %[[SIZE:.*]] = tensor.dim %[[M]], %c1
// CHECK: %[[AT:.*]] = affine.min #[[LAST]](%[[ROW]], %[[SIZE]])
// CHECK: %[[LEFT:.*]] = affine.apply #[[REST]](%[[AT]])[%[[SIZE]]]
// CHECK: %[[ROWS:.*]] = affine.min #[[SMALLER]](%[[COUNT]], %[[LEFT]])
// CHECK: tensor.extract_slice %[[M]][%{{.*}}, %[[AT]], 0] [1, %[[ROWS]], %{{.*}}] [1, 1, 1] : tensor<?x?x?xf32> to tensor<?x?xf32>
func.func @mask_per_query_i64(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index, %mask: tensor<?x?x?xi64>) -> tensor<?x4x12xf32> {
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) mask(%mask : tensor<?x?x?xi64>) {scale = 0.25 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}

// [B, H, Q, K], i1, replacing scores.
// CHECK-LABEL: @mask_per_head_i1
// CHECK: ^bb0(%[[X:.*]]: i1, %{{.*}}: f32):
// CHECK: arith.cmpi eq, %[[X]], %{{.*}} : i1
// CHECK: scf.forall (%{{.*}}, %[[HEAD:.*]], %{{.*}}) in (%{{.*}}, 4, %{{.*}})
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, %[[HEAD]], %{{.*}}, 0] [1, 1, %{{.*}}, %{{.*}}] [1, 1, 1, 1] : tensor<?x4x?x?xf32> to tensor<1x?x?xf32>
// CHECK: tile.attention_tile {{.*}} mask_fill = -1.000000e+10 : f64
func.func @mask_per_head_i1(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index, %mask: tensor<?x4x?x?xi1>) -> tensor<?x4x12xf32> {
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) mask(%mask : tensor<?x4x?x?xi1>) {scale = 0.25 : f64, mask_fill = -1.0e10 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}

// Dimensions of static size 1 are broadcast: one row of the mask serves the tile. A mask of a single key is expanded to all keys.
// CHECK-LABEL: @mask_broadcast
// CHECK: scf.forall (%[[SEQUENCE:.*]], %{{.*}}, %{{.*}}) in (%{{.*}}, 4, %{{.*}})
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 1, 1, %{{.*}}] [1, 1, 1, 1] : tensor<1x1x1x?xf32> to tensor<1x1x?xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x1x?x1xf32>) outs(%{{.*}} : tensor<?x1x?x?xf32>)
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}}, 4, %{{.*}})
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0, %{{.*}}, 0] [1, 1, %{{.*}}, %{{.*}}] [1, 1, 1, 1] : tensor<?x1x?x?xf32> to tensor<1x?x?xf32>
func.func @mask_broadcast(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index, %keys: tensor<1x1x1x?xf32>, %rows: tensor<?x1x?x1xf32>)
    -> tensor<?x4x12xf32> {
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) mask(%keys : tensor<1x1x1x?xf32>) {scale = 0.25 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  %z = xfmr.attention %y, %y, %y offsets(%offsets, %offsets) lengths(%length, %length) mask(%rows : tensor<?x1x?x1xf32>) {scale = 0.25 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %z : tensor<?x4x12xf32>
}

// CHECK-LABEL: @head_mask
// CHECK-SAME: %[[SCALES:[a-z0-9]+]]: tensor<4xf32>)
// CHECK: scf.forall (%{{.*}}, %[[HEAD:.*]], %{{.*}}) in (%{{.*}}, 4, %{{.*}})
// CHECK: %[[SCALE:.*]] = tensor.extract_slice %[[SCALES]][%[[HEAD]]] [1] [1]
// CHECK: tile.attention_tile {{.*}} head_scale(%[[SCALE]] : tensor<1xf32>)
// CHECK-SAME: masked_rows = #xfmr.masked_rows<zero>
func.func @head_mask(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index, %scales: tensor<4xf32>) -> tensor<?x4x12xf32> {
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) head_mask(%scales : tensor<4xf32>)
    {scale = 0.25 : f64, masked_rows = #xfmr.masked_rows<zero>} : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}

// CHECK-LABEL: @sinks
// CHECK-SAME: %[[SINKS:[a-z0-9]+]]: tensor<4xf32>)
// CHECK: scf.forall (%{{.*}}, %[[HEAD:.*]], %{{.*}}) in (%{{.*}}, 4, %{{.*}})
// CHECK: %[[SINK:.*]] = tensor.extract_slice %[[SINKS]][%[[HEAD]]] [1] [1]
// CHECK: tile.attention_tile {{.*}} sinks(%[[SINK]] : tensor<1xf32>)
func.func @sinks(%x: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index, %sinks: tensor<4xf32>) -> tensor<?x4x12xf32> {
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) sinks(%sinks : tensor<4xf32>)
    {scale = 0.25 : f64, masked_rows = #xfmr.masked_rows<zero>} : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}

// Fills the result with zeros for tokens beyond the ends of sequences, which no tile writes.
// CHECK-LABEL: @probabilities
// CHECK-SAME: %[[QUERIES:[a-z0-9]+]]: index, %[[KEYS:[a-z0-9]+]]: index)
// CHECK: %[[EMPTY:.*]] = tensor.empty(%[[B:.*]], %[[QUERIES]], %[[KEYS]]) : tensor<?x4x?x?xf32>
// CHECK: %[[ZEROS:.*]] = linalg.fill ins(%cst{{.*}} : f32) outs(%[[EMPTY]]
// CHECK: %[[R:.*]]:2 = scf.forall (%[[SEQUENCE:.*]], %[[HEAD:.*]], %{{.*}}) in (%[[B]], 4, %{{.*}}) shared_outs(%{{.*}} = %{{.*}}, %[[P:.*]] = %[[ZEROS]])
// CHECK: %[[ROW:.*]] = affine.min #[[SMALLER]](
// CHECK: %[[TILE:.*]] = tensor.extract_slice %[[P]][%[[SEQUENCE]], %[[HEAD]], %[[ROW]], 0] [1, 1, %{{.*}}, %{{.*}}] [1, 1, 1, 1] : tensor<?x4x?x?xf32> to tensor<1x?x?xf32>
// CHECK: %[[PAIR:.*]]:2 = tile.attention_tile {{.*}} outs(%{{.*}}, %[[TILE]] :
// CHECK: tensor.parallel_insert_slice %[[PAIR]]#1 into %[[P]][%[[SEQUENCE]], %[[HEAD]], %[[ROW]], 0]
// CHECK: tile.kernel = #tile.kernel<"attention 4 heads x 12, probabilities"
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

// Keys of low precision stay rows; they are not packed into panels.
// CHECK-LABEL: @rounded
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x4x16xf32>, %[[K:[a-z0-9]+]]: tensor<?x2x16xf16>, %[[V:[a-z0-9]+]]: tensor<?x2x8xf16>
// CHECK-NOT: tile.key_panel
// CHECK: %[[KT:.*]] = tensor.extract_slice %[[K]][%[[BEGIN:.*]], %[[HEAD:.*]], 0] [%[[LENGTH:.*]], 1, 16] {{.*}} to tensor<?x16xf16>
// CHECK: %[[VT:.*]] = tensor.extract_slice %[[V]][%[[BEGIN]], %[[HEAD]], 0] [%[[LENGTH]], 1, 8] {{.*}} to tensor<?x8xf16>
// CHECK: tile.attention_tile ins(%{{.*}}, %[[KT]], %[[VT]] : tensor<?x2x16xf32>, tensor<?x16xf16>, tensor<?x8xf16>) {{.*}}precision = #xfmr.precision<f16>
func.func @rounded(%q: tensor<?x4x16xf32>, %k: tensor<?x2x16xf16>, %v: tensor<?x2x8xf16>, %offsets: tensor<?xi64>, %length: index) -> tensor<?x4x8xf32> {
  %y = xfmr.attention %q, %k, %v offsets(%offsets, %offsets) lengths(%length, %length) {scale = 0.25 : f64}
    : tensor<?x4x16xf32>, tensor<?x2x16xf16>, tensor<?x2x8xf16> -> tensor<?x4x8xf32>
  return %y : tensor<?x4x8xf32>
}

// Tables of relative positions: the part of the tile's head, and the whole table that all heads share.
// CHECK-LABEL: @relative
// CHECK-SAME: %[[EACH:[a-z0-9]+]]: tensor<4x12x45xf32>, %[[ALL:[a-z0-9]+]]: tensor<1x12x45xf32>
// CHECK: scf.forall (%{{.*}}, %[[HEAD:.*]], %{{.*}}) in (%{{.*}}, 4, %{{.*}})
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[EACH]][%[[HEAD]], 0, 0] [1, 12, 45] [1, 1, 1] : tensor<4x12x45xf32> to tensor<1x12x45xf32>
// CHECK: tile.attention_tile {{.*}} at(%{{.*}}) relative_key(%[[PART]] : tensor<1x12x45xf32>) relative_query(%[[ALL]] : tensor<1x12x45xf32>)
// CHECK: #tile.kernel<"attention 4 heads x 12, relative key, relative query">
func.func @relative(%q: tensor<?x4x12xf32>, %offsets: tensor<?xi64>, %length: index, %each: tensor<4x12x45xf32>, %all: tensor<1x12x45xf32>) -> tensor<?x4x12xf32> {
  %o = xfmr.attention %q, %q, %q offsets(%offsets, %offsets) lengths(%length, %length) relative_key(%each : tensor<4x12x45xf32>)
    relative_query(%all : tensor<1x12x45xf32>) {scale = 1.0 : f64} : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %o : tensor<?x4x12xf32>
}

// A result of static sizes is a cast of that of the loop.
// CHECK-LABEL: @static_tokens
// CHECK: tile.attention_tile
// CHECK: %[[RESULT:.*]] = tensor.cast %{{.*}} : tensor<?x4x12xf32> to tensor<8x4x12xf32>
// CHECK: return %[[RESULT]]
func.func @static_tokens(%x: tensor<8x4x12xf32>, %offsets: tensor<?xi64>, %length: index) -> tensor<8x4x12xf32> {
  %y = xfmr.attention %x, %x, %x offsets(%offsets, %offsets) lengths(%length, %length) {scale = 1.0 : f64}
    : tensor<8x4x12xf32>, tensor<8x4x12xf32>, tensor<8x4x12xf32> -> tensor<8x4x12xf32>
  return %y : tensor<8x4x12xf32>
}
