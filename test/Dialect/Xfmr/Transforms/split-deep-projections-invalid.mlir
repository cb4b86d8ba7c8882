// RUN: attune-opt %s --verify-diagnostics --xfmr-split-deep-projections=max-features=2048

func.func private @too_deep(%x: tensor<?x8589934592xf32>, %w: tensor<8x8589934592xf32> {xfmr.weight}) -> tensor<?x8xf32> {
  // expected-error @below {{has 8589934592 input features, which are 4194304 sums of up to 2048, expected at most 4096}}
  %y = xfmr.linear %x, %w : tensor<?x8589934592xf32>, tensor<8x8589934592xf32>
  return %y : tensor<?x8xf32>
}
