// RUN: attune-opt %s --attune-vectorize-tiles="register-rows=2" --canonicalize --cse | FileCheck %s
// RUN: attune-opt %s --attune-vectorize-tiles="register-rows=4" --canonicalize --cse | FileCheck %s --check-prefix=PARTIAL
// RUN: attune-opt %s --attune-vectorize-tiles="register-rows=2 prefetch-streams=1 prefetch-ahead=128" --canonicalize --cse | FileCheck %s --check-prefix=STREAM

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n floordiv 32, k, n mod 32)>
#c = affine_map<(m, n, k) -> (m, n)>
#full = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>

// Two rows by two vectors of accumulators in registers, four steps of k at once; nothing is stored but the result.
// CHECK-LABEL: @full_columns
// CHECK-SAME: (%[[A:[a-z0-9]+]]: memref<2x9xf32>, %[[B:[a-z0-9]+]]: memref<1x9x32xf32>, %[[OUT:[a-z0-9]+]]: memref<2x32xf32>)
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: %[[S:.*]]:4 = scf.for %[[K:.*]] = %c0 to %c8 step %c4 iter_args(%{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]])
// CHECK: %[[B0:.*]] = vector.load %[[B]][%c0, %[[K]], %c0]
// CHECK: %[[B1:.*]] = vector.load %[[B]][%c0, %[[K]], %c16]
// CHECK: %[[X:.*]] = memref.load %[[A]][%c0, %[[K]]]
// CHECK: %[[XS:.*]] = vector.broadcast %[[X]]
// CHECK: math.fma %[[XS]], %[[B0]], %{{.*}} : vector<16xf32>
// CHECK: math.fma %[[XS]], %[[B1]], %{{.*}} : vector<16xf32>
// CHECK-COUNT-14: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.yield
// The remaining step, after the loop.
// CHECK-COUNT-4: math.fma
// CHECK-NOT: math.fma
// CHECK-COUNT-4: vector.store
// CHECK-NOT: linalg
// CHECK: return
func.func @full_columns(%x: memref<2x9xf32>, %w: memref<1x9x32xf32>, %out: memref<2x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<2x32xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x9xf32>, memref<1x9x32xf32>) outs(%out : memref<2x32xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// 20 of 32 columns: the panel is read whole, its columns beyond the matrix being zero, but four lanes of the second vector are stored.
// CHECK-LABEL: @tail_columns
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<1x20xf32
// CHECK: scf.for
// CHECK-COUNT-2: vector.load
// CHECK-NOT: vector.load
// CHECK: vector.maskedstore %[[OUT]][%c0, %c16]
func.func @tail_columns(%x: memref<1x8xf32>, %w: memref<1x8x20xf32, strided<[256, 32, 1]>>, %out: memref<1x20xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<1x20xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<1x8xf32>, memref<1x8x20xf32, strided<[256, 32, 1]>>) outs(%out : memref<1x20xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Rows and columns known at run time, at most one tile: the same loops for all columns and for fewer, with masks; two rows, else one if there is one.
// CHECK-LABEL: @dynamic
// CHECK: %[[ROWS:.*]] = affine.min
// CHECK: %[[COLUMNS:.*]] = affine.min
// CHECK-NOT: vector.store
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[ROWS]], %c1
// CHECK-NEXT: scf.if %[[ONE]]
// CHECK: vector.create_mask %[[COLUMNS]]
// CHECK: vector.maskedstore
// CHECK: %[[REST:.*]] = arith.subi %[[COLUMNS]], %c16
// CHECK: vector.create_mask %[[REST]]
// CHECK: vector.maskedstore
// CHECK: } else {
// CHECK: %[[PAIRS:.*]] = arith.ceildivui %[[ROWS]], %c2
// CHECK: scf.index_switch %[[PAIRS]]
// CHECK: case 1
// CHECK-COUNT-4: vector.maskedstore
// CHECK-NOT: vector.maskedstore
// CHECK-NOT: vector.store
// CHECK-NOT: linalg
// CHECK: return
func.func @dynamic(%x: memref<?x8xf32>, %w: memref<?x8x?xf32, strided<[256, 32, 1], offset: ?>>, %o: memref<9x50xf32>, %i: index, %j: index) {
  %zero = arith.constant 0.0 : f32
  %rows = affine.min affine_map<(i) -> (i, 2)>(%i)
  %columns = affine.min affine_map<(j) -> (j, 32)>(%j)
  %out = memref.subview %o[0, 0] [%rows, %columns] [1, 1] : memref<9x50xf32> to memref<?x?xf32, strided<[50, 1]>>
  linalg.fill ins(%zero : f32) outs(%out : memref<?x?xf32, strided<[50, 1]>>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x8xf32>, memref<?x8x?xf32, strided<[256, 32, 1], offset: ?>>) outs(%out : memref<?x?xf32, strided<[50, 1]>>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Dynamic sizes give loops over panels and over groups of rows.
// CHECK-LABEL: @unknown_sizes
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<?x?xf32>)
// CHECK: %[[COLUMNS:.*]] = memref.dim %[[OUT]], %c1
// CHECK: scf.for %[[FIRST:.*]] = %c0 to %[[COLUMNS]] step %c32
// CHECK: %[[PANEL:.*]] = arith.divui %[[FIRST]], %c32
// CHECK: %[[ROWS:.*]] = memref.dim %[[OUT]], %c0
// CHECK: scf.for %[[START:.*]] = %c0 to %[[ROWS]] step %c2
// CHECK: vector.load %{{.*}}[%[[PANEL]],
// CHECK: vector.maskedstore %[[OUT]][%[[START]], %[[FIRST]]]
func.func @unknown_sizes(%x: memref<?x8xf32>, %w: memref<?x8x?xf32, strided<[256, 32, 1], offset: ?>>, %out: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<?x?xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x8xf32>, memref<?x8x?xf32, strided<[256, 32, 1], offset: ?>>) outs(%out : memref<?x?xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Prefetches the operands of the epilogue of a whole tile before the product, those with an element for each row and
// column; not the bias, which has one for each column, nor the sum.
// CHECK-LABEL: @residual_ahead
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: memref<32xf32>, %[[RESIDUAL:[a-z0-9]+]]: memref<2x32xf32>
// CHECK-NOT: memref.prefetch
// CHECK: memref.prefetch %[[RESIDUAL]][%c0, %c0], read, locality<3>, data
// CHECK-NEXT: memref.prefetch %[[RESIDUAL]][%c0, %c16]
// CHECK-NEXT: memref.prefetch %[[RESIDUAL]][%c1, %c0]
// CHECK-NEXT: memref.prefetch %[[RESIDUAL]][%c1, %c16]
// CHECK-NOT: memref.prefetch
// CHECK: scf.for
// CHECK: vector.load %[[RESIDUAL]][%c0, %c0]
// Two rows of a tile of four are a partial tile.
// PARTIAL-LABEL: @residual_ahead
// PARTIAL-NOT: memref.prefetch
// PARTIAL: return
func.func @residual_ahead(%x: memref<2x8xf32>, %w: memref<1x8x32xf32>, %bias: memref<32xf32>, %residual: memref<2x32xf32>, %sum: memref<2x32xf32>,
                          %out: memref<2x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<2x32xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x8xf32>, memref<1x8x32xf32>) outs(%sum : memref<2x32xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#full, #column, #full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %bias, %residual : memref<2x32xf32>, memref<32xf32>, memref<2x32xf32>) outs(%out : memref<2x32xf32>) {
  ^bb0(%l: f32, %r: f32, %t: f32, %acc: f32):
    %p = arith.addf %l, %r : f32
    %s = arith.addf %p, %t : f32
    linalg.yield %s : f32
  }
  return
}

// Up to two panels of a block whose columns are those of whole panels: a single row reads both side by side if both
// exist.
// CHECK-LABEL: @side_by_side
// CHECK: affine.min
// CHECK: %[[COLUMNS:.*]] = affine.min
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %{{.*}}, %c1
// CHECK: %[[ALL:.*]] = arith.cmpi ugt, %[[COLUMNS]], %c32
// CHECK: %[[BOTH:.*]] = arith.andi %[[ONE]], %[[ALL]]
// CHECK: scf.if %[[BOTH]]
// CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c1 iter_args(
// CHECK-DAG: vector.load %{{.*}}[%c0, %[[K]], %c0]
// CHECK-DAG: vector.load %{{.*}}[%c0, %[[K]], %c16]
// CHECK-DAG: vector.load %{{.*}}[%c1, %[[K]], %c0]
// CHECK-DAG: vector.load %{{.*}}[%c1, %[[K]], %c16]
// CHECK-COUNT-4: math.fma
// CHECK-COUNT-4: vector.store
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c0 to %[[COLUMNS]] step %c32
// CHECK-NOT: vector.maskedstore
// CHECK: return
func.func @side_by_side(%x: memref<?x8xf32>, %w: memref<?x8x?xf32, strided<[256, 32, 1], offset: ?>>, %o: memref<9x64xf32>, %i: index, %j: index) {
  %zero = arith.constant 0.0 : f32
  %rows = affine.min affine_map<(i) -> (i, 2)>(%i)
  %columns = affine.min affine_map<(j) -> (j, 64)>(%j)
  %out = memref.subview %o[0, 0] [%rows, %columns] [1, 1] : memref<9x64xf32> to memref<?x?xf32, strided<[64, 1]>>
  linalg.fill ins(%zero : f32) outs(%out : memref<?x?xf32, strided<[64, 1]>>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x8xf32>, memref<?x8x?xf32, strided<[256, 32, 1], offset: ?>>) outs(%out : memref<?x?xf32, strided<[64, 1]>>)
      attrs = {tile.whole_panels} {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// The epilogue takes the accumulators; the buffer between the two is not touched.
// CHECK-LABEL: @epilogue
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: memref<32xf32>, %[[RESIDUAL:[a-z0-9]+]]: memref<1x32xf32>, %[[SUM:[a-z0-9]+]]: memref<1x32xf32>, %[[OUT:[a-z0-9]+]]: memref<1x32xf32>)
// CHECK-NOT: %[[SUM]]
// CHECK: %[[S:.*]]:2 = scf.for
// CHECK: %[[B0:.*]] = vector.load %[[BIAS]][%c0]
// CHECK: %[[R0:.*]] = vector.load %[[RESIDUAL]][%c0, %c0]
// CHECK: %[[BIASED:.*]] = arith.addf %[[S]]#0, %[[B0]] : vector<16xf32>
// CHECK: %[[ACTIVE:.*]] = math.tanh %[[BIASED]] : vector<16xf32>
// CHECK: %[[Y:.*]] = arith.addf %[[ACTIVE]], %[[R0]] : vector<16xf32>
// CHECK: vector.store %[[Y]], %[[OUT]][%c0, %c0]
// CHECK: vector.store %{{.*}}, %[[OUT]][%c0, %c16]
// CHECK-NOT: %[[SUM]]
// CHECK: return
func.func @epilogue(%x: memref<1x8xf32>, %w: memref<1x8x32xf32>, %bias: memref<32xf32>, %residual: memref<1x32xf32>, %sum: memref<1x32xf32>, %out: memref<1x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<1x32xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<1x8xf32>, memref<1x8x32xf32>) outs(%sum : memref<1x32xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#full, #column, #full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%sum, %bias, %residual : memref<1x32xf32>, memref<32xf32>, memref<1x32xf32>) outs(%out : memref<1x32xf32>) {
  ^bb0(%l: f32, %r: f32, %e: f32, %acc: f32):
    %p = arith.addf %l, %r : f32
    %t = math.tanh %p : f32
    %s = arith.addf %t, %e : f32
    linalg.yield %s : f32
  }
  return
}

// The sums of a partial tile of several rows go to memory, and one loop over the rows applies the epilogue. So do those of a whole tile (two rows of
// two) if the epilogue has functions, which are long.
// CHECK-LABEL: @partial_epilogue
// CHECK-SAME: %[[SUM:[a-z0-9]+]]: memref<2x32xf32>, %[[OUT:[a-z0-9]+]]: memref<2x32xf32>)
// CHECK-COUNT-4: vector.store %{{.*}}, %[[SUM]]
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK-COUNT-2: math.tanh
// CHECK-NOT: math.tanh
// CHECK: return
// PARTIAL-LABEL: @partial_epilogue
// PARTIAL-SAME: %[[SUM:[a-z0-9]+]]: memref<2x32xf32>, %[[OUT:[a-z0-9]+]]: memref<2x32xf32>)
// PARTIAL: scf.for
// PARTIAL-COUNT-4: vector.store %{{.*}}, %[[SUM]]
// PARTIAL: scf.for %[[ROW:.*]] = %c0 to %c2 step %c1
// PARTIAL: vector.load %[[SUM]][%[[ROW]], %c0]
// PARTIAL: vector.load %[[SUM]][%[[ROW]], %c16]
// PARTIAL-COUNT-2: math.tanh
// PARTIAL-NOT: math.tanh
// PARTIAL: return
func.func @partial_epilogue(%x: memref<2x8xf32>, %w: memref<1x8x32xf32>, %sum: memref<2x32xf32>, %out: memref<2x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<2x32xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x8xf32>, memref<1x8x32xf32>) outs(%sum : memref<2x32xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<2x32xf32>) outs(%out : memref<2x32xf32>) {
  ^bb0(%l: f32, %o: f32):
    %y = math.tanh %l : f32
    linalg.yield %y : f32
  }
  return
}

// One row applies an epilogue with functions in registers; several rows share a loop.
// CHECK-LABEL: @shared_epilogue
// PARTIAL-LABEL: @shared_epilogue
// PARTIAL-SAME: %[[SUM:[a-z0-9]+]]: memref<?x32xf32>, %[[OUT:[a-z0-9]+]]: memref<?x32xf32>)
// PARTIAL: scf.if
// PARTIAL-COUNT-2: math.tanh
// PARTIAL-NOT: math.tanh
// PARTIAL: } else {
// PARTIAL-NOT: math.tanh
// PARTIAL: scf.index_switch
// PARTIAL-NOT: math.tanh
// PARTIAL: default {
// PARTIAL: scf.for %[[ROW:[a-z0-9]+]] =
// PARTIAL-NEXT: vector.load %[[SUM]][%[[ROW]], %c0]
// PARTIAL-NEXT: vector.load %[[SUM]][%[[ROW]], %c16]
// PARTIAL-COUNT-2: math.tanh
// PARTIAL-NOT: math.tanh
// PARTIAL: return
func.func @shared_epilogue(%x: memref<?x8xf32>, %w: memref<1x8x32xf32>, %sum: memref<?x32xf32>, %out: memref<?x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<?x32xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x8xf32>, memref<1x8x32xf32>) outs(%sum : memref<?x32xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<?x32xf32>) outs(%out : memref<?x32xf32>) {
  ^bb0(%l: f32, %o: f32):
    %y = math.tanh %l : f32
    linalg.yield %y : f32
  }
  return
}

