// RUN: attune-opt %s --xfmr-decompose-experts --xfmr-decompose-composites --attune-count-flops | FileCheck %s
// RUN: attune-opt %s --xfmr-decompose-experts=known-counts --xfmr-decompose-composites --attune-count-flops | FileCheck %s

// Each token has a row for each of its two experts, 2 * 2 * 48 * 112 operations in each row, however experts find their rows.
// CHECK: xfmr.flops = #xfmr.formula<[tokens], affine_map<()[s0] -> (s0 * 43008)>>
func.func @forward(%x: tensor<?x48xf32> {xfmr.input = #xfmr.input<"x", [tokens, 48]>}, %scores: tensor<?x8xf32> {xfmr.input = #xfmr.input<"scores", [tokens, 8]>},
                   %up: tensor<8x112x48xf32>, %down: tensor<8x48x112xf32>)
    -> (tensor<?x48xf32> {xfmr.output = #xfmr.output<"y", [tokens, 48]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c, %s = xfmr.choose_experts %scores, 2 {normalized} : tensor<?x8xf32>
  %y = xfmr.experts <silu> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up : tensor<8x112x48xf32>) down(%down : tensor<8x48x112xf32>) : tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}
