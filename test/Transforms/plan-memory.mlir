// RUN: attune-opt %s -split-input-file -attune-plan-memory -cse | FileCheck %s

// Sizes follow from the dims of the entry; %a and %b are never live together and share bytes, %c is live with %b.
// CHECK-LABEL: func.func @reuse
// CHECK-SAME: %[[WS:[^ ,]*]]: memref<?xi8> {rt.role = #rt.role<workspace>}, %{{.*}}: index {rt.role = #rt.role<workers>})
// CHECK-SAME: rt.workspace = #xfmr.formula<[batch, length], affine_map<()[s0, s1] -> ((s0 * s1) * 384)>>
func.func @reuse(%x: memref<?x?x48xf32> {xfmr.input = #xfmr.input<"x", [batch, length, 48]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %x, %c0 : memref<?x?x48xf32>
  %length = memref.dim %x, %c1 : memref<?x?x48xf32>
  %flat = memref.collapse_shape %x [[0, 1], [2]] : memref<?x?x48xf32> into memref<?x48xf32>
  %tokens = memref.dim %flat, %c0 : memref<?x48xf32>
  // CHECK: %[[OFFSET:.*]] = arith.muli %{{.*}}, %c192
  // CHECK: memref.view %[[WS]][%c0][%{{.*}}] : memref<?xi8> to memref<?x48xf32>
  // CHECK-NEXT: memref.view %[[WS]][%[[OFFSET]]][%{{.*}}] : memref<?xi8> to memref<?x48xf32>
  // CHECK-NOT: memref.alloc
  // CHECK-NOT: memref.dealloc
  %a = memref.alloc(%tokens) : memref<?x48xf32>
  %b = memref.alloc(%tokens) : memref<?x48xf32>
  %c = memref.alloc(%tokens) : memref<?x48xf32>
  memref.copy %flat, %a : memref<?x48xf32> to memref<?x48xf32>
  memref.copy %a, %c : memref<?x48xf32> to memref<?x48xf32>
  memref.copy %c, %b : memref<?x48xf32> to memref<?x48xf32>
  memref.copy %b, %flat : memref<?x48xf32> to memref<?x48xf32>
  memref.dealloc %a : memref<?x48xf32>
  return
}

// -----

// A callee's bytes lie where nothing of the caller is live; its size is substituted at the call. 8 (batch + 1) bytes are rounded up to 64.
// CHECK-LABEL: func.func private @layer
// CHECK-SAME: %[[WS:[^ ,]*]]: memref<?xi8> {rt.role
// CHECK: memref.view %[[WS]][%c0{{.*}}][%{{.*}}] : memref<?xi8> to memref<?x48xf32>
func.func private @layer(%x: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x16xf32>
  %t = memref.alloc(%n) : memref<?x48xf32>
  %cst = arith.constant 0.0 : f32
  linalg.fill ins(%cst : f32) outs(%t : memref<?x48xf32>)
  return
}
// A function without buffers gets no new arguments.
// CHECK: func.func private @none(%{{[^,]*}}: memref<?x16xf32>) {
func.func private @none(%x: memref<?x16xf32>) {
  return
}
// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[EWS:[^ ,]*]]: memref<?xi8> {rt.role = #rt.role<workspace>}, %[[WORKERS:[^ ,]*]]: index
// CHECK-SAME: rt.workspace = #xfmr.formula<[batch, length], affine_map<()[s0, s1] -> ((s0 * s1) * 256 + ((s0 * 8 + 7) floordiv 64) * 64 + 64)>>
// CHECK: %[[PART:.*]] = memref.view %[[EWS]][%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?xi8>
// CHECK: call @layer(%{{.*}}, %[[PART]], %[[WORKERS]])
// CHECK: call @none(%{{[^,]*}}) : (memref<?x16xf32>) -> ()
func.func @forward(%ids: memref<?x?xi64> {xfmr.input = #xfmr.input<"ids", [batch, length]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = memref.dim %ids, %c0 : memref<?x?xi64>
  %length = memref.dim %ids, %c1 : memref<?x?xi64>
  %tokens = arith.muli %batch, %length : index
  %rows = arith.addi %batch, %c1 : index
  %offsets = memref.alloc(%rows) : memref<?xi64>
  %v = arith.constant 0 : i64
  memref.store %v, %offsets[%c0] : memref<?xi64>
  %x = memref.alloc(%tokens) : memref<?x16xf32>
  call @layer(%x) : (memref<?x16xf32>) -> ()
  call @none(%x) : (memref<?x16xf32>) -> ()
  %u = memref.load %offsets[%c0] : memref<?xi64>
  memref.store %u, %offsets[%c1] : memref<?xi64>
  %y = memref.load %x[%c0, %c0] : memref<?x16xf32>
  memref.store %y, %x[%c0, %c1] : memref<?x16xf32>
  return
}

// -----

// One copy per worker in a parallel loop; buffers of a loop have the same offset in each iteration.
// CHECK-LABEL: func.func @per_worker
// CHECK-SAME: rt.workspace = #xfmr.formula<[workers], affine_map<()[s0] -> (s0 * 2112)>>
// CHECK: scf.forall
// CHECK: %[[W:.*]] = rt.worker_id
// CHECK: %[[OFF:.*]] = arith.muli %[[W]], %c2112
// CHECK: memref.view %{{.*}} : memref<?xi8> to memref<8x64xf32>
// CHECK: memref.view %{{.*}} : memref<?xi8> to memref<?xf32>
func.func @per_worker(%x: memref<?x64xf32> {xfmr.input = #xfmr.input<"x", [batch, 64]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  scf.forall (%i) in (%n) {
    %strip = memref.alloc() : memref<8x64xf32>
    linalg.fill ins(%zero : f32) outs(%strip : memref<8x64xf32>)
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    scf.for %j = %c0 to %n step %c8 {
      %m = affine.min affine_map<(d0)[s0] -> (8, s0 - d0)>(%j)[%n]
      %tile = memref.alloc(%m) : memref<?xf32>
      linalg.fill ins(%zero : f32) outs(%tile : memref<?xf32>)
      %v = memref.load %strip[%c0, %c0] : memref<8x64xf32>
      %later = memref.alloc(%m) : memref<?xf32>
      linalg.fill ins(%v : f32) outs(%later : memref<?xf32>)
    }
    %v = memref.load %strip[%c0, %c4] : memref<8x64xf32>
    memref.store %v, %x[%i, %c0] : memref<?x64xf32>
  }
  return
}

// -----

// A number of tokens that is read from memory is bounded by a minimum, or by the dimension it is a slice size of.
// CHECK: func.func @packed({{.*}}rt.workspace = #xfmr.formula<[batch, length], affine_map<()[s0, s1] -> ((s0 * s1) * 64 + (((s0 * s1) * 4 + 63) floordiv 64) * 64)>>
func.func @packed(%mask: memref<?x?xi64> {xfmr.input = #xfmr.input<"mask", [batch, length]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %batch = memref.dim %mask, %c0 : memref<?x?xi64>
  %length = memref.dim %mask, %c1 : memref<?x?xi64>
  %most = arith.muli %batch, %length : index
  %count = memref.load %mask[%c0, %c0] : memref<?x?xi64>
  %loaded = arith.index_cast %count : i64 to index
  %tokens = arith.minsi %loaded, %most : index
  %x = memref.alloc(%tokens) : memref<?x16xf32>
  linalg.fill ins(%zero : f32) outs(%x : memref<?x16xf32>)
  %flat = memref.collapse_shape %mask [[0, 1]] : memref<?x?xi64> into memref<?xi64>
  %slice = memref.subview %flat[0] [%loaded] [1] : memref<?xi64> to memref<?xi64, strided<[1]>>
  %y = memref.alloc(%loaded) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%y : memref<?xf32>)
  %v = memref.load %x[%c0, %c0] : memref<?x16xf32>
  memref.store %v, %y[%c0] : memref<?xf32>
  %u = memref.load %slice[%c0] : memref<?xi64, strided<[1]>>
  memref.store %u, %slice[%c1] : memref<?xi64, strided<[1]>>
  return
}

// -----

// A buffer allocated before a loop is live during all of it, also through views and results of scf.if; sizes that cannot be compared get
// bytes of their own.
// CHECK: func.func @aliases({{.*}}rt.workspace = #xfmr.formula<[batch, length], affine_map<()[s0, s1] -> (((s0 * 4 + 63) floordiv 64) * 64 + s0 * 64 + s1 * 256)>>
func.func @aliases(%x: memref<?x?xf32> {xfmr.input = #xfmr.input<"x", [batch, length]>}, %p: i1) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %batch = memref.dim %x, %c0 : memref<?x?xf32>
  %length = memref.dim %x, %c1 : memref<?x?xf32>
  %a = memref.alloc(%batch) : memref<?x16xf32>
  %row = memref.subview %a[0, 0] [%batch, 1] [1, 1] : memref<?x16xf32> to memref<?x1xf32, strided<[16, 1]>>
  scf.for %i = %c0 to %batch step %c1 {
    memref.store %zero, %row[%i, %c0] : memref<?x1xf32, strided<[16, 1]>>
    %t = memref.alloc(%batch) : memref<?xf32>
    linalg.fill ins(%zero : f32) outs(%t : memref<?xf32>)
  }
  %b = memref.alloc(%length) : memref<?x64xf32>
  linalg.fill ins(%zero : f32) outs(%b : memref<?x64xf32>)
  %s = scf.if %p -> memref<?x16xf32> {
    scf.yield %a : memref<?x16xf32>
  } else {
    scf.yield %a : memref<?x16xf32>
  }
  linalg.fill ins(%zero : f32) outs(%s : memref<?x16xf32>)
  return
}

// -----

// The larger of two sizes stays a maximum.
// CHECK: func.func @maximum({{.*}}rt.workspace = #xfmr.formula<[batch, length], affine_map<()[s0, s1] -> (s0 * 64, s1 * 64)>>
func.func @maximum(%x: memref<?x?xf32> {xfmr.input = #xfmr.input<"x", [batch, length]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %batch = memref.dim %x, %c0 : memref<?x?xf32>
  %length = memref.dim %x, %c1 : memref<?x?xf32>
  %n = arith.maxsi %batch, %length : index
  %a = memref.alloc(%n) : memref<?x16xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<?x16xf32>)
  return
}

// -----

// Padded rows: 48 elements with a stride of 64.
// CHECK-LABEL: func.func @padded_rows
// CHECK-SAME: rt.workspace = #xfmr.formula<[rows], affine_map<()[s0] -> (s0 * 256)>>
func.func @padded_rows(%x: memref<?x6x8xf32> {xfmr.input = #xfmr.input<"x", [rows, 6, 8]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x6x8xf32>
  // CHECK: %[[VIEW:.*]] = memref.view %{{.*}}[%c0][%[[ROWS:.*]]] : memref<?xi8> to memref<?x64xf32>
  // CHECK-NEXT: memref.reinterpret_cast %[[VIEW]] to offset: [0], sizes: [%[[ROWS]], 6, 8], strides: [64, 8, 1]
  %a = memref.alloc(%rows) : memref<?x6x8xf32, strided<[64, 8, 1]>>
  memref.copy %x, %a : memref<?x6x8xf32> to memref<?x6x8xf32, strided<[64, 8, 1]>>
  return
}

// -----

// A loop that swaps two buffers uses both in each iteration: three buffers are live in it.
// CHECK: func.func @swapped({{.*}}rt.workspace = #xfmr.formula<[batch], affine_map<()[s0] -> (s0 * 192)>>
func.func @swapped(%x: memref<?x16xf32> {xfmr.input = #xfmr.input<"x", [batch, 16]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x16xf32>
  %a = memref.alloc(%n) : memref<?x16xf32>
  %b = memref.alloc(%n) : memref<?x16xf32>
  %t = memref.alloc(%n) : memref<?x16xf32>
  memref.copy %x, %a : memref<?x16xf32> to memref<?x16xf32>
  memref.copy %x, %b : memref<?x16xf32> to memref<?x16xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (memref<?x16xf32>, memref<?x16xf32>) {
    linalg.fill ins(%zero : f32) outs(%t : memref<?x16xf32>)
    memref.copy %p, %t : memref<?x16xf32> to memref<?x16xf32>
    memref.copy %t, %p : memref<?x16xf32> to memref<?x16xf32>
    scf.yield %q, %p : memref<?x16xf32>, memref<?x16xf32>
  }
  return
}
