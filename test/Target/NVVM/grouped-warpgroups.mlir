// RUN: attune-opt %s --attune-distribute-to-threads=specific-arch=90 --attune-place-in-shared=bytes=73728 --split-input-file | FileCheck %s
// RUN: attune-opt %s --attune-distribute-to-threads --split-input-file | FileCheck %s --check-prefix=NONE
// NONE-NOT: rt.device_arch_is
// NONE-NOT: wgmma

#rows = affine_map<(d0)[s0] -> (-d0 + s0, 128)>
#columns = affine_map<(d0)[s0] -> (-d0 + 256, s0)>
#panel = affine_map<(d0) -> (d0 floordiv 16)>
#panels = affine_map<(d0) -> (d0 ceildiv 16)>

// Many rows by weights of 4 bits on sm_90a: one thread loads rows by TMA into eight stages; two warpgroups convert weights in
// registers, the operand A, and scale the sums of each block of 32 components.
// CHECK-LABEL: func.func @groups_of_32
// CHECK: rt.device_arch_is 90
// CHECK: %[[MAP:.*]] = rt.tensor_map %arg0 {{.*}} {box = array<i64: 128, 64>, element_bytes = 2 : i64, swizzle = 128 : i64}
// CHECK: memref<131072xi8
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]]
// CHECK: nvvm.setmaxregister increase 232
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// CHECK: vector.shuffle
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: wgmma.fence.sync.aligned;
// The first product of a block ignores the sums; operand A is four words in registers.
// CHECK: setp.ne.b32 p, 0, 0; {{.*}} wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK: setp.ne.b32 p, 1, 0; {{.*}} wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// The weights of the next block are converted, and those after it loaded, while the products run.
// CHECK: vector.shuffle
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-COUNT-64: math.fma
// CHECK: wgmma.fence.sync.aligned;
// CHECK-COUNT-2: m64n128k16
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: nvvm.mbarrier.arrive
// CHECK: {rt.launch = #rt.launch<threads = 384, shared_bytes = 131{{[0-9]+}}, arch = 90>}
// CHECK: } else {
// CHECK: nvvm.mma.sync
func.func @groups_of_32(%x: memref<?x128xbf16>, %p: memref<16x4x288xi8>, %y: memref<?x256xf32>, %n: index, %wide: i1) {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %step = arith.select %wide, %c128, %c64 : index
  scf.forall (%i, %j) = (0, 0) to (%n, 256) step (%step, %step) {
    %r = affine.min #rows(%i)[%n]
    %c = affine.min #columns(%j)[%step]
    %px = affine.apply #panel(%j)
    %count = affine.apply #panels(%c)
    %a = memref.subview %x[%i, 0] [%r, 128] [1, 1] : memref<?x128xbf16> to memref<?x128xbf16, strided<[128, 1], offset: ?>>
    %b = memref.subview %p[%px, 0, 0] [%count, 4, 288] [1, 1, 1] : memref<16x4x288xi8> to memref<?x4x288xi8, strided<[1152, 288, 1], offset: ?>>
    %o = memref.subview %y[%i, %j] [%r, %c] [1, 1] : memref<?x256xf32> to memref<?x?xf32, strided<[256, 1], offset: ?>>
    tile.grouped_product ins(%a, %b : memref<?x128xbf16, strided<[128, 1], offset: ?>>, memref<?x4x288xi8, strided<[1152, 288, 1], offset: ?>>)
        outs(%o : memref<?x?xf32, strided<[256, 1], offset: ?>>) width 16 format <"int4:32">
  }
  return
}

// -----

#rows = affine_map<(d0)[s0] -> (-d0 + s0, 128)>
#columns = affine_map<(d0)[s0] -> (-d0 + 256, s0)>
#panel = affine_map<(d0) -> (d0 floordiv 16)>
#panels = affine_map<(d0) -> (d0 ceildiv 16)>

