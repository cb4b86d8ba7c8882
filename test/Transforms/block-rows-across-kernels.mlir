// RUN: attune-opt %s -split-input-file -attune-block-rows-across-kernels="multiple=12" | FileCheck %s
// RUN: attune-opt %s -split-input-file -attune-block-rows-across-kernels="rows=0" | FileCheck %s --check-prefix=NONE
// RUN: not attune-opt %s -split-input-file -attune-block-rows-across-kernels="multiple=0" 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: expects rows not to be negative and multiple to be at least 1, but got 128 and 0
// RUN: attune-opt %s -split-input-file -attune-block-rows-across-kernels="multiple=12" -attune-plan-memory -canonicalize | FileCheck %s --check-prefix=PLACED
// NONE-NOT: scf.for %
// NONE-NOT: offset: ?>)

// The rows of kernel arguments get a dynamic offset, and so do the views of them.
// CHECK-LABEL: func.func private @scale
// CHECK-SAME: (%[[X:[^ ]*]]: memref<?x4x2xf32, strided<[8, 2, 1], offset: ?>> {tile.rows}, %{{.*}}: memref<8xf32>, %{{.*}}: memref<?x8xf32, strided<[8, 1], offset: ?>> {tile.rows})
// CHECK: memref.collapse_shape %[[X]] {{.*}} into memref<?x8xf32, strided<[8, 1], offset: ?>>
func.func private @scale(%x: memref<?x4x2xf32> {tile.rows}, %w: memref<8xf32>, %y: memref<?x8xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"scale">} {
  %flat = memref.collapse_shape %x [[0], [1, 2]] : memref<?x4x2xf32> into memref<?x8xf32>
  linalg.copy ins(%flat : memref<?x8xf32>) outs(%y : memref<?x8xf32>)
  return
}
// CHECK-LABEL: func.func private @widen
// CHECK-SAME: (%{{.*}}: memref<?x8xf32, strided<[8, 1], offset: ?>> {tile.rows}, %{{.*}}: i1, %{{.*}}: memref<?x16xf32, strided<[20, 1], offset: ?>> {tile.rows})
func.func private @widen(%x: memref<?x8xf32> {tile.rows}, %few: i1, %y: memref<?x16xf32, strided<[20, 1]>> {tile.rows}) attributes {tile.kernel = #tile.kernel<"widen">} {
  return
}
// CHECK-LABEL: func.func private @narrow
func.func private @narrow(%x: memref<?x16xf32, strided<[20, 1]>> {tile.rows}, %r: memref<?x8xf32> {tile.rows}, %y: memref<?x8xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"narrow">} {
  return
}

