// RUN: attune-opt %s --attune-distribute-to-threads=threads=128 --split-input-file --verify-diagnostics | FileCheck %s

// Elements are distributed to threads; the second operation reads elements that other threads wrote.
// CHECK-LABEL: func.func @elementwise
// CHECK: %[[T:.*]] = gpu.thread_id x
// Four elements at once: all loads, then the stores of those that exist.
// CHECK: scf.for %{{.*}} = %[[T]] to %{{.*}} step %c512
// CHECK-COUNT-4: memref.load %arg0
// CHECK-NOT: memref.load
// CHECK: memref.store %{{.*}}, %arg1
// CHECK: scf.if
// CHECK-NEXT: memref.store
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

// Accesses of different buffers need no barrier.
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

// An iteration may conflict with the next one, so the loop body needs a barrier.
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

// A warp computes a row. A lane joins eight elements in an iteration, whose loads do not wait for each other, then those
// that are left.
// CHECK-LABEL: func.func @row_sum
// CHECK: arith.divui %{{.*}}, %c32
// CHECK: scf.for
// CHECK: scf.for %{{.*}} step %c256{{.*}} iter_args
// CHECK-COUNT-8: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.for %{{.*}} step %c32{{.*}} iter_args
// CHECK: math.fma
// CHECK-NOT: math.fma
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: memref.store
func.func @row_sum(%a: memref<?x300xf32>, %b: memref<?xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
        ins(%a : memref<?x300xf32>) outs(%b : memref<?xf32>) {
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

// CHECK-LABEL: func.func @low_precision
// CHECK: arith.truncf
// CHECK-NOT: tile.quantize_rows
func.func @low_precision(%a: memref<?x8xf32>, %b: memref<?x16xbf16>, %n: index) {
  scf.forall (%i) in (%n) {
    tile.quantize_rows ins(%a : memref<?x8xf32>) outs(%b : memref<?x16xbf16>)
  }
  return
}

// -----

// A destination of f32 has values rounded to bf16.
// CHECK-LABEL: func.func @rounded_to_f32
// CHECK: %[[ROUNDED:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK: %[[WIDE:.*]] = arith.extf %[[ROUNDED]] : bf16 to f32
// CHECK: memref.store %[[WIDE]]
func.func @rounded_to_f32(%a: memref<?x8xf32>, %b: memref<?x8xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    tile.quantize_rows ins(%a : memref<?x8xf32>) outs(%b : memref<?x8xf32>)
  }
  return
}

// -----

func.func @int8_with_scales(%a: memref<?x8xf32>, %b: memref<?x8xi8>, %s: memref<?xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{is not implemented for threads of a GPU}}
    tile.quantize_rows ins(%a : memref<?x8xf32>) outs(%b, %s : memref<?x8xi8>, memref<?xf32>)
  }
  return
}

// -----

// Bodies with effects, or that read at an index from an element that is replaced, are evaluated for one element at a time.
// CHECK-LABEL: func.func @effects
// CHECK: scf.for %{{.*}} step %c128
// CHECK: memref.atomic_rmw
// CHECK-NOT: memref.atomic_rmw
func.func @effects(%x: memref<?x8xf32>, %o: memref<?x8xf32>, %count: memref<1xi64>, %n: index) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  scf.forall (%i) in (1) {
    linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
        ins(%x : memref<?x8xf32>) outs(%o : memref<?x8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %r = memref.atomic_rmw addi %one, %count[%c0] : (i64, memref<1xi64>) -> i64
      linalg.yield %a : f32
    }
  }
  return
}

// CHECK-LABEL: func.func @indices_of_another_type
// CHECK: scf.for %{{.*}} step %c512
func.func @indices_of_another_type(%ids: memref<?xi64>, %table: memref<100xf32>, %out: memref<?xf32>) {
  scf.forall (%i) in (1) {
    linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
        ins(%ids : memref<?xi64>) outs(%out : memref<?xf32>) {
    ^bb0(%a: i64, %b: f32):
      %k = arith.index_cast %a : i64 to index
      %r = memref.load %table[%k] : memref<100xf32>
      linalg.yield %r : f32
    }
  }
  return
}
// CHECK-LABEL: func.func @indices_that_may_be_the_output
// CHECK: scf.for %{{.*}} step %c128
func.func @indices_that_may_be_the_output(%ids: memref<?xi64>, %table: memref<100xi64>, %out: memref<?xi64>) {
  scf.forall (%i) in (1) {
    linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
        ins(%ids : memref<?xi64>) outs(%out : memref<?xi64>) {
    ^bb0(%a: i64, %b: i64):
      %k = arith.index_cast %a : i64 to index
      %r = memref.load %table[%k] : memref<100xi64>
      linalg.yield %r : i64
    }
  }
  return
}
// CHECK-LABEL: func.func @replaced_indices
// CHECK: scf.for %{{.*}} step %c128
// CHECK-COUNT-2: memref.load
// CHECK-NOT: memref.load
func.func @replaced_indices(%x: memref<?xi64>, %t: memref<100xi64>) {
  scf.forall (%i) in (1) {
    linalg.generic {indexing_maps = [affine_map<(m) -> (m)>], iterator_types = ["parallel"]} outs(%x : memref<?xi64>) {
    ^bb0(%b: i64):
      %k = arith.index_cast %b : i64 to index
      %r = memref.load %t[%k] : memref<100xi64>
      linalg.yield %r : i64
    }
  }
  return
}

