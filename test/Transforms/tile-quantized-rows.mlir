// RUN: attune-opt %s --attune-tile-quantized-rows --canonicalize | FileCheck %s
// RUN: attune-opt %s --attune-tile-quantized-rows=row-block=2 --canonicalize | FileCheck %s --check-prefix=TWO

// No loop of this function computes the rows, so rounding gets a loop of its own.
// CHECK-LABEL: @alone
// CHECK: %{{.*}}:2 = scf.forall (%[[I:.*]]) = (0) to (%{{.*}}) step (8) shared_outs(%[[C:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}) -> (tensor<?x36xi8>, tensor<?xf32>)
// CHECK: %[[N:.*]] = affine.min
// CHECK: %[[X:.*]] = tensor.extract_slice %{{.*}}[%[[I]], 0] [%[[N]], 33]
// CHECK: tile.quantize_rows ins(%[[X]] : tensor<?x33xf32>)
// CHECK: } {tile.kernel = #tile.kernel<"rows of 33 as int8", row_wise>}
// TWO-LABEL: @alone
// TWO: step (2)
func.func @alone(%x: tensor<?x33xf32>) -> (tensor<?x36xi8>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x33xf32>
  %d = tensor.empty(%n) : tensor<?x36xi8>
  %e = tensor.empty(%n) : tensor<?xf32>
  %q:2 = tile.quantize_rows ins(%x : tensor<?x33xf32>) outs(%d, %e : tensor<?x36xi8>, tensor<?xf32>) {tile.group = #tile.group<"rows of 33 as int8">} -> tensor<?x36xi8>, tensor<?xf32>
  return %q#0, %q#1 : tensor<?x36xi8>, tensor<?xf32>
}

// Folding after the first operation erases the second, whose result has no users.
// CHECK-LABEL: @dead
// CHECK-COUNT-1: tile.quantize_rows
// CHECK-NOT: tile.quantize_rows
// CHECK: return
func.func @dead(%x: tensor<?x48xf32>) -> tensor<?x48xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x48xf32>
  %d = tensor.empty(%n) : tensor<?x48xbf16>
  %q = tile.quantize_rows ins(%x : tensor<?x48xf32>) outs(%d : tensor<?x48xbf16>) -> tensor<?x48xbf16>
  %m = tensor.dim %q, %c0 : tensor<?x48xbf16>
  %e = tensor.empty(%m) : tensor<?x48xbf16>
  %unused = tile.quantize_rows ins(%x : tensor<?x48xf32>) outs(%e : tensor<?x48xbf16>) -> tensor<?x48xbf16>
  %size = tensor.dim %unused, %c0 : tensor<?x48xbf16>
  %f = tensor.empty(%size) : tensor<?x48xbf16>
  return %q : tensor<?x48xbf16>
}

// Rows of a loop over whole rows: rounding moves into that loop, whose result stays for other users.
// CHECK-LABEL: @fused
// CHECK: %[[R:.*]]:2 = scf.forall {{.*}} shared_outs({{.*}}) -> (tensor<?x48xf32>, tensor<?x48xbf16>)
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK: tile.quantize_rows ins(%[[Y]] : tensor<?x48xf32>)
// CHECK: } {tile.kernel = #tile.kernel<"rows, bf16", row_wise>}
// CHECK-NOT: scf.forall
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @fused(%x: tensor<?x48xf32>) -> (tensor<?x48xf32>, tensor<?x48xbf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x48xf32>
  %o = tensor.empty(%n) : tensor<?x48xf32>
  %y = scf.forall (%i) = (0) to (%n) step (4) shared_outs(%out = %o) -> (tensor<?x48xf32>) {
    %k = affine.min affine_map<(d0)[s0] -> (s0 - d0, 4)>(%i)[%n]
    %in = tensor.extract_slice %x[%i, 0] [%k, 48] [1, 1] : tensor<?x48xf32> to tensor<?x48xf32>
    %to = tensor.extract_slice %out[%i, 0] [%k, 48] [1, 1] : tensor<?x48xf32> to tensor<?x48xf32>
    %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%in : tensor<?x48xf32>) outs(%to : tensor<?x48xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    } -> tensor<?x48xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %out[%i, 0] [%k, 48] [1, 1] : tensor<?x48xf32> into tensor<?x48xf32>
    }
  } {tile.kernel = #tile.kernel<"rows", row_wise>}
  %m = tensor.dim %y, %c0 : tensor<?x48xf32>
  %d = tensor.empty(%m) : tensor<?x48xbf16>
  %c = tile.quantize_rows ins(%y : tensor<?x48xf32>) outs(%d : tensor<?x48xbf16>) -> tensor<?x48xbf16>
  return %y, %c : tensor<?x48xf32>, tensor<?x48xbf16>
}