// As many rows of a step for each worker as kernels have in a block: even ones of at most 128, in whole tiles of 12. %a
// and %wide are buffers of a block of rows; so would %t be, but it lies in the rows of %attended, which are not read
// after @scale. %y is the caller's.
// CHECK-LABEL: func.func private @layer
// CHECK-SAME: (%[[IN:[^ ]*]]: memref<?x8xf32>, %[[W:[^ ]*]]: memref<8xf32>, %[[OUT:[^ ]*]]: memref<?x8xf32>)
// CHECK: %[[ATTENDED:.*]] = memref.alloc(%[[N:.*]]) : memref<?x4x2xf32>
// CHECK: %[[T:.*]] = memref.collapse_shape %[[ATTENDED]] {{.*}} into memref<?x8xf32>
// CHECK-NOT: memref.alloc
// CHECK: call @attend
// CHECK: %[[ROWS:.*]] = memref.dim
// CHECK: %[[SOME:.*]] = arith.maxui %[[ROWS]], %c1
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[SOME]], %c128
// CHECK: %[[EVEN:.*]] = arith.ceildivui %[[SOME]], %[[BLOCKS]]
// CHECK: %[[TILES:.*]] = arith.ceildivui %[[EVEN]], %c12
// CHECK: %[[WHOLE:.*]] = arith.muli %[[TILES]], %c12
// CHECK: %[[EACH:.*]] = arith.minui %[[WHOLE]], %c128
// CHECK: %[[WORKERS:.*]] = rt.worker_count
// CHECK: %[[STEP:.*]] = arith.muli %[[EACH]], %[[WORKERS]]
// CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %[[ROWS]] step %[[STEP]] {
// CHECK: %[[REST:.*]] = arith.subi %[[ROWS]], %[[I]]
// CHECK: %[[SIZE:.*]] = arith.minui %[[STEP]], %[[REST]]
// CHECK-DAG: %[[ATTENDED_I:.*]] = memref.subview %[[ATTENDED]][%[[I]], 0, 0] [%[[SIZE]], 4, 2] [1, 1, 1]
// CHECK-DAG: %[[T_I:.*]] = memref.subview %[[T]][%[[I]], 0] [%[[SIZE]], 8] [1, 1]
// CHECK-DAG: %[[OUT_I:.*]] = memref.subview %[[OUT]][%[[I]], 0] [%[[SIZE]], 8] [1, 1]
// CHECK-DAG: %[[A_I:.*]] = memref.alloc(%[[SIZE]]) : memref<?x8xf32>
// CHECK-DAG: %[[WIDE_I:.*]] = memref.alloc(%[[SIZE]]) : memref<?x16xf32, strided<[20, 1]>>
// CHECK: %[[CAST:.*]] = memref.cast %[[A_I]] : memref<?x8xf32> to memref<?x8xf32, strided<[8, 1], offset: ?>>
// CHECK: call @scale(%[[ATTENDED_I]], %[[W]], %[[CAST]])
// CHECK: %[[CAST:.*]] = memref.cast %[[WIDE_I]] : memref<?x16xf32, strided<[20, 1]>> to memref<?x16xf32, strided<[20, 1], offset: ?>>
// CHECK: call @widen(%{{.*}}, %{{.*}}, %[[CAST]])
// CHECK: call @narrow(%{{.*}}, %{{.*}}, %[[T_I]])
// CHECK: call @narrow(%{{.*}}, %[[T_I]], %[[OUT_I]])
// CHECK: }
// CHECK-NEXT: return
// Their offsets are known when the function starts and do not depend on the step, as for all rows.
// PLACED-LABEL: func.func private @layer
// PLACED-SAME: %[[WORKERS:[^ ]*]]: index {rt.role = #rt.role<workers>})
// PLACED: %[[STEP:.*]] = arith.muli %{{.*}}, %[[WORKERS]]
// PLACED: scf.for %{{.*}} step %[[STEP]]
// PLACED: memref.view
// PLACED-NOT: rt.worker_count
// PLACED: func.func @forward({{.*}}rt.workspace = #xfmr.formula<[batch], affine_map<()[s0] -> (((s0 * 32 + 63) floordiv 64) * 128 + ((s0 * 80 + 63) floordiv 64) * 64)>>
func.func private @attend(%x: memref<?x8xf32>, %y: memref<?x4x2xf32>) attributes {tile.kernel = #tile.kernel<"attend">} {
  return
}
func.func private @layer(%x: memref<?x8xf32>, %w: memref<8xf32>, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %attended = memref.alloc(%n) : memref<?x4x2xf32>
  call @attend(%x, %attended) : (memref<?x8xf32>, memref<?x4x2xf32>) -> ()
  %a = memref.alloc(%n) : memref<?x8xf32>
  call @scale(%attended, %w, %a) : (memref<?x4x2xf32>, memref<8xf32>, memref<?x8xf32>) -> ()
  %few = arith.cmpi ule, %n, %c1 : index
  %wide = memref.alloc(%n) : memref<?x16xf32, strided<[20, 1]>>
  call @widen(%a, %few, %wide) : (memref<?x8xf32>, i1, memref<?x16xf32, strided<[20, 1]>>) -> ()
  %t = memref.alloc(%n) : memref<?x8xf32>
  call @narrow(%wide, %a, %t) : (memref<?x16xf32, strided<[20, 1]>>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @narrow(%wide, %t, %y) : (memref<?x16xf32, strided<[20, 1]>>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
// A single call of such a kernel gets the new types, and is otherwise not changed.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: scf.for
// CHECK: %[[CAST:.*]] = memref.cast %{{.*}} : memref<?x4x2xf32> to memref<?x4x2xf32, strided<[8, 2, 1], offset: ?>>
// CHECK: call @scale(%[[CAST]],
func.func @forward(%x: memref<?x8xf32> {xfmr.input = #xfmr.input<"x", [batch, 8]>}, %z: memref<?x4x2xf32>, %w: memref<8xf32>, %y: memref<?x8xf32> {xfmr.output = #xfmr.output<"y", [batch, 8]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  call @layer(%x, %w, %y) : (memref<?x8xf32>, memref<8xf32>, memref<?x8xf32>) -> ()
  call @scale(%z, %w, %y) : (memref<?x4x2xf32>, memref<8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// A buffer that is used after the sequence keeps all its rows, but may reuse the memory of %a; not that of %b, which
// exists before.
func.func private @copy(%x: memref<?x8xf32> {tile.rows}, %y: memref<?x8xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"copy">} {
  return
}
func.func private @all(%x: memref<?x8xf32>, %y: memref<?x8xf32>) attributes {tile.kernel = #tile.kernel<"all">} {
  return
}
// CHECK-LABEL: func.func @used_later
// CHECK: %[[A:.*]] = memref.alloc(%{{.*}}) : memref<?x8xf32>
// CHECK: %[[B:.*]] = memref.alloc(%{{.*}}) : memref<?x8xf32>
// CHECK: call @all(%{{.*}}, %[[A]])
// CHECK: call @all(%{{.*}}, %[[B]])
// CHECK: scf.for
// CHECK-DAG: %[[A_I:.*]] = memref.subview %[[A]]
// CHECK-DAG: %[[B_I:.*]] = memref.subview %[[B]]
// CHECK-DAG: %[[T:.*]] = memref.alloc
// CHECK-DAG: %[[T_I:.*]] = memref.cast %[[T]]
// CHECK: call @copy(%[[A_I]], %[[T_I]])
// CHECK: call @copy(%{{.*}}, %[[A_I]])
// CHECK: call @copy(%[[A_I]], %[[B_I]])
// CHECK: }
// CHECK: call @all(%[[A]], %{{.*}})
// CHECK: call @all(%[[B]], %{{.*}})
func.func @used_later(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %a = memref.alloc(%n) : memref<?x8xf32>
  %b = memref.alloc(%n) : memref<?x8xf32>
  call @all(%x, %a) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @all(%x, %b) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  %t = memref.alloc(%n) : memref<?x8xf32>
  call @copy(%a, %t) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  %c = memref.alloc(%n) : memref<?x8xf32>
  call @copy(%t, %c) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @copy(%c, %b) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @all(%c, %y) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @all(%b, %y) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func private @copy(%x: memref<?x8xf32> {tile.rows}, %y: memref<?x8xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"copy">} {
  return
}
func.func private @product(%x: memref<?x8xf32> {tile.rows}, %w: memref<?x8xf32>, %y: memref<?x8xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"product">} {
  return
}

// These are no sequences: nothing between them is theirs alone,
// CHECK-LABEL: func.func @no_local
// CHECK-NOT: scf.for
func.func @no_local(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %z: memref<?x8xf32>) {
  call @copy(%x, %y) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @copy(%y, %z) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
// the second needs all rows of the first's result,
// CHECK-LABEL: func.func @whole
// CHECK-NOT: scf.for
func.func @whole(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %a = memref.alloc(%n) : memref<?x8xf32>
  call @copy(%x, %a) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @product(%x, %a, %y) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
// the second changes a buffer of which the first needs all rows,
// CHECK-LABEL: func.func @overwritten
// CHECK-NOT: scf.for
func.func @overwritten(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %a = memref.alloc(%n) : memref<?x8xf32>
  call @product(%x, %y, %a) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @copy(%a, %y) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
// a view may be other rows of the same memory (so the third call is not in the sequence),
// CHECK-LABEL: func.func @view
// CHECK: scf.for
// CHECK: call @copy
// CHECK: call @copy
// CHECK: }
// CHECK: call @copy
func.func @view(%x: memref<?x8xf32>, %y: memref<?x4x2xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %a = memref.alloc(%n) : memref<?x8xf32>
  call @copy(%x, %a) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  %same = memref.collapse_shape %y [[0], [1, 2]] : memref<?x4x2xf32> into memref<?x8xf32>
  %other = memref.collapse_shape %y [[0], [1, 2]] : memref<?x4x2xf32> into memref<?x8xf32>
  call @copy(%a, %same) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @copy(%same, %other) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
// nothing says that there are equally many rows,
// CHECK-LABEL: func.func @apart
// CHECK-NOT: scf.for
func.func @apart(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %m = memref.dim %y, %c0 : memref<?x8xf32>
  %a = memref.alloc(%n) : memref<?x8xf32>
  %b = memref.alloc(%m) : memref<?x8xf32>
  call @copy(%x, %a) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @copy(%y, %b) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
// one of several buffers is not known to be another one,
// CHECK-LABEL: func.func @selected
// CHECK-NOT: scf.for
func.func @selected(%x: memref<?x8xf32>, %y: memref<?x8xf32>, %c: i1) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %a = memref.alloc(%n) : memref<?x8xf32>
  %z = arith.select %c, %x, %y : memref<?x8xf32>
  call @copy(%z, %a) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @product(%a, %x, %y) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
// and something else uses memory in between.
// CHECK-LABEL: func.func @between
// CHECK-NOT: scf.for
func.func @between(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %a = memref.alloc(%n) : memref<?x8xf32>
  call @copy(%x, %a) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  memref.copy %y, %x : memref<?x8xf32> to memref<?x8xf32>
  call @copy(%a, %y) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// A kernel with an operation that may not support rows at an offset is not changed.
// CHECK-LABEL: func.func private @cast
// CHECK-SAME: (%{{.*}}: memref<?x8xf32> {tile.rows}, %{{.*}}: memref<?x8xf32> {tile.rows})
func.func private @cast(%x: memref<?x8xf32> {tile.rows}, %y: memref<?x8xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"cast">} {
  %c0 = arith.constant 0 : index
  %pointer = memref.extract_aligned_pointer_as_index %x : memref<?x8xf32> -> index
  return
}
// CHECK-LABEL: func.func @refused
// CHECK-NOT: scf.for
func.func @refused(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %a = memref.alloc(%n) : memref<?x8xf32>
  call @cast(%x, %a) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @cast(%a, %y) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// Two sequences in a function. The second reads the results of the first in the rows of %a.
func.func private @copy(%x: memref<?x8xf32> {tile.rows}, %y: memref<?x8xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"copy">} {
  return
}
func.func private @all(%x: memref<?x8xf32>, %y: memref<?x8xf32>) attributes {tile.kernel = #tile.kernel<"all">} {
  return
}
// CHECK-LABEL: func.func @two
// CHECK: %[[A:.*]] = memref.alloc(%{{.*}}) : memref<?x4x2xf32>
// CHECK: %[[C:.*]] = memref.collapse_shape %[[A]]
// CHECK: scf.for
// CHECK: call @flatten
// CHECK: call @copy
// CHECK: }
// CHECK: call @all(%{{.*}}, %[[C]])
// CHECK: scf.for
// CHECK-DAG: memref.subview %[[C]]
// CHECK: call @copy
// CHECK: call @copy
// CHECK: }
func.func private @make(%y: memref<?x4x2xf32>) attributes {tile.kernel = #tile.kernel<"make">} {
  return
}
func.func private @flatten(%x: memref<?x4x2xf32> {tile.rows}, %y: memref<?x8xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"flatten">} {
  return
}
func.func @two(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %a = memref.alloc(%n) : memref<?x4x2xf32>
  call @make(%a) : (memref<?x4x2xf32>) -> ()
  %b = memref.alloc(%n) : memref<?x8xf32>
  call @flatten(%a, %b) : (memref<?x4x2xf32>, memref<?x8xf32>) -> ()
  %c = memref.alloc(%n) : memref<?x8xf32>
  call @copy(%b, %c) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @all(%x, %c) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  %d = memref.alloc(%n) : memref<?x8xf32>
  call @copy(%c, %d) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @copy(%d, %y) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// %c, whose size is read before %a is allocated, is placed in %a; the size is that with which %c was allocated.
func.func private @copy(%x: memref<?x8xf32> {tile.rows}, %y: memref<?x8xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"copy">} {
  return
}
func.func private @all(%x: memref<?x8xf32>, %y: memref<?x8xf32>) attributes {tile.kernel = #tile.kernel<"all">} {
  return
}
func.func private @make(%y: memref<?x4x2xf32>) attributes {tile.kernel = #tile.kernel<"make">} {
  return
}
func.func private @flatten(%x: memref<?x4x2xf32> {tile.rows}, %y: memref<?x8xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"flatten">} {
  return
}
// CHECK-LABEL: func.func @size_read_before
// CHECK: %[[N:.*]] = memref.dim
// CHECK: %[[A:.*]] = memref.alloc(%[[N]]) : memref<?x4x2xf32>
// CHECK: %[[C:.*]] = memref.collapse_shape %[[A]]
// CHECK: call @all(%{{.*}}, %[[C]])
func.func @size_read_before(%x: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %c = memref.alloc(%n) : memref<?x8xf32>
  %m = memref.dim %c, %c0 : memref<?x8xf32>
  %a = memref.alloc(%m) : memref<?x4x2xf32>
  call @make(%a) : (memref<?x4x2xf32>) -> ()
  %b = memref.alloc(%n) : memref<?x8xf32>
  call @flatten(%a, %b) : (memref<?x4x2xf32>, memref<?x8xf32>) -> ()
  call @copy(%b, %c) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @all(%x, %c) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// Instructions read low-precision operands in whole groups of rows, for which buffers of two dimensions have room: %t is not placed in %a.
func.func private @make(%y: memref<?x4x2xbf16>) attributes {tile.kernel = #tile.kernel<"make">} {
  return
}
func.func private @flatten(%x: memref<?x4x2xbf16> {tile.rows}, %y: memref<?x8xbf16> {tile.rows}) attributes {tile.kernel = #tile.kernel<"flatten">} {
  return
}
func.func private @copy(%x: memref<?x8xbf16> {tile.rows}, %y: memref<?x8xbf16> {tile.rows}) attributes {tile.kernel = #tile.kernel<"copy">} {
  return
}
// CHECK-LABEL: func.func @low_precision
// CHECK-NOT: memref.collapse_shape
// CHECK: scf.for
// CHECK: memref.alloc({{.*}}) : memref<?x8xbf16>
// CHECK: memref.alloc({{.*}}) : memref<?x8xbf16>
func.func @low_precision(%n: index, %y: memref<?x8xbf16>) {
  %a = memref.alloc(%n) : memref<?x4x2xbf16>
  call @make(%a) : (memref<?x4x2xbf16>) -> ()
  %s = memref.alloc(%n) : memref<?x8xbf16>
  call @flatten(%a, %s) : (memref<?x4x2xbf16>, memref<?x8xbf16>) -> ()
  %t = memref.alloc(%n) : memref<?x8xbf16>
  call @copy(%s, %t) : (memref<?x8xbf16>, memref<?x8xbf16>) -> ()
  call @copy(%t, %y) : (memref<?x8xbf16>, memref<?x8xbf16>) -> ()
  return
}

// -----

// A buffer in the rows of another one forwards them: %d is placed where %b was, which was placed where %a was.
func.func private @copy(%x: memref<?x8xf32> {tile.rows}, %y: memref<?x8xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"copy">} {
  return
}
func.func private @flatten(%x: memref<?x4x2xf32> {tile.rows}, %y: memref<?x8xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"flatten">} {
  return
}
func.func private @make(%y: memref<?x4x2xf32>) attributes {tile.kernel = #tile.kernel<"make">} {
  return
}
func.func private @all(%x: memref<?x8xf32>, %y: memref<?x8xf32>) attributes {tile.kernel = #tile.kernel<"all">} {
  return
}
// CHECK-LABEL: func.func @given_on
// CHECK: %[[A:.*]] = memref.alloc(%{{.*}}) : memref<?x4x2xf32>
// CHECK: %[[B:.*]] = memref.collapse_shape %[[A]]
// CHECK: scf.for
// CHECK: }
// CHECK: call @all(%{{.*}}, %[[C:.*]])
// CHECK: scf.for
// CHECK-DAG: %[[B_I:.*]] = memref.subview %[[B]]
// CHECK-DAG: memref.alloc({{.*}}) : memref<?x8xf32>
// CHECK: call @copy(%[[B_I]], %{{.*}})
// CHECK: call @copy(%{{.*}}, %[[B_I]])
// CHECK: call @copy(%[[B_I]], %{{.*}})
func.func @given_on(%n: index, %y: memref<?x8xf32>) {
  %a = memref.alloc(%n) : memref<?x4x2xf32>
  call @make(%a) : (memref<?x4x2xf32>) -> ()
  %t = memref.alloc(%n) : memref<?x8xf32>
  call @flatten(%a, %t) : (memref<?x4x2xf32>, memref<?x8xf32>) -> ()
  %b = memref.alloc(%n) : memref<?x8xf32>
  call @copy(%t, %b) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  %c = memref.alloc(%n) : memref<?x8xf32>
  call @all(%y, %c) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  %u = memref.alloc(%n) : memref<?x8xf32>
  call @copy(%b, %u) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  %d = memref.alloc(%n) : memref<?x8xf32>
  call @copy(%u, %d) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @copy(%d, %c) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @all(%c, %y) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// %a may be the buffer that is read at the end, so no buffer is placed in it.
func.func private @copy(%x: memref<?x8xf32> {tile.rows}, %y: memref<?x8xf32> {tile.rows}) attributes {tile.kernel = #tile.kernel<"copy">} {
  return
}
func.func private @all(%x: memref<?x8xf32>, %y: memref<?x8xf32>) attributes {tile.kernel = #tile.kernel<"all">} {
  return
}
// CHECK-LABEL: func.func @given_to_others
// CHECK: %[[A:.*]] = memref.alloc(
// CHECK: scf.for
// CHECK: %[[A_I:.*]] = memref.subview %[[A]]
// CHECK: call @copy(%[[A_I]], %{{.*}})
// CHECK-NOT: call @copy({{.*}}%[[A_I]])
// CHECK: }
func.func @given_to_others(%n: index, %c: i1, %x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  %a = memref.alloc(%n) : memref<?x8xf32>
  %z = arith.select %c, %a, %x : memref<?x8xf32>
  call @all(%x, %a) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  %s = memref.alloc(%n) : memref<?x8xf32>
  call @copy(%a, %s) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  %t = memref.alloc(%n) : memref<?x8xf32>
  call @copy(%s, %t) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @copy(%t, %y) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  call @all(%z, %y) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// Kernels with results, and kernels with a static number of rows, are not run in blocks.
// CHECK-LABEL: func.func @results
// CHECK-NOT: scf.for
// CHECK: call @counted
// CHECK: memref.dim
func.func private @written(%x: memref<?x1xf32> {tile.rows}) {
  return
}
func.func private @counted(%x: memref<?x1xf32> {tile.rows}) -> memref<?x1xf32> {
  return %x : memref<?x1xf32>
}
func.func @results(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %alloc = memref.alloc(%n) : memref<?x1xf32>
  call @written(%alloc) : (memref<?x1xf32>) -> ()
  %y = call @counted(%alloc) : (memref<?x1xf32>) -> memref<?x1xf32>
  %dim = memref.dim %y, %c0 : memref<?x1xf32>
  return %dim : index
}
// CHECK-LABEL: func.func @static_rows
// CHECK-NOT: scf.for
// CHECK: call @eight
func.func private @eight(%x: memref<8x4xf32> {tile.rows}, %y: memref<8x4xf32> {tile.rows}) {
  return
}
func.func @static_rows(%x: memref<8x4xf32>) {
  %alloc = memref.alloc() : memref<8x4xf32>
  call @eight(%x, %alloc) : (memref<8x4xf32>, memref<8x4xf32>) -> ()
  call @eight(%alloc, %x) : (memref<8x4xf32>, memref<8x4xf32>) -> ()
  return
}