// A group of a whole row: the sums of a stage, four products, are scaled at once.
// CHECK-LABEL: func.func @one_group
// CHECK: wgmma.fence.sync.aligned;
// CHECK-COUNT-4: m64n128k16.f32.f16.f16
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-COUNT-64: math.fma
// CHECK-NOT: m64n128k16
// CHECK: } else {
func.func @one_group(%x: memref<?x96xf16>, %p: memref<16x1x1600xi8>, %y: memref<?x256xf32>, %n: index, %wide: i1) {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %step = arith.select %wide, %c128, %c64 : index
  scf.forall (%i, %j) = (0, 0) to (%n, 256) step (%step, %step) {
    %r = affine.min #rows(%i)[%n]
    %c = affine.min #columns(%j)[%step]
    %px = affine.apply #panel(%j)
    %count = affine.apply #panels(%c)
    %a = memref.subview %x[%i, 0] [%r, 96] [1, 1] : memref<?x96xf16> to memref<?x96xf16, strided<[96, 1], offset: ?>>
    %b = memref.subview %p[%px, 0, 0] [%count, 1, 1600] [1, 1, 1] : memref<16x1x1600xi8> to memref<?x1x1600xi8, strided<[1600, 1600, 1], offset: ?>>
    %o = memref.subview %y[%i, %j] [%r, %c] [1, 1] : memref<?x256xf32> to memref<?x?xf32, strided<[256, 1], offset: ?>>
    tile.grouped_product ins(%a, %b : memref<?x96xf16, strided<[96, 1], offset: ?>>, memref<?x1x1600xi8, strided<[1600, 1600, 1], offset: ?>>)
        outs(%o : memref<?x?xf32, strided<[256, 1], offset: ?>>) width 16 format <"int8:0:f32">
  }
  return
}

// -----

#rows = affine_map<(d0)[s0] -> (-d0 + s0, 128)>
#columns = affine_map<(d0)[s0] -> (-d0 + 256, s0)>
#panel = affine_map<(d0) -> (d0 floordiv 16)>
#panels = affine_map<(d0) -> (d0 ceildiv 16)>

// Not with minima, whose row sums would need products of their own.
// CHECK-LABEL: func.func @minima
// CHECK-NOT: wgmma
// CHECK: return
func.func @minima(%x: memref<?x128xbf16>, %p: memref<16x4x320xi8>, %y: memref<?x256xf32>, %n: index, %wide: i1) {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %step = arith.select %wide, %c128, %c64 : index
  scf.forall (%i, %j) = (0, 0) to (%n, 256) step (%step, %step) {
    %r = affine.min #rows(%i)[%n]
    %c = affine.min #columns(%j)[%step]
    %px = affine.apply #panel(%j)
    %count = affine.apply #panels(%c)
    %a = memref.subview %x[%i, 0] [%r, 128] [1, 1] : memref<?x128xbf16> to memref<?x128xbf16, strided<[128, 1], offset: ?>>
    %b = memref.subview %p[%px, 0, 0] [%count, 4, 320] [1, 1, 1] : memref<16x4x320xi8> to memref<?x4x320xi8, strided<[1280, 320, 1], offset: ?>>
    %o = memref.subview %y[%i, %j] [%r, %c] [1, 1] : memref<?x256xf32> to memref<?x?xf32, strided<[256, 1], offset: ?>>
    tile.grouped_product ins(%a, %b : memref<?x128xbf16, strided<[128, 1], offset: ?>>, memref<?x4x320xi8, strided<[1280, 320, 1], offset: ?>>)
        outs(%o : memref<?x?xf32, strided<[256, 1], offset: ?>>) width 16 format <"int4:32:asym">
  }
  return
}

// -----

#rows = affine_map<(d0)[s0] -> (-d0 + s0, 128)>
#columns = affine_map<(d0)[s0] -> (-d0 + 256, s0)>
#panel = affine_map<(d0) -> (d0 floordiv 16)>
#panels = affine_map<(d0) -> (d0 ceildiv 16)>

// Not if the rows are a part of a wider matrix, whose rows the TMA descriptor does not describe,
// CHECK-LABEL: func.func @wider_rows
// CHECK-NOT: wgmma
// CHECK: return
func.func @wider_rows(%x: memref<?x256xbf16>, %p: memref<16x4x288xi8>, %y: memref<?x256xf32>, %n: index, %wide: i1) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %step = arith.select %wide, %c128, %c64 : index
  scf.forall (%i, %j) = (0, 0) to (%n, 256) step (%step, %step) {
    %r = affine.min #rows(%i)[%n]
    %c = affine.min #columns(%j)[%step]
    %px = affine.apply #panel(%j)
    %count = affine.apply #panels(%c)
    %b = memref.subview %p[%px, 0, 0] [%count, 4, 288] [1, 1, 1] : memref<16x4x288xi8> to memref<?x4x288xi8, strided<[1152, 288, 1], offset: ?>>
    %a = memref.subview %x[%i, 0] [%r, 128] [1, 1] : memref<?x256xbf16> to memref<?x128xbf16, strided<[256, 1], offset: ?>>
    %o = memref.subview %y[%i, %j] [%r, %c] [1, 1] : memref<?x256xf32> to memref<?x?xf32, strided<[256, 1], offset: ?>>
    tile.grouped_product ins(%a, %b : memref<?x128xbf16, strided<[256, 1], offset: ?>>, memref<?x4x288xi8, strided<[1152, 288, 1], offset: ?>>)
        outs(%o : memref<?x?xf32, strided<[256, 1], offset: ?>>) width 16 format <"int4:32">
  }
  return
}

