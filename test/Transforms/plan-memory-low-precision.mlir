// RUN: attune-opt %s --attune-plan-memory=row-group=32 | FileCheck %s
// RUN: attune-opt %s --attune-plan-memory | FileCheck %s --check-prefix=ONE

// The two buffers of 8 and 16 bits have room for whole groups of 32 rows; other buffers have the size of their type.
// CHECK: rt.workspace = #xfmr.formula<[length], affine_map<()[s0] -> ({{.*}}((s0 + 31) floordiv 32) * 4096)>>
// ONE: rt.workspace = #xfmr.formula<[length]
// ONE-NOT: floordiv 32
// CHECK: memref.view {{.*}} : memref<?xi8> to memref<?x64xi8>
// ONE: memref.view
func.func @forward(%x: memref<?x64xf32> {xfmr.input = #xfmr.input<"x", [length, 64]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %quantized = memref.alloc(%n) : memref<?x64xi8>
  %scales = memref.alloc(%n) : memref<?xf32>
  tile.quantize_rows ins(%x : memref<?x64xf32>) outs(%quantized, %scales : memref<?x64xi8>, memref<?xf32>)
  %halves = memref.alloc(%n) : memref<?x64xbf16>
  tile.quantize_rows ins(%x : memref<?x64xf32>) outs(%halves : memref<?x64xbf16>)
  return
}
