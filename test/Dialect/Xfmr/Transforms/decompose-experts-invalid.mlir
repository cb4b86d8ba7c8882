// RUN: attune-opt --xfmr-decompose-experts=known-counts --verify-diagnostics %s

func.func @experts(%x: tensor<?x48xf32>, %c: tensor<?x2xi64>, %s: tensor<?x2xf32>, %up: tensor<8x112x48xf32>, %down: tensor<8x48x112xf32>) -> tensor<?x48xf32> {
  // expected-error @below {{mixtures of experts are not implemented for this target, whose host cannot read which experts tokens choose; --target=cpu has them}}
  %y = xfmr.experts <silu> %x choices(%c, %s : tensor<?x2xi64>, tensor<?x2xf32>) up(%up : tensor<8x112x48xf32>) down(%down : tensor<8x48x112xf32>) : tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}