// One row applies a short epilogue in registers; several rows share a loop, which has no iterations for one row.
// CHECK-LABEL: @shared_short_epilogue
// PARTIAL-LABEL: @shared_short_epilogue
// PARTIAL-SAME: %[[SUM:[a-z0-9]+]]: memref<?x32xf32>, %[[OUT:[a-z0-9]+]]: memref<?x32xf32>)
// PARTIAL: %[[ROWS:.*]] = arith.minsi
// PARTIAL: scf.if
// PARTIAL-COUNT-2: vector.store %{{.*}}, %[[OUT]]
// PARTIAL: } else {
// PARTIAL-NOT: %[[OUT]]
// PARTIAL: default {
// PARTIAL: %[[SEVERAL:.*]] = arith.cmpi ugt, %[[ROWS]], %c1
// PARTIAL: %[[COUNT:.*]] = arith.select %[[SEVERAL]], %[[ROWS]], %c0
// PARTIAL: %[[END:.*]] = arith.addi %[[BASE:.*]], %[[COUNT]]
// PARTIAL: scf.for %{{.*}} = %[[BASE]] to %[[END]] step %c1
// PARTIAL-COUNT-2: vector.store %{{.*}}, %[[OUT]]
// PARTIAL-NOT: vector.store
// PARTIAL: return
func.func @shared_short_epilogue(%x: memref<?x8xf32>, %w: memref<1x8x32xf32>, %sum: memref<?x32xf32>, %out: memref<?x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<?x32xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x8xf32>, memref<1x8x32xf32>) outs(%sum : memref<?x32xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<?x32xf32>) outs(%out : memref<?x32xf32>) {
  ^bb0(%l: f32, %o: f32):
    %y = arith.negf %l : f32
    linalg.yield %y : f32
  }
  return
}

