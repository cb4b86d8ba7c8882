// RUN: attune-opt %s --convert-xfmr-to-linalg="bf16-element=bf16 int8-element=i8 int8-multiple=4" --attune-tile-groups="register-rows=8 block-bytes=524288 low-precision-rows=32 even-low-precision-tiles=false stream-panels=1" --canonicalize | FileCheck %s
// RUN: attune-opt %s --convert-xfmr-to-linalg="bf16-element=bf16 int8-element=i8 int8-multiple=4" --attune-tile-groups="register-rows=8 block-bytes=524288 low-precision-rows=64 even-low-precision-tiles=false stream-panels=1 wide-rows=64 wide-columns=64 wide-blocks=4" --canonicalize | FileCheck %s --check-prefix=WIDE
// RUN: attune-opt %s --convert-xfmr-to-linalg="bf16-element=bf16 int8-element=i8 int8-multiple=4" --attune-tile-groups="register-rows=8 block-bytes=524288 low-precision-rows=8 stream-panels=1" --canonicalize | FileCheck %s --check-prefix=EVEN

// Low-precision contractions have register tiles with their own number of rows; blocks are whole tiles. Panels are tiled as they are packed.
// CHECK-LABEL: @int8
// CHECK: %[[PANELS:.*]] = xfmr.weight_pack %{{.*}}, 32 group 4 multiple 4
// CHECK: scf.forall (%[[I:.*]], %[[J:.*]]) = (0, 0) to (%{{.*}}, 64) step (%{{.*}}, 32)
// CHECK: %[[PANEL:.*]] = tensor.extract_slice %[[PANELS]][%{{.*}}, 0, %{{.*}}, 0] [1, 12, 32, 4]
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c32
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[PANEL]] : tensor<?x48xi8>, tensor<1x12x32x4xi8>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x32xi32>, tensor<?xf32>, tensor<32xf32>, tensor<32xi32>)
func.func @int8(%x: tensor<?x48xf32>, %w: tensor<64x48xf32>) -> tensor<?x64xf32> {
  %y = xfmr.linear %x, %w {precision = #xfmr.precision<int8>} : tensor<?x48xf32>, tensor<64x48xf32>
  return %y : tensor<?x64xf32>
}

// With the option, up to 3 tiles have about the same number of rows.
// EVEN-LABEL: @int8
// EVEN: %[[FEW:.*]] = arith.cmpi ule, %[[ALL:.*]], %c24
// EVEN: %[[TILES:.*]] = arith.ceildivui %[[ALL]], %c8
// EVEN: %[[SAME:.*]] = arith.ceildivui %[[ALL]], %[[TILES]]
// EVEN: %[[PAIRS:.*]] = arith.ceildivui %[[SAME]], %c2
// EVEN: %[[ROWS:.*]] = arith.muli %[[PAIRS]], %c2
// EVEN: arith.select %[[FEW]], %[[ROWS]], %c8

// CHECK-LABEL: @negative_f32
// CHECK: scf.for
// CHECK-NOT: step %c32
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x48xf32>, tensor<1x48x32xf32>)
func.func @negative_f32(%x: tensor<?x48xf32>, %w: tensor<64x48xf32>) -> tensor<?x64xf32> {
  %y = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<64x48xf32>
  return %y : tensor<?x64xf32>
}

// Blocks of low-precision operands are large if there are at least 4 of them. The 64 columns make one large block, so the
// rows must be more than those of 3 blocks, 192.
// WIDE-LABEL: @int8
// WIDE: %[[IS_WIDE:.*]] = arith.cmpi ugt, %{{.*}}, %c192
// WIDE: %[[ROWS:.*]] = arith.select %[[IS_WIDE]], %c64
// WIDE: %[[COLUMNS:.*]] = arith.select %[[IS_WIDE]], %c64
// WIDE-LABEL: @negative_f32
// WIDE: scf.forall {{.*}} step (%{{.*}}, 32)
