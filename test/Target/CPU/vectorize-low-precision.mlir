// RUN: attune-opt %s --attune-vectorize-tiles="low-precision-rows=2 dot-unit=avx512" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: attune-opt %s --attune-vectorize-tiles="low-precision-rows=2 dot-unit=avx2" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: attune-opt %s --attune-vectorize-tiles="low-precision-rows=2 dot-unit=portable" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,PORTABLE
// RUN: attune-opt %s --attune-vectorize-tiles="low-precision-rows=2 dot-unit=amx" --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,AMX

#a = affine_map<(m, n, k) -> (m, k)>
#b2 = affine_map<(m, n, k) -> (n floordiv 32, k floordiv 2, n mod 32, k mod 2)>
#b4 = affine_map<(m, n, k) -> (n floordiv 32, k floordiv 4, n mod 32, k mod 4)>
#c = affine_map<(m, n, k) -> (m, n)>

// bf16 weights widened in registers: the first of each pair shifted up, the second masked, and an f32 FMA for each of them, row and vector: 2 x 2 x 2 x 4 steps,
// and the ninth step.
// CHECK-LABEL: @f32_operands
// CHECK-SAME: (%[[X:[a-z0-9]+]]: memref<2x18xf32>, %[[W:[a-z0-9]+]]: memref<1x9x32x2xbf16>, %[[OUT:[a-z0-9]+]]: memref<2x32xf32>)
// CHECK: %[[P:.*]] = memref.collapse_shape %[[W]] {{\[}}[0], [1], [2, 3]] : memref<1x9x32x2xbf16> into memref<1x9x64xbf16>
// AVX512: %{{.*}}:4 = scf.for %[[G:.*]] = %c0 to %c8 step %c4
// PORTABLE: %{{.*}}:4 = scf.for %[[G:.*]] = %c0 to %c8 step %c4
// AMX: %{{.*}}:4 = scf.for %[[G:.*]] = %c0 to %c8 step %c4
// AVX2: %{{.*}}:4 = scf.for %[[G:.*]] = %c0 to %c8 step %c2
// CHECK: %[[RAW:.*]] = vector.load %[[P]][%c0, %[[G]], %c0] : memref<1x9x64xbf16>, vector<32xbf16>
// CHECK: %[[WORDS:.*]] = vector.bitcast %[[RAW]] : vector<32xbf16> to vector<16xi32>
// CHECK: arith.shli %[[WORDS]], %{{.*}} : vector<16xi32>
// CHECK: arith.andi %[[WORDS]], %{{.*}} : vector<16xi32>
// CHECK: memref.load %[[X]]
// AVX512-COUNT-32: math.fma
// AVX2-COUNT-16: math.fma
// CHECK: scf.yield
// CHECK-COUNT-8: math.fma
// CHECK-NOT: math.fma
// CHECK-COUNT-4: vector.store
func.func @f32_operands(%x: memref<2x18xf32>, %w: memref<1x9x32x2xbf16>, %out: memref<2x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<2x32xf32>)
  linalg.generic {indexing_maps = [#a, #b2, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x18xf32>, memref<1x9x32x2xbf16>) outs(%out : memref<2x32xf32>) {
  ^bb0(%a: f32, %b: bf16, %acc: f32):
    %r = arith.extf %b : bf16 to f32
    %p = arith.mulf %a, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Pairs of one row are broadcast as one word.
// CHECK-LABEL: @bf16_operands
// AVX512: scf.for
// AVX512: %[[PAIR:.*]] = vector.load %{{.*}} : memref<2x16xbf16>, vector<2xbf16>
// AVX512: vector.bitcast %[[PAIR]] : vector<2xbf16> to vector<1xi32>
// AVX512: vector.broadcast %{{.*}} : i32 to vector<16xi32>
// AVX512-COUNT-16: x86vector.avx512.dot
// AVX512-NOT: x86vector.avx512.dot
// AVX512: return
// On a CPU without the instruction: scalar loops (the schedule does not choose these operands).
// AVX2-NOT: x86vector
// AVX2: arith.extf %{{.*}} : bf16 to f32
// AVX2: return
// PORTABLE-NOT: x86vector
// PORTABLE: arith.extf %{{.*}} : bf16 to f32
// PORTABLE: return
// AMX-NOT: amx.
// AMX: return
func.func @bf16_operands(%x: memref<2x16xbf16>, %w: memref<1x8x32x2xbf16>, %out: memref<2x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<2x32xf32>)
  linalg.generic {indexing_maps = [#a, #b2, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x16xbf16>, memref<1x8x32x2xbf16>) outs(%out : memref<2x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %l = arith.extf %a : bf16 to f32
    %r = arith.extf %b : bf16 to f32
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: @i16_operands
// AVX512: %[[W:.*]] = vector.load %{{.*}} : memref<1x8x64xi8>, vector<32xi8>
// AVX512: arith.extsi %[[W]] : vector<32xi8> to vector<32xi16>
// AVX512: %[[D:.*]] = llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"(%{{.*}}, %{{.*}}) : (vector<32xi16>, vector<32xi16>) -> vector<16xi32>
// AVX512: arith.addi %{{.*}}, %[[D]]
// AVX2: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%{{.*}}, %{{.*}}) : (vector<16xi16>, vector<16xi16>) -> vector<8xi32>
// PORTABLE: arith.muli %{{.*}} : vector<16xi32>
// AMX: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
func.func @i16_operands(%x: memref<2x16xi16>, %w: memref<1x8x32x2xi8>, %out: memref<2x32xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%out : memref<2x32xi32>)
  linalg.generic {indexing_maps = [#a, #b2, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x16xi16>, memref<1x8x32x2xi8>) outs(%out : memref<2x32xi32>) {
  ^bb0(%a: i16, %b: i8, %acc: i32):
    %l = arith.extsi %a : i16 to i32
    %r = arith.extsi %b : i8 to i32
    %p = arith.muli %l, %r : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  }
  return
}

// CHECK-LABEL: @i8_operands
// AVX512: %[[W:.*]] = vector.load %{{.*}} : memref<1x8x128xi8>, vector<64xi8>
// AVX512: vector.load %{{.*}} : memref<2x32xi8>, vector<4xi8>
// AVX512-COUNT-16: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// AVX512-NOT: vpdpbusd
// AVX512: return
// AVX2-COUNT-16: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
// AVX2-NOT: vpdpbusd
// AVX2: return
// PORTABLE-NOT: call_intrinsic
// PORTABLE: arith.extui %{{.*}} : i8 to i32
// PORTABLE: return
func.func @i8_operands(%x: memref<2x32xi8>, %w: memref<1x8x32x4xi8>, %out: memref<2x32xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%out : memref<2x32xi32>)
  linalg.generic {indexing_maps = [#a, #b4, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<2x32xi8>, memref<1x8x32x4xi8>) outs(%out : memref<2x32xi32>) {
  ^bb0(%a: i8, %b: i8, %acc: i32):
    %l = arith.extui %a : i8 to i32
    %r = arith.extsi %b : i8 to i32
    %p = arith.muli %l, %r : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  }
  return
}

// One row has a loop of its own, others one for each even number: of an odd number the last row is computed twice and finished once.
// CHECK-LABEL: @i8_rows
// AVX512: %[[ROWS:.*]] = arith.minsi %{{.*}}, %c2
// AVX512: %[[ONE:.*]] = arith.cmpi eq, %[[ROWS]], %c1
// AVX512: scf.if %[[ONE]]
// AVX512-COUNT-8: vpdpbusd
// AVX512-NOT: vpdpbusd
// AVX512: } else {
// AVX512: %[[PAIRS:.*]] = arith.ceildivui %[[ROWS]], %c2
// AVX512: scf.index_switch %[[PAIRS]]
// AVX512: case 1
// AVX512: %[[BACK:.*]] = arith.subi %[[ROWS]], %c1
// AVX512: %[[LAST:.*]] = arith.addi %[[BASE:.*]], %[[BACK]]
// AVX512: scf.for
// AVX512: vector.load %{{.*}}[%[[BASE]], %{{.*}}] : memref<?x32xi8>, vector<4xi8>
// AVX512: vector.load %{{.*}}[%[[LAST]], %{{.*}}] : memref<?x32xi8>, vector<4xi8>
// AVX512: vector.store %{{.*}}, %{{.*}}[%[[BASE]], %c16]
// AVX512: %[[BOTH:.*]] = arith.cmpi eq, %[[ROWS]], %c2
// AVX512: scf.if %[[BOTH]]
// AVX512: vector.store %{{.*}}, %{{.*}}[%[[LAST]], %c0]
// AVX512: vector.store %{{.*}}, %{{.*}}[%[[LAST]], %c16]
// AVX512-NOT: vector.store
// CHECK: return
func.func @i8_rows(%x: memref<?x32xi8>, %w: memref<1x8x32x4xi8>, %out: memref<?x32xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%out : memref<?x32xi32>)
  linalg.generic {indexing_maps = [#a, #b4, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x32xi8>, memref<1x8x32x4xi8>) outs(%out : memref<?x32xi32>) {
  ^bb0(%a: i8, %b: i8, %acc: i32):
    %l = arith.extui %a : i8 to i32
    %r = arith.extsi %b : i8 to i32
    %p = arith.muli %l, %r : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  }
  return
}

// Two by two tiles. Only the rows of sums that exist are stored.
// CHECK-LABEL: @i8_tiles
// AMX: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<32x32xi32>
// AMX-COUNT-4: amx.tile_zero
// AMX: %{{.*}}:4 = scf.for %{{.*}} = %c0 to %c2
// AMX-COUNT-2: amx.tile_load %{{.*}} : memref<20x128xi8> into !amx.tile<16x64xi8>
// AMX-COUNT-2: amx.tile_load %{{.*}} : memref<1x32x128xi8> into !amx.tile<16x64xi8>
// AMX-COUNT-4: amx.tile_muli %{{.*}} zext, %{{.*}}, %{{.*}} :
// AMX: scf.yield
// AMX-COUNT-4: amx.tile_store %[[SUMS]]
// AMX: scf.for %{{.*}} = %c0 to %c20
// AMX: vector.load %[[SUMS]]
func.func @i8_tiles(%x: memref<20x128xi8>, %w: memref<1x32x32x4xi8>, %out: memref<20x32xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%out : memref<20x32xi32>)
  linalg.generic {indexing_maps = [#a, #b4, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<20x128xi8>, memref<1x32x32x4xi8>) outs(%out : memref<20x32xi32>) {
  ^bb0(%a: i8, %b: i8, %acc: i32):
    %l = arith.extui %a : i8 to i32
    %r = arith.extsi %b : i8 to i32
    %p = arith.muli %l, %r : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  }
  return
}

// Up to 16 rows take one row of tiles.
// CHECK-LABEL: @bf16_tiles
// AMX-COUNT-2: amx.tile_zero
// AMX-NOT: amx.tile_zero
// AMX: amx.tile_load %{{.*}} : memref<3x64xbf16> into !amx.tile<16x32xbf16>
// AMX-COUNT-2: amx.tile_mulf
// AMX-NOT: amx.tile_mulf
// AMX-COUNT-2: amx.tile_store
// AMX: return
func.func @bf16_tiles(%x: memref<3x64xbf16>, %w: memref<1x32x32x2xbf16>, %out: memref<3x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<3x32xf32>)
  linalg.generic {indexing_maps = [#a, #b2, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<3x64xbf16>, memref<1x32x32x2xbf16>) outs(%out : memref<3x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %l = arith.extf %a : bf16 to f32
    %r = arith.extf %b : bf16 to f32
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// A static number of rows may be 0.
// CHECK-LABEL: @no_rows
// CHECK-NOT: vector.
// CHECK: return
func.func @no_rows(%x: memref<0x18xf32>, %w: memref<1x9x32x2xbf16>, %out: memref<0x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<0x32xf32>)
  linalg.generic {indexing_maps = [#a, #b2, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<0x18xf32>, memref<1x9x32x2xbf16>) outs(%out : memref<0x32xf32>) {
  ^bb0(%a: f32, %b: bf16, %acc: f32):
    %r = arith.extf %b : bf16 to f32
    %p = arith.mulf %a, %r : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
