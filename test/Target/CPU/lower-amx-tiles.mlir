// RUN: attune-opt %s --attune-lower-amx-tiles | FileCheck %s

// Tiles that a loop carries become LLVM's, too; a loop without tiles is not changed.
// CHECK-LABEL: @carried
// CHECK: %[[Z:.*]] = llvm.call_intrinsic "llvm.x86.tilezero.internal"
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[Z]]) -> (!llvm.x86_amx)
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tileloadd64.internal"
// CHECK: %[[N:.*]] = llvm.call_intrinsic "llvm.x86.tdpbusd.internal"(%{{.*}}, %{{.*}}, %{{.*}}, %[[ACC]], %{{.*}}, %{{.*}})
// CHECK: scf.yield %[[N]] : !llvm.x86_amx
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64.internal"({{.*}}, %[[R]])
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (index)
func.func @carried(%a: memref<16x128xi8>, %b: memref<32x64xi8>, %c: memref<16x16xi32>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = amx.tile_zero : !amx.tile<16x16xi32>
  %sum = scf.for %k = %c0 to %c2 step %c1 iter_args(%acc = %zero) -> (!amx.tile<16x16xi32>) {
    %i = arith.muli %k, %c64 : index
    %j = arith.muli %k, %c16 : index
    %x = amx.tile_load %a[%c0, %i] : memref<16x128xi8> into !amx.tile<16x64xi8>
    %y = amx.tile_load %b[%j, %c0] : memref<32x64xi8> into !amx.tile<16x64xi8>
    %next = amx.tile_muli %x zext, %y, %acc : !amx.tile<16x64xi8>, !amx.tile<16x64xi8>, !amx.tile<16x16xi32>
    scf.yield %next : !amx.tile<16x16xi32>
  }
  amx.tile_store %c[%c0, %c0], %sum : memref<16x16xi32>, !amx.tile<16x16xi32>
  %n = scf.for %k = %c0 to %c2 step %c1 iter_args(%acc = %c0) -> (index) {
    %next = arith.addi %acc, %k : index
    scf.yield %next : index
  }
  return %n : index
}

// Branches that choose between loops of tiles have no results; their comparisons and stores stay.
// CHECK-LABEL: @negative_no_tiles
// CHECK: scf.if
// CHECK-NOT: llvm.
// CHECK: return
func.func @negative_no_tiles(%c: i1, %m: memref<?xf32>) -> f32 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.if %c -> (f32) {
    %v = memref.load %m[%c0] : memref<?xf32>
    scf.yield %v : f32
  } else {
    scf.yield %zero : f32
  }
  return %r : f32
}
