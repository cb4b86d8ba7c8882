// RUN: attune-opt %s --convert-xfmr-to-linalg --attune-tile-groups="register-rows=8 block-bytes=524288 stream-panels=1" --canonicalize | FileCheck %s
// RUN: attune-opt %s --convert-xfmr-to-linalg --attune-tile-groups="register-rows=8 block-bytes=524288" --canonicalize | FileCheck %s --check-prefix=STREAM
// RUN: attune-opt %s --convert-xfmr-to-linalg="panel-width=16" \
// RUN:   --attune-tile-groups="register-rows=4 panel-width=16 block-bytes=524288 max-block-rows=64 stream-panels=1 row-block=2" \
// RUN:   --canonicalize | FileCheck %s --check-prefix=NARROW

// Row blocks and panels in parallel, register tiles inside, all of one kernel in each tile. Blocks are as few as their largest size allows, and even; so are the register tiles if
// they are three at most.
// CHECK-DAG: #[[$ONE:.*]] = affine_map<()[s0] -> (1, s0)>
// CHECK-DAG: #[[$MOST:.*]] = affine_map<()[s0] -> ((s0 ceildiv 8) * 8, 128)>
// CHECK-DAG: #[[$MOSTROWS:.*]] = affine_map<(d0) -> (8, d0)>
// CHECK-DAG: #[[$DEEP:.*]] = affine_map<()[s0] -> ((s0 ceildiv 8) * 8, 40)>
// NARROW-DAG: #[[$MOST:.*]] = affine_map<()[s0] -> ((s0 ceildiv 4) * 4, 64)>
// NARROW-DAG: #[[$MOSTROWS:.*]] = affine_map<(d0) -> (4, d0)>
// CHECK-LABEL: @projection
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<?x48xf32>, %{{[a-z0-9]+}}: tensor<64x48xf32>, %[[BIAS:[a-z0-9]+]]: tensor<64xf32>)
// CHECK-DAG: %[[T:.*]] = tensor.dim %[[X]]
// CHECK-DAG: %[[PANELS:.*]] = xfmr.weight_pack
// CHECK: %[[SOME:.*]] = affine.max #[[$ONE]]()[%[[T]]]
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[SOME]], %c128
// CHECK: %[[EVEN:.*]] = arith.ceildivui %[[SOME]], %[[BLOCKS]]
// CHECK: %[[STEP:.*]] = affine.min #[[$MOST]]()[%[[EVEN]]]
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) = (0, 0) to (%[[T]], 64) step (%[[STEP]], 32) shared_outs
// CHECK: %[[PANEL:.*]] = tensor.extract_slice %[[PANELS]][%{{.*}}, 0, %{{.*}}] [1, 48, 32]
// CHECK: %[[FEW:.*]] = arith.cmpi ule, %{{.*}}, %c24
// If there are up to 3 tiles, they have about the same number of rows, which is even.
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[ALL:.*]], %c8
// CHECK: %[[SAME:.*]] = arith.ceildivui %[[ALL]], %[[TILES]]
// CHECK: %[[PAIRS:.*]] = arith.ceildivui %[[SAME]], %c2
// CHECK: %[[EVENROWS:.*]] = arith.muli %[[PAIRS]], %c2
// CHECK: %[[ROWSOF:.*]] = arith.select %[[FEW]], %[[EVENROWS]], %c8
// CHECK: %[[ROWSTEP:.*]] = affine.min #[[$MOSTROWS]](%[[ROWSOF]])
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %[[ROWSTEP]]
// CHECK: %[[ROWS:.*]] = tensor.extract_slice %[[X]]
// CHECK: %[[SUM:.*]] = linalg.fill
// CHECK: %[[PRODUCT:.*]] = linalg.generic {{.*}} ins(%[[ROWS]], %[[PANEL]] : tensor<?x48xf32>, tensor<1x48x32xf32>) outs(%[[SUM]] : tensor<?x32xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[PRODUCT]],
// CHECK: math.tanh
// CHECK-NOT: linalg.generic
// The work in terms of the number of rows of the first argument.
// CHECK: } {tile.kernel = #tile.kernel<"linear 48 -> 64, bias, tanh", row_wise>, tile.work = #tile.work<flops = <[#xfmr.argument<0, 0>], affine_map<()[s0] -> (s0 * 6144)>>>}
// A single row has four panels per tile. An attribute says whether all columns belong to whole panels.
// STREAM-LABEL: @projection
// STREAM: %[[ROW:.*]] = arith.cmpi ule, %{{.*}}, %c1 : index
// STREAM: %[[COLUMNS:.*]] = arith.select %[[ROW]], %c128, %c32
// STREAM: %[[COLUMNSTEP:.*]] = affine.min {{.*}}[%[[COLUMNS]]]
// STREAM: scf.forall (%{{.*}}, %[[J:.*]]) = (0, 0) to (%{{.*}}, 64) step (%{{.*}}, %[[COLUMNSTEP]])
// STREAM: linalg.generic {{.*}}tile.whole_panels
// STREAM-LABEL: @tail_columns
// STREAM-NOT: tile.whole_panels
// STREAM-LABEL: @deep
// NARROW-LABEL: @projection
// NARROW: %[[STEP:.*]] = affine.min #[[$MOST]]()
// NARROW: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (%{{.*}}, 64) step (%[[STEP]], 16)
// NARROW: %[[ROWSTEP:.*]] = affine.min #[[$MOSTROWS]](
// NARROW: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[ROWSTEP]]
func.func @projection(%x: tensor<?x48xf32>, %w: tensor<64x48xf32>, %b: tensor<64xf32>) -> tensor<?x64xf32> {
  %y = xfmr.linear %x, %w bias(%b) {activation = #xfmr.activation<tanh>} : tensor<?x48xf32>, tensor<64x48xf32>, bias tensor<64xf32>
  return %y : tensor<?x64xf32>
}

// The last tile has fewer columns.
// CHECK-LABEL: @tail_columns
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (%{{.*}}, 50) step (%{{.*}}, 32)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x48xf32>, tensor<?x48x?xf32>) outs(%{{.*}} : tensor<?x?xf32>)
func.func @tail_columns(%x: tensor<?x48xf32>, %w: tensor<50x48xf32>) -> tensor<?x50xf32> {
  %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<50x48xf32>
  return %y : tensor<?x50xf32>
}