// So it does if a later loop reads the rows, too, as the residual of a feed-forward part does.
// CHECK-LABEL: @fused_with_nested_users
// CHECK: %[[R:.*]]:2 = scf.forall
// CHECK: tile.quantize_rows
// CHECK: } {tile.kernel = #tile.kernel<"rows, bf16", row_wise>}
// CHECK: %[[Z:.*]] = scf.forall
// CHECK: tensor.extract_slice %[[R]]#0
// CHECK-NOT: tensor.cast
// CHECK: return %[[Z]], %[[R]]#1
func.func @fused_with_nested_users(%x: tensor<?x48xf32>) -> (tensor<?x48xf32>, tensor<?x48xbf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x48xf32>
  %o = tensor.empty(%n) : tensor<?x48xf32>
  %y = scf.forall (%i) = (0) to (%n) step (4) shared_outs(%out = %o) -> (tensor<?x48xf32>) {
    %k = affine.min affine_map<(d0)[s0] -> (s0 - d0, 4)>(%i)[%n]
    %in = tensor.extract_slice %x[%i, 0] [%k, 48] [1, 1] : tensor<?x48xf32> to tensor<?x48xf32>
    %to = tensor.extract_slice %out[%i, 0] [%k, 48] [1, 1] : tensor<?x48xf32> to tensor<?x48xf32>
    %t = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%in : tensor<?x48xf32>) outs(%to : tensor<?x48xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    } -> tensor<?x48xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %out[%i, 0] [%k, 48] [1, 1] : tensor<?x48xf32> into tensor<?x48xf32>
    }
  } {tile.kernel = #tile.kernel<"rows", row_wise>}
  %m = tensor.dim %y, %c0 : tensor<?x48xf32>
  %d = tensor.empty(%m) : tensor<?x48xbf16>
  %c = tile.quantize_rows ins(%y : tensor<?x48xf32>) outs(%d : tensor<?x48xbf16>) -> tensor<?x48xbf16>
  %z = scf.forall (%i) = (0) to (%n) step (4) shared_outs(%out = %o) -> (tensor<?x48xf32>) {
    %k = affine.min affine_map<(d0)[s0] -> (s0 - d0, 4)>(%i)[%n]
    %in = tensor.extract_slice %y[%i, 0] [%k, 48] [1, 1] : tensor<?x48xf32> to tensor<?x48xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %in into %out[%i, 0] [%k, 48] [1, 1] : tensor<?x48xf32> into tensor<?x48xf32>
    }
  }
  return %z, %c : tensor<?x48xf32>, tensor<?x48xbf16>
}

// A loop over columns computes parts of rows, into which rounding cannot be fused.
// CHECK-LABEL: @negative_columns
// CHECK: scf.forall
// CHECK-NOT: tile.quantize_rows
// CHECK: scf.forall.in_parallel
// CHECK: scf.forall
// CHECK: tile.quantize_rows
func.func @negative_columns(%x: tensor<16x48xf32>) -> tensor<16x48xbf16> {
  %o = tensor.empty() : tensor<16x48xf32>
  %y = scf.forall (%i) = (0) to (48) step (16) shared_outs(%out = %o) -> (tensor<16x48xf32>) {
    %in = tensor.extract_slice %x[0, %i] [16, 16] [1, 1] : tensor<16x48xf32> to tensor<16x16xf32>
    %to = tensor.extract_slice %out[0, %i] [16, 16] [1, 1] : tensor<16x48xf32> to tensor<16x16xf32>
    %t = linalg.copy ins(%in : tensor<16x16xf32>) outs(%to : tensor<16x16xf32>) -> tensor<16x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %out[0, %i] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<16x48xf32>
    }
  }
  %d = tensor.empty() : tensor<16x48xbf16>
  %c = tile.quantize_rows ins(%y : tensor<16x48xf32>) outs(%d : tensor<16x48xbf16>) -> tensor<16x48xbf16>
  return %c : tensor<16x48xbf16>
}

// A user in another block of the function.
// CHECK-LABEL: @negative_users_in_blocks
// CHECK: scf.forall
// CHECK: scf.forall
// CHECK: tile.quantize_rows
func.func @negative_users_in_blocks(%x: tensor<?x48xf32>, %b: i1) -> (tensor<?x48xf32>, tensor<?x48xbf16>, tensor<?x48xf32>) {
  cf.br ^bb2
^bb1:
  return %y, %c, %z : tensor<?x48xf32>, tensor<?x48xbf16>, tensor<?x48xf32>
^bb2:
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x48xf32>
  %o = tensor.empty(%n) : tensor<?x48xf32>
  %y = scf.forall (%i) = (0) to (%n) step (4) shared_outs(%out = %o) -> (tensor<?x48xf32>) {
    %k = affine.min affine_map<(d0)[s0] -> (s0 - d0, 4)>(%i)[%n]
    %in = tensor.extract_slice %x[%i, 0] [%k, 48] [1, 1] : tensor<?x48xf32> to tensor<?x48xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %in into %out[%i, 0] [%k, 48] [1, 1] : tensor<?x48xf32> into tensor<?x48xf32>
    }
  } {tile.kernel = #tile.kernel<"rows", row_wise>}
  %d = tensor.empty(%n) : tensor<?x48xbf16>
  %c = tile.quantize_rows ins(%y : tensor<?x48xf32>) outs(%d : tensor<?x48xbf16>) -> tensor<?x48xbf16>
  %z = scf.if %b -> tensor<?x48xf32> {
    scf.yield %y : tensor<?x48xf32>
  } else {
    scf.yield %x : tensor<?x48xf32>
  }
  cf.br ^bb1
}
