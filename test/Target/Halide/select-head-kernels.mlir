// RUN: attune-opt %s --attune-select-kernels --split-input-file --verify-diagnostics --remarks-filter-missed=attune-select-kernels --remark-format=emitRemark | FileCheck %s

// Rotation of halves: the other component of a pair is half a head away.
// CHECK-LABEL: func.func private @rotary
// CHECK: (input a0 f32 24 12 1) (input a1 i64 1) (input a2 f32 12 1)
// CHECK-SAME: (stage s0 (parallel n0) (parallel 2) (parallel 12) (fma (load a0 d0 d1 (select (lt d2 6) (add d2 6) (sub d2 6)))
// CHECK-SAME: (select (lt d2 6) (neg (load a2 (int (load a1 d0)) (add (mod d2 6) 6))) (load a2 (int (load a1 d0)) (add (mod d2 6) 6)))
// CHECK-SAME: (mul (load a0 d0 d1 d2) (load a2 (int (load a1 d0)) (mod d2 6)))))
// CHECK-SAME: strides = [array<i64: 24, 12, 1>, array<i64: 1>, array<i64: 12, 1>, array<i64: 24, 12, 1>]}
func.func private @rotary(%x: tensor<?x2x12xf32>, %p: tensor<?xi64>, %t: tensor<64x12xf32>, %y: tensor<?x2x12xf32>) -> tensor<?x2x12xf32> attributes {tile.kernel = #tile.kernel<"rotary">} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2x12xf32>
  %r = scf.forall (%i) = (0) to (%n) step (8) shared_outs(%o = %y) -> (tensor<?x2x12xf32>) {
    %rows = affine.min affine_map<(d0)[s0] -> (-d0 + s0, 8)>(%i)[%n]
    %from = tensor.extract_slice %x[%i, 0, 0] [%rows, 2, 12] [1, 1, 1] : tensor<?x2x12xf32> to tensor<?x2x12xf32>
    %ids = tensor.extract_slice %p[%i] [%rows] [1] : tensor<?xi64> to tensor<?xi64>
    %to = tensor.extract_slice %o[%i, 0, 0] [%rows, 2, 12] [1, 1, 1] : tensor<?x2x12xf32> to tensor<?x2x12xf32>
    %e = tile.rotary_tile ins(%from, %ids, %t : tensor<?x2x12xf32>, tensor<?xi64>, tensor<64x12xf32>) outs(%to : tensor<?x2x12xf32>) -> tensor<?x2x12xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, 0, 0] [%rows, 2, 12] [1, 1, 1] : tensor<?x2x12xf32> into tensor<?x2x12xf32>
    }
  }
  return %r : tensor<?x2x12xf32>
}

// -----

// Rotation of adjacent pairs of some components: no index leaves the head or the table.
// CHECK-LABEL: func.func private @rotary_pairs
// CHECK: (select (lt d2 4) (fma (load a0 d0 d1 (max (min (select (eq (mod d2 2) 0) (add d2 1) (sub d2 1)) 8) 0))
// CHECK-SAME: (load a2 (int (load a1 d0)) (min (div d2 2) 1))
// CHECK-SAME: (load a0 d0 d1 d2)))
func.func private @rotary_pairs(%x: tensor<1x2x9xf32>, %p: tensor<1xi64>, %t: tensor<64x4xf32>, %y: tensor<1x2x9xf32>) -> tensor<1x2x9xf32> attributes {tile.kernel = #tile.kernel<"rotary">} {
  %r = scf.forall (%i) in (1) shared_outs(%o = %y) -> (tensor<1x2x9xf32>) {
    %to = tensor.extract_slice %o[%i, 0, 0] [1, 2, 9] [1, 1, 1] : tensor<1x2x9xf32> to tensor<1x2x9xf32>
    %e = tile.rotary_tile ins(%x, %p, %t : tensor<1x2x9xf32>, tensor<1xi64>, tensor<64x4xf32>) outs(%to : tensor<1x2x9xf32>) {interleaved} -> tensor<1x2x9xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, 0, 0] [1, 2, 9] [1, 1, 1] : tensor<1x2x9xf32> into tensor<1x2x9xf32>
    }
  }
  return %r : tensor<1x2x9xf32>
}