// 524288 bytes hold 40 rows of 3072 inputs, in whole register tiles.
// CHECK-LABEL: @deep
// CHECK: %[[STEP:.*]] = affine.min #[[$DEEP]]()
// CHECK: scf.forall {{.*}} step (%[[STEP]], 32)
func.func @deep(%x: tensor<?x3072xf32>, %w: tensor<64x3072xf32>) -> tensor<?x64xf32> {
  %y = xfmr.linear %x, %w : tensor<?x3072xf32>, tensor<64x3072xf32>
  return %y : tensor<?x64xf32>
}

// Blocks of rows; a value that several operations of the kernel read is computed once, into memory of its own.
// CHECK-LABEL: @norm
// CHECK: scf.forall (%{{.*}}) = (0) to (%{{.*}}) step (8)
// CHECK: %[[X:.*]] = linalg.generic
// CHECK: arith.addf
// CHECK: %[[OWN1:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
// CHECK: %[[ZERO1:.*]] = linalg.fill {{.*}} outs(%[[OWN1]]
// CHECK: %[[OWN2:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
// CHECK: %[[ZERO2:.*]] = linalg.fill {{.*}} outs(%[[OWN2]]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[X]] : {{.*}} outs(%[[ZERO2]]
// CHECK: %[[SQUARES:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[SUM]] : {{.*}} outs(%[[ZERO1]]
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[SUM]], %[[SQUARES]],
// CHECK-NOT: linalg.generic
// CHECK: } {tile.kernel = #tile.kernel<"layer_norm 33, residual", row_wise>}
// NARROW-LABEL: @norm
// NARROW: scf.forall (%{{.*}}) = (0) to (%{{.*}}) step (2)
func.func @norm(%x: tensor<?x33xf32>, %r: tensor<?x33xf32>, %w: tensor<33xf32>, %b: tensor<33xf32>) -> tensor<?x33xf32> {
  %y = xfmr.layer_norm %x, %w, %b residual(%r : tensor<?x33xf32>) {epsilon = 1.0e-5 : f64} : tensor<?x33xf32>, tensor<33xf32>, tensor<33xf32>
  return %y : tensor<?x33xf32>
}

// The result of another kernel is read, not computed again.
// CHECK-LABEL: @two_kernels
// CHECK: %[[FIRST:.*]] = scf.forall
// CHECK: } {tile.kernel = #tile.kernel<"linear 48 -> 64", row_wise>, tile.work = #tile.work<flops = <[#xfmr.argument<0, 0>], affine_map<()[s0] -> (s0 * 6144)>>>}
// CHECK: scf.forall
// CHECK: tensor.extract_slice %[[FIRST]]
// CHECK-NOT: xfmr.weight_pack
// CHECK: } {tile.kernel = #tile.kernel<"linear 64 -> 48, relu", row_wise>, tile.work = #tile.work<flops = <[#xfmr.argument<0, 0>], affine_map<()[s0] -> (s0 * 6144)>>>}
func.func @two_kernels(%x: tensor<?x48xf32>, %w: tensor<64x48xf32>, %v: tensor<48x64xf32>) -> tensor<?x48xf32> {
  %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<64x48xf32>
  %z = xfmr.linear %y, %v {activation = #xfmr.activation<relu>} : tensor<?x64xf32>, tensor<48x64xf32>
  return %z : tensor<?x48xf32>
}

// All dimensions but the last two get loops with step 1.
// CHECK-LABEL: @rank_4
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) = (0, 0, 0) to (%{{.*}}, 4, %{{.*}}) step (1, 1, 8)
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<1x1x?x?xf32>)
// CHECK: } {tile.kernel = #tile.kernel<"fill", row_wise>}
func.func @rank_4(%a: index, %b: index) -> tensor<?x4x?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%a, %b, %b) : tensor<?x4x?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  return %f : tensor<?x4x?x?xf32>
}

