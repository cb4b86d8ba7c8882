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

// -----

#rows = affine_map<(d0, d1) -> (d0, d1)>
func.func @empty_at_run_time(%v: f32) -> tensor<4x?xf32> {
  %c0 = arith.constant 0 : index
  %y = tensor.empty(%c0) : tensor<4x?xf32>
  // expected-error @below {{expects no dimension of size 0}}
  %r = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%y : tensor<4x?xf32>) {
  ^bb0(%b: f32):
    linalg.yield %v : f32
  } -> tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}
