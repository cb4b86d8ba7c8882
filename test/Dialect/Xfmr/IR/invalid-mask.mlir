// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @additive_mask_element(%m: tensor<?x?xf32>) {
  // expected-error @below {{operand #0 must be ranked tensor of 64-bit signless integer values, but got 'tensor<?x?xf32>'}}
  %y = xfmr.additive_mask %m : tensor<?x?xf32>
  return
}