// -----

// Blocks past the last token return at once.
// CHECK-LABEL: func.func @limited_rows
// CHECK-SAME: %[[OFFSETS:[^:]*]]: memref<?xi64> {rt.limit = 0 : i64}
// CHECK: scf.forall (%[[ROW:.*]]) = (0) to
// CHECK: %[[LAST:.*]] = memref.load %[[OFFSETS]]
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[LAST]]
// CHECK: %[[IS:.*]] = arith.cmpi slt, %[[ROW]], %[[COUNT]]
// CHECK-NEXT: scf.if %[[IS]] {
// CHECK: memref.store %{{.*}} : memref<8xf32
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: } {rt.launch = #rt.launch<limit = 0>}
func.func @limited_rows(%a: memref<?xf32>, %x: f32, %n: index, %offsets: memref<?xi64> {rt.limit = 0 : i64}) {
  scf.forall (%i) = (0) to (%n) step (8) {
    %part = memref.subview %a[%i] [8] [1] : memref<?xf32> to memref<8xf32, strided<[1], offset: ?>>
    linalg.fill ins(%x : f32) outs(%part : memref<8xf32, strided<[1], offset: ?>>)
  } {rt.launch = #rt.launch<limit = 0>}
  return
}

// -----

// A thread rounds an element of a cache of bf16.
// CHECK-LABEL: func.func @rounded_values
// CHECK: %[[X:.*]] = memref.load %{{.*}} : memref<?x12xf32>
// CHECK: arith.bitcast %[[X]] : f32 to i32
// CHECK: memref.store %{{.*}} : memref<?x12xbf16>
func.func @rounded_values(%v: memref<?x12xf32>, %r: memref<?x12xbf16>, %n: index) {
  scf.forall (%i) in (%n) {
    tile.cache_rows ins(%v : memref<?x12xf32>) outs(%r : memref<?x12xbf16>)
  }
  return
}

// -----

// Threads copy the new keys, whose loads no branch separates, then store zeros behind them.
// CHECK-LABEL: func.func @float_keys
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK-COUNT-4: memref.load %{{.*}} : memref<?x8xf32>
// CHECK: memref.store %{{.*}} : memref<8x64xbf16>
// CHECK: scf.for
// CHECK-NOT: memref.load
// CHECK: memref.store %{{.*}} : memref<8x64xbf16>
// CHECK: return
func.func @float_keys(%k: memref<?x8xf32>, %p: memref<8x64xbf16>, %c: index, %n: index) {
  scf.forall (%i) in (%n) {
    tile.key_panel ins(%k : memref<?x8xf32>) at(%c) outs(%p : memref<8x64xbf16>)
  }
  return
}

// -----

// A warp quantizes a key: its largest magnitude, then the integers; the first lane stores the scale behind the panel's 12 rows of
// components, at byte 4 c for the key in column c.
// CHECK-LABEL: func.func @integer_keys
// CHECK: arith.maxsi
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: scf.for
// CHECK: memref.store %{{.*}} : memref<16x64xi8>
// CHECK: scf.if
// CHECK: vector.store %{{.*}} : memref<16x64xi8>, vector<4xi8>
func.func @integer_keys(%k: memref<?x12xf32>, %p: memref<16x64xi8>, %c: index, %n: index) {
  scf.forall (%i) in (%n) {
    tile.key_panel ins(%k : memref<?x12xf32>) at(%c) outs(%p : memref<16x64xi8>)
  }
  return
}

// -----

// Scales behind 6 components are not aligned, so their bytes are stored one by one.
// CHECK-LABEL: func.func @negative_aligned_scales
// CHECK-NOT: vector.store
// CHECK: return
func.func @negative_aligned_scales(%v: memref<?x6xf32>, %r: memref<?x10xi8>, %n: index) {
  scf.forall (%i) in (%n) {
    tile.cache_rows ins(%v : memref<?x6xf32>) outs(%r : memref<?x10xi8>)
  }
  return
}
