// RUN: attune-opt %s | attune-opt | FileCheck %s

// CHECK: func.func private @layer_norm(%{{.*}}: memref<?x48xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"layer_norm 48">}
func.func private @layer_norm(%x: memref<?x48xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"layer_norm 48">} {
  return
}
// CHECK: @chosen() attributes {tile.kernel = #tile.kernel<"linear", backend = "halide">}
func.func private @chosen() attributes {tile.kernel = #tile.kernel<"linear", backend = "halide">} {
  return
}
// CHECK: @refused() attributes {tile.kernel = #tile.kernel<"linear", note = "not by Halide: it says \22no\22">}
func.func private @refused() attributes {tile.kernel = #tile.kernel<"linear", note = "not by Halide: it says \"no\"">} {
  return
}
// CHECK: linalg.negf {tile.group = #tile.group<3, "negate 4">}
// CHECK: linalg.negf {tile.group = #tile.group<"negate 4">}
// CHECK: {tile.kernel = #tile.kernel<"rows", row_wise>}
func.func @groups(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %a = linalg.negf {tile.group = #tile.group<3, "negate 4">} ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.negf {tile.group = #tile.group<"negate 4">} ins(%a : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  scf.forall (%i) in (%n) {
  } {tile.kernel = #tile.kernel<"rows", row_wise>}
  return %b : tensor<4xf32>
}
// CHECK: {tile.work = #tile.work<flops = <[#xfmr.argument<1>], affine_map<()[s0] -> (s0 * 64)>>>}
// CHECK: call @chosen() {tile.work = #tile.work<flops = <[], affine_map<() -> (8)>>, cache_bytes = <[], affine_map<() -> (4)>>>}
func.func @work(%x: tensor<4xf32>, %n: index) {
  scf.forall (%i) in (%n) {
  } {tile.work = #tile.work<flops = <[#xfmr.argument<1>], affine_map<()[s0] -> (s0 * 64)>>>}
  func.call @chosen() {tile.work = #tile.work<flops = <[], affine_map<() -> (8)>>, cache_bytes = <[], affine_map<() -> (4)>>>} : () -> ()
  return
}