// CHECK-LABEL: @negative_rank_1
// CHECK-NOT: scf
// CHECK: linalg.fill
func.func @negative_rank_1(%a: index) -> tensor<?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%a) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %f : tensor<?xf32>
}

// A kernel that is tiled already is not changed.
// CHECK-LABEL: @negative_inside_forall
// CHECK: scf.forall
// CHECK-NOT: scf.forall
// CHECK: linalg.fill
func.func @negative_inside_forall(%t: tensor<4x8x8xf32>) -> tensor<4x8x8xf32> {
  %r = scf.forall (%i) in (4) shared_outs(%o = %t) -> (tensor<4x8x8xf32>) {
    %zero = arith.constant 0.0 : f32
    %s = tensor.extract_slice %o[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<4x8x8xf32> to tensor<8x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%s : tensor<8x8xf32>) -> tensor<8x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %f into %o[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<8x8xf32> into tensor<4x8x8xf32>
    }
  }
  return %r : tensor<4x8x8xf32>
}

// Row-wise is what computes a row from the same row of some operands, and others as a whole: not what depends on the number of the row,
// on how many there are, on all rows of a tensor beside its own, or has rows for columns.
// CHECK-LABEL: @rows
// CHECK: } {tile.kernel = #tile.kernel<"looked up", row_wise>}
// CHECK-LABEL: @row_number
// CHECK: } {tile.kernel = #tile.kernel<"numbered">}
// CHECK-LABEL: @row_count
// CHECK: } {tile.kernel = #tile.kernel<"counted">}
// CHECK-LABEL: @all_rows
// CHECK: } {tile.kernel = #tile.kernel<"gathered">}
// CHECK-LABEL: @transposed
// CHECK: } {tile.kernel = #tile.kernel<"transposed">}
#same = affine_map<(m, n) -> (m, n)>
func.func @rows(%ids: tensor<?xi64>, %table: tensor<9x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m)>, #same], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%e : tensor<?x8xf32>) attrs = {tile.group = #tile.group<0, "looked up">} {
  ^bb0(%id: i64, %out: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 1 : index
    %value = tensor.extract %table[%row, %column] : tensor<9x8xf32>
    linalg.yield %value : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
func.func @row_number(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) attrs = {tile.group = #tile.group<0, "numbered">} {
  ^bb0(%in: f32, %out: f32):
    %row = linalg.index 0 : index
    %number = arith.index_cast %row : index to i64
    %float = arith.sitofp %number : i64 to f32
    linalg.yield %float : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
func.func @row_count(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) attrs = {tile.group = #tile.group<0, "counted">} {
  ^bb0(%in: f32, %out: f32):
    %number = arith.index_cast %n : index to i64
    %float = arith.sitofp %number : i64 to f32
    linalg.yield %float : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
func.func @all_rows(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) attrs = {tile.group = #tile.group<0, "gathered">} {
  ^bb0(%in: f32, %out: f32):
    %first = tensor.extract %x[%c0, %c0] : tensor<?x8xf32>
    %sum = arith.addf %in, %first : f32
    linalg.yield %sum : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
func.func @transposed(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n, m)>, #same], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) attrs = {tile.group = #tile.group<0, "transposed">} {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// Operations that nothing uses are erased while others are tiled.
// CHECK-LABEL: @unused
// CHECK: scf.forall (
// CHECK-NOT: scf.forall (
func.func @unused(%x: tensor<?x48xf32>, %w: tensor<64x48xf32>) -> tensor<?x64xf32> {
  %dead = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<64x48xf32>
  %dead2 = xfmr.activation <relu> %dead : tensor<?x64xf32>
  %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<64x48xf32>
  return %y : tensor<?x64xf32>
}

// The size in bytes of a row with this many inputs does not fit in 64 bits.
// CHECK-LABEL: @overflow
// CHECK: scf.forall
func.func @overflow(%x: tensor<?x4611686018427387904xf32>, %w: tensor<32x4611686018427387904xf32>) -> tensor<?x32xf32> {
  %y = xfmr.linear %x, %w : tensor<?x4611686018427387904xf32>, tensor<32x4611686018427387904xf32>
  return %y : tensor<?x32xf32>
}
