// RUN: attune-opt %s --attune-assign-weight-offsets --verify-diagnostics

xfmr.weight @a : tensor<8xf32> = #xfmr.tensor<"a" : tensor<8xf32>>
func.func private @layer() -> tensor<8xf32> {
  // expected-error @below {{expects weights to be named in entries only, but @a is used in a function without 'xfmr.entry'}}
  %a = xfmr.weight_ref @a : tensor<8xf32>
  return %a : tensor<8xf32>
}
