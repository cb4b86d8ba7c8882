// RUN: attune-opt --xfmr-fuse-projections --split-input-file %s | FileCheck %s
// RUN: attune-opt --xfmr-fuse-projections --split-input-file --remark-policy=all --remarks-filter=".*" %s 2>&1 >/dev/null | FileCheck --check-prefix=REMARK %s

// CHECK-LABEL: @self_attention
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %[[WQ:.*]]: tensor<8x8xf32> {xfmr.weight}, %[[WK:.*]]: tensor<4x8xf32> {xfmr.weight}, %[[WV:.*]]: tensor<4x8xf32> {xfmr.weight}
// CHECK-DAG: %[[W:.*]] = xfmr.weight_concat 0, %[[WQ]], %[[WK]], %[[WV]]
// CHECK-DAG: %[[B:.*]] = xfmr.weight_concat 0, %{{.*}}, %{{.*}}, %{{.*}} : tensor<8xf32>, tensor<4xf32>, tensor<4xf32>
// CHECK: %[[QKV:.*]] = xfmr.linear %[[X]], %[[W]] bias(%[[B]]) : tensor<?x8xf32>, tensor<16x8xf32>, bias tensor<16xf32>
// CHECK-NOT: xfmr.linear
// CHECK: %[[T:.*]] = tensor.dim %[[X]]
// CHECK: %[[Q:.*]] = tensor.extract_slice %[[QKV]][0, 0] [%[[T]], 8] [1, 1]
// CHECK: %[[K:.*]] = tensor.extract_slice %[[QKV]][0, 8] [%[[T]], 4] [1, 1]
// CHECK: %[[V:.*]] = tensor.extract_slice %[[QKV]][0, 12] [%[[T]], 4] [1, 1]
// CHECK: xfmr.split_heads %[[Q]], 4
// CHECK: xfmr.split_heads %[[K]], 2
// CHECK: xfmr.split_heads %[[V]], 2
func.func private @self_attention(%x: tensor<?x8xf32>, %wq: tensor<8x8xf32> {xfmr.weight}, %wk: tensor<4x8xf32> {xfmr.weight}, %wv: tensor<4x8xf32> {xfmr.weight},
                                  %bq: tensor<8xf32> {xfmr.weight}, %bk: tensor<4xf32> {xfmr.weight}, %bv: tensor<4xf32> {xfmr.weight},
                                  %off: tensor<?xi64>, %len: index) -> tensor<?x4x2xf32> {
  %0 = xfmr.linear %x, %wq bias(%bq) : tensor<?x8xf32>, tensor<8x8xf32>, bias tensor<8xf32>
  %q = xfmr.split_heads %0, 4 : tensor<?x8xf32>
  %1 = xfmr.linear %x, %wk bias(%bk) : tensor<?x8xf32>, tensor<4x8xf32>, bias tensor<4xf32>
  %k = xfmr.split_heads %1, 2 : tensor<?x4xf32>
  %2 = xfmr.linear %x, %wv bias(%bv) : tensor<?x8xf32>, tensor<4x8xf32>, bias tensor<4xf32>
  %v = xfmr.split_heads %2, 2 : tensor<?x4xf32>
  %y = xfmr.attention %q, %k, %v offsets(%off, %off) lengths(%len, %len) {scale = 1.0 : f64}
    : tensor<?x4x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32> -> tensor<?x4x2xf32>
  return %y : tensor<?x4x2xf32>
}

// -----

// Keys and values come from elsewhere: two of the three are joined. Weights that are declared or computed later move up.
xfmr.weight @k : tensor<8x8xf32> = #xfmr.tensor<"k" : tensor<8x8xf32>>
xfmr.weight @v : tensor<8x8xf32> = #xfmr.tensor<"v" : tensor<8x8xf32>>
// CHECK-LABEL: @cross_attention
// CHECK-SAME: (%{{.*}}: tensor<?x8xf32>, %[[M:.*]]: tensor<?x8xf32>, %[[WQ:.*]]: tensor<8x8xf32>
// CHECK: xfmr.linear %{{.*}}, %[[WQ]]
// CHECK: %[[K:.*]] = xfmr.weight_ref @k
// CHECK: %[[V:.*]] = xfmr.weight_ref @v
// CHECK: %[[VT:.*]] = xfmr.weight_transpose %[[V]]
// CHECK: %[[KV:.*]] = xfmr.weight_concat 0, %[[K]], %[[VT]]
// CHECK: xfmr.linear %[[M]], %[[KV]]
// CHECK-NOT: xfmr.linear
// CHECK: return
func.func private @cross_attention(%x: tensor<?x8xf32>, %memory: tensor<?x8xf32>, %wq: tensor<8x8xf32> {xfmr.weight})
    -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) {
  %0 = xfmr.linear %x, %wq : tensor<?x8xf32>, tensor<8x8xf32>
  %q = xfmr.split_heads %0, 2 : tensor<?x8xf32>
  %wk = xfmr.weight_ref @k : tensor<8x8xf32>
  %1 = xfmr.linear %memory, %wk : tensor<?x8xf32>, tensor<8x8xf32>
  %k = xfmr.split_heads %1, 2 : tensor<?x8xf32>
  %wv = xfmr.weight_ref @v : tensor<8x8xf32>
  %wvt = xfmr.weight_transpose %wv : tensor<8x8xf32>
  %2 = xfmr.linear %memory, %wvt : tensor<?x8xf32>, tensor<8x8xf32>
  %v = xfmr.split_heads %2, 2 : tensor<?x8xf32>
  return %q, %k, %v : tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>
}

