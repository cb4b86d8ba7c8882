// RUN: attune-opt %s --attune-turn-panels | FileCheck %s
// RUN: attune-opt %s --attune-turn-panels=block-bytes=2000000 | FileCheck %s --check-prefix=LARGE

#rows = affine_map<(m, n, k) -> (m, k)>
#panel = affine_map<(m, n, k) -> (0, k, n)>
#sum = affine_map<(m, n, k) -> (m, n)>

// 128 rows of 3072 inputs and a panel of 32 columns are more than 524288 bytes, but not more than 2000000.
// CHECK-LABEL: @deep
// CHECK: scf.forall (%{{.*}}, %[[J:.*]]) = (0, 0) to (%{{.*}}, 64) step (128, 32)
// CHECK: %[[PANEL:.*]] = arith.divui %[[J]], %c32
// CHECK: %[[LAST:.*]] = arith.andi %[[PANEL]], %c1
// CHECK: %[[TURNED:.*]] = arith.cmpi ne, %[[LAST]], %c0
// CHECK: %[[LENGTH:.*]] = arith.subi %[[N:.*]], %c0
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[LENGTH]], %c8
// CHECK: %[[BUTONE:.*]] = arith.subi %[[TILES]], %c1
// CHECK: %[[FROMFIRST:.*]] = arith.muli %[[BUTONE]], %c8
// CHECK: %[[END:.*]] = arith.addi %[[FROMFIRST]], %c0
// CHECK: %[[BOTH:.*]] = arith.addi %[[END]], %c0
// CHECK: scf.for %[[K:.*]] = %c0{{.*}} to %[[N]] step %c8
// CHECK-NEXT: %[[MIRRORED:.*]] = arith.subi %[[BOTH]], %[[K]]
// CHECK-NEXT: %[[ROW:.*]] = arith.select %[[TURNED]], %[[MIRRORED]], %[[K]]
// CHECK-NEXT: affine.min #{{.*}}(%[[ROW]])[%[[N]]]
// CHECK-NEXT: memref.subview %{{.*}}[%[[ROW]], 0]
// CHECK-NEXT: memref.subview %{{.*}}[%[[ROW]], %[[J]]]
// CHECK-NOT: arith.select
// LARGE-LABEL: @deep
// LARGE-NOT: arith.select
func.func @deep(%x: memref<?x3072xf32>, %w: memref<2x3072x32xf32>, %y: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x3072xf32>
  scf.forall (%i, %j) = (0, 0) to (%n, 64) step (128, 32) {
    %p = affine.apply affine_map<(d0) -> (d0 floordiv 32)>(%j)
    %panel = memref.subview %w[%p, 0, 0] [1, 3072, 32] [1, 1, 1] : memref<2x3072x32xf32> to memref<1x3072x32xf32, strided<[98304, 32, 1], offset: ?>>
    %size = affine.min affine_map<(d0)[s0] -> (128, s0 - d0)>(%i)[%n]
    %block = memref.subview %x[%i, 0] [%size, 3072] [1, 1] : memref<?x3072xf32> to memref<?x3072xf32, strided<[3072, 1], offset: ?>>
    scf.for %k = %c0 to %size step %c8 {
      %count = affine.min affine_map<(d0)[s0] -> (8, s0 - d0)>(%k)[%size]
      %rows = memref.subview %block[%k, 0] [%count, 3072] [1, 1] : memref<?x3072xf32, strided<[3072, 1], offset: ?>> to memref<?x3072xf32, strided<[3072, 1], offset: ?>>
      %out = memref.subview %y[%k, %j] [%count, 32] [1, 1] : memref<?x64xf32> to memref<?x32xf32, strided<[64, 1], offset: ?>>
      linalg.fill ins(%zero : f32) outs(%out : memref<?x32xf32, strided<[64, 1], offset: ?>>)
      linalg.generic {indexing_maps = [#rows, #panel, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%rows, %panel : memref<?x3072xf32, strided<[3072, 1], offset: ?>>, memref<1x3072x32xf32, strided<[98304, 32, 1], offset: ?>>)
          outs(%out : memref<?x32xf32, strided<[64, 1], offset: ?>>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %product = arith.mulf %a, %b : f32
        %next = arith.addf %c, %product : f32
        linalg.yield %next : f32
      }
    }
  }
  return
}

// Rows that a cache keeps.
// CHECK-LABEL: @shallow
// CHECK-NOT: arith.select
func.func @shallow(%x: memref<?x48xf32>, %w: memref<2x48x32xf32>, %y: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x48xf32>
  scf.forall (%i, %j) = (0, 0) to (%n, 64) step (128, 32) {
    %p = affine.apply affine_map<(d0) -> (d0 floordiv 32)>(%j)
    %panel = memref.subview %w[%p, 0, 0] [1, 48, 32] [1, 1, 1] : memref<2x48x32xf32> to memref<1x48x32xf32, strided<[1536, 32, 1], offset: ?>>
    scf.for %k = %c0 to %n step %c8 {
      %count = affine.min affine_map<(d0)[s0] -> (8, s0 - d0)>(%k)[%n]
      %rows = memref.subview %x[%k, 0] [%count, 48] [1, 1] : memref<?x48xf32> to memref<?x48xf32, strided<[48, 1], offset: ?>>
      %out = memref.subview %y[%k, %j] [%count, 32] [1, 1] : memref<?x64xf32> to memref<?x32xf32, strided<[64, 1], offset: ?>>
      linalg.fill ins(%zero : f32) outs(%out : memref<?x32xf32, strided<[64, 1], offset: ?>>)
      linalg.generic {indexing_maps = [#rows, #panel, #sum], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%rows, %panel : memref<?x48xf32, strided<[48, 1], offset: ?>>, memref<1x48x32xf32, strided<[1536, 32, 1], offset: ?>>)
          outs(%out : memref<?x32xf32, strided<[64, 1], offset: ?>>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %product = arith.mulf %a, %b : f32
        %next = arith.addf %c, %product : f32
        linalg.yield %next : f32
      }
    }
  }
  return
}
