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
func.func @empty_at_run_time(%arg0: tensor<32x4xf32>, %arg1: tensor<?x1xf32>, %arg2: tensor<?x32xf32>, %arg3: tensor<?x1x32xf32>, %arg4: tensor<?x4x32xf32>, %arg5: tensor<?xf32>, %arg6: tensor<?x2x32xf32>, %arg7: tensor<?x2x1xf32>) -> tensor<?x?x128xf32> {
  %c1 = arith.constant 1 : index
  %0 = linalg.generic {indexing_maps = [#rows, #rows, #rows], iterator_types = ["parallel", "parallel"]} ins(%arg1, %arg1 : tensor<?x1xf32>, tensor<?x1xf32>) outs(%arg1 : tensor<?x1xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x1xf32>
  %c0 = arith.constant 0 : index
  %1 = tensor.empty(%c0) : tensor<4x?xf32>
  // expected-error @below {{expects no dimension of size 0}}
  %2 = linalg.generic {indexing_maps = [#rows], iterator_types = ["parallel", "parallel"]} outs(%1 : tensor<4x?xf32>) {
  ^bb0(%out: f32):
    %extracted = tensor.extract %arg0[%c1, %c1] : tensor<32x4xf32>
    linalg.yield %extracted : f32
  } -> tensor<4x?xf32>
  %3 = scf.forall (%arg8, %arg9, %arg10) in (%c1, 2, %c1) shared_outs(%arg11 = %arg4) -> (tensor<?x4x32xf32>) {
    %extracted_slice = tensor.extract_slice %2[%arg9, 0] [2, %arg8] [1, 1] : tensor<4x?xf32> to tensor<2x?xf32>
    %4 = tile.attention_tile ins(%arg7, %arg3, %arg2 : tensor<?x2x1xf32>, tensor<?x1x32xf32>, tensor<?x32xf32>) at(%arg8) mask(%arg5 : tensor<?xf32>) distance_bias(%extracted_slice : tensor<2x?xf32>) outs(%arg6 : tensor<?x2x32xf32>) {key_block = 512 : i64, scale = 2.500000e-01 : f64} -> tensor<?x2x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %4 into %arg11[%arg8, %arg9, 0] [%c1, 2, 32] [1, 1, 1] : tensor<?x2x32xf32> into tensor<?x4x32xf32>
    }
  }
  %collapsed = tensor.collapse_shape %3 [[0], [1, 2]] : tensor<?x4x32xf32> into tensor<?x128xf32>
  %expanded = tensor.expand_shape %collapsed [[0, 1], [2]] output_shape [%c1, %c1, 128] : tensor<?x128xf32> into tensor<?x?x128xf32>
  return %expanded : tensor<?x?x128xf32>
}