// In whole tiles, a short epilogue is applied in registers.
// CHECK-LABEL: @whole_epilogue
// CHECK-SAME: %[[SUM:[a-z0-9]+]]: memref<2x32xf32>, %[[OUT:[a-z0-9]+]]: memref<2x32xf32>)
// CHECK-NOT: %[[SUM]]
// CHECK-COUNT-4: vector.store %{{.*}}, %[[OUT]]
// CHECK: return
// PARTIAL-LABEL: @whole_epilogue
// PARTIAL-SAME: %[[SUM:[a-z0-9]+]]: memref<2x32xf32>, %[[OUT:[a-z0-9]+]]: memref<2x32xf32>)
// PARTIAL-COUNT-4: vector.store %{{.*}}, %[[SUM]]
func.func @whole_epilogue(%x: memref<2x8xf32>, %w: memref<1x8x32xf32>, %sum: memref<2x32xf32>, %out: memref<2x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<2x32xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x8xf32>, memref<1x8x32xf32>) outs(%sum : memref<2x32xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<2x32xf32>) outs(%out : memref<2x32xf32>) {
  ^bb0(%l: f32, %o: f32):
    %y = math.fma %l, %l, %l : f32
    linalg.yield %y : f32
  }
  return
}

// The epilogue overwrites the rows, which the product with the second panel reads: it follows the whole product.
// CHECK-LABEL: @negative_epilogue_overwrites_rows
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<2x64xf32>, %{{[a-z0-9]+}}: memref<2x64x32xf32>, %[[SUM:[a-z0-9]+]]: memref<2x64xf32>)
// CHECK-NOT: vector.store %{{.*}}, %[[X]]
// CHECK: vector.maskedstore %[[SUM]]
// CHECK: vector.load %[[SUM]]
// CHECK: vector.store %{{.*}}, %[[X]]
func.func @negative_epilogue_overwrites_rows(%x: memref<2x64xf32>, %w: memref<2x64x32xf32>, %sum: memref<2x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %out = memref.cast %x : memref<2x64xf32> to memref<2x64xf32, strided<[64, 1], offset: ?>>
  linalg.fill ins(%zero : f32) outs(%sum : memref<2x64xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x64xf32>, memref<2x64x32xf32>) outs(%sum : memref<2x64xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]}
      ins(%sum : memref<2x64xf32>) outs(%out : memref<2x64xf32, strided<[64, 1], offset: ?>>) {
  ^bb0(%l: f32, %o: f32):
    %y = math.fma %l, %l, %l : f32
    linalg.yield %y : f32
  }
  return
}

