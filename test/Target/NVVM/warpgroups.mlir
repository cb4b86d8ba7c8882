// RUN: attune-opt %s --attune-distribute-to-threads=specific-arch=90 --attune-place-in-shared=bytes=73728 --split-input-file | FileCheck %s
// RUN: attune-opt %s --attune-distribute-to-threads --split-input-file | FileCheck %s --check-prefix=NONE
// NONE-NOT: rt.device_arch_is
// NONE-NOT: wgmma

#rows = affine_map<(d0)[s0] -> (-d0 + s0, 128)>
#columns = affine_map<(d0)[s0] -> (-d0 + 300, s0)>
#panel = affine_map<(d0) -> (d0 floordiv 64)>
#inPanel = affine_map<(d0) -> (d0 mod 64)>
#panels = affine_map<(d0) -> ((d0 - 1) floordiv 64 + 1)>

// On sm_90a, and if tiles are large, one thread loads TMA tiles of both matrices into a ring of pipeline stages, and two warpgroups multiply
// m64n256k16 four times for each, and store sums with the epilogue. Tiles of 64 x 64 are replaced by tiles of 128 x 64.
// CHECK-LABEL: func.func @projection
// CHECK: rt.device_arch_is 90
// CHECK-DAG: rt.tensor_map %arg0 {{.*}} {box = array<i64: 128, 64>, element_bytes = 2 : i64, swizzle = 128 : i64}
// CHECK-DAG: rt.tensor_map %arg1 {{.*}} {box = array<i64: 8, 1, 256>, element_bytes = 4 : i64, swizzle = 0 : i64}
// Eight stages of 24 KiB, and their barriers.
// CHECK: memref<196608xi8
// CHECK: memref<8xi64
// CHECK-COUNT-8: wgmma.mma_async.sync.aligned.m64n64k16
// CHECK: scf.if
// CHECK: %[[ON:.*]] = rt.device_arch_is 90
// CHECK: scf.if
// CHECK-DAG: %[[A:.*]] = rt.tensor_map %arg0 {{.*}} {box = array<i64: 128, 64>, element_bytes = 2 : i64, swizzle = 128 : i64}
// CHECK-DAG: %[[B:.*]] = rt.tensor_map %arg1 {{.*}} {box = array<i64: 8, 4, 256>, element_bytes = 4 : i64, swizzle = 0 : i64}
// CHECK: rt.worker_count
// CHECK: scf.forall
// CHECK: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: gpu.barrier
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[A]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[B]]
// CHECK: nvvm.setmaxregister increase 232
// CHECK: nvvm.mbarrier.try_wait.parity
// The first product of a tile has no sums to add to, so nothing writes zeros to registers after the fence.
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-NEXT: setp.ne.b32 p, 0, 0; {{.*}} wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{.*}}"=&f,
// CHECK-SAME: =&f,r,r" %{{[0-9]+}}, %{{[0-9]+}} :
// CHECK-COUNT-3: setp.ne.b32 p, 1, 0; {{.*}} wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// CHECK-NOT: wgmma.mma_async
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NOT: wgmma.wait
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-COUNT-4: setp.ne.b32 p, 1, 0; {{.*}} wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// CHECK-NOT: wgmma.mma_async
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvvm.mbarrier.arrive
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: nvvm.barrier id =
// CHECK: math.absf
// CHECK: memref.store
// CHECK: {rt.launch = #rt.launch<threads = 384, shared_bytes = 217{{[0-9]+}}, arch = 90>}
// Other GPUs use tiles of 128 x 128.
// CHECK: } else {
// CHECK: scf.forall
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.mma.sync
func.func @projection(%x: memref<?x96xbf16>, %w: memref<5x12x64x8xbf16>, %o: memref<?x300xf32>, %workspace: memref<?xi8>, %m: index, %r: index, %c: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  scf.forall (%i, %j) = (0, 0) to (%m, 300) step (%r, %c) {
    %rows = affine.min #rows(%i)[%m]
    %columns = affine.min #columns(%j)[%c]
    %p = affine.apply #panel(%j)
    %q = affine.apply #inPanel(%j)
    %panels = affine.apply #panels(%columns)
    %a = memref.subview %x[%i, 0] [%rows, 96] [1, 1] : memref<?x96xbf16> to memref<?x96xbf16, strided<[96, 1], offset: ?>>
    %b = memref.subview %w[%p, 0, %q, 0] [%panels, 12, %columns, 8] [1, 1, 1, 1] : memref<5x12x64x8xbf16> to memref<?x12x?x8xbf16, strided<[6144, 512, 8, 1], offset: ?>>
    %s = memref.view %workspace[%c0][%rows, %columns] : memref<?xi8> to memref<?x?xf32>
    %t = memref.subview %o[%i, %j] [%rows, %columns] [1, 1] : memref<?x300xf32> to memref<?x?xf32, strided<[300, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%s : memref<?x?xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 64, k floordiv 8, n mod 64, k mod 8)>,
                                     affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<?x96xbf16, strided<[96, 1], offset: ?>>, memref<?x12x?x8xbf16, strided<[6144, 512, 8, 1], offset: ?>>) outs(%s : memref<?x?xf32>) {
    ^bb0(%a0: bf16, %b0: bf16, %c1: f32):
      %0 = arith.extf %a0 : bf16 to f32
      %1 = arith.extf %b0 : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c1, %2 : f32
      linalg.yield %3 : f32
    }
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%s : memref<?x?xf32>) outs(%t : memref<?x?xf32, strided<[300, 1], offset: ?>>) {
    ^bb0(%a0: f32, %b0: f32):
      %0 = math.absf %a0 : f32
      linalg.yield %0 : f32
    }
  }
  return
}

