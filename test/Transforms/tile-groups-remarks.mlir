// RUN: attune-opt %s --attune-tile-groups --remark-policy=all --remarks-filter=".*" 2>&1 >/dev/null | FileCheck %s

// A kernel whose last operation has one parallel loop stays a serial loop, and a remark says so.
#identity = affine_map<(d0) -> (d0)>
#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @row_sums(%x: tensor<?x8xf32>, %n: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill {tile.group = #tile.group<0, "row_sums">} ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  // CHECK: remark: {{.*}}Missed{{.*}}ParallelLoops{{.*}}1 parallel loops, but a kernel needs two
  %y = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x8xf32>) outs(%f : tensor<?xf32>) attrs = {tile.group = #tile.group<0, "row_sums">} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
