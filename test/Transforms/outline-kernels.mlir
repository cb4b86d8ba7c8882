// RUN: attune-opt %s --attune-outline-kernels | FileCheck %s
// RUN: attune-opt %s --attune-outline-kernels --duplicate-function-elimination | FileCheck %s --check-prefix=ONCE

// Inputs first, destinations last; arithmetic, in terms of the caller's arguments, stays with the call; sizes, views,
// constants and index arithmetic are computed again inside, and the sizes of destinations read off these: the second
// kernel does not know which other operand has as many rows. A destination of its own per call: the two loops share one
// tensor.empty here.
// CHECK: func.func private @linear_8_12_bias(%[[X:[a-z0-9]+]]: tensor<?x4x2xf32>, %[[B:[a-z0-9]+]]: f32, %[[OUT:[a-z0-9]+]]: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {tile.kernel = #tile.kernel<"linear 8 -> 12, bias">}
// CHECK-DAG: %[[VIEW:.*]] = tensor.collapse_shape %[[X]]
// CHECK-DAG: %[[T:.*]] = tensor.dim %[[OUT]]
// CHECK: %[[R:.*]] = scf.forall (%{{.*}}) in (%[[T]]) shared_outs(%{{.*}} = %[[OUT]])
// CHECK: tensor.extract_slice %[[VIEW]]
// CHECK-NOT: tile.group
// CHECK-NOT: tile.work
// CHECK: return %[[R]]
// CHECK: func.func private @kernel(%{{.*}}: tensor<?x8xf32>, %{{.*}}: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {tile.kernel = #tile.kernel<"kernel">}
// CHECK-LABEL: func.func @entry
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<?x4x2xf32>, %[[B:[a-z0-9]+]]: f32)
// CHECK: tensor.empty
// CHECK: %[[D1:.*]] = tensor.empty
// CHECK: %[[Y:.*]] = call @linear_8_12_bias(%[[X]], %[[B]], %[[D1]]) {tile.work = #tile.work<flops = <[#xfmr.argument<0, 0>], affine_map<()[s0] -> (s0 * 192)>>>}
// CHECK: %[[D2:.*]] = tensor.empty
// CHECK: %[[Z:.*]] = call @kernel(%[[Y]], %[[D2]])
// CHECK: return %[[Z]]
func.func @entry(%x: tensor<?x4x2xf32>, %b: f32) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %view = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x2xf32> into tensor<?x8xf32>
  %t = tensor.dim %view, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %y = scf.forall (%i) in (%t) shared_outs(%o = %e) -> (tensor<?x8xf32>) {
    %row = tensor.extract_slice %view[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    %to = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    %sum = linalg.map ins(%row : tensor<8xf32>) outs(%to : tensor<8xf32>) (%v: f32, %unused: f32) {
      %s = arith.addf %v, %b : f32
      linalg.yield %s : f32
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<?x8xf32>
    }
  } {tile.kernel = #tile.kernel<"linear 8 -> 12, bias">, tile.work = #tile.work<flops = <[#xfmr.argument<0, 0>], affine_map<()[s0] -> (s0 * 192)>>>}
  %z = scf.forall (%i) in (%t) shared_outs(%o = %e) -> (tensor<?x8xf32>) {
    %row = tensor.extract_slice %y[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<?x8xf32>
    }
  }
  return %z : tensor<?x8xf32>
}

// A layer's results are written where its caller says; the sizes are computed from the arguments of each call.
// CHECK: func.func private @layer(%{{.*}}: tensor<?x8xf32>, %[[LENGTH:[a-z0-9]+]]: index, %[[FIRST:[a-z0-9]+]]: tensor<?x8xf32>, %[[SECOND:[a-z0-9]+]]: tensor<?x?xf32>) -> (tensor<?x8xf32>, tensor<?x?xf32>)
// CHECK: %[[Y:.*]]:2 = call @pair(%{{.*}}, %[[FIRST]], %[[SECOND]])
// CHECK: return %[[Y]]#0, %[[Y]]#1
// CHECK-LABEL: func.func @caller
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<?x8xf32>, %[[LENGTH:[a-z0-9]+]]: index)
// CHECK: %[[T:.*]] = tensor.dim %[[X]],
// CHECK: %[[D0:.*]] = tensor.empty(%[[T]]) : tensor<?x8xf32>
// CHECK: %[[TWICE:.*]] = arith.addi %[[LENGTH]], %[[LENGTH]]
// CHECK: %[[D1:.*]] = tensor.empty(%{{.*}}, %[[TWICE]]) : tensor<?x?xf32>
// CHECK: %[[Y:.*]]:2 = call @layer(%[[X]], %[[LENGTH]], %[[D0]], %[[D1]])
// CHECK: tensor.dim %[[Y]]#0,
// CHECK: call @layer(%[[Y]]#0, %[[LENGTH]], %{{.*}}, %{{.*}})
func.func private @layer(%x: tensor<?x8xf32>, %length: index) -> (tensor<?x8xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %twice = arith.addi %length, %length : index
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %f = tensor.empty(%t, %twice) : tensor<?x?xf32>
  %y:2 = scf.forall (%i) in (%t) shared_outs(%o = %e, %p = %f) -> (tensor<?x8xf32>, tensor<?x?xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<?x8xf32>
    }
  } {tile.kernel = #tile.kernel<"-- pair --">}
  return %y#0, %y#1 : tensor<?x8xf32>, tensor<?x?xf32>
}
func.func @caller(%x: tensor<?x8xf32>, %length: index) -> tensor<?x8xf32> {
  %y:2 = call @layer(%x, %length) : (tensor<?x8xf32>, index) -> (tensor<?x8xf32>, tensor<?x?xf32>)
  %z:2 = call @layer(%y#0, %length) : (tensor<?x8xf32>, index) -> (tensor<?x8xf32>, tensor<?x?xf32>)
  return %z#0 : tensor<?x8xf32>
}

// CHECK-LABEL: @negative_no_loop
// CHECK-NEXT: return
func.func @negative_no_loop(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}

// A function that only forwards the result of a callee gets its destination from that of the callee.
// CHECK-LABEL: func private @outer
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[D:.*]]: tensor<?x4xf32>
func.func private @outer(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // CHECK: %[[R:.*]] = call @inner(%[[X]], %[[D]])
  // CHECK: return %[[R]]
  %0 = call @inner(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
// CHECK-LABEL: func private @inner
// CHECK-SAME: tensor<?x4xf32>, %{{.*}}: tensor<?x4xf32>
func.func private @inner(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%rows) : tensor<?x4xf32>
  %0 = scf.forall (%i) in (%rows) shared_outs(%out = %empty) -> (tensor<?x4xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %out[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
    }
  }
  return %0 : tensor<?x4xf32>
}
func.func @calls_outer(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = call @outer(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// Kernels that differ only in their kernel numbers become one function.
// CHECK-LABEL: func private @negate_4(
// CHECK-NOT: attune.
// CHECK: return
// CHECK-LABEL: func private @negate_4_{{[0-9]+}}(
// ONCE: func private @negate_4(
// ONCE-NOT: func private @negate_4_{{[0-9]+}}(
// ONCE-LABEL: @twice
// ONCE: call @negate_4(
// ONCE: call @negate_4(
func.func @twice(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%rows) : tensor<?x4xf32>
  %0 = scf.forall (%i) in (%rows) shared_outs(%out = %empty) -> (tensor<?x4xf32>) {
    %in = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    %to = tensor.extract_slice %out[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    %row = linalg.negf {tile.group = #tile.group<1, "negate 4">} ins(%in : tensor<1x4xf32>) outs(%to : tensor<1x4xf32>) -> tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %out[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
    }
  } {tile.kernel = #tile.kernel<"negate 4">}
  %again = tensor.dim %0, %c0 : tensor<?x4xf32>
  %1 = scf.forall (%i) in (%again) shared_outs(%out = %empty) -> (tensor<?x4xf32>) {
    %in = tensor.extract_slice %0[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    %to = tensor.extract_slice %out[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    %row = linalg.negf {tile.group = #tile.group<2, "negate 4">} ins(%in : tensor<1x4xf32>) outs(%to : tensor<1x4xf32>) -> tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %out[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x4xf32>
    }
  } {tile.kernel = #tile.kernel<"negate 4">}
  return %1 : tensor<?x4xf32>
}

// The operands of operations come first, in their order, before operands that only sizes need: so a kernel has the same
// operands in the same order for any tiling.
// CHECK: func.func private @sum(%{{.*}}: tensor<?x8xf32>, %{{.*}}: tensor<?x4xf32>, %{{.*}}: i1, %{{.*}}: tensor<?x8xf32>)
// CHECK-LABEL: func.func @operands_first
// CHECK-SAME: (%[[SIZES:[a-z0-9]+]]: tensor<?x4xf32>, %[[ONE:[a-z0-9]+]]: i1, %[[X:[a-z0-9]+]]: tensor<?x8xf32>
// CHECK: call @sum(%[[X]], %[[SIZES]], %[[ONE]], %{{.*}})
func.func @operands_first(%sizes: tensor<?x4xf32>, %one: i1, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = tensor.dim %sizes, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %y = scf.forall (%i) = (0) to (%t) step (1) shared_outs(%o = %e) -> (tensor<?x8xf32>) {
    %n = tensor.dim %sizes, %c0 : tensor<?x4xf32>
    %rows = arith.select %one, %c1, %n : index
    %from = tensor.extract_slice %x[%i, 0] [%rows, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
    %to = tensor.extract_slice %o[%i, 0] [%rows, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
    %sum = linalg.copy ins(%from : tensor<?x8xf32>) outs(%to : tensor<?x8xf32>) -> tensor<?x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %o[%i, 0] [%rows, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
    }
  } {tile.kernel = #tile.kernel<"sum">}
  return %y : tensor<?x8xf32>
}

// Of a row-wise kernel the arguments that it uses by rows are marked, also through views that leave dimension 0 by itself: none if the number of
// rows is not that of the destination, is read off something else, or if a tensor is used as a whole as well.
// CHECK: func.func private @by_rows(%{{.*}}: tensor<?x4x2xf32> {tile.rows}, %{{.*}}: tensor<8xf32>, %{{.*}}: tensor<?x8xf32> {tile.rows})
// CHECK-NOT: row_wise
// CHECK: func.func private @by_tokens(%{{[^{}]*}}) -> tensor<?x8xf32> attributes
// CHECK: func.func private @of_another(%{{[^{}]*}}) -> tensor<?x8xf32> attributes
// CHECK: func.func private @of_a_view(%{{[^{}]*}}) -> tensor<?x8xf32> attributes
// CHECK: func.func private @as_a_whole(%{{[^{}]*}}) -> tensor<?x8xf32> attributes
// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<?x4x2xf32>, %w: tensor<8xf32>, %sizes: tensor<?x3xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %view = tensor.collapse_shape %x [[0], [1, 2]] : tensor<?x4x2xf32> into tensor<?x8xf32>
  %tokens = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x4x2xf32> into tensor<?x2xf32>
  %t = tensor.dim %x, %c0 : tensor<?x4x2xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %a = scf.forall (%i) = (0) to (%t) step (2) shared_outs(%o = %e) -> (tensor<?x8xf32>) {
    %n = affine.min affine_map<(d0)[s0] -> (2, s0 - d0)>(%i)[%t]
    %in = tensor.extract_slice %view[%i, 0] [%n, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
    %to = tensor.extract_slice %o[%i, 0] [%n, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
    %sum = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%in, %w : tensor<?x8xf32>, tensor<8xf32>) outs(%to : tensor<?x8xf32>) {
    ^bb0(%p: f32, %q: f32, %r: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<?x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %sum into %o[%i, 0] [%n, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
    }
  } {tile.kernel = #tile.kernel<"by rows", row_wise>}
  %b = scf.forall (%i) = (0) to (%t) step (2) shared_outs(%o = %e) -> (tensor<?x8xf32>) {
    %n = affine.min affine_map<(d0)[s0] -> (2, s0 - d0)>(%i)[%t]
    %in = tensor.extract_slice %tokens[%i, 0] [%n, 2] [1, 1] : tensor<?x2xf32> to tensor<?x2xf32>
    %to = tensor.extract_slice %o[%i, 0] [%n, 2] [1, 1] : tensor<?x8xf32> to tensor<?x2xf32>
    %c = linalg.copy ins(%in : tensor<?x2xf32>) outs(%to : tensor<?x2xf32>) -> tensor<?x2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%i, 0] [%n, 2] [1, 1] : tensor<?x2xf32> into tensor<?x8xf32>
    }
  } {tile.kernel = #tile.kernel<"by tokens", row_wise>}
  %m = tensor.dim %sizes, %c0 : tensor<?x3xf32>
  %d = scf.forall (%i) = (0) to (%t) step (2) shared_outs(%o = %e) -> (tensor<?x8xf32>) {
    %n = affine.min affine_map<(d0)[s0] -> (2, s0 - d0)>(%i)[%m]
    %in = tensor.extract_slice %view[%i, 0] [%n, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
    %to = tensor.extract_slice %o[%i, 0] [%n, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
    %c = linalg.copy ins(%in : tensor<?x8xf32>) outs(%to : tensor<?x8xf32>) -> tensor<?x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%i, 0] [%n, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
    }
  } {tile.kernel = #tile.kernel<"of another", row_wise>}
  %values = tensor.collapse_shape %sizes [[0, 1]] : tensor<?x3xf32> into tensor<?xf32>
  %k = tensor.dim %values, %c0 : tensor<?xf32>
  %g = scf.forall (%i) = (0) to (%t) step (2) shared_outs(%o = %e) -> (tensor<?x8xf32>) {
    %n = affine.min affine_map<(d0)[s0] -> (2, s0 floordiv 3 - d0)>(%i)[%k]
    %in = tensor.extract_slice %view[%i, 0] [%n, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
    %to = tensor.extract_slice %o[%i, 0] [%n, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
    %c = linalg.copy ins(%in : tensor<?x8xf32>) outs(%to : tensor<?x8xf32>) -> tensor<?x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%i, 0] [%n, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
    }
  } {tile.kernel = #tile.kernel<"of a view", row_wise>}
  %f = scf.forall (%i) = (0) to (%t) step (1) shared_outs(%o = %e) -> (tensor<?x8xf32>) {
    %in = tensor.extract_slice %view[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %first = tensor.extract_slice %view[0, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %to = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %c = linalg.add ins(%in, %first : tensor<1x8xf32>, tensor<1x8xf32>) outs(%to : tensor<1x8xf32>) -> tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  } {tile.kernel = #tile.kernel<"as a whole", row_wise>}
  return %a, %b, %d, %g, %f : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// A slice of columns has the rows of the tensor; a slice of rows does not.
// CHECK: func.func private @of_columns(%{{.*}}: tensor<?x8xf32> {tile.rows}, %{{.*}}: tensor<?x8xf32> {tile.rows})
// CHECK: func.func private @of_later_rows(%{{[^{}]*}}) -> tensor<?x8xf32> attributes
// CHECK-LABEL: func.func @slices
func.func @slices(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%t) : tensor<?x8xf32>
  %columns = tensor.extract_slice %x[0, 4] [%t, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %a = scf.forall (%i) = (0) to (%t) step (1) shared_outs(%o = %e) -> (tensor<?x8xf32>) {
    %in = tensor.extract_slice %columns[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
    %to = tensor.extract_slice %o[%i, 0] [1, 4] [1, 1] : tensor<?x8xf32> to tensor<1x4xf32>
    %c = linalg.copy ins(%in : tensor<1x4xf32>) outs(%to : tensor<1x4xf32>) -> tensor<1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<?x8xf32>
    }
  } {tile.kernel = #tile.kernel<"of columns", row_wise>}
  %later = tensor.extract_slice %x[1, 0] [%t, 8] [1, 1] : tensor<?x8xf32> to tensor<?x8xf32>
  %b = scf.forall (%i) = (0) to (%t) step (1) shared_outs(%o = %e) -> (tensor<?x8xf32>) {
    %in = tensor.extract_slice %later[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %to = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %c = linalg.copy ins(%in : tensor<1x8xf32>) outs(%to : tensor<1x8xf32>) -> tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  } {tile.kernel = #tile.kernel<"of later rows", row_wise>}
  return %a, %b : tensor<?x8xf32>, tensor<?x8xf32>
}

// An argument that is read from some row on does not have the rows of the results, so it is not marked.
// CHECK: func.func private @from_a_row(%{{[^{}]*}}) -> tensor<?x8xf32> attributes
// CHECK-LABEL: func.func @some_rows
func.func @some_rows(%x: tensor<?x8xf32>, %first: i64, %n: index) -> tensor<?x8xf32> {
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %begin = arith.index_cast %first : i64 to index
  %y = scf.forall (%i) in (%n) shared_outs(%o = %e) -> (tensor<?x8xf32>) {
    %at = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%i)[%begin]
    %in = tensor.extract_slice %x[%at, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %to = tensor.extract_slice %o[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<1x8xf32>
    %row = linalg.negf ins(%in : tensor<1x8xf32>) outs(%to : tensor<1x8xf32>) -> tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<?x8xf32>
    }
  } {tile.kernel = #tile.kernel<"from a row", row_wise>}
  return %y : tensor<?x8xf32>
}

// A name does not begin with a digit.
// CHECK: func.func private @kernel_2_halves({{.*}} attributes {tile.kernel = #tile.kernel<"2 halves">}
func.func @digit(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %empty = tensor.empty() : tensor<4x8xf32>
  %0 = scf.forall (%i) in (4) shared_outs(%out = %empty) -> (tensor<4x8xf32>) {
    %row = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<1x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %out[%i, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<4x8xf32>
    }
  } {tile.kernel = #tile.kernel<"2 halves">}
  return %0 : tensor<4x8xf32>
}
