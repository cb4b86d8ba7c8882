// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt --mlir-print-op-generic %s | attune-opt | FileCheck %s

// CHECK-LABEL: @choose_experts
func.func @choose_experts(%s: tensor<?x8xf32>, %bias: tensor<8xf32>) -> (tensor<?x2xi64>, tensor<?x2xf32>) {
  // CHECK: %{{.*}}, %{{.*}} = xfmr.choose_experts %{{.*}}, 1 : tensor<?x8xf32>
  %a, %b = xfmr.choose_experts %s, 1 : tensor<?x8xf32>
  // CHECK: %[[C:.*]], %[[S:.*]] = xfmr.choose_experts %{{.*}}, 2 {normalized} : tensor<?x8xf32>
  %c, %d = xfmr.choose_experts %s, 2 {normalized} : tensor<?x8xf32>
  // CHECK: xfmr.choose_experts %{{.*}}, 2 bias(%{{.*}} : tensor<8xf32>) {group_keys = 2 : i64, groups = 4 : i64, kept_groups = 2 : i64, normalized, sigmoid} : tensor<?x8xf32>
  %e, %f = xfmr.choose_experts %s, 2 bias(%bias : tensor<8xf32>)
    {group_keys = 2 : i64, groups = 4 : i64, kept_groups = 2 : i64, normalized, sigmoid} : tensor<?x8xf32>
  // CHECK: return %[[C]], %[[S]] : tensor<?x2xi64>, tensor<?x2xf32>
  return %c, %d : tensor<?x2xi64>, tensor<?x2xf32>
}

// CHECK-LABEL: @experts
func.func @experts(%x: tensor<?x48xf32>, %c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %up: tensor<8x112x48xf32>, %down: tensor<8x40x112xf32>,
                   %ub: tensor<8x112xf32>, %db: tensor<8x40xf32>) -> tensor<?x40xf32> {
  // CHECK: xfmr.experts <silu> %{{.*}} choices(%{{.*}}, %{{.*}} : tensor<?x2xi64>, tensor<?x2xf32>) up(%{{.*}} : tensor<8x112x48xf32>) down(%{{.*}} : tensor<8x40x112xf32>) gate(%{{.*}} : tensor<8x112x48xf32>) : tensor<?x48xf32>
  %plain = xfmr.experts <silu> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up : tensor<8x112x48xf32>)
    down(%down : tensor<8x40x112xf32>) gate(%up : tensor<8x112x48xf32>) : tensor<?x48xf32>
  // CHECK: xfmr.experts <none> {{.*}} up(%{{.*}}, %{{.*}} : tensor<8x112x48xf32>, tensor<8x112xf32>) down(%{{.*}}, %{{.*}} : tensor<8x40x112xf32>, tensor<8x40xf32>) gate(%{{.*}}, %{{.*}} : tensor<8x112x48xf32>, tensor<8x112xf32>) {glu_alpha = 1.702000e+00 : f64, glu_limit = 7.000000e+00 : f64} : tensor<?x48xf32>
  %clamped = xfmr.experts <none> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up, %ub : tensor<8x112x48xf32>, tensor<8x112xf32>)
    down(%down, %db : tensor<8x40x112xf32>, tensor<8x40xf32>) gate(%up, %ub : tensor<8x112x48xf32>, tensor<8x112xf32>)
    {glu_limit = 7.0 : f64, glu_alpha = 1.702 : f64} : tensor<?x48xf32>
  return %clamped : tensor<?x40xf32>
}

// CHECK-LABEL: @rows
func.func @rows(%c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %r: tensor<?x48xf32>, %sum: tensor<?x48xf32>) -> (tensor<9xi64>, tensor<?x48xf32>) {
  // CHECK: %[[OFFSETS:.*]], %[[TOKENS:.*]], %[[SHARES:.*]] = xfmr.group_by_expert %{{.*}}, %{{.*}}, 8 : tensor<?x2xi64>, tensor<?x2xf32>
  %offsets, %tokens, %shares = xfmr.group_by_expert %c, %s, 8 : tensor<?x2xi64>, tensor<?x2xf32>
  // CHECK: xfmr.add_rows %{{.*}}, %[[SHARES]] to %{{.*}} at %[[TOKENS]] : tensor<?x48xf32>, tensor<?xf32> to tensor<?x48xf32>
  %y = xfmr.add_rows %r, %shares to %sum at %tokens : tensor<?x48xf32>, tensor<?xf32> to tensor<?x48xf32>
  return %offsets, %y : tensor<9xi64>, tensor<?x48xf32>
}