// A static number of rows above that of a register tile is a loop, too.
// CHECK-LABEL: @static_rows
// CHECK: scf.for %{{.*}} = %c0 to %c5 step %c2
func.func @static_rows(%x: memref<5x8xf32>, %w: memref<1x8x32xf32>, %out: memref<5x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<5x32xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<5x8xf32>, memref<1x8x32xf32>) outs(%out : memref<5x32xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// The sum has another reader: it is stored, and the epilogue reads it.
// CHECK-LABEL: @negative_sum_read_twice
// CHECK-SAME: %[[SUM:[a-z0-9]+]]: memref<1x16xf32>, %[[OUT:[a-z0-9]+]]: memref<1x16xf32>)
// CHECK: scf.for
// CHECK: vector.store %{{.*}}, %[[SUM]]
// CHECK: vector.load %[[SUM]]
// CHECK: vector.store %{{.*}}, %[[OUT]]
// CHECK: memref.load %[[SUM]]
func.func @negative_sum_read_twice(%x: memref<1x8xf32>, %w: memref<1x8x16xf32>, %sum: memref<1x16xf32>, %out: memref<1x16xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<1x16xf32>)
  linalg.generic {indexing_maps = [#a, affine_map<(m, n, k) -> (n floordiv 16, k, n mod 16)>, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<1x8xf32>, memref<1x8x16xf32>) outs(%sum : memref<1x16xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]} ins(%sum : memref<1x16xf32>) outs(%out : memref<1x16xf32>) {
  ^bb0(%l: f32, %acc: f32):
    %s = math.tanh %l : f32
    linalg.yield %s : f32
  }
  %c0 = arith.constant 0 : index
  %v = memref.load %sum[%c0, %c0] : memref<1x16xf32>
  return %v : f32
}

// In a loop over row tiles: they share the lines of the next panel, in up to four streams side by side. A single tile asks for all of them, here of 16 two in
// every step, from the first and the second quarter or from the third and the last; several for 4, 2 or 1 an iteration of 4 steps, and the partial one among
// them for one in every step. Tiles of blocks of more than 3 have one stream each. Two rows, of which one may be missing, are the last row twice.
// CHECK-LABEL: @prefetch_in_loop
// CHECK-SAME: memref<?x8xf32>, %[[W:[a-z0-9]+]]: memref<1x8x32xf32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[M:.*]] step %c2
// CHECK: %[[COUNT:.*]] = affine.min
// CHECK-DAG: %[[TILE:.*]] = arith.divui %[[I]], %c2
// CHECK-DAG: %[[TILES:.*]] = arith.ceildivui %[[M]], %c2
// CHECK: %[[ALONE:.*]] = arith.cmpi ule, %[[TILES]], %c1
// CHECK: scf.if %[[ALONE]]
// CHECK: scf.if
// CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c1
// CHECK: %[[PAIR:.*]] = arith.divui %[[K]], %c2
// CHECK: %[[LINE:.*]] = arith.muli %[[PAIR]], %c16
// CHECK: %[[TURN:.*]] = arith.remui %[[K]], %c2
// CHECK: %[[HALF:.*]] = arith.muli %[[TURN]], %c128
// CHECK: %[[AT:.*]] = arith.addi %[[LINE]], %[[HALF]]
// CHECK: memref.prefetch %[[W]][%c1, %c0, %[[AT]]], read, locality<2>, data
// CHECK: %[[QUARTER:.*]] = arith.addi %[[AT]], %c64
// CHECK: memref.prefetch %[[W]][%c1, %c0, %[[QUARTER]]], read, locality<2>, data
// CHECK-NOT: memref.prefetch
// CHECK: case 1
// CHECK: %[[LAST:.*]] = arith.subi %[[COUNT]], %c1
// CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c1
// CHECK-COUNT-2: memref.prefetch %[[W]][%c1, %c0
// CHECK: memref.load %{{.*}}[%c0, %[[K]]]
// CHECK: memref.load %{{.*}}[%[[LAST]], %[[K]]]
// CHECK-NOT: memref.prefetch
// CHECK: } else {
// CHECK: arith.cmpi eq, %[[COUNT]], %c2
// CHECK: arith.cmpi ule, %[[TILES]], %c3
// CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c4
// CHECK: %[[ITERATION:.*]] = arith.divui %[[K]], %c4
// CHECK: %[[LINE:.*]] = arith.muli %[[ITERATION]], %c16
// CHECK: %[[SHARE:.*]] = arith.remui %[[TILE]], %c2
// CHECK: %[[ROW:.*]] = arith.muli %[[SHARE]], %c4
// CHECK: memref.prefetch %[[W]][%c1, %[[ROW]], %[[LINE]]]
// CHECK: %[[SECOND:.*]] = arith.addi %[[LINE]], %c32
// CHECK: memref.prefetch %[[W]][%c1, %[[ROW]], %[[SECOND]]]
// CHECK: %[[THIRD:.*]] = arith.addi %[[LINE]], %c64
// CHECK: memref.prefetch %[[W]][%c1, %[[ROW]], %[[THIRD]]]
// CHECK: %[[FOURTH:.*]] = arith.addi %[[LINE]], %c96
// CHECK: memref.prefetch %[[W]][%c1, %[[ROW]], %[[FOURTH]]]
// CHECK-NOT: memref.prefetch
// CHECK: arith.cmpi ule, %[[TILES]], %c7
// CHECK: %[[SHARE:.*]] = arith.remui %[[TILE]], %c4
// CHECK: %[[ROW:.*]] = arith.muli %[[SHARE]], %c2
// CHECK: memref.prefetch %[[W]][%c1, %[[ROW]], %[[LINE:.*]]]
// CHECK: memref.prefetch %[[W]][%c1, %[[ROW]]
// CHECK-NOT: memref.prefetch
// CHECK: %[[ROW:.*]] = arith.remui %[[TILE]], %c8
// CHECK: memref.prefetch %[[W]][%c1, %[[ROW]]
// CHECK-NOT: memref.prefetch
// CHECK: scf.if
// CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c1
// CHECK: arith.remui %[[K]], %c4
// CHECK: memref.prefetch %[[W]][%c1
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @prefetch_in_loop(%x: memref<?x8xf32>, %w: memref<1x8x32xf32>, %out: memref<?x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %rows = memref.dim %x, %c0 : memref<?x8xf32>
  scf.for %i = %c0 to %rows step %c2 {
    %n = affine.min affine_map<(i)[n] -> (n - i, 2)>(%i)[%rows]
    %a = memref.subview %x[%i, 0] [%n, 8] [1, 1] : memref<?x8xf32> to memref<?x8xf32, strided<[8, 1], offset: ?>>
    %o = memref.subview %out[%i, 0] [%n, 32] [1, 1] : memref<?x32xf32> to memref<?x32xf32, strided<[32, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%o : memref<?x32xf32, strided<[32, 1], offset: ?>>)
    linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %w : memref<?x8xf32, strided<[8, 1], offset: ?>>, memref<1x8x32xf32>) outs(%o : memref<?x32xf32, strided<[32, 1], offset: ?>>) {
    ^bb0(%l: f32, %r: f32, %acc: f32):
      %p = arith.mulf %l, %r : f32
      %s = arith.addf %acc, %p : f32
      linalg.yield %s : f32
    }
  }
  return
}

