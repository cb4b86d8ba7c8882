// RUN: attune-opt %s --attune-vectorize-tiles="grouped-rows=2 dot-unit=avx512 vnni" --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,VNNI512
// RUN: attune-opt %s --attune-vectorize-tiles="grouped-rows=2 dot-unit=avx2 vnni" --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,VNNI256
// RUN: attune-opt %s --attune-vectorize-tiles="grouped-rows=2 dot-unit=avx512" --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: attune-opt %s --attune-vectorize-tiles="grouped-rows=2 dot-unit=portable" --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,PORTABLE

// A group of 32 columns has no loop of its own: 8 quads of 16 columns and 2 rows. Start sums are -8 times the sum of the row's integers.
// CHECK-LABEL: @int4
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: memref<2x64xi8>, %[[S:[a-z0-9]+]]: memref<2x2xf32>, %[[Z:[a-z0-9]+]]: memref<2x2xi32>, %[[P:[a-z0-9]+]]: memref<1x2x288xi8>, %[[OUT:[a-z0-9]+]]: memref<2x16xf32>)
// CHECK: scf.for %[[G:.*]] = %c0 to %c2 step %c1
// CHECK: memref.load %[[Z]][%c0, %[[G]]]
// CHECK: arith.muli %{{.*}}, %c-8_i32
// VNNI512: vector.load %[[P]][%c0, %[[G]], %{{.*}}] : memref<1x2x288xi8>, vector<64xi8>
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
