// RUN: attune-opt %s -split-input-file -attune-count-flops | FileCheck %s

// Per layer 2 * 48 * 48 per token for the projection and 2 * 4 heads * (12 + 12) per score; the pooler works on one row per sequence.
// CHECK: xfmr.flops = #xfmr.formula<[batch, length], affine_map<()[s0, s1] -> (((s0 * s1) * s1) * 384 + (s0 * s1) * 9216 + s0 * 4608)>>
func.func private @layer(%x: tensor<?x48xf32>, %offsets: tensor<?xi64>, %length: index, %w: tensor<48x48xf32>) -> tensor<?x48xf32> {
  %q = xfmr.split_heads %x, 4 : tensor<?x48xf32>
  %a = xfmr.attention %q, %q, %q offsets(%offsets, %offsets) lengths(%length, %length) {scale = 1.0 : f64}
      : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  %m = xfmr.merge_heads %a : tensor<?x4x12xf32>
  return %m : tensor<?x48xf32>
}
func.func @forward(%ids: tensor<?x?xi64> {xfmr.input = #xfmr.input<"ids", [batch, length]>}, %table: tensor<9x48xf32>, %w: tensor<48x48xf32>)
    -> (tensor<?x48xf32> {xfmr.output = #xfmr.output<"y", [batch, 48]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %ids, %c0 : tensor<?x?xi64>
  %length = tensor.dim %ids, %c1 : tensor<?x?xi64>
  %flat = tensor.collapse_shape %ids [[0, 1]] : tensor<?x?xi64> into tensor<?xi64>
  %offsets = xfmr.sequence_offsets %batch, %length
  %x = xfmr.embedding %flat, %table : tensor<9x48xf32>
  %twice = arith.addf %x, %x : tensor<?x48xf32>
  %l1 = call @layer(%twice, %offsets, %length, %w) : (tensor<?x48xf32>, tensor<?xi64>, index, tensor<48x48xf32>) -> tensor<?x48xf32>
  %l2 = call @layer(%l1, %offsets, %length, %w) : (tensor<?x48xf32>, tensor<?xi64>, index, tensor<48x48xf32>) -> tensor<?x48xf32>
  %l3 = xfmr.linear %l2, %w : tensor<?x48xf32>, tensor<48x48xf32>
  %l4 = xfmr.linear %l3, %w : tensor<?x48xf32>, tensor<48x48xf32>
  %rows = xfmr.pool <first> %l4, %offsets : tensor<?x48xf32>
  %y = xfmr.linear %rows, %w : tensor<?x48xf32>, tensor<48x48xf32>
  return %y : tensor<?x48xf32>
}

// -----

// Rotations and norms keep shapes.
// CHECK: xfmr.flops = #xfmr.formula<[batch, length], affine_map<()[s0, s1] -> (((s0 * s1) * s1) * 192 + (s0 * s1) * 4608)>>
func.func @forward(%x: tensor<?x?x48xf32> {xfmr.input = #xfmr.input<"x", [batch, length, 48]>}, %positions: tensor<?xi64>, %table: tensor<99x12xf32>,
                   %g: tensor<48xf32>, %w: tensor<48x48xf32>)
    -> (tensor<?x48xf32> {xfmr.output = #xfmr.output<"y", [batch, 48]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : tensor<?x?x48xf32>
  %length = tensor.dim %x, %c1 : tensor<?x?x48xf32>
  %offsets = xfmr.sequence_offsets %batch, %length
  %t = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x48xf32> into tensor<?x48xf32>
  %n = xfmr.rms_norm %t, %g {epsilon = 1.0e-6 : f64} : tensor<?x48xf32>, tensor<48xf32>
  %q = xfmr.split_heads %n, 4 : tensor<?x48xf32>
  %r = xfmr.rotary %q, %positions, %table : tensor<?x4x12xf32>, tensor<99x12xf32>
  %a = xfmr.attention %r, %r, %r offsets(%offsets, %offsets) lengths(%length, %length) {scale = 1.0 : f64}
      : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  %m = xfmr.merge_heads %a : tensor<?x4x12xf32>
  %y = xfmr.linear %m, %w : tensor<?x48xf32>, tensor<48x48xf32>
  return %y : tensor<?x48xf32>
}

// -----

// Keys and values of caches: 2 * 4 heads * (12 + 20) per score, also if heads hold the bytes of a scale.
// CHECK: xfmr.flops = #xfmr.formula<[batch, length, past], affine_map<()[s0, s1, s2] -> (((s0 * s1) * s2) * 256)>>
func.func @decode(%x: tensor<?x?x48xf32> {xfmr.input = #xfmr.input<"x", [batch, length, 48]>},
                  %keys: tensor<?x2x?x16x64xi8> {xfmr.cache = #xfmr.cache<"k", [slots, 2, panels, 16, 64]>},
                  %values: tensor<?x2x?x24xi8> {xfmr.cache = #xfmr.cache<"v", [slots, 2, capacity, 24]>},
                  %lengths: tensor<?xi64> {xfmr.input = #xfmr.input<"lengths", [batch]>}, %past: index {xfmr.dim = #xfmr.dim<past>})
    -> (tensor<?x4x20xf32> {xfmr.output = #xfmr.output<"y", [tokens, 4, 20]>}) attributes {xfmr.entry = #xfmr.entry<"decode", caches = append>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : tensor<?x?x48xf32>
  %length = tensor.dim %x, %c1 : tensor<?x?x48xf32>
  %offsets = xfmr.sequence_offsets %batch, %length
  %t = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x48xf32> into tensor<?x48xf32>
  %q = xfmr.split_heads %t, 4 : tensor<?x48xf32>
  %a = xfmr.attention %q, %keys, %values offsets(%offsets) lengths(%length, %past) key_lengths(%lengths) {scale = 1.0 : f64}
      : tensor<?x4x12xf32>, tensor<?x2x?x16x64xi8>, tensor<?x2x?x24xi8> -> tensor<?x4x20xf32>
  return %a : tensor<?x4x20xf32>
}
