// RUN: attune-opt %s --attune-distribute-to-threads=threads=128 --split-input-file --verify-diagnostics | FileCheck %s
// RUN: attune-opt %s --attune-distribute-to-threads=threads=64 --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=OTHER

// A warp per row: scores of 32 keys at once, maximum and sum over lanes, probabilities broadcast.
// CHECK-LABEL: func.func @attention
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args
// CHECK: math.fma
// CHECK: gpu.shuffle xor
// CHECK: llvm.intr.exp2
// CHECK-COUNT-32: gpu.shuffle idx
// CHECK-NOT: tile.attention_tile
func.func @attention(%q: memref<?x1x12xf32>, %k: memref<?x12x64xf32>, %v: memref<?x12xf32>, %o: memref<?x1x12xf32>, %p: index, %n: index) {
  scf.forall (%i) in (%n) {
    tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x64xf32>, memref<?x12xf32>) at(%p) outs(%o : memref<?x1x12xf32>)
        {scale = 0.125 : f64, key_block = 512 : i64, causal}
  }
  return
}

// -----

// Tiles of 64 x 64: three stages are copied ahead, a warp has 32 x 32 sums, 8 products for each 16 components. The sums go to the epilogue,
// not to the buffer between.
// CHECK-LABEL: func.func @narrow_tiles
// CHECK-NOT: memref.store
// CHECK: nvvm.cp.async.shared.global {{.*}}, 16, cache = cg
// CHECK-COUNT-3: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 2
// CHECK-NEXT: gpu.barrier
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.ldmatrix
// CHECK-COUNT-16: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-COUNT-4: arith.mulf
// CHECK: memref.store
// CHECK-NOT: rt.worker_id
// Blocks of other sizes do not use tensor cores.
// OTHER-LABEL: func.func @narrow_tiles
// OTHER-NOT: nvvm.
// OTHER: arith.extf
// OTHER-NOT: nvvm.
// OTHER-LABEL: func.func
func.func @narrow_tiles(%x: memref<?x64xbf16>, %w: memref<1x8x64x8xbf16>, %o: memref<?x64xf32>, %workspace: memref<?xi8>, %m: index) {
  %zero = arith.constant 0.0 : f32
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 16384 : index
  scf.forall (%i, %j) = (0, 0) to (%m, 64) step (64, 64) {
    %worker = rt.worker_id
    %at = arith.muli %worker, %bytes : index
    %s = memref.view %workspace[%at][%c64] : memref<?xi8> to memref<?x64xf32>
    linalg.fill ins(%zero : f32) outs(%s : memref<?x64xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 64, k floordiv 8, n mod 64, k mod 8)>,
                                     affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : memref<?x64xbf16>, memref<1x8x64x8xbf16>) outs(%s : memref<?x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    }
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%s : memref<?x64xf32>) outs(%o : memref<?x64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.mulf %a, %a : f32
      linalg.yield %0 : f32
    }
  }
  return
}

// -----

// The operation has the maps of a product, but it does not add products.
// CHECK-LABEL: func.func @negative_largest_differences
// CHECK-NOT: nvvm.mma
// CHECK: arith.subf
// CHECK: arith.maximumf
// CHECK-NOT: nvvm.mma
// CHECK: return
func.func @negative_largest_differences(%x: memref<16x32xbf16>, %w: memref<1x4x64x8xbf16>, %d: memref<16x64xf32>) {
  scf.forall (%i) in (1) {
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 64, k floordiv 8, n mod 64, k mod 8)>,
                                     affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : memref<16x32xbf16>, memref<1x4x64x8xbf16>) outs(%d : memref<16x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.subf %0, %1 : f32
      %3 = arith.maximumf %c, %2 : f32
      linalg.yield %3 : f32
    }
  }
  return
}

// -----

// The sums are stored in the caller's memory, where later operations read them.
// CHECK-LABEL: func.func @negative_sums_seen_by_others
// CHECK-SAME: %[[SUMS:[a-z0-9]*]]: memref<?x64xf32>, %{{[a-z0-9]*}}: index
// CHECK: nvvm.mma.sync
// CHECK: memref.store %{{.*}}, %[[SUMS]]
// CHECK: memref.load %[[SUMS]]
// CHECK: arith.mulf
func.func @negative_sums_seen_by_others(%x: memref<?x64xbf16>, %w: memref<1x8x64x8xbf16>, %o: memref<?x64xf32>, %sums: memref<?x64xf32>, %m: index) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i, %j) = (0, 0) to (%m, 64) step (64, 64) {
    linalg.fill ins(%zero : f32) outs(%sums : memref<?x64xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 64, k floordiv 8, n mod 64, k mod 8)>,
                                     affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : memref<?x64xbf16>, memref<1x8x64x8xbf16>) outs(%sums : memref<?x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    }
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%sums : memref<?x64xf32>) outs(%o : memref<?x64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.mulf %a, %a : f32
      linalg.yield %0 : f32
    }
  }
  return
}

