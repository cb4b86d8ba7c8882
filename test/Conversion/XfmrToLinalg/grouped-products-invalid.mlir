// RUN: attune-opt %s --convert-xfmr-to-linalg --verify-diagnostics

// The sizes of the panels of such a matrix in bytes could overflow.
func.func @columns(%x: tensor<?x2147483648xf32>, %w: tensor<8x2147483648xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{expects a weight of at most 2147483647 columns with a format, but got 'tensor<8x2147483648xf32>'}}
  // expected-error @below {{failed to legalize operation 'xfmr.linear' that was explicitly marked illegal}}
  %y = xfmr.linear %x, %w {format = #xfmr.weight_format<"int4:32">} : tensor<?x2147483648xf32>, tensor<8x2147483648xf32>
  return %y : tensor<?x8xf32>
}
