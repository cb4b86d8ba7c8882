// RUN: attune-opt %s --attune-lower-collectives --split-input-file --verify-diagnostics | FileCheck %s

// The members of attune_host are 48 (rank), 56 (ranks) and 64 (all_gather) bytes from its start. Equal gathers share
// their array.
// CHECK: llvm.mlir.global internal constant @begins_0_24(dense<[0, 24]> : tensor<2xi64>)
// CHECK-LABEL: func.func @fires
// CHECK-SAME: (%[[HOST:.*]]: !llvm.ptr,
// CHECK: %[[STRUCTURE:.*]] = llvm.alloca %{{.*}} x !llvm.array<72 x i8> {alignment = 8 : i64}
// CHECK: %[[BEGINS:.*]] = llvm.mlir.addressof @begins_0_24
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[STRUCTURE]][24]
// CHECK: llvm.store %{{.*}}, %{{.*}}
// CHECK: %[[RANKS_AT:.*]] = llvm.getelementptr %[[HOST]][56]
// CHECK: %[[RANKS:.*]] = llvm.load %[[RANKS_AT]]
// CHECK: %[[GATHER_AT:.*]] = llvm.getelementptr %[[HOST]][64]
// CHECK: %[[GATHER:.*]] = llvm.load %[[GATHER_AT]]
// CHECK: llvm.call %[[GATHER]](%[[RANKS]], %[[STRUCTURE]]) : !llvm.ptr, (!llvm.ptr, !llvm.ptr) -> i32
// CHECK-NOT: rt.all_gather
func.func @fires(%host: !llvm.ptr, %x: memref<?x24xf32, strided<[40, 1], offset: ?>>, %y: memref<?x48xf32>, %parts: memref<2x?x24xf32>) {
  rt.all_gather ins(%x : memref<?x24xf32, strided<[40, 1], offset: ?>>) outs(%y, %parts : memref<?x48xf32>, memref<2x?x24xf32>) 1 at [0, 24]
  rt.all_gather ins(%x : memref<?x24xf32, strided<[40, 1], offset: ?>>) outs(%y, %parts : memref<?x48xf32>, memref<2x?x24xf32>) 1 at [0, 24]
  return
}

// CHECK-LABEL: func.func @rank
// CHECK-SAME: (%[[HOST:.*]]: !llvm.ptr)
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[HOST]][48]
// CHECK: llvm.load %[[AT]] {{.*}} : !llvm.ptr -> i64
func.func @rank(%host: !llvm.ptr) -> index {
  %r = rt.rank
  return %r : index
}

// -----

func.func @no_host() -> index {
  // expected-error @below {{expects a function whose first argument is the host}}
  %r = rt.rank
  return %r : index
}

// -----

func.func @not_dense(%host: !llvm.ptr, %x: memref<?x4x?xf32, strided<[?, ?, 1]>>, %y: memref<?x8x?xf32>, %parts: memref<2x?x4x?xf32>) {
  // expected-error @below {{expects a buffer that is dense from dimension 1 on}}
  rt.all_gather ins(%x : memref<?x4x?xf32, strided<[?, ?, 1]>>) outs(%y, %parts : memref<?x8x?xf32>, memref<2x?x4x?xf32>) 1 at [0, 4]
  return
}
