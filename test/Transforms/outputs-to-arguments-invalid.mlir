// RUN: attune-opt %s -verify-diagnostics --attune-outputs-to-arguments

// expected-error @below {{expects ranked tensors as results of an entry, but result 1 is 'index'}}
func.func @forward(%x: tensor<8xf32>, %n: index) -> (tensor<8xf32>, index) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return %x, %n : tensor<8xf32>, index
}
