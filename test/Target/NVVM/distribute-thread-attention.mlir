// RUN: attune-opt %s --attune-distribute-to-threads=threads=128 --split-input-file | FileCheck %s

// Attention of f32 in tiles of 64 rows: keys and values come through three stages in shared memory, of 8 KiB each, which
// cp.async fills while others are multiplied. Up to eight rows go to warps, one row each.
// CHECK-LABEL: func.func @causal
// CHECK-DAG: memref.alloc() {alignment = 128 : i64} : memref<1024xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: memref.alloc() {alignment = 128 : i64} : memref<2560xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: memref.alloc() {alignment = 128 : i64} : memref<6144xf32, #gpu.address_space<workgroup>>
// CHECK: %[[FEW:.*]] = arith.cmpi sle, %{{.*}}, %c8
// CHECK: scf.if %[[FEW]]
// A warp takes 64 keys in a step, two a lane.
// CHECK: scf.for %{{.*}} step %c64{{.*}} iter_args
// CHECK: gpu.shuffle xor
// CHECK-NOT: nvvm.cp.async
// CHECK: } else {
// CHECK: scf.for %{{.*}} step %c64
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// Keys that every row sees have a loop without tests of positions.
// CHECK: scf.for %{{.*}} step %c64{{.*}} iter_args
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: gpu.barrier
// CHECK: math.fma %{{.*}} : vector<4xf32>
// CHECK-NOT: arith.cmpi sgt, %{{.*}} : i32
// CHECK: llvm.intr.exp2
// CHECK: nvvm.bar.warp.sync
// CHECK: vector.store
// CHECK: nvvm.bar.warp.sync
// CHECK: math.fma %{{.*}} : vector<4xf32>
// CHECK: scf.for %{{.*}} step %c64{{.*}} iter_args
// CHECK: arith.cmpi sgt, %{{.*}}, %c0_i32{{.*}} : i32
// CHECK: llvm.intr.exp2
// The results are normalized, and rows without a visible key computed again.
// CHECK: arith.divf
// CHECK-NOT: tile.attention_tile
func.func @causal(%q: memref<?x1x16xf32>, %k: memref<?x16x64xf32>, %v: memref<?x16xf32>, %o: memref<?x1x16xf32>, %p: index, %n: index) {
  scf.forall (%i) in (%n) {
    tile.attention_tile ins(%q, %k, %v : memref<?x1x16xf32>, memref<?x16x64xf32>, memref<?x16xf32>) at(%p) outs(%o : memref<?x1x16xf32>)
        {scale = 0.25 : f64, key_block = 512 : i64, causal}
  }
  return
}

// -----

// A warp computes each row if the keys are a cache of another type,
// CHECK-LABEL: func.func @cache
// CHECK-NOT: nvvm.cp.async
// CHECK: return
func.func @cache(%q: memref<?x1x16xf32>, %k: memref<?x16x64xbf16>, %v: memref<?x16xbf16>, %o: memref<?x1x16xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    tile.attention_tile ins(%q, %k, %v : memref<?x1x16xf32>, memref<?x16x64xbf16>, memref<?x16xbf16>) outs(%o : memref<?x1x16xf32>)
        {scale = 0.25 : f64, key_block = 512 : i64}
  }
  return
}

// -----

// if heads have more than 128 components,
// CHECK-LABEL: func.func @large_heads
// CHECK-NOT: nvvm.cp.async
// CHECK: return
func.func @large_heads(%q: memref<?x1x160xf32>, %k: memref<?x160x64xf32>, %v: memref<?x160xf32>, %o: memref<?x1x160xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    tile.attention_tile ins(%q, %k, %v : memref<?x1x160xf32>, memref<?x160x64xf32>, memref<?x160xf32>) outs(%o : memref<?x1x160xf32>)
        {scale = 0.25 : f64, key_block = 512 : i64}
  }
  return
}

// -----

// if rows of values do not begin at multiples of 16 bytes,
// CHECK-LABEL: func.func @unaligned
// CHECK-NOT: nvvm.cp.async
// CHECK: return
func.func @unaligned(%q: memref<?x1x6xf32>, %k: memref<?x6x64xf32>, %v: memref<?x6xf32>, %o: memref<?x1x6xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    tile.attention_tile ins(%q, %k, %v : memref<?x1x6xf32>, memref<?x6x64xf32>, memref<?x6xf32>) outs(%o : memref<?x1x6xf32>)
        {scale = 0.25 : f64, key_block = 512 : i64}
  }
  return
}

// -----

// or if the probabilities are an output.
// CHECK-LABEL: func.func @probabilities
// CHECK-NOT: nvvm.cp.async
// CHECK: return
func.func @probabilities(%q: memref<?x1x16xf32>, %k: memref<?x16x64xf32>, %v: memref<?x16xf32>, %o: memref<?x1x16xf32>, %w: memref<1x?x?xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    tile.attention_tile ins(%q, %k, %v : memref<?x1x16xf32>, memref<?x16x64xf32>, memref<?x16xf32>)
        outs(%o, %w : memref<?x1x16xf32>, memref<1x?x?xf32>) {scale = 0.25 : f64, key_block = 512 : i64}
  }
  return
}
