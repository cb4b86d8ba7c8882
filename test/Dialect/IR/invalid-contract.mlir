// RUN: attune-opt --split-input-file --verify-diagnostics %s

// Attributes that phases hand each other are of one kind each.
// expected-error @below {{expects 'xfmr.limits' to be a dictionary of integers, but got {batch = "many"}}}
module attributes {xfmr.limits = {batch = "many"}} {
}

// -----

// expected-error @below {{expects 'xfmr.entry' to be a string, but got unit}}
func.func @entry() attributes {xfmr.entry} {
  return
}

// -----

// expected-error @below {{expects 'xfmr.max_value' to be an integer, but got "most"}}
func.func @argument(%x: tensor<?xi64> {xfmr.max_value = "most"}) {
  return
}

// -----

// expected-error @below {{expects 'xfmr.dims' of argument 1 to have 2 elements, the rank of its type, but got 1}}
func.func @argument_dims(%x: tensor<?xi64> {xfmr.dims = ["batch"]}, %y: tensor<?x?xi64> {xfmr.dims = ["batch"]}) {
  return
}

// -----

// expected-error @below {{expects 'xfmr.dims' of result 0 to have 1 elements, the rank of its type, but got 2}}
func.func @result_dims(%x: tensor<?xi64>) -> (tensor<?xi64> {xfmr.dims = ["batch", "length"]}) {
  return %x : tensor<?xi64>
}

// -----

// expected-error @below {{expects 'xfmr.offset' to be an integer that is not negative, but got -64}}
xfmr.weight @w : tensor<4xf32> = #xfmr.tensor<"w" : tensor<4xf32>> {xfmr.offset = -64 : i64}
