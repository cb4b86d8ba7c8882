// RUN: attune-opt %s -split-input-file -verify-diagnostics -attune-tile-groups

#rows = affine_map<(d0, d1) -> (d0, d1)>
func.func @empty(%x: tensor<?x0xf32>, %y: tensor<?x0xf32>) -> tensor<?x0xf32> {
  // expected-error @below {{expects no dimension of size 0}}
  %r = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x0xf32>) outs(%y : tensor<?x0xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = math.absf %a : f32
    linalg.yield %s : f32
  } -> tensor<?x0xf32>
  return %r : tensor<?x0xf32>
}
