// RUN: attune-opt --xfmr-hoist-weight-expressions --split-input-file %s | FileCheck %s
// RUN: attune-opt --xfmr-hoist-weight-expressions --split-input-file --remark-policy=all --remarks-filter=".*" %s 2>&1 >/dev/null | FileCheck --check-prefix=REMARK %s

// One function for two layers: each call gets its own joined and packed weight. The operands of the new weights are gone.
// CHECK-DAG: xfmr.weight @"0.q.concat.panels" : tensor<1x8x16xf32> = #xfmr.panels<#xfmr.concat<0, [#xfmr.tensor<"0.q" : tensor<8x8xf32>>, #xfmr.tensor<"0.k" : tensor<8x8xf32>>]>, 16>
// CHECK-DAG: xfmr.weight @"1.q.concat.panels" : tensor<1x8x16xf32> = #xfmr.panels<#xfmr.concat<0, [#xfmr.tensor<"1.q" : tensor<8x8xf32>>, #xfmr.tensor<"1.k" : tensor<8x8xf32>>]>, 16>
// CHECK-NOT: xfmr.weight @"0.k"
xfmr.weight @"0.q" : tensor<8x8xf32> = #xfmr.tensor<"0.q" : tensor<8x8xf32>>
xfmr.weight @"0.k" : tensor<8x8xf32> = #xfmr.tensor<"0.k" : tensor<8x8xf32>>
xfmr.weight @"1.q" : tensor<8x8xf32> = #xfmr.tensor<"1.q" : tensor<8x8xf32>>
xfmr.weight @"1.k" : tensor<8x8xf32> = #xfmr.tensor<"1.k" : tensor<8x8xf32>>
// CHECK: xfmr.weight @bias
xfmr.weight @bias : tensor<8xf32> = #xfmr.tensor<"bias" : tensor<8xf32>>

// The new argument replaces the first argument that it uses; unused arguments are removed.
// CHECK-LABEL: func.func private @layer
// CHECK-SAME: (%{{.*}}: tensor<?x8xf32>, %[[P:.*]]: tensor<1x8x16xf32> {xfmr.weight}, %{{.*}}: tensor<8xf32> {xfmr.weight})
// CHECK-NEXT: call @kernel(%{{.*}}, %[[P]])
func.func private @layer(%x: tensor<?x8xf32>, %q: tensor<8x8xf32> {xfmr.weight}, %k: tensor<8x8xf32> {xfmr.weight},
                         %unused: tensor<8x8xf32> {xfmr.weight}, %bias: tensor<8xf32> {xfmr.weight}) -> tensor<?x8xf32> {
  %qk = xfmr.weight_concat 0, %q, %k : tensor<8x8xf32>, tensor<8x8xf32>
  %p = xfmr.weight_pack %qk, 16 : tensor<16x8xf32>
  %0 = call @kernel(%x, %p) : (tensor<?x8xf32>, tensor<1x8x16xf32>) -> tensor<?x8xf32>
  %1 = xfmr.layer_norm %0, %bias, %bias {epsilon = 1.0e-5 : f64} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %1 : tensor<?x8xf32>
}
func.func private @kernel(tensor<?x8xf32>, tensor<1x8x16xf32>) -> tensor<?x8xf32>