// -----

#rows = affine_map<(d0)[s0] -> (-d0 + s0, 128)>
#columns = affine_map<(d0)[s0] -> (-d0 + 256, s0)>
#panel = affine_map<(d0) -> (d0 floordiv 16)>
#panels = affine_map<(d0) -> (d0 ceildiv 16)>

// or if a loop in an iteration may run more than once: a tile of warpgroups is the first iteration.
// CHECK-LABEL: func.func @several_tiles
// CHECK-NOT: wgmma
// CHECK: return
func.func @several_tiles(%x: memref<?x128xbf16>, %p: memref<16x4x288xi8>, %y: memref<?x256xf32>, %n: index, %wide: i1) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %step = arith.select %wide, %c128, %c64 : index
  scf.forall (%i, %j) = (0, 0) to (%n, 256) step (%step, %step) {
    %c = affine.min #columns(%j)[%step]
    %px = affine.apply #panel(%j)
    %count = affine.apply #panels(%c)
    %b = memref.subview %p[%px, 0, 0] [%count, 4, 288] [1, 1, 1] : memref<16x4x288xi8> to memref<?x4x288xi8, strided<[1152, 288, 1], offset: ?>>
    scf.for %k = %c0 to %n step %c128 {
      %r = affine.min #rows(%k)[%n]
      %a = memref.subview %x[%k, 0] [%r, 128] [1, 1] : memref<?x128xbf16> to memref<?x128xbf16, strided<[128, 1], offset: ?>>
      %o = memref.subview %y[%k, %j] [%r, %c] [1, 1] : memref<?x256xf32> to memref<?x?xf32, strided<[256, 1], offset: ?>>
      tile.grouped_product ins(%a, %b : memref<?x128xbf16, strided<[128, 1], offset: ?>>, memref<?x4x288xi8, strided<[1152, 288, 1], offset: ?>>)
          outs(%o : memref<?x?xf32, strided<[256, 1], offset: ?>>) width 16 format <"int4:32">
    }
  }
  return
}

// -----

#rows = affine_map<(d0)[s0] -> (-d0 + s0, 128)>
#columns = affine_map<(d0)[s0] -> (-d0 + 256, s0)>
#panel = affine_map<(d0) -> (d0 floordiv 16)>
#panels = affine_map<(d0) -> (d0 ceildiv 16)>
#map = affine_map<(d0, d1) -> (d0, d1)>
#bias = affine_map<(d0, d1) -> (d1)>

