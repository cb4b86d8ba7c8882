// RUN: attune-opt %s --attune-distribute-to-threads=threads=128 --split-input-file | FileCheck %s

// Weights of 4 bits, for blocks of up to 16 columns and for others. A byte permutation puts integers below the exponent of
// 2^7, and a subtraction leaves their values; the products of a block of 32 are scaled in f32. The warps of the first
// version share K, by steps of 32 components: with K = 48 a warp has at most one.
// CHECK-LABEL: func.func @int4
// CHECK: scf.if
// CHECK: scf.for %{{.*}} step %c128
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> vector<2xf16>
// CHECK: vector.load %{{.*}} : memref<{{.*}}x48xbf16{{.*}}>, vector<8xbf16>
// CHECK: arith.shrui
// CHECK: arith.andi
// CHECK: %[[EXPONENTS:.*]] = arith.constant dense<67> : vector<4xi8>
// CHECK: vector.shuffle %{{.*}}, %[[EXPONENTS]] [0, 4, 1, 4]
// CHECK: arith.subf %{{.*}} : vector<2xbf16>
// CHECK-NOT: arith.sitofp
// CHECK-COUNT-2: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK-COUNT-4: math.fma
// CHECK: gpu.barrier
// In the second version each warp has its own columns. Rows come through stages in shared memory, copied ahead word by
// word; a loop carries 32 sums, the weights of the next step and the stage.
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c7
// CHECK: nvvm.cp.async.commit.group
// CHECK: %{{.*}}:37 = scf.for %{{.*}} step %c32
// CHECK: nvvm.cp.async.wait.group 6
// CHECK: gpu.barrier
// CHECK: nvvm.cp.async.shared.global %{{.*}}, 4, cache = ca
// CHECK: nvvm.cp.async.commit.group
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// CHECK-COUNT-4: vector.shuffle
// CHECK: nvvm.ldmatrix {{.*}}row
// CHECK-COUNT-16: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: memref.store
// CHECK: return
#step = affine_map<(d0)[s0] -> (d0 * s0)>
func.func @int4(%x: memref<?x48xbf16>, %p: memref<?x2x288xi8>, %y: memref<?x64xf32>, %n: index, %few: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %columns = arith.select %few, %c16, %c64 : index
  %size = affine.min affine_map<()[s0] -> (s0, 64)>()[%columns]
  scf.forall (%i, %j) = (0, 0) to (%n, 64) step (64, %size) {
    %panel = affine.apply affine_map<(d0) -> (d0 floordiv 16)>(%j)
    %count = affine.apply affine_map<()[s0] -> (s0 ceildiv 16)>()[%size]
    %px = memref.subview %p[%panel, 0, 0] [%count, 2, 288] [1, 1, 1] : memref<?x2x288xi8> to memref<?x2x288xi8, strided<[576, 288, 1], offset: ?>>
    %py = memref.subview %y[0, %j] [%n, %size] [1, 1] : memref<?x64xf32> to memref<?x?xf32, strided<[64, 1], offset: ?>>
    tile.grouped_product ins(%x, %px : memref<?x48xbf16>, memref<?x2x288xi8, strided<[576, 288, 1], offset: ?>>)
        outs(%py : memref<?x?xf32, strided<[64, 1], offset: ?>>) width 16 format <"int4:32">
  }
  return
}

// -----

// A warp of the version for few columns has 11 steps of 32 components in K, in two iterations. Each loads 6 steps before it
// multiplies; the second has 5, and one of zeros.
// CHECK-LABEL: func.func @deep
// CHECK: scf.if
// CHECK: scf.for %{{.*}} to %c1408{{.*}} step %c768
// CHECK-NOT: nvvm.mma.sync
// CHECK-COUNT-12: llvm.load %{{.*}} : !llvm.ptr<1> -> i32
// CHECK-COUNT-24: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: } else {
func.func @deep(%x: memref<?x1408xbf16>, %p: memref<?x44x288xi8>, %y: memref<?x64xf32>, %n: index, %few: i1) {
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %columns = arith.select %few, %c16, %c64 : index
  %size = affine.min affine_map<()[s0] -> (s0, 64)>()[%columns]
  scf.forall (%i, %j) = (0, 0) to (%n, 64) step (64, %size) {
    %panel = affine.apply affine_map<(d0) -> (d0 floordiv 16)>(%j)
    %count = affine.apply affine_map<()[s0] -> (s0 ceildiv 16)>()[%size]
    %px = memref.subview %p[%panel, 0, 0] [%count, 44, 288] [1, 1, 1] : memref<?x44x288xi8> to memref<?x44x288xi8, strided<[12672, 288, 1], offset: ?>>
    %py = memref.subview %y[0, %j] [%n, %size] [1, 1] : memref<?x64xf32> to memref<?x?xf32, strided<[64, 1], offset: ?>>
    tile.grouped_product ins(%x, %px : memref<?x1408xbf16>, memref<?x44x288xi8, strided<[12672, 288, 1], offset: ?>>)
        outs(%py : memref<?x?xf32, strided<[64, 1], offset: ?>>) width 16 format <"int4:32">
  }
  return
}

// -----

// Minima are multiplied by the row sums of A, products by ones. A block has 16 components, so each product is scaled.
// CHECK-LABEL: func.func @minima
// CHECK: scf.for %{{.*}} step %c32
// CHECK: arith.constant dense<100> : vector<4xi8>
// CHECK: arith.subf %{{.*}} : vector<2xf16>
// CHECK: nvvm.ldmatrix
// CHECK: nvvm.mma.sync
// CHECK: nvvm.mma.sync
// CHECK: math.fma
// CHECK: math.fma
// CHECK: nvvm.mma.sync
func.func @minima(%x: memref<?x48xf16>, %p: memref<1x3x320xi8>, %y: memref<?x16xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    tile.grouped_product ins(%x, %p : memref<?x48xf16>, memref<1x3x320xi8>) outs(%y : memref<?x16xf32>) width 16 format <"int8:16:asym">
  }
  return
}

// -----

// Integers of 8 bits do not fit below 2^7: their highest bit selects what is subtracted.
// CHECK-LABEL: func.func @int8
// CHECK: vector.shuffle
// CHECK: %[[BIT:.*]] = arith.constant 8388736 : i32
// CHECK: %[[HIGH:.*]] = arith.andi %{{.*}}, %[[BIT]]
// CHECK: %[[OTHERS:.*]] = arith.constant {{-?[0-9]+}} : i32
// CHECK: arith.andi %{{.*}}, %[[OTHERS]]
// CHECK: %[[LARGE:.*]] = arith.constant 1132479360 : i32
// CHECK: arith.xori %[[HIGH]], %[[LARGE]]
// CHECK: arith.subf %{{.*}} : vector<2xbf16>
func.func @int8(%x: memref<?x64xbf16>, %p: memref<1x2x544xi8>, %y: memref<?x16xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    tile.grouped_product ins(%x, %p : memref<?x64xbf16>, memref<1x2x544xi8>) outs(%y : memref<?x16xf32>) width 16 format <"int8:32">
  }
  return
}
