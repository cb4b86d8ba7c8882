// RUN: attune-opt %s --convert-xfmr-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @gather
// CHECK-SAME: (%[[X:.*]]: tensor<?x24xf32>)
// CHECK: %[[T:.*]] = tensor.dim %[[X]], %{{.*}}
// CHECK: %[[WHOLE:.*]] = tensor.empty(%[[T]]) : tensor<?x40xf32>
// CHECK: %[[PARTS:.*]] = tensor.empty(%[[T]]) : tensor<2x?x24xf32>
// CHECK: %[[Y:.*]]:2 = rt.all_gather ins(%[[X]] : tensor<?x24xf32>) outs(%[[WHOLE]], %[[PARTS]] : tensor<?x40xf32>, tensor<2x?x24xf32>) 1 at [0, 16]
// CHECK: return %[[Y]]#0
func.func @gather(%x: tensor<?x24xf32>) -> tensor<?x40xf32> {
  %y = xfmr.all_gather %x, 1 at [0, 16] : tensor<?x24xf32> -> tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}

// The first index is that of the rank.
// CHECK-LABEL: func.func @slice
// CHECK-SAME: (%[[X:.*]]: tensor<5x?xf32>)
// CHECK: %[[RANK:.*]] = rt.rank
// CHECK: %[[IS1:.*]] = arith.cmpi eq, %[[RANK]], %{{.*}}
// CHECK: %[[B1:.*]] = arith.select %[[IS1]]
// CHECK: %[[IS2:.*]] = arith.cmpi eq, %[[RANK]], %{{.*}}
// CHECK: %[[B2:.*]] = arith.select %[[IS2]], %{{.*}}, %[[B1]]
// CHECK: tensor.extract_slice %[[X]][%[[B2]], 0] [2, %{{.*}}] [1, 1] : tensor<5x?xf32> to tensor<2x?xf32>
func.func @slice(%x: tensor<5x?xf32>) -> tensor<2x?xf32> {
  %y = xfmr.rank_slice %x, 0 at [0, 2, 3] : tensor<5x?xf32> -> tensor<2x?xf32>
  return %y : tensor<2x?xf32>
}