// -----

// The host takes the form for the columns of a block; each is a kernel. Of 128 x 128 a warp has 64 x 64.
// CHECK-LABEL: func.func @forms
// CHECK: arith.cmpi sle, %[[COLUMNS:.*]], %c16
// CHECK: scf.if
// CHECK: scf.forall
// CHECK-NOT: nvvm.ldmatrix
// CHECK-COUNT-4: nvvm.mma.sync {{.*}}f16
// CHECK-NOT: nvvm.mma.sync
// CHECK: } else {
// CHECK: scf.if
// CHECK: scf.forall
// CHECK-COUNT-16: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: } else {
// CHECK: scf.forall
// CHECK-COUNT-64: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
func.func @forms(%x: memref<?x64xf16>, %w: memref<2x8x64x8xf16>, %o: memref<?x128xf32>, %m: index, %columns: index) {
  scf.forall (%i, %j) = (0, 0) to (%m, 128) step (64, %columns) {
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 64, k floordiv 8, n mod 64, k mod 8)>,
                                     affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : memref<?x64xf16>, memref<2x8x64x8xf16>) outs(%o : memref<?x128xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    }
  }
  return
}

// -----

// 64 keys at a time: 4 x 2 products for scores of 16 components, 4 x 2 for values; the weights are the operands of the latter. Few rows are
// warps' work.
// CHECK-LABEL: func.func @flash_attention
// CHECK: scf.if
// CHECK-COUNT-32: gpu.shuffle idx
// CHECK: } else {
// CHECK: ff2bf16x2
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK: nvvm.ldmatrix {{.*}}col
// CHECK-COUNT-8: nvvm.mma.sync
// CHECK: gpu.shuffle xor
// CHECK: llvm.intr.exp2
// CHECK-COUNT-8: nvvm.mma.sync
// Keys that are visible to all rows have a loop without mask tests; keys that only some rows see have a second loop.
// CHECK: scf.yield
// CHECK: scf.for
// CHECK-COUNT-8: nvvm.mma.sync
// CHECK: arith.cmpi sgt, %{{.*}}, %c0_i32 : i32
// CHECK: llvm.intr.exp2
// CHECK-COUNT-8: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
func.func @flash_attention(%q: memref<?x1x12xf32>, %k: memref<?x12x64xf32>, %v: memref<?x12xf32>, %o: memref<?x1x12xf32>, %p: index, %n: index) {
  scf.forall (%i) in (%n) {
    tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x64xf32>, memref<?x12xf32>) at(%p) outs(%o : memref<?x1x12xf32>)
        {scale = 0.125 : f64, key_block = 512 : i64, causal, precision = #xfmr.precision<bf16>}
  }
  return
}

// -----

// Keys and values that are rounded already: copies of the next 64 are under way while these are multiplied.
// CHECK-LABEL: func.func @flash_attention_of_rows
// CHECK-NOT: gpu.shuffle idx
// CHECK-NOT: ff2bf16x2
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.ldmatrix {{.*}}row
// CHECK-COUNT-16: nvvm.mma.sync
// CHECK: llvm.intr.exp2
// CHECK: ff2bf16x2
// CHECK: nvvm.ldmatrix {{.*}}col
// CHECK: nvvm.mma.sync
func.func @flash_attention_of_rows(%q: memref<?x1x24xbf16>, %k: memref<?x24xbf16>, %v: memref<?x24xbf16>, %o: memref<?x1x24xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    tile.attention_tile ins(%q, %k, %v : memref<?x1x24xbf16>, memref<?x24xbf16>, memref<?x24xbf16>) outs(%o : memref<?x1x24xf32>)
        {scale = 0.125 : f64, key_block = 512 : i64, precision = #xfmr.precision<bf16>}
  }
  return
}

// -----