// -----

#rows = affine_map<(d0)[s0] -> (-d0 + s0, 128)>
#columns = affine_map<(d0)[s0] -> (-d0 + 300, s0)>
#panel = affine_map<(d0) -> (d0 floordiv 64)>
#inPanel = affine_map<(d0) -> (d0 mod 64)>
#panels = affine_map<(d0) -> ((d0 - 1) floordiv 64 + 1)>

// A loop whose iteration i does not begin at row i of the input.
// CHECK-LABEL: func.func @negative_rows
// CHECK-NOT: rt.device_arch_is
func.func @negative_rows(%x: memref<?x96xbf16>, %w: memref<5x12x64x8xbf16>, %o: memref<?x300xf32>, %workspace: memref<?xi8>, %m: index, %r: index, %c: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  scf.forall (%i, %j) = (0, 0) to (%m, 300) step (%r, %c) {
    %rows = affine.min #rows(%i)[%m]
    %columns = affine.min #columns(%j)[%c]
    %p = affine.apply #panel(%j)
    %q = affine.apply #inPanel(%j)
    %panels = affine.apply #panels(%columns)
    %i2 = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    %a = memref.subview %x[%i2, 0] [%rows, 96] [1, 1] : memref<?x96xbf16> to memref<?x96xbf16, strided<[96, 1], offset: ?>>
    %b = memref.subview %w[%p, 0, %q, 0] [%panels, 12, %columns, 8] [1, 1, 1, 1] : memref<5x12x64x8xbf16> to memref<?x12x?x8xbf16, strided<[6144, 512, 8, 1], offset: ?>>
    %s = memref.view %workspace[%c0][%rows, %columns] : memref<?xi8> to memref<?x?xf32>
    %t = memref.subview %o[%i, %j] [%rows, %columns] [1, 1] : memref<?x300xf32> to memref<?x?xf32, strided<[300, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%s : memref<?x?xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 64, k floordiv 8, n mod 64, k mod 8)>,
                                     affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<?x96xbf16, strided<[96, 1], offset: ?>>, memref<?x12x?x8xbf16, strided<[6144, 512, 8, 1], offset: ?>>) outs(%s : memref<?x?xf32>) {
    ^bb0(%a0: bf16, %b0: bf16, %c1: f32):
      %0 = arith.extf %a0 : bf16 to f32
      %1 = arith.extf %b0 : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c1, %2 : f32
      linalg.yield %3 : f32
    }
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%s : memref<?x?xf32>) outs(%t : memref<?x?xf32, strided<[300, 1], offset: ?>>) {
    ^bb0(%a0: f32, %b0: f32):
      %0 = math.absf %a0 : f32
      linalg.yield %0 : f32
    }
  }
  return
}