// CHECK-LABEL: @forward
// CHECK: %[[B:.*]] = xfmr.weight_ref @bias
// CHECK: %[[P0:.*]] = xfmr.weight_ref @"0.q.concat.panels"
// CHECK: call @layer(%{{.*}}, %[[P0]], %[[B]])
// CHECK: %[[P1:.*]] = xfmr.weight_ref @"1.q.concat.panels"
// CHECK: call @layer(%{{.*}}, %[[P1]], %[[B]])
func.func @forward(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %bias = xfmr.weight_ref @bias : tensor<8xf32>
  %q0 = xfmr.weight_ref @"0.q" : tensor<8x8xf32>
  %k0 = xfmr.weight_ref @"0.k" : tensor<8x8xf32>
  %0 = call @layer(%x, %q0, %k0, %q0, %bias) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %q1 = xfmr.weight_ref @"1.q" : tensor<8x8xf32>
  %k1 = xfmr.weight_ref @"1.k" : tensor<8x8xf32>
  %1 = call @layer(%0, %q1, %k1, %q1, %bias) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// -----

// Equal sources are one weight, here also an existing one; a name in use is not taken. A weight used both ways stays as well (tied embedding).
// CHECK: xfmr.weight @table : tensor<20x8xf32>
// CHECK-NEXT: xfmr.weight @table.panels_0 : tensor<2x8x16xf32>
// CHECK-NEXT: xfmr.weight @table.panels : tensor<1xf32>
// CHECK-NEXT: xfmr.weight @known : tensor<8x20xf32>
// CHECK-NOT: xfmr.weight @
xfmr.weight @table : tensor<20x8xf32> = #xfmr.tensor<"t" : tensor<20x8xf32>>
xfmr.weight @table.panels : tensor<1xf32> = #xfmr.tensor<"p" : tensor<1xf32>>
xfmr.weight @known : tensor<8x20xf32> = #xfmr.transpose<#xfmr.tensor<"t" : tensor<20x8xf32>>, [1, 0]>
// CHECK-LABEL: @shared
func.func @shared() -> (tensor<20x8xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<8x20xf32>, tensor<1xf32>) {
  %t = xfmr.weight_ref @table : tensor<20x8xf32>
  // CHECK: %[[P:.*]] = xfmr.weight_ref @table.panels_0
  %0 = xfmr.weight_pack %t, 16 : tensor<20x8xf32>
  // CHECK: xfmr.weight_ref @table.panels_0
  %1 = xfmr.weight_pack %t, 16 : tensor<20x8xf32>
  // CHECK: xfmr.weight_ref @known
  %2 = xfmr.weight_transpose %t : tensor<20x8xf32>
  %3 = xfmr.weight_ref @table.panels : tensor<1xf32>
  return %t, %0, %1, %2, %3 : tensor<20x8xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<8x20xf32>, tensor<1xf32>
}

// -----

// Through two levels of calls, and an expression within a loop. Equal expressions become one argument.
// CHECK: xfmr.weight @w.panels
// CHECK-NOT: xfmr.weight @
xfmr.weight @w : tensor<8x8xf32> = #xfmr.tensor<"w" : tensor<8x8xf32>>
// CHECK-LABEL: func.func private @inner
// CHECK-SAME: (%{{.*}}: index, %[[P:.*]]: tensor<1x8x16xf32> {xfmr.weight})
func.func private @inner(%n: index, %w: tensor<8x8xf32> {xfmr.weight}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = xfmr.weight_pack %w, 16 : tensor<8x8xf32>
  call @use(%p) : (tensor<1x8x16xf32>) -> ()
  // CHECK: scf.for
  // CHECK-NEXT: func.call @use(%[[P]])
  scf.for %i = %c0 to %n step %c1 {
    %again = xfmr.weight_pack %w, 16 : tensor<8x8xf32>
    func.call @use(%again) : (tensor<1x8x16xf32>) -> ()
  }
  return
}
// CHECK-LABEL: func.func private @outer
// CHECK-SAME: (%{{.*}}: index, %[[P:.*]]: tensor<1x8x16xf32> {xfmr.weight})
func.func private @outer(%n: index, %w: tensor<8x8xf32> {xfmr.weight}) {
  // CHECK: call @inner(%{{.*}}, %[[P]])
  call @inner(%n, %w) : (index, tensor<8x8xf32>) -> ()
  return
}
func.func @two_levels(%n: index) {
  %w = xfmr.weight_ref @w : tensor<8x8xf32>
  call @outer(%n, %w) : (index, tensor<8x8xf32>) -> ()
  return
}
func.func private @use(tensor<1x8x16xf32>)

// -----

// Rows of distances, last distance first, the ends repeated; a selection of rows under it is taken up.
// CHECK: xfmr.weight @table.distances : tensor<2x4x33xf32> = #xfmr.reshape<#xfmr.transpose<#xfmr.select<#xfmr.tensor<"t" : tensor<2x8xf32>>, 0, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]>, [1, 0]>, [2, 4, 33]>
xfmr.weight @table : tensor<3x8xf32> = #xfmr.select<#xfmr.tensor<"t" : tensor<2x8xf32>>, 0, [0, 1, 1]>
// CHECK-LABEL: @distances
func.func @distances() -> tensor<2x4x33xf32> {
  %t = xfmr.weight_ref @table : tensor<3x8xf32>
  // CHECK: xfmr.weight_ref @table.distances
  %p = xfmr.weight_distance_panels %t, 2 : tensor<3x8xf32>
  return %p : tensor<2x4x33xf32>
}

// -----

// A function whose address is taken keeps its arguments,
// REMARK: 'negative_address_taken' is public, recursive or used other than by calls
// CHECK-LABEL: @negative_address_taken
// CHECK: xfmr.weight_transpose
func.func private @negative_address_taken(%w: tensor<8x4xf32> {xfmr.weight}) -> tensor<4x8xf32> {
  %t = xfmr.weight_transpose %w : tensor<8x4xf32>
  return %t : tensor<4x8xf32>
}
func.func @takes_address() -> ((tensor<8x4xf32>) -> tensor<4x8xf32>) {
  %f = constant @negative_address_taken : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %f : (tensor<8x4xf32>) -> tensor<4x8xf32>
}

// -----

// and one that calls itself.
// REMARK: 'negative_recursive' is public, recursive or used other than by calls
// CHECK-LABEL: @negative_recursive
// CHECK: xfmr.weight_transpose
func.func private @negative_recursive(%w: tensor<8x8xf32> {xfmr.weight}) -> tensor<8x8xf32> {
  %t = xfmr.weight_transpose %w : tensor<8x8xf32>
  %r = call @negative_recursive(%t) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// -----

// An argument without xfmr.weight is not a weight.
// CHECK-LABEL: @negative_not_marked
// CHECK: xfmr.weight_transpose
func.func private @negative_not_marked(%w: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %t = xfmr.weight_transpose %w : tensor<8x4xf32>
  return %t : tensor<4x8xf32>
}

// -----

// An expression over a stack becomes a stack of expressions, whether the matrices are tensors of their own or one tensor.
// CHECK-DAG: @many.panels : tensor<2x1x4x16xf32> = #xfmr.stack<[#xfmr.panels<#xfmr.tensor<"0" : tensor<8x4xf32>>, 16>, #xfmr.panels<#xfmr.tensor<"1" : tensor<8x4xf32>>, 16>]>
// CHECK-DAG: @one.panels : tensor<2x1x4x16xf32> = #xfmr.stack<[#xfmr.panels<#xfmr.reshape<#xfmr.slice<#xfmr.tensor<"all" : tensor<2x8x4xf32>>, 0, 0, 1>, [8, 4]>, 16>, #xfmr.panels<#xfmr.reshape<#xfmr.slice<#xfmr.tensor<"all" : tensor<2x8x4xf32>>, 0, 1, 2>, [8, 4]>, 16>]>
xfmr.weight @many : tensor<2x8x4xf32> = #xfmr.stack<[#xfmr.tensor<"0" : tensor<8x4xf32>>, #xfmr.tensor<"1" : tensor<8x4xf32>>]>
xfmr.weight @one : tensor<2x8x4xf32> = #xfmr.tensor<"all" : tensor<2x8x4xf32>>
func.func private @layer(%w: tensor<2x8x4xf32> {xfmr.weight}) -> tensor<2x1x4x16xf32> {
  %p = xfmr.weight_pack %w, 16 : tensor<2x8x4xf32>
  return %p : tensor<2x1x4x16xf32>
}
func.func @forward() -> (tensor<2x1x4x16xf32>, tensor<2x1x4x16xf32>) {
  %a = xfmr.weight_ref @many : tensor<2x8x4xf32>
  %b = xfmr.weight_ref @one : tensor<2x8x4xf32>
  %0 = call @layer(%a) : (tensor<2x8x4xf32>) -> tensor<2x1x4x16xf32>
  %1 = call @layer(%b) : (tensor<2x8x4xf32>) -> tensor<2x1x4x16xf32>
  return %0, %1 : tensor<2x1x4x16xf32>, tensor<2x1x4x16xf32>
}

// -----

// Along axis 0 an expression is one of the whole stack, along other axes one of each matrix.
// CHECK-DAG: @t.shard : tensor<2x8x4xf32> = #xfmr.shard<#xfmr.tensor<"t" : tensor<4x8x4xf32>>, 0, 2, [0, 2]>
// CHECK-DAG: @s.shard : tensor<1x8x4xf32> = #xfmr.shard<#xfmr.stack<[#xfmr.tensor<"0" : tensor<8x4xf32>>, #xfmr.tensor<"1" : tensor<8x4xf32>>]>, 0, 1, [0, 1]>
// CHECK-DAG: @s.concat{{(_0)?}} : tensor<2x8x4xf32> = #xfmr.concat<0, [#xfmr.stack<[#xfmr.tensor<"0" : tensor<8x4xf32>>, #xfmr.tensor<"1" : tensor<8x4xf32>>]>]>
// CHECK-DAG: @s.concat{{(_0)?}} : tensor<2x8x4xf32> = #xfmr.stack<[#xfmr.concat<1, [#xfmr.tensor<"0" : tensor<8x4xf32>>]>, #xfmr.concat<1, [#xfmr.tensor<"1" : tensor<8x4xf32>>]>]>
xfmr.weight @t : tensor<4x8x4xf32> = #xfmr.tensor<"t" : tensor<4x8x4xf32>>
xfmr.weight @s : tensor<2x8x4xf32> = #xfmr.stack<[#xfmr.tensor<"0" : tensor<8x4xf32>>, #xfmr.tensor<"1" : tensor<8x4xf32>>]>
func.func @stacks() -> (tensor<2x8x4xf32>, tensor<1x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
  %t = xfmr.weight_ref @t : tensor<4x8x4xf32>
  %s = xfmr.weight_ref @s : tensor<2x8x4xf32>
  %0 = xfmr.weight_shard %t, 0 at [0, 2] : tensor<4x8x4xf32> -> tensor<2x8x4xf32>
  %1 = xfmr.weight_shard %s, 0 at [0, 1] : tensor<2x8x4xf32> -> tensor<1x8x4xf32>
  %2 = xfmr.weight_concat 0, %s : tensor<2x8x4xf32>
  %3 = xfmr.weight_concat 2, %s : tensor<2x8x4xf32>
  return %0, %1, %2, %3 : tensor<2x8x4xf32>, tensor<1x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
}
