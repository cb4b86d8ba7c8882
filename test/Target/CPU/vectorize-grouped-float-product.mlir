// RUN: attune-opt %s --attune-vectorize-tiles="register-rows=4 dot-unit=avx512" --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,TABLE
// RUN: attune-opt %s --attune-vectorize-tiles="register-rows=4 dot-unit=avx2" --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,SHIFT
// RUN: attune-opt %s --attune-vectorize-tiles="register-rows=4 dot-unit=portable" --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,SHIFT,PORTABLE
// RUN: attune-opt %s --attune-vectorize-tiles="register-rows=4 dot-unit=avx512 prefetch-streams=1" --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=STREAM

// One row: a loop over blocks of 32 columns without a loop inside. With AVX-512, four reads of a table give the f32 of eight columns.
// The scale multiplies the sum of a block.
// CHECK-LABEL: @row
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<1x70xf32>, %[[P:[a-z0-9]+]]: memref<1x3x288xi8>, %[[OUT:[a-z0-9]+]]: memref<1x16xf32>)
// TABLE: %[[TABLE:.*]] = arith.constant dense<[-16128, {{.*}}]> : vector<32xi16>
// CHECK: %[[ACC:.*]] = scf.for %[[B:.*]] = %c0 to %c2 step %c1 iter_args(%[[IN:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK-NOT: scf.for
// CHECK: vector.load %[[P]][%c0, %[[B]], %c32] : memref<1x3x288xi8>, vector<64xi8>
// TABLE: llvm.call_intrinsic "llvm.x86.avx512.permvar.hi.512"(%[[TABLE]], %{{.*}})
// SHIFT: arith.xori %{{.*}} : vector<16xi32>
// SHIFT: arith.shrsi
// SHIFT: arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK-COUNT-31: math.fma
// CHECK: %[[SUM:.*]] = math.fma
// PORTABLE-NOT: arith.extf
// CHECK: %[[OUTER:.*]] = math.fma %{{.*}}, %[[SUM]], %[[IN]]
// CHECK-NOT: math.fma
// CHECK: scf.yield %[[OUTER]]
// The last six columns.
// CHECK-NOT: scf.for
// CHECK-COUNT-6: math.fma
// CHECK: math.fma %{{.*}}, %{{.*}}, %[[ACC]]
// CHECK-NOT: math.fma
// CHECK: vector.store %{{.*}}, %[[OUT]]
func.func @row(%x: memref<1x70xf32>, %p: memref<1x3x288xi8>, %out: memref<1x16xf32>) {
  tile.grouped_product ins(%x, %p : memref<1x70xf32>, memref<1x3x288xi8>) outs(%out : memref<1x16xf32>) width 16 format <"int4:32">
  return
}

// -----

// Several rows: a loop over eight columns, in which each weight is converted once for all rows. Of a group of 64 columns, the
// blocks 0 and 1 follow the scales and minima. A minimum multiplies the sum of the row's block.
// CHECK-LABEL: @rows
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<2x128xf32>, %[[P:[a-z0-9]+]]: memref<1x2x1088xi8>
// CHECK: scf.for %[[B:.*]] = %c0 to %c4 step %c1
// CHECK-DAG: arith.divui %[[B]], %c2
// CHECK-DAG: arith.remui %[[B]], %c2
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c8
// CHECK-COUNT-8: arith.sitofp
// CHECK-NOT: arith.sitofp
// CHECK: scf.yield
// CHECK: vector.load %[[X]][%{{.*}}, %{{.*}}] : memref<2x128xf32>, vector<16xf32>
// CHECK: arith.addf %{{.*}} : vector<1xf32>
// CHECK: math.fma
// CHECK: math.fma
func.func @rows(%x: memref<2x128xf32>, %p: memref<1x2x1088xi8>, %out: memref<2x16xf32>) {
  tile.grouped_product ins(%x, %p : memref<2x128xf32>, memref<1x2x1088xi8>) outs(%out : memref<2x16xf32>) width 16 format <"int8:64:asym">
  return
}

// -----

// Several rows prefetch the next panel; a single row does not where memory is read in one stream.
// STREAM-LABEL: @prefetch_rows
// STREAM: scf.for
// STREAM: memref.prefetch
// STREAM-LABEL: @negative_prefetch_row
// STREAM-NOT: memref.prefetch
// CHECK-LABEL: @prefetch_rows
// CHECK: memref.prefetch
// CHECK-LABEL: @negative_prefetch_row
// CHECK: memref.prefetch
func.func @prefetch_rows(%x: memref<8x32xf32>, %p: memref<4x1x288xi8>, %out: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c2 {
    %xi = memref.subview %x[%i, 0] [2, 32] [1, 1] : memref<8x32xf32> to memref<2x32xf32, strided<[32, 1], offset: ?>>
    %oi = memref.subview %out[%i, 0] [2, 64] [1, 1] : memref<8x64xf32> to memref<2x64xf32, strided<[64, 1], offset: ?>>
    tile.grouped_product ins(%xi, %p : memref<2x32xf32, strided<[32, 1], offset: ?>>, memref<4x1x288xi8>)
        outs(%oi : memref<2x64xf32, strided<[64, 1], offset: ?>>) width 16 format <"int4:32">
  }
  return
}
func.func @negative_prefetch_row(%x: memref<1x32xf32>, %p: memref<4x1x288xi8>, %out: memref<1x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    tile.grouped_product ins(%x, %p : memref<1x32xf32>, memref<4x1x288xi8>) outs(%out : memref<1x64xf32>) width 16 format <"int4:32">
  }
  return
}