// -----

// REMARK: only some of the projections have a bias
// CHECK-LABEL: @negative_some_bias
// CHECK: xfmr.linear
// CHECK: xfmr.linear
func.func private @negative_some_bias(%x: tensor<?x8xf32>, %w: tensor<8x8xf32> {xfmr.weight}, %b: tensor<8xf32> {xfmr.weight})
    -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>) {
  %0 = xfmr.linear %x, %w bias(%b) : tensor<?x8xf32>, tensor<8x8xf32>, bias tensor<8xf32>
  %1 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %q = xfmr.split_heads %0, 2 : tensor<?x8xf32>
  %k = xfmr.split_heads %1, 2 : tensor<?x8xf32>
  return %q, %k : tensor<?x2x4xf32>, tensor<?x2x4xf32>
}

// -----

// REMARK: the weights have different formats
// CHECK-LABEL: @negative_formats
// CHECK: xfmr.linear
// CHECK: xfmr.linear
func.func private @negative_formats(%x: tensor<?x32xf32>, %w: tensor<8x32xf32> {xfmr.weight}) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>) {
  %0 = xfmr.linear %x, %w {format = #xfmr.weight_format<"int4:32">} : tensor<?x32xf32>, tensor<8x32xf32>
  %1 = xfmr.linear %x, %w : tensor<?x32xf32>, tensor<8x32xf32>
  %q = xfmr.split_heads %0, 2 : tensor<?x8xf32>
  %k = xfmr.split_heads %1, 2 : tensor<?x8xf32>
  return %q, %k : tensor<?x2x4xf32>, tensor<?x2x4xf32>
}

// -----

// REMARK: the projections have different activations
// CHECK-LABEL: @negative_activation
// CHECK: xfmr.linear
// CHECK: xfmr.linear
func.func private @negative_activation(%x: tensor<?x8xf32>, %w: tensor<8x8xf32> {xfmr.weight}) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>) {
  %0 = xfmr.linear %x, %w {activation = #xfmr.activation<tanh>} : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %q = xfmr.split_heads %0, 2 : tensor<?x8xf32>
  %k = xfmr.split_heads %1, 2 : tensor<?x8xf32>
  return %q, %k : tensor<?x2x4xf32>, tensor<?x2x4xf32>
}

// -----

// Slices of columns would have to be copied here.
// CHECK-LABEL: @negative_not_to_heads
// CHECK: xfmr.linear
// CHECK: xfmr.linear
func.func private @negative_not_to_heads(%x: tensor<?x8xf32>, %w: tensor<8x8xf32> {xfmr.weight}) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// An argument that is not a weight cannot be joined ahead of time.
// CHECK-LABEL: @negative_not_weights
// CHECK: xfmr.linear
// CHECK: xfmr.linear
func.func private @negative_not_weights(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>) {
  %0 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = xfmr.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %q = xfmr.split_heads %0, 2 : tensor<?x8xf32>
  %k = xfmr.split_heads %1, 2 : tensor<?x8xf32>
  return %q, %k : tensor<?x2x4xf32>, tensor<?x2x4xf32>
}

// -----

// Weights that are chosen while the model runs cannot be joined before, nor can expressions of them.
// CHECK-LABEL: @negative_selected
// CHECK: xfmr.linear
// CHECK: xfmr.linear
// CHECK: xfmr.linear
func.func private @negative_selected(%x: tensor<?x8xf32>, %s: tensor<2x8x8xf32> {xfmr.weight}, %e: index) -> (tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>) {
  %a = xfmr.weight_select %s[%e] : tensor<2x8x8xf32>
  %b = xfmr.weight_select %s[%e] : tensor<2x8x8xf32>
  %c = xfmr.weight_transpose %b : tensor<8x8xf32>
  %0 = xfmr.linear %x, %a : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = xfmr.linear %x, %b : tensor<?x8xf32>, tensor<8x8xf32>
  %2 = xfmr.linear %x, %c : tensor<?x8xf32>, tensor<8x8xf32>
  %q = xfmr.split_heads %0, 2 : tensor<?x8xf32>
  %k = xfmr.split_heads %1, 2 : tensor<?x8xf32>
  %v = xfmr.split_heads %2, 2 : tensor<?x8xf32>
  return %q, %k, %v : tensor<?x2x4xf32>, tensor<?x2x4xf32>, tensor<?x2x4xf32>
}