// -----

#rows = affine_map<(d0)[s0] -> (-d0 + s0, 128)>
#columns = affine_map<(d0)[s0] -> (-d0 + 300, s0)>
#panel = affine_map<(d0) -> (d0 floordiv 64)>
#inPanel = affine_map<(d0) -> (d0 mod 64)>
#panels = affine_map<(d0) -> ((d0 - 1) floordiv 64 + 1)>

// Nor one that begins a number of rows behind it.
// CHECK-LABEL: func.func @negative_row_offset
// CHECK-NOT: rt.device_arch_is
func.func @negative_row_offset(%x: memref<?x96xbf16>, %w: memref<5x12x64x8xbf16>, %o: memref<?x300xf32>, %workspace: memref<?xi8>, %m: index, %r: index, %c: index) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  scf.forall (%i, %j) = (0, 0) to (%m, 300) step (%r, %c) {
    %rows = affine.min #rows(%i)[%m]
    %columns = affine.min #columns(%j)[%c]
    %p = affine.apply #panel(%j)
    %q = affine.apply #inPanel(%j)
    %panels = affine.apply #panels(%columns)
    %i2 = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%i, %m)
    %a = memref.subview %x[%i2, 0] [%rows, 96] [1, 1] : memref<?x96xbf16> to memref<?x96xbf16, strided<[96, 1], offset: ?>>
    %b = memref.subview %w[%p, 0, %q, 0] [%panels, 12, %columns, 8] [1, 1, 1, 1] : memref<5x12x64x8xbf16> to memref<?x12x?x8xbf16, strided<[6144, 512, 8, 1], offset: ?>>
    %s = memref.view %workspace[%c0][%rows, %columns] : memref<?xi8> to memref<?x?xf32>
    %t = memref.subview %o[%i, %j] [%rows, %columns] [1, 1] : memref<?x300xf32> to memref<?x?xf32, strided<[300, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%s : memref<?x?xf32>)
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 64, k floordiv 8, n mod 64, k mod 8)>,
                                     affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<?x96xbf16, strided<[96, 1], offset: ?>>, memref<?x12x?x8xbf16, strided<[6144, 512, 8, 1], offset: ?>>) outs(%s : memref<?x?xf32>) {
    ^bb0(%a0: bf16, %b0: bf16, %c1: f32):
      %0 = arith.extf %a0 : bf16 to f32
      %1 = arith.extf %b0 : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c1, %2 : f32
      linalg.yield %3 : f32
    }
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%s : memref<?x?xf32>) outs(%t : memref<?x?xf32, strided<[300, 1], offset: ?>>) {
    ^bb0(%a0: f32, %b0: f32):
      %0 = math.absf %a0 : f32
      linalg.yield %0 : f32
    }
  }
  return
}

// -----

