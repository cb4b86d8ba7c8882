// RUN: attune-opt %s -split-input-file -attune-count-flops -verify-diagnostics

func.func @forward(%x: tensor<?x48xf32> {xfmr.input = #xfmr.input<"x", [tokens, 48]>}, %c: tensor<?x2xi64>, %s: tensor<?x2xf32>,
                   %up: tensor<8x112x48xf32>, %down: tensor<8x48x112xf32>)
    -> (tensor<?x48xf32> {xfmr.output = #xfmr.output<"y", [tokens, 48]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  // expected-error @below {{must be decomposed before its arithmetic is counted}}
  %y = xfmr.experts <silu> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up : tensor<8x112x48xf32>)
      down(%down : tensor<8x48x112xf32>) : tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}
