// RUN: attune-opt --convert-xfmr-to-linalg %s | FileCheck %s

// CHECK-LABEL: @sequence_offsets
// CHECK-SAME: (%[[B:.*]]: index, %[[L:.*]]: index)
// CHECK: %[[N:.*]] = arith.addi %[[B]], %c1
// CHECK: %[[D:.*]] = tensor.empty(%[[N]])
// CHECK: linalg.generic {{.*}} outs(%[[D]] : tensor<?xi64>)
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[O:.*]] = arith.muli %[[I]], %[[L]]
// CHECK: arith.index_cast %[[O]] : index to i64
func.func @sequence_offsets(%batch: index, %length: index) -> tensor<?xi64> {
  %0 = xfmr.sequence_offsets %batch, %length
  return %0 : tensor<?xi64>
}

// CHECK-LABEL: @gather_ids
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?xi64>)
// CHECK: tensor.extract %arg0[%{{[0-9]+}}] : tensor<?xi64>
func.func @gather_ids(%ids: tensor<?xi64>, %positions: tensor<?xi64>) -> tensor<?xi64> {
  %0 = xfmr.gather_tokens %ids, %positions : tensor<?xi64>
  return %0 : tensor<?xi64>
}

// CHECK-LABEL: @gather_rows
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x48xf32>)
// CHECK: tensor.extract %arg0[%{{[0-9]+}}, %{{[0-9]+}}] : tensor<?x48xf32>
func.func @gather_rows(%x: tensor<?x48xf32>, %positions: tensor<?xi64>) -> tensor<?x48xf32> {
  %0 = xfmr.gather_tokens %x, %positions : tensor<?x48xf32>
  return %0 : tensor<?x48xf32>
}

// CHECK-LABEL: @scatter_tokens
// CHECK-SAME: (%[[X:.*]]: tensor<?x48xf32>, %[[P:.*]]: tensor<?xi64>, %[[ROWS:.*]]: index)
// CHECK: %[[D:.*]] = tensor.empty(%[[ROWS]])
// CHECK: %[[ZEROS:.*]] = linalg.fill {{.*}} outs(%[[D]]
// CHECK: scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[C:.*]] = %[[ZEROS]])
// CHECK: %[[I:.*]] = tensor.extract %[[P]][%[[T]]]
// CHECK: %[[ROW:.*]] = arith.index_cast %[[I]]
// CHECK: %[[S:.*]] = tensor.extract_slice %[[X]][%[[T]], 0] [1, 48] [1, 1]
// CHECK: tensor.insert_slice %[[S]] into %[[C]][%[[ROW]], 0] [1, 48] [1, 1]
func.func @scatter_tokens(%x: tensor<?x48xf32>, %positions: tensor<?xi64>, %rows: index) -> tensor<?x48xf32> {
  %0 = xfmr.scatter_tokens %x, %positions, %rows : tensor<?x48xf32>
  return %0 : tensor<?x48xf32>
}

// One pass over the mask, whose size bounds the number of tokens.
// CHECK-LABEL: @pack_tokens
// CHECK: %[[ALL:.*]] = arith.muli
// CHECK: %[[POSITIONS:.*]] = tensor.empty(%[[ALL]])
// CHECK: %[[LOOP:.*]]:3 = scf.for
// CHECK: scf.for
// CHECK: tensor.insert
// CHECK: arith.cmpi ne
// CHECK: arith.select
// CHECK: %[[TOKENS:.*]] = arith.minsi %[[LOOP]]#2, %[[ALL]]
// CHECK: %[[USED:.*]] = tensor.extract_slice %[[LOOP]]#1[0] [%[[TOKENS]]] [1]
// CHECK: return %[[LOOP]]#0, %[[USED]]
func.func @pack_tokens(%mask: tensor<?x?xi64>) -> (tensor<?xi64>, tensor<?xi64>) {
  %offsets, %positions = xfmr.pack_tokens %mask : tensor<?x?xi64>
  return %offsets, %positions : tensor<?xi64>, tensor<?xi64>
}

// CHECK-LABEL: @scatter_probabilities
// CHECK: linalg.fill
// CHECK-COUNT-4: scf.for
// CHECK: tensor.extract %arg0
// CHECK: tensor.insert
func.func @scatter_probabilities(%p: tensor<?x4x?x?xf32>, %offsets: tensor<?xi64>, %positions: tensor<?xi64>) -> tensor<?x4x?x?xf32> {
  %0 = xfmr.scatter_probabilities %p, %offsets, %positions : tensor<?x4x?x?xf32>
  return %0 : tensor<?x4x?x?xf32>
}