// Of one stream, a single tile asks for the lines that come 128 bytes after those in use, beyond the end of the panel, too; tiles that share the next panel go on
// with it line after line.
// STREAM-LABEL: @prefetch_in_loop
// STREAM-SAME: memref<?x8xf32>, %[[W:[a-z0-9]+]]: memref<1x8x32xf32>
// STREAM: scf.for %[[K:.*]] = %c0 to %c8 step %c1
// STREAM: %[[USED:.*]] = arith.muli %[[K]], %c32
// STREAM: %[[AHEAD:.*]] = arith.addi %[[USED]], %c32
// STREAM: memref.prefetch %[[W]][%c0, %c0, %[[AHEAD]]], read, locality<3>, data
// STREAM: %[[SECOND:.*]] = arith.addi %[[USED]], %c48
// STREAM: memref.prefetch %[[W]][%c0, %c0, %[[SECOND]]], read, locality<3>, data
// STREAM-NOT: memref.prefetch
// STREAM: case 1
// STREAM-COUNT-2: memref.prefetch %[[W]][%c0, %c0
// STREAM: scf.for %[[K:.*]] = %c0 to %c8 step %c4
// STREAM: %[[ITERATION:.*]] = arith.divui %[[K]], %c4
// STREAM: %[[LINE:.*]] = arith.muli %[[ITERATION]], %c64
// STREAM: memref.prefetch %[[W]][%c1, %[[ROW:.*]], %[[LINE]]], read, locality<2>, data
// STREAM: %[[SECOND:.*]] = arith.addi %[[LINE]], %c16
// STREAM: memref.prefetch %[[W]][%c1, %[[ROW]], %[[SECOND]]]

