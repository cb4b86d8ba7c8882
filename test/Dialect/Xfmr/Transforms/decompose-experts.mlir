// RUN: attune-opt --xfmr-decompose-experts --canonicalize %s | FileCheck %s
// RUN: attune-opt --xfmr-decompose-experts=known-counts --canonicalize %s | FileCheck %s --check-prefix=LISTS

// CHECK-LABEL: @experts
// CHECK-SAME: (%[[X:.*]]: tensor<?x48xf32>, %[[C:.*]]: tensor<?x2xi64>, %[[S:.*]]: tensor<?x2xf32>, %[[UP:.*]]: tensor<8x112x48xf32>, %[[DOWN:.*]]: tensor<8x48x112xf32>)
// CHECK: %[[OFFSETS:.*]], %[[TOKENS:.*]], %[[SHARES:.*]] = xfmr.group_by_expert %[[C]], %[[S]], 8
// CHECK: %[[ROWS:.*]] = xfmr.gather_tokens %[[X]], %[[TOKENS]]
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[SUM:.*]] = scf.for %[[E:.*]] = %c0 to %c8 step %c1 iter_args(%[[BEFORE:.*]] = %[[ZEROS]])
// CHECK:   tensor.extract %[[OFFSETS]][%[[E]]]
// CHECK:   %[[COUNT:.*]] = arith.minsi
// CHECK:   %[[SOME:.*]] = arith.cmpi sgt, %[[COUNT]], %c0
// CHECK:   scf.if %[[SOME]]
// CHECK:     %[[IN:.*]] = tensor.extract_slice %[[ROWS]][%{{.*}}, 0] [%[[COUNT]], 48] [1, 1]
// CHECK:     %[[U:.*]] = xfmr.weight_select %[[UP]][%[[E]]]
// CHECK:     %[[D:.*]] = xfmr.weight_select %[[DOWN]][%[[E]]]
// CHECK:     %[[F:.*]] = xfmr.ffn <silu> %[[IN]], %[[U]], %[[D]]
// CHECK:     xfmr.add_rows %[[F]], %{{.*}} to %[[BEFORE]] at
// CHECK:   else
// CHECK:     scf.yield %[[BEFORE]]
// CHECK: return %[[SUM]]

// A host that cannot read what tokens choose runs every expert, on the tokens of its list.
// LISTS-LABEL: @experts
// LISTS-SAME: (%[[X:.*]]: tensor<?x48xf32>, %[[C:.*]]: tensor<?x2xi64>, %[[S:.*]]: tensor<?x2xf32>, %[[UP:.*]]: tensor<8x112x48xf32>, %[[DOWN:.*]]: tensor<8x48x112xf32>)
// LISTS: %[[COUNTS:.*]], %[[TOKENS:.*]], %[[SHARES:.*]] = xfmr.list_by_expert %[[C]], %[[S]], 8
// LISTS: %[[BOUND:.*]] = tensor.dim %[[X]], %c0
// LISTS: %[[ZEROS:.*]] = linalg.fill
// LISTS: %[[SUM:.*]] = scf.for %[[E:.*]] = %c0 to %c8 step %c1 iter_args(%[[BEFORE:.*]] = %[[ZEROS]])
// LISTS-NOT: scf.if
// LISTS:   %[[OWN:.*]] = tensor.extract_slice %[[COUNTS]][%[[E]]] [1] [1] : tensor<8xi64> to tensor<1xi64>
// LISTS:   tensor.extract %[[OWN]][%c0]
// LISTS:   %[[COUNT:.*]] = arith.minsi %{{.*}}, %[[BOUND]]
// LISTS:   %[[CHOSEN:.*]] = tensor.extract_slice %[[TOKENS]][%[[E]], 0] [1, %[[COUNT]]] [1, 1] : tensor<8x?xi64> to tensor<?xi64>
// LISTS:   %[[IN:.*]] = xfmr.gather_tokens %[[X]], %[[CHOSEN]]
// LISTS:   %[[U:.*]] = xfmr.weight_select %[[UP]][%[[E]]]
// LISTS:   %[[F:.*]] = xfmr.ffn <silu> %[[IN]], %[[U]]
// LISTS:   %[[FACTORS:.*]] = tensor.extract_slice %[[SHARES]][%[[E]], 0] [1, %[[COUNT]]] [1, 1]
// LISTS:   %[[NEXT:.*]] = xfmr.add_rows %[[F]], %[[FACTORS]] to %[[BEFORE]] at %[[CHOSEN]] {padded}
// LISTS:   scf.yield %[[NEXT]]
// LISTS: return %[[SUM]]
func.func @experts(%x: tensor<?x48xf32>, %c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %up: tensor<8x112x48xf32>, %down: tensor<8x48x112xf32>) -> tensor<?x48xf32> {
  %y = xfmr.experts <silu> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up : tensor<8x112x48xf32>) down(%down : tensor<8x48x112xf32>) : tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// CHECK-LABEL: @clamped
// CHECK: %[[G:.*]] = xfmr.linear %[[IN:.*]], %{{.*}} bias(
// CHECK: %[[U:.*]] = xfmr.linear %[[IN]], %{{.*}} bias(
// CHECK: %[[P:.*]] = xfmr.clamped_glu %[[G]], %[[U]] {alpha = 1.702000e+00 : f64, limit = 7.000000e+00 : f64}
// CHECK: xfmr.linear %[[P]], %{{.*}} bias(
func.func @clamped(%x: tensor<?x48xf32>, %c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %up: tensor<8x112x48xf32>, %down: tensor<8x48x112xf32>,
                   %ub: tensor<8x112xf32>, %db: tensor<8x48xf32>) -> tensor<?x48xf32> {
  %y = xfmr.experts <none> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up, %ub : tensor<8x112x48xf32>, tensor<8x112xf32>)
    down(%down, %db : tensor<8x48x112xf32>, tensor<8x48xf32>) gate(%up, %ub : tensor<8x112x48xf32>, tensor<8x112xf32>)
    {glu_limit = 7.0 : f64, glu_alpha = 1.702 : f64} : tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// Functions without experts are not changed.
// CHECK-LABEL: @none
// CHECK-NEXT: xfmr.ffn
// CHECK-NEXT: return
func.func @none(%x: tensor<?x48xf32>, %up: tensor<112x48xf32>, %down: tensor<48x112xf32>) -> tensor<?x48xf32> {
  %y = xfmr.ffn <silu> %x, %up, %down : tensor<?x48xf32>, tensor<112x48xf32>, tensor<48x112xf32>
  return %y : tensor<?x48xf32>
}
