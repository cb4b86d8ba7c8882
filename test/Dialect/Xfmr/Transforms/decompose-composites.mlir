// RUN: attune-opt --xfmr-decompose-composites %s | FileCheck %s

// CHECK-LABEL: @ffn
// CHECK: %[[UP:.*]] = xfmr.linear %[[X:.*]], %{{.*}} bias(%{{.*}}) {activation = #xfmr.activation<gelu>}
// CHECK: xfmr.linear %[[UP]], %{{.*}} bias(%{{.*}}) residual(%[[X]])
func.func @ffn(%x: tensor<?x48xf32>, %up: tensor<112x48xf32>, %down: tensor<48x112xf32>, %b: tensor<112xf32>, %c: tensor<48xf32>) -> tensor<?x48xf32> {
  %y = xfmr.ffn <gelu> %x, %up, %down bias(%b, %c) residual(%x)
    : tensor<?x48xf32>, tensor<112x48xf32>, tensor<48x112xf32>, bias tensor<112xf32>, tensor<48xf32>, residual tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// CHECK-LABEL: @self_attention
// CHECK-SAME: (%[[X:.*]]: tensor<?x48xf32>, %[[W:.*]]: tensor<48x48xf32>, %[[B:.*]]: tensor<48xf32>
// CHECK: %[[Q:.*]] = xfmr.linear %[[X]], %[[W]] bias(%[[B]])
// CHECK: %[[QH:.*]] = xfmr.split_heads %[[Q]], 4
// CHECK: %[[KH:.*]] = xfmr.split_heads %{{.*}}, 4
// CHECK: %[[VH:.*]] = xfmr.split_heads %{{.*}}, 4
// CHECK: %[[O:.*]], %[[P:.*]] = xfmr.attention %[[QH]], %[[KH]], %[[VH]] offsets({{.*}}) lengths({{.*}}) mask(%{{.*}} : tensor<?x?xf32>) {{.*}}masked_rows = #xfmr.masked_rows<zero>, scale = 2.500000e-01
// CHECK: %[[M:.*]] = xfmr.merge_heads %[[O]]
// CHECK: %[[Y:.*]] = xfmr.linear %[[M]], %[[W]] bias(%[[B]])
// CHECK: return %[[Y]], %[[P]]
func.func @self_attention(%x: tensor<?x48xf32>, %w: tensor<48x48xf32>, %b: tensor<48xf32>, %off: tensor<?xi64>, %len: index, %mask: tensor<?x?xf32>)
    -> (tensor<?x48xf32>, tensor<?x4x?x?xf32>) {
  %y, %p = xfmr.multi_head_attention %x, %x
    weights(%w, %w, %w, %w : tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>)
    bias(%b, %b, %b, %b : tensor<48xf32>, tensor<48xf32>, tensor<48xf32>, tensor<48xf32>)
    offsets(%off, %off) lengths(%len, %len) mask(%mask : tensor<?x?xf32>)
    {num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 0.25 : f64, masked_rows = #xfmr.masked_rows<zero>}
    : tensor<?x48xf32>, tensor<?x48xf32> -> tensor<?x48xf32>, tensor<?x4x?x?xf32>
  return %y, %p : tensor<?x48xf32>, tensor<?x4x?x?xf32>
}

// Keys of another width and fewer heads, no output projection.
// CHECK-LABEL: @cross_attention
// CHECK: xfmr.linear %{{.*}} : tensor<?x32xf32>, tensor<24x32xf32>
// CHECK: xfmr.split_heads %{{.*}}, 2 : tensor<?x24xf32>
// CHECK: xfmr.merge_heads
// CHECK-NEXT: return
func.func @cross_attention(%x: tensor<?x48xf32>, %memory: tensor<?x32xf32>, %wq: tensor<48x48xf32>, %wk: tensor<24x32xf32>, %off: tensor<?xi64>, %len: index)
    -> tensor<?x48xf32> {
  %y = xfmr.multi_head_attention %x, %memory weights(%wq, %wk, %wk : tensor<48x48xf32>, tensor<24x32xf32>, tensor<24x32xf32>)
    offsets(%off, %off) lengths(%len, %len) {num_heads = 4 : i64, num_kv_heads = 2 : i64, scale = 1.0 : f64}
    : tensor<?x48xf32>, tensor<?x32xf32> -> tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// CHECK-LABEL: @negative_linear
// CHECK-NEXT: xfmr.linear
// CHECK-NEXT: return
func.func @negative_linear(%x: tensor<?x48xf32>, %w: tensor<48x48xf32>) -> tensor<?x48xf32> {
  %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<48x48xf32>
  return %y : tensor<?x48xf32>
}