// A loop that adds to its output, or computes more than one projection, has no such version.
// CHECK-LABEL: func.func @negative_projection
// CHECK-NOT: rt.device_arch_is
// CHECK: nvvm.mma.sync
func.func @negative_projection(%x: memref<?x64xf16>, %w: memref<2x8x64x8xf16>, %o: memref<?x128xf32>, %m: index, %columns: index) {
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

// Blocks that stay, half as many as there are workers, for one pair of tiles after the other: one thread loads TMA tiles of keys and
// values into a ring of stages of 128 keys; each of two warpgroups keeps queries in shared memory and multiplies them by keys, m64n128k16 for each 16 of 64 components, and probabilities in registers by values, m64n128k16 for each 16
// of 128 keys. The products of the next keys and of these values run while probabilities are computed.
// CHECK-LABEL: func.func @attention
// CHECK: rt.device_arch_is 90
// CHECK: scf.if
// CHECK-DAG: %[[K:.*]] = rt.tensor_map %arg1 {{.*}} {box = array<i64: 128, 1, 64>, element_bytes = 2 : i64, swizzle = 128 : i64} : memref<?x2x64xbf16>
// CHECK-DAG: %[[V:.*]] = rt.tensor_map %arg2 {{.*}} {box = array<i64: 128, 1, 64>, element_bytes = 2 : i64, swizzle = 128 : i64} : memref<?x2x128xbf16>
// CHECK: %[[WORKERS:.*]] = rt.worker_count
// CHECK: %[[UP:.*]] = arith.addi %[[WORKERS]], %c1
// CHECK: %[[HALF:.*]] = arith.divui %[[UP]], %c2
// CHECK: arith.constant 33554432 : index
// CHECK: %[[BLOCKS:.*]] = arith.minsi %{{.*}}, %[[HALF]]
// CHECK: scf.forall (%{{.*}}) in (%[[BLOCKS]]) {
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %{{.*}} step %c1{{.*}} -> (i32, index) : i32
// CHECK-NOT: arith.truncf
// CHECK-NOT: ff2bf16x2
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK-COUNT-1: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[K]]
// CHECK-NOT: cp.async
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[V]]
// The last stage may have more than the keys of this sequence: their values are cleared.
// CHECK: } else {
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[V]]
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: vector.store %{{.*}} : memref<{{[0-9]+}}xi32, {{.*}}>, vector<4xi32>
// CHECK: nvvm.fence.proxy
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.mbarrier.arrive
// CHECK: nvvm.setmaxregister increase 232
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %{{.*}} step %c1{{.*}} -> (i32) : i32
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{{.*}}}, a, b, p, 1, 1, 0, 0
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: llvm.intr.exp2
// CHECK: scf.for
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-NEXT: setp.ne.b32 p, 0, 0; {{.*}} wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{{.*}}}, a, b, p, 1, 1, 0, 0
// CHECK-COUNT-3: setp.ne.b32 p, 1, 0; {{.*}} wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{{.*}}}, a, b, p, 1, 1, 0, 0
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// The fence orders accesses of both results and operands.
// CHECK: wgmma.fence.sync.aligned;{{.*}},63,r,r,
// CHECK-COUNT-8: setp.ne.b32 p, 1, 0; {{.*}} wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{{.*}}}, {$128, $129, $130, $131}, b, p, 1, 1, 1
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: wgmma.wait_group.sync.aligned 1;
// CHECK: llvm.intr.exp2
// The wait has the operands of products in flight as operands, and probabilities are rounded to their registers after
// it: 64 results and 64 scores pass through.
// CHECK-NOT: ff2bf16x2
// CHECK: wgmma.wait_group.sync.aligned 0;{{.*}},127,r,r,
// CHECK: ff2bf16x2
// CHECK: {rt.launch = #rt.launch<threads = 384, {{.*}}arch = 90>}
// CHECK: } else {
// CHECK: nvvm.mma.sync
func.func @attention(%q: memref<?x1x64xf32>, %k: memref<?x2x64xbf16>, %v: memref<?x2x128xbf16>, %o: memref<?x1x128xf32>, %p: index, %n: index) {
  scf.forall (%b, %h, %i) in (%n, 2, %n) {
    %keys = memref.subview %k[%b, %h, 0] [%n, 1, 64] [1, 1, 1] : memref<?x2x64xbf16> to memref<?x64xbf16, strided<[128, 1], offset: ?>>
    %values = memref.subview %v[%b, %h, 0] [%n, 1, 128] [1, 1, 1] : memref<?x2x128xbf16> to memref<?x128xbf16, strided<[256, 1], offset: ?>>
    tile.attention_tile ins(%q, %keys, %values : memref<?x1x64xf32>, memref<?x64xbf16, strided<[128, 1], offset: ?>>, memref<?x128xbf16, strided<[256, 1], offset: ?>>)
        at(%p) outs(%o : memref<?x1x128xf32>) {scale = 0.125 : f64, key_block = 512 : i64, causal, precision = #xfmr.precision<bf16>}
  }
  return
}

// -----

// Keys of a cache are f32: a warpgroup loads 64 keys and values at a time and rounds them.
// CHECK-LABEL: func.func @cached_attention
// CHECK: rt.device_arch_is 90
// CHECK-NOT: rt.tensor_map
// CHECK: nvvm.setmaxregister decrease 56
// CHECK: ff2bf16x2
// CHECK: nvvm.fence.proxy
// CHECK: nvvm.mbarrier.arrive
// CHECK: nvvm.setmaxregister increase 224
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{{.*}}}, a, b, p, 1, 1, 0, 1
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: llvm.intr.exp2
// CHECK: {rt.launch = #rt.launch<threads = 384, {{.*}}arch = 90>}
// CHECK: } else {
// CHECK: nvvm.mma.sync
func.func @cached_attention(%q: memref<?x1x64xf32>, %k: memref<?x64x64xf32>, %v: memref<?x128xf32>, %o: memref<?x1x128xf32>, %p: index, %n: index) {
  scf.forall (%b, %h, %i) in (%n, 2, %n) {
    tile.attention_tile ins(%q, %k, %v : memref<?x1x64xf32>, memref<?x64x64xf32>, memref<?x128xf32>) at(%p) outs(%o : memref<?x1x128xf32>)
        {scale = 0.125 : f64, key_block = 512 : i64, causal, precision = #xfmr.precision<bf16>}
  }
  return
}

// -----

// A bias of distances takes registers: beside heads of 128 components, stages have 64 keys.
// CHECK-LABEL: func.func @biased_attention
// CHECK-COUNT-2: box = array<i64: 64, 64>
// CHECK: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16
// CHECK-LABEL: func.func @biased_attention_of_64
// CHECK-COUNT-2: box = array<i64: 128, 64>
// CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
func.func @biased_attention(%q: memref<?x1x128xf32>, %k: memref<?x128xbf16>, %v: memref<?x128xbf16>, %b: memref<2x?xf32>, %o: memref<?x1x128xf32>, %p: index, %n: index) {
  scf.forall (%s, %h, %i) in (%n, 2, %n) {
    tile.attention_tile ins(%q, %k, %v : memref<?x1x128xf32>, memref<?x128xbf16>, memref<?x128xbf16>) at(%p) distance_bias(%b : memref<2x?xf32>)
        outs(%o : memref<?x1x128xf32>) {scale = 1.0 : f64, key_block = 512 : i64, precision = #xfmr.precision<bf16>}
  }
  return
}
func.func @biased_attention_of_64(%q: memref<?x1x64xf32>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>, %b: memref<2x?xf32>, %o: memref<?x1x64xf32>, %p: index, %n: index) {
  scf.forall (%s, %h, %i) in (%n, 2, %n) {
    tile.attention_tile ins(%q, %k, %v : memref<?x1x64xf32>, memref<?x64xbf16>, memref<?x64xbf16>) at(%p) distance_bias(%b : memref<2x?xf32>)
        outs(%o : memref<?x1x64xf32>) {scale = 1.0 : f64, key_block = 512 : i64, precision = #xfmr.precision<bf16>}
  }
  return
}

// -----

// Heads of other sizes use mma.sync.
// CHECK-LABEL: func.func @negative_attention
// CHECK-NOT: rt.device_arch_is
// CHECK: nvvm.mma.sync
func.func @negative_attention(%q: memref<?x1x12xf32>, %k: memref<?x12x64xf32>, %v: memref<?x12xf32>, %o: memref<?x1x12xf32>, %p: index, %n: index) {
  scf.forall (%b, %h, %i) in (%n, 2, %n) {
    tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x64xf32>, memref<?x12xf32>) at(%p) outs(%o : memref<?x1x12xf32>)
        {scale = 0.125 : f64, key_block = 512 : i64, causal, precision = #xfmr.precision<bf16>}
  }
  return
}
