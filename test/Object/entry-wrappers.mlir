// RUN: attune-opt %s -attune-entry-wrappers -canonicalize | FileCheck %s

// CHECK-LABEL: func.func private @forward
// CHECK-NOT: xfmr.formula
func.func @forward(%host: !llvm.ptr {rt.role = #rt.role<host>}, %x: memref<?x?x4xf32> {xfmr.input = #xfmr.input<"x", [batch, length, 4]>}, %weights: memref<?xi8> {rt.role = #rt.role<weights>},
                   %y: memref<?x4xf32> {xfmr.output = #xfmr.output<"y", [batch, 4]>}, %workspace: memref<?xi8> {rt.role = #rt.role<workspace>},
                   %workers: index {rt.role = #rt.role<workers>}) attributes {
      xfmr.entry = #xfmr.entry<"forward">,
      rt.workspace = #xfmr.formula<[batch, length, workers], affine_map<()[s0, s1, s2] -> (s0 * 192 + s2 * ((s0 + 7) floordiv 8) * 64,
                                                                                          s1 * 64 + s2 * ((s0 + 7) floordiv 8) * 64)>>} {
  return
}

// CHECK-LABEL: llvm.func hidden @attune_entry_forward
// CHECK-SAME: (%[[HOST:.*]]: !llvm.ptr, %[[CALL:.*]]: !llvm.ptr) -> i32
// CHECK: %[[X:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?x?x4xf32>
// CHECK: %[[WEIGHTS:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?xi8>
// CHECK: %[[Y:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?x4xf32>
// CHECK: %[[WORKSPACE:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<?xi8>
// CHECK: %[[WORKERS:.*]] = arith.index_cast
// CHECK: call @forward(%[[HOST]], %[[X]], %[[WEIGHTS]], %[[Y]], %[[WORKSPACE]], %[[WORKERS]])

// Each alternative of the maximum is a sum.
// CHECK-LABEL: llvm.func hidden @attune_workspace_forward
// CHECK-SAME: (%[[DIMS:.*]]: !llvm.ptr, %{{.*}}: i64) -> i64
// CHECK: llvm.load %[[DIMS]]
// CHECK: arith.maxsi
// CHECK: llvm.return

// Nothing is known about the arithmetic.
// CHECK-LABEL: llvm.func hidden @attune_flops_forward
// CHECK: llvm.return %{{.*}} : i64
// CHECK-NOT: @attune_work_forward
