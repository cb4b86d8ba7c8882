// RUN: attune-opt %S/Inputs/layer.mlir --attune-to-dialect -o %t.dialect.mlir
// RUN: FileCheck %s --check-prefix=DIALECT --input-file=%t.dialect.mlir
// RUN: attune-opt %t.dialect.mlir --attune-to-linalg -o %t.linalg.mlir
// RUN: FileCheck %s --check-prefix=LINALG --input-file=%t.linalg.mlir \
// RUN:   --implicit-check-not='{{xfmr.(linear|layer_norm|split_heads|merge_heads|weight_pack|sequence_offsets|additive_mask)}}'
// RUN: attune-opt %t.linalg.mlir --attune-to-tiled -o %t.tiled.mlir
// RUN: FileCheck %s --check-prefix=TILED --input-file=%t.tiled.mlir
// RUN: attune-opt %t.tiled.mlir --attune-to-kernels -o %t.kernels.mlir
// RUN: FileCheck %s --check-prefix=KERNELS --input-file=%t.kernels.mlir
// RUN: attune-opt %t.kernels.mlir --attune-to-bufferized -o %t.bufferized.mlir
// RUN: FileCheck %s --check-prefix=BUFFERIZED --input-file=%t.bufferized.mlir \
// RUN:   --implicit-check-not=memref.alloc --implicit-check-not=memref.copy --implicit-check-not='{{ (tensor|bufferization)[.]}}'
// RUN: attune-opt %t.bufferized.mlir --attune-to-vector -o %t.vector.mlir
// RUN: FileCheck %s --check-prefix=VECTOR --input-file=%t.vector.mlir \
// RUN:   --implicit-check-not='linalg.' --implicit-check-not=memref.copy --implicit-check-not='{{(tile.attention_tile|tile.key_panel|math.(erf|exp|tanh))}}'
// RUN: attune-opt %t.vector.mlir --attune-to-target -o %t.target.mlir
// RUN: FileCheck %s --check-prefix=TARGET --input-file=%t.target.mlir \
// RUN:   --implicit-check-not='{{ (func|scf|memref|vector|arith|math|affine|cf)[.]}}'

// The output of each phase for a layer that is called twice, from the first phase to the last.

// Projections are joined, with bias, activation and residual in them. Both calls share one function.
// DIALECT: xfmr.weight @q0.concat : tensor<60x20xf32>
// DIALECT-LABEL: func.func private @layer(
// DIALECT: xfmr.linear {{.*}} bias tensor<60xf32>
// DIALECT: xfmr.attention
// DIALECT-NEXT: xfmr.merge_heads
// DIALECT-NEXT: xfmr.linear {{.*}} residual(
// DIALECT-NEXT: xfmr.layer_norm
// DIALECT-NEXT: xfmr.linear {{.*}} {activation = #xfmr.activation<gelu>}
// DIALECT-NEXT: xfmr.linear {{.*}} residual(
// DIALECT-NEXT: xfmr.layer_norm
// DIALECT-NEXT: return
// DIALECT-NOT: func.func private
// DIALECT-LABEL: func.func @forward(
// DIALECT-SAME: xfmr.flops = #xfmr.formula<[batch, length], affine_map<()[s0, s1] -> (((s0 * s1) * s1) * 160 + (s0 * s1) * 14400)>>
// DIALECT-COUNT-2: call @layer(

// LINALG: xfmr.weight @q0.panels : tensor<1x20x32xf32> = #xfmr.panels<
// LINALG: xfmr.attention

// TILED-LABEL: func.func private @layer(
// TILED: tile.kernel = #tile.kernel<"linear 20 -> 60, bias"
// TILED: tile.key_panel
// TILED: tile.attention_tile
// TILED: tile.kernel = #tile.kernel<"linear 20 -> 20, bias, residual"
// TILED: tile.kernel = #tile.kernel<"layer_norm 20"
// TILED: tile.kernel = #tile.kernel<"linear 20 -> 50, bias, gelu"
// TILED: tile.kernel = #tile.kernel<"linear 50 -> 20, bias, residual"
// TILED: tile.kernel = #tile.kernel<"layer_norm 20"

// KERNELS-DAG: func.func private @linear_20_60_bias(
// KERNELS-DAG: func.func private @attention_2_heads_x_10_mask(
// KERNELS-DAG: func.func private @keys_of_2_heads_x_10_in_panels(
// KERNELS-LABEL: func.func private @layer(
// KERNELS-NOT: scf.forall
// KERNELS: call @linear_20_60_bias
// KERNELS: call @keys_of_2_heads_x_10_in_panels
// KERNELS: call @attention_2_heads_x_10_mask
// KERNELS: call @layer_norm_20
// KERNELS-LABEL: func.func @forward(

// No function returns a buffer; the only memory is the workspace, whose size is exact. Nothing is copied but the result out of it.
// BUFFERIZED-LABEL: func.func private @layer(
// BUFFERIZED-SAME: %{{.*}}: memref<?xi8> {rt.role = #rt.role<weights>}, %{{.*}}: memref<?xi8> {rt.role = #rt.role<workspace>}, %{{.*}}: index {rt.role = #rt.role<workers>}) {
// BUFFERIZED-LABEL: func.func @forward(
// BUFFERIZED-SAME: %[[OUT:[a-z0-9]+]]: memref<?x?x20xf32> {xfmr.output = #xfmr.output<"last_hidden_state", [batch, length, 20]>}
// BUFFERIZED-SAME: rt.workspace = #xfmr.formula<[batch, length, workers],
// BUFFERIZED: memref.copy %{{.*}}, %[[OUT]]
// BUFFERIZED-NEXT: return{{$}}

// VECTOR-COUNT-64: math.fma {{.*}} : vector<16xf32>

// TARGET: llvm.func hidden @attune_entry_forward(
// TARGET: llvm.func hidden @attune_workspace_forward(
// TARGET: llvm.func hidden @attune_flops_forward(
