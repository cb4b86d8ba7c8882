// RUN: attune-opt --convert-xfmr-to-linalg=panel-width=16 --canonicalize %s | FileCheck %s

// One kernel writes the choices of all tokens in place.
// CHECK-LABEL: @choose
// CHECK: scf.forall (%[[T:.*]]) in (%{{.*}}) shared_outs(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<?x2xi64>, tensor<?x2xf32>)
// CHECK: tensor.extract %{{.*}}[%[[T]], %{{.*}}]
// CHECK: math.exp
// CHECK: } {tile.kernel = #tile.kernel<"choose 2 of 8 experts">}
func.func @choose(%s: tensor<?x8xf32>) -> (tensor<?x2xi64>, tensor<?x2xf32>) {
  %c, %d = xfmr.choose_experts %s, 2 {normalized} : tensor<?x8xf32>
  return %c, %d : tensor<?x2xi64>, tensor<?x2xf32>
}

// Rows are added in parallel, each to its token.
// CHECK-LABEL: @add_rows
// CHECK-SAME: %[[TOKENS:[a-z0-9]+]]: tensor<?xi64>
// CHECK: scf.forall (%[[ROW:.*]]) in (%{{.*}}) shared_outs(%[[OUT:.*]] = %{{.*}})
// CHECK: %[[ID:.*]] = tensor.extract %[[TOKENS]][%[[ROW]]]
// CHECK: %[[TOKEN:.*]] = arith.index_cast %[[ID]]
// CHECK: %[[OLD:.*]] = tensor.extract_slice %[[OUT]][%[[TOKEN]], 0] [1, 48]
// CHECK: %[[NEW:.*]] = linalg.generic {{.*}} outs(%[[OLD]]
// CHECK: math.fma
// CHECK: tensor.parallel_insert_slice %[[NEW]] into %[[OUT]][%[[TOKEN]], 0] [1, 48]
func.func @add_rows(%r: tensor<?x48xf32>, %f: tensor<?xf32>, %sum: tensor<?x48xf32>, %tokens: tensor<?xi64>) -> tensor<?x48xf32> {
  %y = xfmr.add_rows %r, %f to %sum at %tokens : tensor<?x48xf32>, tensor<?xf32> to tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// CHECK-LABEL: @clamped_glu
// CHECK: linalg.generic
// CHECK: arith.minimumf
// CHECK: arith.maximumf
// CHECK: math.exp
func.func @clamped_glu(%g: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %y = xfmr.clamped_glu %g, %g {alpha = 1.702 : f64, limit = 7.0 : f64} : tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// The matrices of all experts are packed as one weight, of which the loop takes a slice.
// CHECK-LABEL: @selected
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<8x40x48xf32>, %[[B:[a-z0-9]+]]: tensor<8x40xf32>, %[[E:[a-z0-9]+]]: index
// CHECK: %[[P:.*]] = xfmr.weight_pack %[[W]], 16 : tensor<8x40x48xf32>
// CHECK-DAG: tensor.extract_slice %[[P]][%[[E]], 0, 0, 0] [1, 3, 48, 16] [1, 1, 1, 1] : tensor<8x3x48x16xf32> to tensor<3x48x16xf32>
// CHECK-DAG: tensor.extract_slice %[[B]][%[[E]], 0] [1, 40] [1, 1] : tensor<8x40xf32> to tensor<40xf32>
// CHECK-NOT: weight_select
func.func @selected(%x: tensor<?x48xf32>, %w: tensor<8x40x48xf32>, %b: tensor<8x40xf32>, %e: index) -> tensor<?x40xf32> {
  %m = xfmr.weight_select %w[%e] : tensor<8x40x48xf32>
  %c = xfmr.weight_select %b[%e] : tensor<8x40xf32>
  %y = xfmr.linear %x, %m bias(%c) : tensor<?x48xf32>, tensor<40x48xf32>, bias tensor<40xf32>
  return %y : tensor<?x40xf32>
}

// CHECK-LABEL: @selected_int8
// CHECK-DAG: %[[Q:.*]] = xfmr.weight_quantize %{{.*}} : tensor<8x40x48xf32>
// CHECK-DAG: xfmr.weight_pack %{{.*}}, 16 group {{.*}} : tensor<8x40x48xi8>
// CHECK-DAG: xfmr.weight_scales %{{.*}} : tensor<8x40x48xf32>
func.func @selected_int8(%x: tensor<?x48xf32>, %w: tensor<8x40x48xf32>, %e: index) -> tensor<?x40xf32> {
  %m = xfmr.weight_select %w[%e] : tensor<8x40x48xf32>
  %y = xfmr.linear %x, %m {precision = #xfmr.precision<int8>} : tensor<?x48xf32>, tensor<40x48xf32>
  return %y : tensor<?x40xf32>
}
