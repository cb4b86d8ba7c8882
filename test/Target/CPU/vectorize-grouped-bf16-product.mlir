// RUN: attune-opt %s --attune-vectorize-tiles="register-rows=4 dot-unit=avx512" --canonicalize --cse --split-input-file | FileCheck %s

// Pairs of neighbors are multiplied at once: four reads of a table for eight columns of int4.
// CHECK-LABEL: @int4
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: vector.shuffle %{{.*}} : vector<64xi8>, vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.hi.512"
// CHECK-COUNT-16: x86vector.avx512.dot
// CHECK-NOT: x86vector.avx512.dot
// CHECK: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.yield
func.func @int4(%x: memref<1x64xbf16>, %p: memref<1x2x288xi8>, %out: memref<1x16xf32>) {
  tile.grouped_product ins(%x, %p : memref<1x64xbf16>, memref<1x2x288xi8>) outs(%out : memref<1x16xf32>) width 16 format <"int4:32">
  return
}

// -----

// int8 is converted to f32, whose upper halves are joined.
// CHECK-LABEL: @int8
// CHECK-NOT: permvar
// CHECK: arith.sitofp
// CHECK: arith.ori %{{.*}} : vector<16xi32>
// CHECK: x86vector.avx512.dot
func.func @int8(%x: memref<1x64xbf16>, %p: memref<1x2x544xi8>, %out: memref<1x16xf32>) {
  tile.grouped_product ins(%x, %p : memref<1x64xbf16>, memref<1x2x544xi8>) outs(%out : memref<1x16xf32>) width 16 format <"int8:32">
  return
}