// -----

// Keys in panels: rows of one head, then zeros, and no row is read beyond the last.
// CHECK-LABEL: func.func private @panels
// CHECK: halide.tile
// CHECK-SAME: (input a0 f32 24 12 1)
// CHECK-SAME: (stage s0 (parallel n[[PANELS:[0-9]]]) (parallel 12) (parallel 32) (select (lt d2 (min (add (mul d0 -32) n[[N:[0-9]]]) 32))
// CHECK-SAME: (load a0 (max (min (add (mul d0 32) d2) (sub n{{[0-9]}} 1)) 0) n{{[0-9]}} d1) 0.0))
// CHECK-SAME: (output o0 s0 f32 384 32 1))
// CHECK-NOT: reads_destinations
// CHECK-NOT: scf.for %
func.func private @panels(%k: tensor<?x2x12xf32>, %y: tensor<2x?x12x32xf32>) -> tensor<2x?x12x32xf32> attributes {tile.kernel = #tile.kernel<"keys in panels">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %k, %c0 : tensor<?x2x12xf32>
  %panels = affine.apply affine_map<()[s0] -> (s0 ceildiv 32)>()[%n]
  %r = scf.forall (%h) in (2) shared_outs(%o = %y) -> (tensor<2x?x12x32xf32>) {
    %to = tensor.extract_slice %o[%h, 0, 0, 0] [1, %panels, 12, 32] [1, 1, 1, 1] : tensor<2x?x12x32xf32> to tensor<?x12x32xf32>
    %all = scf.for %p = %c0 to %panels step %c1 iter_args(%acc = %to) -> (tensor<?x12x32xf32>) {
      %count = affine.min affine_map<(d0)[s0] -> (d0 * -32 + s0, 32)>(%p)[%n]
      %first = affine.apply affine_map<(d0) -> (d0 * 32)>(%p)
      %from = tensor.extract_slice %k[%first, %h, 0] [%count, 1, 12] [1, 1, 1] : tensor<?x2x12xf32> to tensor<?x12xf32>
      %one = tensor.extract_slice %acc[%p, 0, 0] [1, 12, 32] [1, 1, 1] : tensor<?x12x32xf32> to tensor<12x32xf32>
      %e = tile.key_panel ins(%from : tensor<?x12xf32>) outs(%one : tensor<12x32xf32>) -> tensor<12x32xf32>
      %next = tensor.insert_slice %e into %acc[%p, 0, 0] [1, 12, 32] [1, 1, 1] : tensor<12x32xf32> into tensor<?x12x32xf32>
      scf.yield %next : tensor<?x12x32xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %all into %o[%h, 0, 0, 0] [1, %panels, 12, 32] [1, 1, 1, 1] : tensor<?x12x32xf32> into tensor<2x?x12x32xf32>
    }
  }
  return %r : tensor<2x?x12x32xf32>
}

// -----

