// RUN: attune-opt %s --attune-distribute-to-threads=threads=64 --split-input-file --verify-diagnostics | FileCheck %s

// Elements are dealt out to threads; the second operation reads what other threads wrote.
// CHECK-LABEL: func.func @elementwise
// CHECK: %[[T:.*]] = gpu.thread_id x
// CHECK: scf.for %{{.*}} = %[[T]] to %{{.*}} step %c64
// CHECK: arith.addf
// CHECK: memref.store
// CHECK: gpu.barrier
// CHECK: scf.for %{{.*}} = %[[T]]
// CHECK-NOT: gpu.barrier
func.func @elementwise(%a: memref<?x8xf32>, %b: memref<?x8xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%a : memref<?x8xf32>) outs(%b : memref<?x8xf32>) {
    ^bb0(%x: f32, %y: f32):
      %s = arith.addf %x, %x : f32
      linalg.yield %s : f32
    }
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%b : memref<?x8xf32>) {
    ^bb0(%y: f32):
      %s = arith.mulf %y, %y : f32
      linalg.yield %s : f32
    }
  }
  return
}

// -----

// Different buffers: no barrier.
// CHECK-LABEL: func.func @negative_barrier
// CHECK-NOT: gpu.barrier
func.func @negative_barrier(%a: memref<?xf32>, %b: memref<?xf32>, %x: f32, %n: index) {
  scf.forall (%i) in (%n) {
    linalg.fill ins(%x : f32) outs(%a : memref<?xf32>)
    linalg.fill ins(%x : f32) outs(%b : memref<?xf32>)
  }
  return
}

// -----

// The body of a loop runs after itself.
// CHECK-LABEL: func.func @barrier_in_loop
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: memref.load
func.func @barrier_in_loop(%a: memref<?xf32>, %b: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.forall (%i) in (%n) {
    scf.for %j = %c0 to %n step %c1 {
      %x = memref.load %a[%j] : memref<?xf32>
      linalg.fill ins(%x : f32) outs(%a : memref<?xf32>)
    }
  }
  return
}

// -----

// A row is the work of a warp.
// CHECK-LABEL: func.func @row_sum
// CHECK: arith.divui %{{.*}}, %c32
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args
// CHECK: math.fma
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: memref.store
func.func @row_sum(%a: memref<?x100xf32>, %b: memref<?xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
        ins(%a : memref<?x100xf32>) outs(%b : memref<?xf32>) {
    ^bb0(%x: f32, %y: f32):
      %s = math.fma %x, %x, %y : f32
      linalg.yield %s : f32
    }
  }
  return
}

// -----

// One thread stores a single element.
// CHECK-LABEL: func.func @store
// CHECK: %[[FIRST:.*]] = arith.cmpi eq
// CHECK: scf.if %[[FIRST]]
// CHECK-NEXT: memref.store
func.func @store(%a: memref<?xf32>, %x: f32) {
  scf.forall (%i) in (1) {
    memref.store %x, %a[%i] : memref<?xf32>
  }
  return
}

// -----

// A warp per row: scores of 32 keys at once, maximum and sum over lanes, weights broadcast.
// CHECK-LABEL: func.func @attention
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args
// CHECK: math.fma
// CHECK: gpu.shuffle xor
// CHECK: llvm.intr.exp2
// CHECK-COUNT-32: gpu.shuffle idx
// CHECK-NOT: xfmr.attention_tile
func.func @attention(%q: memref<?x1x12xf32>, %k: memref<?x12x64xf32>, %v: memref<?x12xf32>, %o: memref<?x1x12xf32>, %p: index, %n: index) {
  scf.forall (%i) in (%n) {
    xfmr.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x64xf32>, memref<?x12xf32>) at(%p) outs(%o : memref<?x1x12xf32>)
        {scale = 0.125 : f64, key_block = 512 : i64, causal}
  }
  return
}

// -----

// CHECK-LABEL: func.func @codes
// CHECK: arith.truncf
// CHECK-NOT: xfmr.quantize_rows
func.func @codes(%a: memref<?x8xf32>, %b: memref<?x16xbf16>, %n: index) {
  scf.forall (%i) in (%n) {
    xfmr.quantize_rows ins(%a : memref<?x8xf32>) outs(%b : memref<?x16xbf16>)
  }
  return
}

// -----

// 8 products of tensor cores for each 16 components, two of them in a stage.
// CHECK-LABEL: func.func @tensor_cores
// CHECK: memref.alloc() {alignment = 128 : i64} : memref<{{.*}}xi32, #gpu.address_space<workgroup>>
// CHECK: scf.if
// CHECK: math.fma
// CHECK: } else {
// CHECK: scf.for
// CHECK-COUNT-16: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
func.func @tensor_cores(%x: memref<?x64xbf16>, %w: memref<1x32x64x2xbf16>, %o: memref<?x64xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n floordiv 64, k floordiv 2, n mod 64, k mod 2)>,
                                     affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : memref<?x64xbf16>, memref<1x32x64x2xbf16>) outs(%o : memref<?x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %s: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %s, %2 : f32
      linalg.yield %3 : f32
    }
  }
  return
}

// -----

func.func @codes_with_scales(%a: memref<?x8xf32>, %b: memref<?x8xi8>, %s: memref<?xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{has no form for threads of a GPU}}
    xfmr.quantize_rows ins(%a : memref<?x8xf32>) outs(%b, %s : memref<?x8xi8>, memref<?xf32>)
  }
  return
}