// CHECK-LABEL: @negative_prefetch_without_loop
// CHECK: scf.for
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func @negative_prefetch_without_loop(%x: memref<2x8xf32>, %w: memref<1x8x32xf32>, %out: memref<2x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<2x32xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x8xf32>, memref<1x8x32xf32>) outs(%out : memref<2x32xf32>) {
  ^bb0(%l: f32, %r: f32, %acc: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Weights of bf16 are widened when they are loaded; a line of a panel has all columns of a step.
// CHECK-LABEL: @bf16_weights
// CHECK-SAME: (%[[A:[a-z0-9]+]]: memref<2x8xf32>, %[[B:[a-z0-9]+]]: memref<1x8x32xbf16>
// CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c4
// CHECK: %[[B0:.*]] = vector.load %[[B]][%c0, %[[K]], %c0] : memref<1x8x32xbf16>, vector<16xbf16>
// CHECK: %[[W0:.*]] = arith.extf %[[B0]] : vector<16xbf16> to vector<16xf32>
// CHECK: %[[B1:.*]] = vector.load %[[B]][%c0, %[[K]], %c16] : memref<1x8x32xbf16>, vector<16xbf16>
// CHECK: math.fma %{{.*}}, %[[W0]], %{{.*}} : vector<16xf32>
// CHECK-NOT: linalg
// CHECK: return
func.func @bf16_weights(%x: memref<2x8xf32>, %w: memref<1x8x32xbf16>, %out: memref<2x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<2x32xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x8xf32>, memref<1x8x32xbf16>) outs(%out : memref<2x32xf32>) {
  ^bb0(%l: f32, %r: bf16, %acc: f32):
    %e = arith.extf %r : bf16 to f32
    %p = arith.mulf %l, %e : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
