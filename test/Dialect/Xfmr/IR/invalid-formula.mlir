// RUN: attune-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects a map of 1 symbols without dimensions, but got affine_map<(d0)[s0] -> (d0 + s0)>}}
func.func @dimensions() attributes {test.formula = #xfmr.formula<[batch], affine_map<(d0)[s0] -> (d0 + s0)>>} {
  return
}

// -----

// expected-error @below {{expects a map of 1 symbols without dimensions, but got affine_map<() -> (8)>}}
func.func @symbols() attributes {test.formula = #xfmr.formula<[batch], affine_map<() -> (8)>>} {
  return
}

// -----

// expected-error @below {{expects a map with a result}}
func.func @results() attributes {test.formula = #xfmr.formula<[], affine_map<() -> ()>>} {
  return
}

// -----

// expected-error @below {{expects symbols to be names or #xfmr.argument, but got 8 : i64}}
func.func @number() attributes {test.formula = #xfmr.formula<[8], affine_map<()[s0] -> (s0)>>} {
  return
}

// -----

// expected-error @below {{expects each symbol once, but got "batch" again}}
func.func @twice() attributes {test.formula = #xfmr.formula<[batch, batch], affine_map<()[s0, s1] -> (s0 + s1)>>} {
  return
}

// -----

// expected-error @below {{expects divisors to be positive constants, but got affine_map<()[s0, s1] -> (s0 floordiv s1)>}}
func.func @divisor() attributes {test.formula = #xfmr.formula<[batch, length], affine_map<()[s0, s1] -> (s0 floordiv s1)>>} {
  return
}

// -----

// expected-error @below {{expects the number of an argument and of a dimension not to be negative, but got 0 and -1}}
func.func @negative_dimension() attributes {test.formula = #xfmr.formula<[#xfmr.argument<0, -1>], affine_map<()[s0] -> (s0)>>} {
  return
}

// -----

// expected-error @below {{expects 'xfmr.flops' on an entry}}
func.func @no_entry() attributes {xfmr.flops = #xfmr.formula<[], affine_map<() -> (8)>>} {
  return
}

// -----

// expected-error @below {{expects 'xfmr.flops' to be a #xfmr.formula, but got "8"}}
func.func @text() attributes {xfmr.entry = #xfmr.entry<"forward">, xfmr.flops = "8"} {
  return
}

// -----

// expected-error @below {{expects 'xfmr.flops' to be in terms of dims, but got #xfmr.formula<[#xfmr.argument<0>], affine_map<()[s0] -> (s0)>>}}
func.func @argument(%n: index) attributes {xfmr.entry = #xfmr.entry<"forward">, xfmr.flops = #xfmr.formula<[#xfmr.argument<0>], affine_map<()[s0] -> (s0)>>} {
  return
}
