// RUN: attune-opt %s --convert-xfmr-to-linalg="panel-width=16 bf16-element=bf16" --attune-tile-groups="panel-width=16 register-rows=16 max-block-rows=16 low-precision-rows=128 even-low-precision-tiles=false wide-rows=128 wide-columns=128 wide-blocks=4" --canonicalize | FileCheck %s
// RUN: attune-opt %s --convert-xfmr-to-linalg="panel-width=16 bf16-element=bf16" --attune-tile-groups="panel-width=16 register-rows=16 max-block-rows=16" --canonicalize | FileCheck %s --check-prefix=NARROW

// If blocks can be wide, a register tile has as many rows, also of weights in a format: a block is one tile.
// CHECK-LABEL: @grouped
// CHECK: scf.forall
// CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %c128
// CHECK: tile.grouped_product ins(%{{.*}}, %{{.*}} : tensor<?x64xbf16>
// Otherwise it has the rows that fill the registers, or fewer.
// NARROW-LABEL: @grouped
// NARROW-NOT: %c128
// NARROW: tile.grouped_product
func.func @grouped(%x: tensor<?x64xf32>, %w: tensor<256x64xf32>) -> tensor<?x256xf32> {
  %y = xfmr.linear %x, %w {format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<bf16>} : tensor<?x64xf32>, tensor<256x64xf32>
  return %y : tensor<?x256xf32>
}
