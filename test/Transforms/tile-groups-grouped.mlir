// RUN: attune-opt %s --convert-xfmr-to-linalg=panel-width=16 --attune-tile-groups="panel-width=16 stream-panels=4 grouped-rows=4 register-rows=6 max-block-rows=48" --canonicalize | FileCheck %s

// Blocks of rows and panels around register tiles of rows; panels are tiled as they are packed. A row depends on one row of the operands.
// CHECK-LABEL: @product
// CHECK: %[[PANELS:.*]] = xfmr.weight_quantize_panels
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) = (0, 0) to (%{{.*}}, 100) step (%{{.*}}, 16)
// CHECK: scf.for
// CHECK: tensor.extract_slice %[[PANELS]][%{{.*}}, 0, 0] [%{{.*}}, 2, 288] [1, 1, 1] : tensor<7x2x288xi8> to tensor<?x2x288xi8>
// CHECK: %[[S:.*]] = tile.grouped_product ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<?x2x288xi8>)
// CHECK: linalg.generic {{.*}} ins(%[[S]], %{{.*}} : tensor<?x?xf32>, tensor<?xf32>)
// CHECK: {tile.kernel = #tile.kernel<"linear 40 -> 100, bias, int4:32", row_wise>
// CHECK-SAME: affine_map<()[s0] -> (s0 * 12800)>
func.func @product(%x: tensor<?x40xf32>, %w: tensor<100x40xf32>, %b: tensor<100xf32>) -> tensor<?x100xf32> {
  %y = xfmr.linear %x, %w bias(%b) {format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<int8>} : tensor<?x40xf32>, tensor<100x40xf32>, bias tensor<100xf32>
  return %y : tensor<?x100xf32>
}

// Without an epilogue, the product itself is the kernel.
// CHECK-LABEL: @alone
// CHECK: scf.forall
// CHECK: scf.for
// CHECK: tile.grouped_product
// CHECK-NOT: linalg.generic
// CHECK: {tile.kernel = #tile.kernel<"linear 40 -> 100, int4:32", row_wise>
func.func @alone(%x: tensor<?x40xf32>, %w: tensor<100x40xf32>) -> tensor<?x100xf32> {
  %y = xfmr.linear %x, %w {format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<int8>} : tensor<?x40xf32>, tensor<100x40xf32>
  return %y : tensor<?x100xf32>
}

// Rows of f32 fill the registers as those of a contraction do.
// CHECK-LABEL: @f32
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (%{{.*}}, 100) step (%{{.*}}, 16)
// CHECK: scf.for
// CHECK: tile.grouped_product ins(%{{.*}}, %{{.*}} : tensor<?x40xf32>, tensor<?x2x288xi8>)
// CHECK: {tile.kernel = #tile.kernel<"linear 40 -> 100, int4:32, f32 rows", row_wise>
func.func @f32(%x: tensor<?x40xf32>, %w: tensor<100x40xf32>) -> tensor<?x100xf32> {
  %y = xfmr.linear %x, %w {format = #xfmr.weight_format<"int4:32">} : tensor<?x40xf32>, tensor<100x40xf32>
  return %y : tensor<?x100xf32>
}