// An elementwise operation on the sums is applied in registers: the buffer of the sums is not written. Operands of several
// results are loaded before the first result is stored.
// CHECK-LABEL: func.func @epilogue
// CHECK-SAME: %{{.*}}: memref<?x128xbf16>, %{{.*}}: memref<16x4x288xi8>, %[[BIAS:.*]]: memref<256xf32>, %[[RESIDUAL:.*]]: memref<?x256xf32>, %[[Y:.*]]: memref<?x256xf32>
// CHECK: rt.device_arch_is 90
// CHECK: %[[B:.*]] = memref.subview %[[BIAS]]
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK: nvvm.mbarrier.arrive
// CHECK-NOT: memref.store
// CHECK-COUNT-16: memref.load
// CHECK-COUNT-8: memref.store
// CHECK-COUNT-16: memref.load
// CHECK: {rt.launch = #rt.launch<threads = 384, shared_bytes = 131{{[0-9]+}}, arch = 90>}
// CHECK: } else {
// CHECK: nvvm.mma.sync
func.func @epilogue(%x: memref<?x128xbf16>, %p: memref<16x4x288xi8>, %bias: memref<256xf32>, %residual: memref<?x256xf32>, %y: memref<?x256xf32>,
                    %scratch: memref<?xi8>, %n: index, %wide: i1) {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c65536 = arith.constant 65536 : index
  %step = arith.select %wide, %c128, %c64 : index
  scf.forall (%i, %j) = (0, 0) to (%n, 256) step (%step, %step) {
    %worker = rt.worker_id
    %at = arith.muli %worker, %c65536 : index
    %r = affine.min #rows(%i)[%n]
    %c = affine.min #columns(%j)[%step]
    %px = affine.apply #panel(%j)
    %count = affine.apply #panels(%c)
    %a = memref.subview %x[%i, 0] [%r, 128] [1, 1] : memref<?x128xbf16> to memref<?x128xbf16, strided<[128, 1], offset: ?>>
    %b = memref.subview %p[%px, 0, 0] [%count, 4, 288] [1, 1, 1] : memref<16x4x288xi8> to memref<?x4x288xi8, strided<[1152, 288, 1], offset: ?>>
    %sums = memref.view %scratch[%at][%r, %c] : memref<?xi8> to memref<?x?xf32>
    tile.grouped_product ins(%a, %b : memref<?x128xbf16, strided<[128, 1], offset: ?>>, memref<?x4x288xi8, strided<[1152, 288, 1], offset: ?>>)
        outs(%sums : memref<?x?xf32>) width 16 format <"int4:32">
    %d = memref.subview %bias[%j] [%c] [1] : memref<256xf32> to memref<?xf32, strided<[1], offset: ?>>
    %e = memref.subview %residual[%i, %j] [%r, %c] [1, 1] : memref<?x256xf32> to memref<?x?xf32, strided<[256, 1], offset: ?>>
    %o = memref.subview %y[%i, %j] [%r, %c] [1, 1] : memref<?x256xf32> to memref<?x?xf32, strided<[256, 1], offset: ?>>
    linalg.generic {indexing_maps = [#map, #bias, #map, #map], iterator_types = ["parallel", "parallel"]}
        ins(%sums, %d, %e : memref<?x?xf32>, memref<?xf32, strided<[1], offset: ?>>, memref<?x?xf32, strided<[256, 1], offset: ?>>)
        outs(%o : memref<?x?xf32, strided<[256, 1], offset: ?>>) {
    ^bb0(%sum: f32, %b0: f32, %r0: f32, %out: f32):
      %0 = arith.addf %sum, %b0 : f32
      %1 = arith.addf %0, %r0 : f32
      linalg.yield %1 : f32
    }
  }
  return
}

// -----

#rows = affine_map<(d0)[s0] -> (-d0 + s0, 128)>
#columns = affine_map<(d0)[s0] -> (-d0 + 256, s0)>
#panel = affine_map<(d0) -> (d0 floordiv 16)>
#panels = affine_map<(d0) -> (d0 ceildiv 16)>
#map = affine_map<(d0, d1) -> (d0, d1)>

// Not if two operations read the sums, which must then be in memory.
// CHECK-LABEL: func.func @two_readers
// CHECK-NOT: wgmma
// CHECK: return
func.func @two_readers(%x: memref<?x128xbf16>, %p: memref<16x4x288xi8>, %y: memref<?x256xf32>, %z: memref<?x256xf32>, %scratch: memref<?xi8>, %n: index,
                       %wide: i1) {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c65536 = arith.constant 65536 : index
  %step = arith.select %wide, %c128, %c64 : index
  scf.forall (%i, %j) = (0, 0) to (%n, 256) step (%step, %step) {
    %worker = rt.worker_id
    %at = arith.muli %worker, %c65536 : index
    %r = affine.min #rows(%i)[%n]
    %c = affine.min #columns(%j)[%step]
    %px = affine.apply #panel(%j)
    %count = affine.apply #panels(%c)
    %a = memref.subview %x[%i, 0] [%r, 128] [1, 1] : memref<?x128xbf16> to memref<?x128xbf16, strided<[128, 1], offset: ?>>
    %b = memref.subview %p[%px, 0, 0] [%count, 4, 288] [1, 1, 1] : memref<16x4x288xi8> to memref<?x4x288xi8, strided<[1152, 288, 1], offset: ?>>
    %sums = memref.view %scratch[%at][%r, %c] : memref<?xi8> to memref<?x?xf32>
    tile.grouped_product ins(%a, %b : memref<?x128xbf16, strided<[128, 1], offset: ?>>, memref<?x4x288xi8, strided<[1152, 288, 1], offset: ?>>)
        outs(%sums : memref<?x?xf32>) width 16 format <"int4:32">
    %o = memref.subview %y[%i, %j] [%r, %c] [1, 1] : memref<?x256xf32> to memref<?x?xf32, strided<[256, 1], offset: ?>>
    %q = memref.subview %z[%i, %j] [%r, %c] [1, 1] : memref<?x256xf32> to memref<?x?xf32, strided<[256, 1], offset: ?>>
    linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
        ins(%sums : memref<?x?xf32>) outs(%o : memref<?x?xf32, strided<[256, 1], offset: ?>>) {
    ^bb0(%sum: f32, %out: f32):
      %0 = arith.negf %sum : f32
      linalg.yield %0 : f32
    }
    linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
        ins(%sums : memref<?x?xf32>) outs(%q : memref<?x?xf32, strided<[256, 1], offset: ?>>) {
    ^bb0(%sum: f32, %out: f32):
      %0 = arith.addf %sum, %sum : f32
      linalg.yield %0 : f32
    }
  }
  return
}