// Writes a panel from some column on and keeps the columns before it.
// CHECK-LABEL: func.func private @append
// CHECK: (select (and (ge (sub d2 n[[C:[0-9]]]) 0) (lt (sub d2 n[[C]]) n[[N:[0-9]]]))
// CHECK-SAME: acc))
// CHECK-SAME: reads_destinations
func.func private @append(%k: tensor<?x12xf32>, %column: index, %y: tensor<1x12x64xf32>) -> tensor<1x12x64xf32> attributes {tile.kernel = #tile.kernel<"cache">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %k, %c0 : tensor<?x12xf32>
  %r = scf.forall (%h) in (1) shared_outs(%o = %y) -> (tensor<1x12x64xf32>) {
    %to = tensor.extract_slice %o[0, 0, 0] [1, 12, 64] [1, 1, 1] : tensor<1x12x64xf32> to tensor<1x12x64xf32>
    %all = scf.for %p = %c0 to %c1 step %c1 iter_args(%acc = %to) -> (tensor<1x12x64xf32>) {
      %from = tensor.extract_slice %k[0, 0] [%n, 12] [1, 1] : tensor<?x12xf32> to tensor<?x12xf32>
      %one = tensor.extract_slice %acc[%p, 0, 0] [1, 12, 64] [1, 1, 1] : tensor<1x12x64xf32> to tensor<12x64xf32>
      %e = tile.key_panel ins(%from : tensor<?x12xf32>) at(%column) outs(%one : tensor<12x64xf32>) -> tensor<12x64xf32>
      %next = tensor.insert_slice %e into %acc[%p, 0, 0] [1, 12, 64] [1, 1, 1] : tensor<12x64xf32> into tensor<1x12x64xf32>
      scf.yield %next : tensor<1x12x64xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %all into %o[0, 0, 0] [1, 12, 64] [1, 1, 1] : tensor<1x12x64xf32> into tensor<1x12x64xf32>
    }
  }
  return %r : tensor<1x12x64xf32>
}

// -----

// expected-remark @below {{not a kernel for Halide: its panels are not one after the other}}
func.func private @negative_every_other_panel(%k: tensor<12x12xf32>, %y: tensor<4x12x32xf32>) -> tensor<4x12x32xf32> attributes {tile.kernel = #tile.kernel<"keys in panels">} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %r = scf.forall (%h) in (1) shared_outs(%o = %y) -> (tensor<4x12x32xf32>) {
    %to = tensor.extract_slice %o[0, 0, 0] [4, 12, 32] [1, 1, 1] : tensor<4x12x32xf32> to tensor<4x12x32xf32>
    // CHECK-LABEL: @negative_every_other_panel
    // CHECK: tile.key_panel
    %all = scf.for %p = %c0 to %c4 step %c2 iter_args(%acc = %to) -> (tensor<4x12x32xf32>) {
      %from = tensor.extract_slice %k[0, 0] [12, 12] [1, 1] : tensor<12x12xf32> to tensor<12x12xf32>
      %one = tensor.extract_slice %acc[%p, 0, 0] [1, 12, 32] [1, 1, 1] : tensor<4x12x32xf32> to tensor<12x32xf32>
      %e = tile.key_panel ins(%from : tensor<12x12xf32>) outs(%one : tensor<12x32xf32>) -> tensor<12x32xf32>
      %next = tensor.insert_slice %e into %acc[%p, 0, 0] [1, 12, 32] [1, 1, 1] : tensor<12x32xf32> into tensor<4x12x32xf32>
      scf.yield %next : tensor<4x12x32xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %all into %o[0, 0, 0] [4, 12, 32] [1, 1, 1] : tensor<4x12x32xf32> into tensor<4x12x32xf32>
    }
  }
  return %r : tensor<4x12x32xf32>
}

// -----

// A loop over neither rows nor panels is not selected.
// expected-remark @below {{not a kernel for Halide: it contains 'scf.for'}}
func.func private @negative_loop(%y: tensor<8x16xf32>) -> tensor<8x16xf32> attributes {tile.kernel = #tile.kernel<"loop">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %two = arith.constant 2.0 : f32
  %r = scf.forall (%i) in (1) shared_outs(%o = %y) -> (tensor<8x16xf32>) {
    %to = tensor.extract_slice %o[0, 0] [8, 16] [1, 1] : tensor<8x16xf32> to tensor<8x16xf32>
    %all = scf.for %p = %c0 to %c8 step %c1 iter_args(%acc = %to) -> (tensor<8x16xf32>) {
      %f = linalg.fill ins(%two : f32) outs(%acc : tensor<8x16xf32>) -> tensor<8x16xf32>
      scf.yield %f : tensor<8x16xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %all into %o[0, 0] [8, 16] [1, 1] : tensor<8x16xf32> into tensor<8x16xf32>
    }
  }
  return %r : tensor<8x16xf32>
}
