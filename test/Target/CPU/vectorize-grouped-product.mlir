// RUN: attune-opt %s --attune-vectorize-tiles="grouped-rows=2 dot-unit=avx512 vnni" --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,VNNI512
// RUN: attune-opt %s --attune-vectorize-tiles="grouped-rows=2 dot-unit=avx2 vnni" --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,VNNI256
// RUN: attune-opt %s --attune-vectorize-tiles="grouped-rows=2 dot-unit=avx512" --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: attune-opt %s --attune-vectorize-tiles="grouped-rows=2 dot-unit=portable" --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,PORTABLE
// RUN: attune-opt %s --attune-vectorize-tiles="grouped-rows=2 dot-unit=avx512 vnni prefetch-streams=1" --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=STREAM

// A group of 32 columns has no loop of its own: 8 quads of 16 columns and 2 rows. Start sums are -8 times the sum of the row's integers.
// CHECK-LABEL: @int4
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: memref<2x64xi8>, %[[S:[a-z0-9]+]]: memref<2x2xf32>, %[[Z:[a-z0-9]+]]: memref<2x2xi32>, %[[P:[a-z0-9]+]]: memref<1x2x288xi8>, %[[OUT:[a-z0-9]+]]: memref<2x16xf32>)
// CHECK: scf.for %[[G:.*]] = %c0 to %c2 step %c1
// CHECK: memref.load %[[Z]][%c0, %[[G]]]
// CHECK: arith.muli %{{.*}}, %c-8_i32
// VNNI512: vector.load %[[P]][%c0, %[[G]], %{{.*}}] : memref<1x2x288xi8>, vector<64xi8>
// VNNI512: arith.shrui %{{.*}} : vector<32xi16>
// VNNI512-COUNT-16: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// VNNI512-NOT: vpdpbusd
// VNNI256-COUNT-32: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
// VNNI256-NOT: vpdpbusd
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// AVX2-NOT: pmadd.wd
// AVX2: arith.addi %{{.*}} : vector<16xi16>
// AVX2-COUNT-4: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// AVX2-NOT: pmadd
// PORTABLE-COUNT-64: arith.muli %{{.*}} : vector<16xi32>
// PORTABLE-NOT: arith.extf
// CHECK: memref.load %[[S]][%c0, %[[G]]]
// CHECK: arith.sitofp
// CHECK: arith.mulf
// CHECK: math.fma
// CHECK: scf.yield
// CHECK-COUNT-2: vector.store %{{.*}}, %[[OUT]]
func.func @int4(%q: memref<2x64xi8>, %s: memref<2x2xf32>, %z: memref<2x2xi32>, %p: memref<1x2x288xi8>, %out: memref<2x16xf32>) {
  tile.grouped_product ins(%q, %s, %z, %p : memref<2x64xi8>, memref<2x2xf32>, memref<2x2xi32>, memref<1x2x288xi8>)
      outs(%out : memref<2x16xf32>) width 16 format <"int4:32">
  return
}

// -----

// Signs move to the rows where two products of int8 must fit in 16 bits; with minima, 128 times the sum of a row makes up for it.
// CHECK-LABEL: @int8
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c32
// AVX2: math.absi %{{.*}} : vector<32xi8>
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.psign.b"
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// VNNI512-NOT: math.absi
// VNNI512: vpdpbusd.512
// CHECK: scf.yield
// CHECK-COUNT-2: math.fma
func.func @int8(%q: memref<1x256xi8>, %s: memref<1x2xf32>, %z: memref<1x2xi32>, %p: memref<1x2x2112xi8>, %out: memref<1x16xf32>) {
  tile.grouped_product ins(%q, %s, %z, %p : memref<1x256xi8>, memref<1x2xf32>, memref<1x2xi32>, memref<1x2x2112xi8>)
      outs(%out : memref<1x16xf32>) width 16 format <"int8:128:asym">
  return
}

// -----

// The only reader of the sums works on them in registers; a second reader leaves them in memory.
// CHECK-LABEL: @epilogue
// CHECK-NOT: vector.store %{{.*}}, %[[SUMS:.*]][
// CHECK: arith.negf
// CHECK: vector.store
// CHECK-NOT: vector.store
// CHECK-LABEL: @negative_two_readers
// CHECK: vector.store %{{.*}}, %[[SUMS:.*]][
// CHECK-COUNT-2: arith.negf
#id = affine_map<(m, n) -> (m, n)>
func.func @epilogue(%q: memref<1x32xi8>, %s: memref<1x1xf32>, %z: memref<1x1xi32>, %p: memref<1x1x288xi8>, %sums: memref<1x16xf32>, %out: memref<1x16xf32>) {
  tile.grouped_product ins(%q, %s, %z, %p : memref<1x32xi8>, memref<1x1xf32>, memref<1x1xi32>, memref<1x1x288xi8>)
      outs(%sums : memref<1x16xf32>) width 16 format <"int4:32">
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%sums : memref<1x16xf32>) outs(%out : memref<1x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  }
  return
}
func.func @negative_two_readers(%q: memref<1x32xi8>, %s: memref<1x1xf32>, %z: memref<1x1xi32>, %p: memref<1x1x288xi8>, %sums: memref<1x16xf32>, %out: memref<1x16xf32>) {
  tile.grouped_product ins(%q, %s, %z, %p : memref<1x32xi8>, memref<1x1xf32>, memref<1x1xi32>, memref<1x1x288xi8>)
      outs(%sums : memref<1x16xf32>) width 16 format <"int4:32">
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%sums : memref<1x16xf32>) outs(%out : memref<1x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%sums : memref<1x16xf32>) outs(%out : memref<1x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  }
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
func.func @prefetch_rows(%q: memref<8x32xi8>, %s: memref<8x1xf32>, %z: memref<8x1xi32>, %p: memref<4x1x288xi8>, %out: memref<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c2 {
    %qi = memref.subview %q[%i, 0] [2, 32] [1, 1] : memref<8x32xi8> to memref<2x32xi8, strided<[32, 1], offset: ?>>
    %si = memref.subview %s[%i, 0] [2, 1] [1, 1] : memref<8x1xf32> to memref<2x1xf32, strided<[1, 1], offset: ?>>
    %zi = memref.subview %z[%i, 0] [2, 1] [1, 1] : memref<8x1xi32> to memref<2x1xi32, strided<[1, 1], offset: ?>>
    %oi = memref.subview %out[%i, 0] [2, 64] [1, 1] : memref<8x64xf32> to memref<2x64xf32, strided<[64, 1], offset: ?>>
    tile.grouped_product ins(%qi, %si, %zi, %p : memref<2x32xi8, strided<[32, 1], offset: ?>>, memref<2x1xf32, strided<[1, 1], offset: ?>>, memref<2x1xi32, strided<[1, 1], offset: ?>>, memref<4x1x288xi8>)
        outs(%oi : memref<2x64xf32, strided<[64, 1], offset: ?>>) width 16 format <"int4:32">
  }
  return
}
func.func @negative_prefetch_row(%q: memref<1x32xi8>, %s: memref<1x1xf32>, %z: memref<1x1xi32>, %p: memref<4x1x288xi8>, %out: memref<1x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    tile.grouped_product ins(%q, %s, %z, %p : memref<1x32xi8>, memref<1x1xf32>, memref<1x1xi32>, memref<4x1x288xi8>)
        outs(%out : memref<1x64xf32>) width 16 format <"int4:32">
  }
  return
}