// CHECK-LABEL: @lists
func.func @lists(%c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %r: tensor<?x48xf32>, %f: tensor<?xf32>, %sum: tensor<?x48xf32>,
                 %t: tensor<?xi64>) -> (tensor<8xi64>, tensor<8x?xi64>, tensor<8x?xf32>, tensor<?x48xf32>) {
  // CHECK: %[[COUNTS:.*]], %[[TOKENS:.*]], %[[SHARES:.*]] = xfmr.list_by_expert %{{.*}}, %{{.*}}, 8 : tensor<?x2xi64>, tensor<?x2xf32>
  %counts, %tokens, %shares = xfmr.list_by_expert %c, %s, 8 : tensor<?x2xi64>, tensor<?x2xf32>
  // CHECK: %[[Y:.*]] = xfmr.add_rows %{{.*}}, %{{.*}} to %{{.*}} at %{{.*}} {padded} : tensor<?x48xf32>, tensor<?xf32> to tensor<?x48xf32>
  %y = xfmr.add_rows %r, %f to %sum at %t {padded} : tensor<?x48xf32>, tensor<?xf32> to tensor<?x48xf32>
  // CHECK: return %[[COUNTS]], %[[TOKENS]], %[[SHARES]], %[[Y]]
  return %counts, %tokens, %shares, %y : tensor<8xi64>, tensor<8x?xi64>, tensor<8x?xf32>, tensor<?x48xf32>
}

// CHECK-LABEL: @clamped_glu
func.func @clamped_glu(%g: tensor<?x48xf32>) -> tensor<?x48xf32> {
  // CHECK: xfmr.clamped_glu %{{.*}}, %{{.*}} {alpha = 1.702000e+00 : f64, limit = 7.000000e+00 : f64} : tensor<?x48xf32>
  %y = xfmr.clamped_glu %g, %g {alpha = 1.702 : f64, limit = 7.0 : f64} : tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// Weight expressions over a stack of matrices.
// CHECK-LABEL: @stacks
func.func @stacks(%w: tensor<8x100x48xf32>, %e: index) -> tensor<100x48xf32> {
  // CHECK: xfmr.weight_pack %{{.*}}, 32 : tensor<8x100x48xf32>
  %p = xfmr.weight_pack %w, 32 : tensor<8x100x48xf32>
  // CHECK: tensor.dim %{{.*}}, %{{.*}} : tensor<8x4x48x32xf32>
  %c0 = arith.constant 0 : index
  %d = tensor.dim %p, %c0 : tensor<8x4x48x32xf32>
  %q = xfmr.weight_quantize %w : tensor<8x100x48xf32>
  // CHECK: xfmr.weight_pack %{{.*}}, 32 group 4 multiple 64 : tensor<8x100x48xi8>
  %g = xfmr.weight_pack %q, 32 group 4 multiple 64 : tensor<8x100x48xi8>
  %d0 = tensor.dim %g, %c0 : tensor<8x4x16x32x4xi8>
  %z = xfmr.weight_row_sums %q : tensor<8x100x48xi8>
  %d1 = tensor.dim %z, %c0 : tensor<8x100xi32>
  %s = xfmr.weight_scales %w : tensor<8x100x48xf32>
  %d2 = tensor.dim %s, %c0 : tensor<8x100xf32>
  %c = xfmr.weight_slice %w, 16 to 48 : tensor<8x100x48xf32>
  %d3 = tensor.dim %c, %c0 : tensor<8x100x32xf32>
  // CHECK: xfmr.weight_select %{{.*}}[%{{.*}}] : tensor<8x100x48xf32>
  %y = xfmr.weight_select %w[%e] : tensor<8x100x48xf32>
  return %y : tensor<100x48xf32>
}

// CHECK-LABEL: @sinks
func.func @sinks(%q: tensor<?x4x12xf32>, %s: tensor<4xf32>, %off: tensor<?xi64>, %len: index) -> tensor<?x4x12xf32> {
  // CHECK: xfmr.attention {{.*}} lengths(%{{.*}}, %{{.*}}) sinks(%{{.*}} : tensor<4xf32>) {masked_rows = #xfmr.masked_rows<zero>, scale = 1.000000e+00 : f64}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len) sinks(%s : tensor<4xf32>)
    {scale = 1.0 : f64, masked_rows = #xfmr.masked_rows<zero>} : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}

// CHECK: #xfmr.stack<[#xfmr.tensor<"a" : tensor<4x2xf32>>, #xfmr.tensor<"b" : tensor<4x2xf32>>]>
xfmr.weight @s : tensor<2x4x2xf32> = #xfmr.stack<[#xfmr.tensor<"a" : tensor<4x2xf32>>, #xfmr.tensor<"b" : tensor<4x2xf32>>]>
