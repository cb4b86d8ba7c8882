// RUN: attune-opt --canonicalize %s | FileCheck %s

// CHECK-LABEL: @dropout
// CHECK-SAME: (%[[X:.*]]: tensor<?x48xf32>)
// CHECK-NEXT: return %[[X]]
func.func @dropout(%x: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %y = xfmr.dropout %x {rate = 0.1 : f64} : tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// CHECK-LABEL: @activation_none
// CHECK-SAME: (%[[X:.*]]: tensor<?x48xf32>)
// CHECK-NEXT: return %[[X]]
func.func @activation_none(%x: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %y = xfmr.activation <none> %x : tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// CHECK-LABEL: @negative_activation
// CHECK-NEXT: xfmr.activation <relu>
func.func @negative_activation(%x: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %y = xfmr.activation <relu> %x : tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// CHECK-LABEL: @weight_concat_single
// CHECK-SAME: (%[[W:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: return %[[W]]
func.func @weight_concat_single(%w: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = xfmr.weight_concat 0, %w : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @weight_concat_nested
// CHECK-NEXT: xfmr.weight_concat 0, %arg0, %arg1, %arg0 : tensor<4x8xf32>, tensor<2x8xf32>, tensor<4x8xf32>
// CHECK-NEXT: return
func.func @weight_concat_nested(%w: tensor<4x8xf32>, %v: tensor<2x8xf32>) -> tensor<10x8xf32> {
  %inner = xfmr.weight_concat 0, %w, %v : tensor<4x8xf32>, tensor<2x8xf32>
  %y = xfmr.weight_concat 0, %inner, %w : tensor<6x8xf32>, tensor<4x8xf32>
  return %y : tensor<10x8xf32>
}

// CHECK-LABEL: @negative_weight_concat_other_axis
// CHECK: xfmr.weight_concat 1
// CHECK: xfmr.weight_concat 0
func.func @negative_weight_concat_other_axis(%w: tensor<4x8xf32>, %v: tensor<4x16xf32>) -> tensor<8x16xf32> {
  %inner = xfmr.weight_concat 1, %w, %w : tensor<4x8xf32>, tensor<4x8xf32>
  %y = xfmr.weight_concat 0, %inner, %v : tensor<4x16xf32>, tensor<4x16xf32>
  return %y : tensor<8x16xf32>
}

// CHECK-LABEL: @weight_slice_whole
// CHECK-SAME: (%[[W:.*]]: tensor<4x8xf32>)
// CHECK: return %[[W]]
func.func @weight_slice_whole(%w: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %s = xfmr.weight_slice %w, 0 to 8 : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// CHECK-LABEL: @negative_weight_slice_part
// CHECK: xfmr.weight_slice
func.func @negative_weight_slice_part(%w: tensor<4x8xf32>) -> tensor<4x7xf32> {
  %s = xfmr.weight_slice %w, 0 to 7 : tensor<4x8xf32>
  return %s : tensor<4x7xf32>
}

// CHECK-LABEL: @weight_transpose_pair
// CHECK-SAME: (%[[W:.*]]: tensor<4x8xf32>)
// CHECK-NEXT: return %[[W]]
func.func @weight_transpose_pair(%w: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %t = xfmr.weight_transpose %w : tensor<4x8xf32>
  %y = xfmr.weight_transpose %t : tensor<8x4xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @merge_of_split
// CHECK-SAME: (%[[X:.*]]: tensor<?x48xf32>)
// CHECK-NEXT: return %[[X]]
func.func @merge_of_split(%x: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %h = xfmr.split_heads %x, 4 : tensor<?x48xf32>
  %y = xfmr.merge_heads %h : tensor<?x4x12xf32>
  return %y : tensor<?x48xf32>
}

// CHECK-LABEL: @split_of_merge
// CHECK-SAME: (%[[X:.*]]: tensor<?x4x12xf32>)
// CHECK-NEXT: return %[[X]]
func.func @split_of_merge(%x: tensor<?x4x12xf32>) -> tensor<?x4x12xf32> {
  %f = xfmr.merge_heads %x : tensor<?x4x12xf32>
  %y = xfmr.split_heads %f, 4 : tensor<?x48xf32>
  return %y : tensor<?x4x12xf32>
}

// CHECK-LABEL: @negative_split_into_other_heads
// CHECK-NEXT: xfmr.merge_heads
// CHECK-NEXT: xfmr.split_heads
func.func @negative_split_into_other_heads(%x: tensor<?x4x12xf32>) -> tensor<?x2x24xf32> {
  %f = xfmr.merge_heads %x : tensor<?x4x12xf32>
  %y = xfmr.split_heads %f, 2 : tensor<?x48xf32>
  return %y : tensor<?x2x24xf32>
}

// CHECK-LABEL: @unused_probabilities
// CHECK-NEXT: xfmr.attention {{.*}} mask(%{{.*}} : tensor<?x?xf32>) {{.*}} -> tensor<?x4x12xf32>{{$}}
func.func @unused_probabilities(%x: tensor<?x4x12xf32>, %off: tensor<?xi64>, %len: index, %m: tensor<?x?xf32>) -> tensor<?x4x12xf32> {
  %y, %p = xfmr.attention %x, %x, %x offsets(%off, %off) lengths(%len, %len) mask(%m : tensor<?x?xf32>) {scale = 0.125 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>, tensor<?x4x?x?xf32>
  return %y : tensor<?x4x12xf32>
}

// The stage of the scores goes with them.
// CHECK-LABEL: @unused_masked_scores
// CHECK-NEXT: xfmr.attention
// CHECK-NOT: score_stage
// CHECK: return
func.func @unused_masked_scores(%x: tensor<?x4x12xf32>, %off: tensor<?xi64>, %len: index) -> tensor<?x4x12xf32> {
  %y, %p = xfmr.attention %x, %x, %x offsets(%off, %off) lengths(%len, %len) {scale = 0.125 : f64, score_stage = #xfmr.score_stage<masked>}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>, tensor<?x4x?x?xf32>
  return %y : tensor<?x4x12xf32>
}

// CHECK-LABEL: @unused_probabilities_of_composite
// CHECK-NEXT: xfmr.multi_head_attention {{.*}} -> tensor<?x48xf32>{{$}}
func.func @unused_probabilities_of_composite(%x: tensor<?x48xf32>, %w: tensor<48x48xf32>, %off: tensor<?xi64>, %len: index) -> tensor<?x48xf32> {
  %y, %p = xfmr.multi_head_attention %x, %x weights(%w, %w, %w : tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>)
    offsets(%off, %off) lengths(%len, %len) {num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 0.125 : f64}
    : tensor<?x48xf32>, tensor<?x48xf32> -> tensor<?x48xf32>, tensor<?x4x?x?xf32>
  return %y : tensor<?x48xf32>
}

// CHECK-LABEL: @negative_used_probabilities
// CHECK-NEXT: %{{.*}}, %[[P:.*]] = xfmr.attention
// CHECK-NEXT: return %[[P]]
func.func @negative_used_probabilities(%x: tensor<?x4x12xf32>, %off: tensor<?xi64>, %len: index) -> tensor<?x4x?x?xf32> {
  %y, %p = xfmr.attention %x, %x, %x offsets(%off, %off) lengths(%len, %len) {scale = 0.125 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>, tensor<?x4x?x?xf32>
  return %p : tensor<?x4x?x?xf32>
}

// These operations have no effects, so unused ones are erased.
// CHECK-LABEL: @unused
// CHECK-NEXT: return
func.func @unused(%mask: tensor<?x?xi64>, %x: tensor<?x48xf32>, %w: tensor<48x48xf32>) {
  %offsets, %positions = xfmr.pack_tokens %mask : tensor<?x?xi64>
  %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<48x48xf32>
  return
}