// One tile of rows has no loop around it, which would need registers for the values that all tiles share. A thread's
// rows of a stage lie at constant distances: of a head of 64 components it copies 4 rows of keys and of values, 16 rows
// (32768 bytes) apart, from two addresses.
// CHECK-LABEL: func.func @one_tile_of_rows
// CHECK: arith.cmpi sgt
// CHECK-NEXT: scf.if
// CHECK-NOT: scf.for
// CHECK: %[[FROM:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
// CHECK: nvvm.cp.async.shared.global
// CHECK: %[[STEP:.*]] = arith.constant 32768 : i64
// CHECK-NEXT: llvm.getelementptr %[[FROM]][%[[STEP]]]
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
func.func @one_tile_of_rows(%q: memref<?x4x64xbf16>, %k: memref<?x64xbf16, strided<[1024, 1]>>, %v: memref<?x64xbf16, strided<[1024, 1]>>,
                            %o: memref<?x4x64xf32>, %m: index, %n: index) {
  %c16 = arith.constant 16 : index
  scf.forall (%i) in (%n) {
    %rows = arith.minsi %m, %c16 : index
    %tile = memref.subview %q[%i, 0, 0] [%rows, 4, 64] [1, 1, 1] : memref<?x4x64xbf16> to memref<?x4x64xbf16, strided<[256, 64, 1], offset: ?>>
    tile.attention_tile ins(%tile, %k, %v : memref<?x4x64xbf16, strided<[256, 64, 1], offset: ?>>, memref<?x64xbf16, strided<[1024, 1]>>, memref<?x64xbf16, strided<[1024, 1]>>)
        outs(%o : memref<?x4x64xf32>) {scale = 0.125 : f64, key_block = 512 : i64, precision = #xfmr.precision<bf16>}
  }
  return
}

// -----

// Attention with score stages has this form for every option.
// CHECK-LABEL: func.func @negative_flash_attention
// CHECK-NOT: nvvm.mma.sync
func.func @negative_flash_attention(%q: memref<?x1x12xf32>, %k: memref<?x12x64xf32>, %v: memref<?x12xf32>, %o: memref<?x1x12xf32>, %s: memref<1x?x?xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x64xf32>, memref<?x12xf32>) outs(%o, %s : memref<?x1x12xf32>, memref<1x?x?xf32>)
        {scale = 0.125 : f64, key_block = 512 : i64, precision = #xfmr.precision<bf16>}
  }
  return
}

// -----

// An f32 product of one tile, 64 rows and 64 columns, is computed with the operands in shared memory; one of two panels is not, but
// in full.
// CHECK-LABEL: func.func @one_tile
// CHECK: memref<4224xf32, #gpu.address_space<workgroup>>
// CHECK-LABEL: func.func @negative_two_panels
// CHECK-NOT: workgroup
// CHECK: memref.store
// CHECK-NOT: workgroup
// CHECK: return
func.func @one_tile(%x: memref<?x16xf32>, %w: memref<1x16x64xf32>, %o: memref<?x64xf32>, %m: index) {
  scf.forall (%i) = (0) to (%m) step (64) {
    %rows = affine.min affine_map<(i)[m] -> (m - i, 64)>(%i)[%m]
    %xs = memref.subview %x[%i, 0] [%rows, 16] [1, 1] : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
    %os = memref.subview %o[%i, 0] [%rows, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 64, k, n mod 64)>,
                                     affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%xs, %w : memref<?x16xf32, strided<[16, 1], offset: ?>>, memref<1x16x64xf32>) outs(%os : memref<?x64xf32, strided<[64, 1], offset: ?>>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    }
  }
  return
}
func.func @negative_two_panels(%x: memref<?x16xf32>, %w: memref<2x16x64xf32>, %o: memref<?x128xf32>, %m: index) {
  scf.forall (%i) = (0) to (%m) step (64) {
    %rows = affine.min affine_map<(i)[m] -> (m - i, 64)>(%i)[%m]
    %xs = memref.subview %x[%i, 0] [%rows, 16] [1, 1] : memref<?x16xf32> to memref<?x16xf32, strided<[16, 1], offset: ?>>
    %os = memref.subview %o[%i, 0] [%rows, 128] [1, 1] : memref<?x128xf32> to memref<?x128xf32, strided<[128, 1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 64, k, n mod 64)>,
                                     affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%xs, %w : memref<?x16xf32, strided<[16, 1], offset: ?>>, memref<2x16x64xf32>) outs(%os : memref<?x128xf32, strided<[128, 1], offset: ?>>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    }
  }
  return
}

// -----

// As many rows as the caller passes may be more than a tile.
// CHECK-LABEL: func.func @negative_unbounded_rows
// CHECK-NOT: workgroup
// CHECK: memref.store
// CHECK-NOT: workgroup
// CHECK: return
func.func @negative_unbounded_rows(%x: memref<?x16xf32>, %w: memref<1x16x64xf32>, %o: memref<?x64xf32>, %m: index) {
  scf.forall (%i) in (%m) {
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 64, k, n mod 64)>,
                                     affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : memref<?x16xf32>, memref<1x16x64xf32>) outs(%o : memref<?x64xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    }
  }
  return
}
