// RUN: attune-opt %s -attune-plan-memory -attune-outline-parallel -attune-entry-wrappers -attune-lower-to-llvm -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mlir-translate -mlir-to-llvmir %t.mlir -o %t.ll
// RUN: opt -O3 %t.ll -o %t.bc
// RUN: llc -O3 -relocation-model=pic -filetype=obj %t.bc -o %t.o
// RUN: %cc -I %runtime_include %S/Inputs/entry.c %t.o -lpthread -o %t.exe
// RUN: %t.exe

// Runs the entry with several workers. @layer adds the bias j to feature j and is called twice, so y = x + 2 j. Each
// worker adds the bias in a buffer of its own, of up to 4 rows. Each element of `sum` is the sum of the last feature of
// y over the tokens of one sequence. The workspace has exactly the size that the entry asks for, and the page after it
// is inaccessible.

// CHECK-DAG: llvm.func internal @layer(%{{.*}}) attributes {{.*}}no_inline, no_unwind
// CHECK-DAG: llvm.func internal @layer_parallel_body(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64)
// CHECK-DAG: llvm.func hidden @attune_entry_forward(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
// CHECK-DAG: llvm.func hidden @attune_workspace_forward(%{{.*}}: !llvm.ptr, %{{.*}}: i64) -> i64
// CHECK-DAG: llvm.func hidden @attune_flops_forward(%{{.*}}: !llvm.ptr, %{{.*}}: i64) -> i64
// CHECK-DAG: llvm.func hidden @attune_work_forward(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK-NOT: unrealized_conversion_cast

func.func private @layer(%x: memref<?x24xf32>, %weights: memref<?xi8>, %out: memref<?x24xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c24 = arith.constant 24 : index
  %c128 = arith.constant 128 : index
  %n = memref.dim %x, %c0 : memref<?x24xf32>
  %bias = memref.view %weights[%c128][] : memref<?xi8> to memref<24xf32>
  %t = memref.alloc(%n) : memref<?x24xf32>
  scf.forall (%i) = (0) to (%n) step (4) {
    %m = affine.min affine_map<(d0)[s0] -> (4, s0 - d0)>(%i)[%n]
    %rows = memref.subview %x[%i, 0] [%m, 24] [1, 1] : memref<?x24xf32> to memref<?x24xf32, strided<[24, 1], offset: ?>>
    %own = memref.alloc(%m) : memref<?x24xf32>
    memref.copy %rows, %own : memref<?x24xf32, strided<[24, 1], offset: ?>> to memref<?x24xf32>
    scf.for %r = %c0 to %m step %c1 {
      scf.for %j = %c0 to %c24 step %c8 {
        %v = vector.load %own[%r, %j] : memref<?x24xf32>, vector<8xf32>
        %b = vector.load %bias[%j] : memref<24xf32>, vector<8xf32>
        %two = arith.addf %v, %b : vector<8xf32>
        vector.store %two, %own[%r, %j] : memref<?x24xf32>, vector<8xf32>
      }
    }
    %to = memref.subview %t[%i, 0] [%m, 24] [1, 1] : memref<?x24xf32> to memref<?x24xf32, strided<[24, 1], offset: ?>>
    memref.copy %own, %to : memref<?x24xf32> to memref<?x24xf32, strided<[24, 1], offset: ?>>
  }
  scf.forall (%i, %j) in (%n, 24) {
    %v = memref.load %t[%i, %j] : memref<?x24xf32>
    memref.store %v, %out[%i, %j] : memref<?x24xf32>
  }
  return
}
func.func @forward(%x: memref<?x?x24xf32> {xfmr.input = #xfmr.input<"x", [batch, length, 24]>}, %weights: memref<?xi8> {rt.role = #rt.role<weights>},
                   %y: memref<?x?x24xf32> {xfmr.output = #xfmr.output<"y", [batch, length, 24]>},
                   %sum: memref<?xf32> {xfmr.output = #xfmr.output<"sum", [batch]>}) attributes {
      xfmr.entry = #xfmr.entry<"forward">, xfmr.flops = #xfmr.formula<[batch, length], affine_map<()[s0, s1] -> (s0 * s1 * 48)>>,
      rt.kernel_work = [#rt.kernel_work<"a", calls = 2, flops = <[batch, length], affine_map<()[s0, s1] -> (s0 * s1 * 48)>>, weight_bytes = <[], affine_map<() -> (96)>>, tensor_bytes = <[batch, length], affine_map<()[s0, s1] -> (s0 * s1 * 192)>>>,
                        #rt.kernel_work<"b", calls = 1, flops = <[], affine_map<() -> (0)>>, weight_bytes = <[], affine_map<() -> (0)>>, tensor_bytes = <[batch], affine_map<()[s0] -> (s0 * 4)>>>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c23 = arith.constant 23 : index
  %flat = memref.collapse_shape %x [[0, 1], [2]] : memref<?x?x24xf32> into memref<?x24xf32>
  %out = memref.collapse_shape %y [[0, 1], [2]] : memref<?x?x24xf32> into memref<?x24xf32>
  %n = memref.dim %flat, %c0 : memref<?x24xf32>
  %batch = memref.dim %x, %c0 : memref<?x?x24xf32>
  %length = memref.dim %x, %c1 : memref<?x?x24xf32>
  %a = memref.alloc(%n) : memref<?x24xf32>
  call @layer(%flat, %weights, %a) : (memref<?x24xf32>, memref<?xi8>, memref<?x24xf32>) -> ()
  call @layer(%a, %weights, %out) : (memref<?x24xf32>, memref<?xi8>, memref<?x24xf32>) -> ()
  %zero = arith.constant 0.0 : f32
  %last = memref.alloc(%batch) : memref<?xf32>
  scf.forall (%i) in (%batch) {
    %s = scf.for %j = %c0 to %length step %c1 iter_args(%s0 = %zero) -> f32 {
      %v = memref.load %y[%i, %j, %c23] : memref<?x?x24xf32>
      %s1 = arith.addf %s0, %v : f32
      scf.yield %s1 : f32
    }
    memref.store %s, %last[%i] : memref<?xf32>
  }
  memref.copy %last, %sum : memref<?xf32> to memref<?xf32>
  return
}
