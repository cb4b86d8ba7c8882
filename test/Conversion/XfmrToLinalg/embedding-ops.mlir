// RUN: attune-opt --convert-xfmr-to-linalg %s | FileCheck %s

// CHECK-LABEL: @embedding
// CHECK-SAME: (%[[IDS:.*]]: tensor<?xi64>, %[[TABLE:.*]]: tensor<203x48xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[IDS]] : tensor<?xi64>) outs(%{{.*}} : tensor<?x48xf32>) attrs = {tile.group = #tile.group<0, "embedding 203 x 48">}
// CHECK: %[[ROW:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: %[[COLUMN:.*]] = linalg.index 1
// CHECK: tensor.extract %[[TABLE]][%[[ROW]], %[[COLUMN]]]
func.func @embedding(%ids: tensor<?xi64>, %table: tensor<203x48xf32>) -> tensor<?x48xf32> {
  %0 = xfmr.embedding %ids, %table : tensor<203x48xf32>
  return %0 : tensor<?x48xf32>
}
