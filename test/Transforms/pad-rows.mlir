// RUN: attune-opt %s -split-input-file -allow-unregistered-dialect -attune-pad-rows | FileCheck %s
// RUN: attune-opt %s -split-input-file -allow-unregistered-dialect -attune-pad-rows="multiple=384" | FileCheck %s --check-prefix=OTHER
// RUN: attune-opt %s -split-input-file -allow-unregistered-dialect -attune-pad-rows="multiple=0" | FileCheck %s --check-prefix=NONE
// NONE-NOT: strided<[528
// NONE-NOT: strided<[112

// Rows of 2 KiB; the stride goes through calls, and through views of the arguments.
// CHECK-LABEL: func.func private @product
// CHECK-SAME: %[[A:[^ ]*]]: memref<?x8x64xf32, strided<[528, 64, 1]>>, %{{.*}}: memref<?x96xf32>)
func.func private @product(%a: memref<?x8x64xf32>, %out: memref<?x96xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %rows = memref.dim %a, %c0 : memref<?x8x64xf32>
  // CHECK: %[[FLAT:.*]] = memref.collapse_shape %[[A]] {{\[}}[0], [1, 2]] : memref<?x8x64xf32, strided<[528, 64, 1]>> into memref<?x512xf32, strided<[528, 1]>>
  %flat = memref.collapse_shape %a [[0], [1, 2]] : memref<?x8x64xf32> into memref<?x512xf32>
  scf.forall (%i) = (0) to (%rows) step (2) {
    // CHECK: %[[TILE:.*]] = memref.subview %[[FLAT]]{{.*}} to memref<2x512xf32, strided<[528, 1], offset: ?>>
    %tile = memref.subview %flat[%i, 0] [2, 512] [1, 1] : memref<?x512xf32> to memref<2x512xf32, strided<[512, 1], offset: ?>>
    // CHECK: memref.subview %[[TILE]]{{.*}} to memref<512xf32, strided<[1], offset: ?>>
    %row = memref.subview %tile[1, 0] [1, 512] [1, 1] : memref<2x512xf32, strided<[512, 1], offset: ?>> to memref<512xf32, strided<[1], offset: ?>>
    %view = memref.subview %out[%i, 0] [1, 96] [1, 1] : memref<?x96xf32> to memref<96xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
        ins(%row : memref<512xf32, strided<[1], offset: ?>>) outs(%view : memref<96xf32, strided<[1], offset: ?>>) {
    ^bb0(%x: f32, %sum: f32):
      %next = arith.addf %sum, %x : f32
      linalg.yield %next : f32
    }
  }
  return
}
// CHECK-LABEL: func.func private @layer
// CHECK-SAME: memref<?x8x64xf32, strided<[528, 64, 1]>>
func.func private @layer(%a: memref<?x8x64xf32>, %out: memref<?x96xf32>) {
  func.call @product(%a, %out) : (memref<?x8x64xf32>, memref<?x96xf32>) -> ()
  return
}
// A row of 96 columns has 384 bytes. %out is an argument of the entry and is not padded.
// CHECK-LABEL: func.func @forward
// OTHER-LABEL: func.func @forward
func.func @forward(%out: memref<?x96xf32>, %rows: index) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  // CHECK: memref.alloc(%{{.*}}) : memref<?x8x64xf32, strided<[528, 64, 1]>>
  // CHECK: memref.alloc(%{{.*}}) : memref<?x8x64xf32, strided<[528, 64, 1]>>
  // CHECK: memref.alloc(%{{.*}}) : memref<?x96xf32>
  // OTHER: memref.alloc(%{{.*}}) : memref<?x8x64xf32>
  // OTHER: memref.alloc(%{{.*}}) : memref<?x8x64xf32>
  // OTHER: memref.alloc(%{{.*}}) : memref<?x96xf32, strided<[112, 1]>>
  %a = memref.alloc(%rows) : memref<?x8x64xf32>
  %b = memref.alloc(%rows) : memref<?x8x64xf32>
  %c = memref.alloc(%rows) : memref<?x96xf32>
  memref.copy %out, %c : memref<?x96xf32> to memref<?x96xf32>
  // CHECK: call @layer(%{{.*}}) : (memref<?x8x64xf32, strided<[528, 64, 1]>>, memref<?x96xf32>) -> ()
  func.call @layer(%a, %out) : (memref<?x8x64xf32>, memref<?x96xf32>) -> ()
  func.call @product(%b, %out) : (memref<?x8x64xf32>, memref<?x96xf32>) -> ()
  return
}

// -----

// An argument that is also an argument of an entry keeps its rows, and so do all buffers that are passed as it.
// CHECK-LABEL: func.func private @double
// CHECK-NOT: strided
func.func private @double(%a: memref<?x512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%a : memref<?x512xf32>) {
  ^bb0(%x: f32):
    %sum = arith.addf %x, %x : f32
    linalg.yield %sum : f32
  }
  return
}
func.func @given(%out: memref<?x512xf32>, %rows: index) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %a = memref.alloc(%rows) : memref<?x512xf32>
  func.call @double(%a) : (memref<?x512xf32>) -> ()
  func.call @double(%out) : (memref<?x512xf32>) -> ()
  return
}
// Nothing is known about this operation, and views of rows side by side need them side by side.
func.func @unknown(%rows: index) attributes {xfmr.entry = #xfmr.entry<"unknown">} {
  %a = memref.alloc(%rows) : memref<?x512xf32>
  %b = memref.alloc(%rows) : memref<?x512xf32>
  "test.use"(%a) : (memref<?x512xf32>) -> ()
  %flat = memref.collapse_shape %b [[0, 1]] : memref<?x512xf32> into memref<?xf32>
  "test.use"(%flat) : (memref<?xf32>) -> ()
  return
}
// Rows that are not padded: quantized values, rows of one element, rows of unknown size.
func.func @others(%rows: index, %columns: index) attributes {xfmr.entry = #xfmr.entry<"others">} {
  %quantized = memref.alloc(%rows) : memref<?x2048xi8>
  %flat = memref.alloc(%rows) : memref<?xf32>
  %any = memref.alloc(%rows, %columns) : memref<?x?xf32>
  %fine = memref.alloc(%rows) : memref<?x768xf32>
  memref.dealloc %quantized : memref<?x2048xi8>
  memref.dealloc %flat : memref<?xf32>
  memref.dealloc %any : memref<?x?xf32>
  memref.dealloc %fine : memref<?x768xf32>
  return
}
