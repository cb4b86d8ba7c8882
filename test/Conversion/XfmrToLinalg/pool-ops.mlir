// RUN: attune-opt --convert-xfmr-to-linalg %s | FileCheck %s

// CHECK-LABEL: @pool_first
// CHECK-NOT: scf.for
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x48xf32>)
// CHECK: %[[T:.*]] = tensor.extract %arg1
// CHECK: %[[R:.*]] = arith.index_cast %[[T]]
// CHECK: tensor.extract %arg0[%[[R]], %{{.*}}]
func.func @pool_first(%x: tensor<?x48xf32>, %offsets: tensor<?xi64>) -> tensor<?x48xf32> {
  %0 = xfmr.pool <first> %x, %offsets : tensor<?x48xf32>
  return %0 : tensor<?x48xf32>
}

// Neither a sequence without tokens nor one whose first token is padding has a first row.
// CHECK-LABEL: @pool_first_packed
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: scf.for {{.*}} iter_args(%[[C:.*]] = %[[ZEROS]])
// CHECK: %[[SOME:.*]] = arith.cmpi slt
// CHECK: %[[PRESENT:.*]] = scf.if %[[SOME]] -> (i1)
// CHECK: scf.if %[[PRESENT]]
// CHECK: tensor.insert_slice
// CHECK: else
// CHECK-NEXT: scf.yield %[[C]]
func.func @pool_first_packed(%x: tensor<?x48xf32>, %offsets: tensor<?xi64>, %positions: tensor<?xi64>, %length: index) -> tensor<?x48xf32> {
  %0 = xfmr.pool <first> %x, %offsets packed(%positions, %length) : tensor<?x48xf32>
  return %0 : tensor<?x48xf32>
}

// CHECK-LABEL: @pool_mean
// CHECK: linalg.fill
// CHECK: scf.for
// CHECK: %[[SOME:.*]] = arith.cmpi slt
// CHECK: scf.if %[[SOME]]
// CHECK: scf.for
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: tensor.insert_slice
func.func @pool_mean(%x: tensor<?x48xf32>, %offsets: tensor<?xi64>) -> tensor<?x48xf32> {
  %0 = xfmr.pool <mean> %x, %offsets : tensor<?x48xf32>
  return %0 : tensor<?x48xf32>
}
