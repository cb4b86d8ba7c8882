// RUN: attune-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expects 'xfmr.entry' to be an #xfmr.entry, but got "forward"}}
func.func @f() attributes {xfmr.entry = "forward"} {
  return
}

// -----

// expected-error @below {{expects 'xfmr.entry' on a public function}}
func.func private @f() attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects 'xfmr.entry' on a public function}}
module attributes {xfmr.entry = #xfmr.entry<"forward">} {
}

// -----

// expected-error @below {{expects a name of letters, digits and underscores, but got "a b"}}
func.func @f() attributes {xfmr.entry = #xfmr.entry<"a b">} {
  return
}

// -----

// expected-error @below {{expects 'xfmr.model' to be a #xfmr.model, but got {family = "bert"}}}
module attributes {xfmr.model = {family = "bert"}} {
}

// -----

// expected-error @below {{expects 'xfmr.model' on a module}}
func.func @f() attributes {xfmr.model = #xfmr.model<family = "f", architecture = "A">} {
  return
}

// -----

// expected-error @below {{expects limit "batch" to be a positive i64, but got 0 : i64}}
module attributes {xfmr.model = #xfmr.model<family = "f", architecture = "A", limits = {batch = 0}>} {
}

// -----

// expected-error @below {{expects at least one label}}
module attributes {xfmr.model = #xfmr.model<family = "f", architecture = "A", labels = []>} {
}

// -----

// expected-error @below {{expects label 1 to be a string without NUL, but got 1 : i64}}
module attributes {xfmr.model = #xfmr.model<family = "f", architecture = "A", labels = ["no", 1]>} {
}

// -----

// expected-error @below {{expects setting "top_k" to be a bool, i64, f64 or string, or a list of them, but got [1 : i8]}}
module attributes {xfmr.model = #xfmr.model<family = "f", architecture = "A", generation = {top_k = [1 : i8]}>} {
}

// -----

module attributes {xfmr.model = #xfmr.model<family = "f", architecture = "A">} {
  func.func @f() attributes {xfmr.entry = #xfmr.entry<"forward">} {
    return
  }
  // expected-error @below {{expects entries of different names, but got "forward" again}}
  func.func @g() attributes {xfmr.entry = #xfmr.entry<"forward">} {
    return
  }
}

// -----

// expected-error @below {{expects 'xfmr.weights_bytes' to be an i64 that is not negative, but got -64 : i64}}
module attributes {xfmr.weights_bytes = -64 : i64} {
}

// -----

// expected-error @below {{expects 'xfmr.weights_bytes' on a module}}
func.func @f() attributes {xfmr.weights_bytes = 64 : i64} {
  return
}

// -----

// expected-error @below {{expects a name, but got ""}}
func.func @f(%x: tensor<?xi64> {xfmr.input = #xfmr.input<"", [batch]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects dims that are names or sizes, but got ""}}
func.func @f(%x: tensor<?xi64> {xfmr.input = #xfmr.input<"x", [""]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects dims of other names than "workers", the number of threads, but got ["batch", "workers"]}}
func.func @f(%x: tensor<?x?xi64> {xfmr.input = #xfmr.input<"x", [batch, workers]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects dims that are names or sizes, but got -1}}
func.func @f(%x: tensor<?xi64> {xfmr.input = #xfmr.input<"x", [-1]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects 'max_value' not to be negative, but got -2}}
func.func @f(%x: tensor<?xi64> {xfmr.input = #xfmr.input<"x", [batch], max_value = -2>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects 'xfmr.input' to be an #xfmr.input, but got "x"}}
func.func @f(%x: tensor<?xi64> {xfmr.input = "x"}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects 'xfmr.input' on arguments and results of an entry}}
func.func @f(%x: tensor<?xi64> {xfmr.input = #xfmr.input<"x", [batch]>}) {
  return
}

// -----

// expected-error @below {{expects argument 0 to be a tensor or buffer of rank 2 as its dims ["batch", "length"], but got 'tensor<?xi64>'}}
func.func @f(%x: tensor<?xi64> {xfmr.input = #xfmr.input<"x", [batch, length]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects argument 0 to be a tensor or buffer of rank 0 as its dims [], but got 'index'}}
func.func @f(%x: index {xfmr.input = #xfmr.input<"x", []>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects dim 0 of argument 0 to be the size as in its type 'tensor<4xi64>', but got "batch"}}
func.func @f(%x: tensor<4xi64> {xfmr.input = #xfmr.input<"x", [batch]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects dim 0 of argument 0 to be the size as in its type 'tensor<4xi64>', but got 5}}
func.func @f(%x: tensor<4xi64> {xfmr.input = #xfmr.input<"x", [5]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects dim 0 of argument 0 to be a name as in its type 'tensor<?xi64>', but got 5}}
func.func @f(%x: tensor<?xi64> {xfmr.input = #xfmr.input<"x", [5]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects argument 0 to be one of an input, an output, a cache and a dim}}
func.func @f(%x: tensor<?xi64> {xfmr.input = #xfmr.input<"x", [batch]>, xfmr.output = #xfmr.output<"y", [batch]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects 'xfmr.output' to be an #xfmr.output, but got unit}}
func.func @f(%x: memref<?xi64> {xfmr.output}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects result 0 to be a tensor or buffer of rank 2 as its dims}}
func.func @f(%x: tensor<?xi64>) -> (tensor<?xi64> {xfmr.output = #xfmr.output<"y", [batch, length]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return %x : tensor<?xi64>
}

// -----

// expected-error @below {{expects 'xfmr.output' on arguments and results of an entry}}
func.func @f(%x: tensor<?xi64>) -> (tensor<?xi64> {xfmr.output = #xfmr.output<"y", [batch]>}) {
  return %x : tensor<?xi64>
}

// -----

// expected-error @below {{expects dims that begin with 'slots' or 'sources', but got ["batch"]}}
func.func @f(%x: tensor<?xf32> {xfmr.cache = #xfmr.cache<"k", [batch]>}) attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
  return
}

// -----

// expected-error @below {{expects 'xfmr.cache' to be a #xfmr.cache, but got "k"}}
func.func @f(%x: tensor<?xf32> {xfmr.cache = "k"}) attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
  return
}

// -----

// expected-error @below {{expects an entry with 'caches', since argument 0 is a cache}}
func.func @f(%x: tensor<?x?xf32> {xfmr.cache = #xfmr.cache<"k", [slots, capacity]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects argument 0 to be a cache of keys in panels of 64 or of values, of f32, bf16, f16 or i8, or a cache of a mask, of f32, but got 'tensor<?x?x?xf32>'}}
func.func @f(%x: tensor<?x?x?xf32> {xfmr.cache = #xfmr.cache<"k", [slots, capacity, a]>}) attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
  return
}

// -----

// expected-error @below {{expects argument 0 to be a cache of keys in panels of 64 or of values, of f32, bf16, f16 or i8, or a cache of a mask, of f32, but got 'tensor<?x?xf16>'}}
func.func @f(%x: tensor<?x?xf16> {xfmr.cache = #xfmr.cache<"k", [slots, capacity]>}) attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
  return
}

// -----

// expected-error @below {{expects argument 0 to be a cache of keys in panels of 64 or of values, of f32, bf16, f16 or i8, or a cache of a mask, of f32, but got 'tensor<?x2x?x12x32xf32>'}}
func.func @f(%x: tensor<?x2x?x12x32xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 2, panels, 12, 32]>}) attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
  return
}

// -----

// expected-error @below {{expects argument 0 to be a cache of keys in panels of 64 or of values, of f32, bf16, f16 or i8, or a cache of a mask, of f32, but got 'tensor<?x?x?x12xf32>'}}
func.func @f(%x: tensor<?x?x?x12xf32> {xfmr.cache = #xfmr.cache<"k", [slots, heads, capacity, 12]>}) attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
  return
}

// -----

// expected-error @below {{expects an argument that is the cache of result 0, #xfmr.cache<"k", [slots, capacity]>}}
func.func @f(%x: tensor<?x?xf32>) -> (tensor<?x?xf32> {xfmr.cache = #xfmr.cache<"k", [slots, capacity]>})
    attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
  return %x : tensor<?x?xf32>
}

// -----

// expected-error @below {{expects 'xfmr.dim' to be a #xfmr.dim, but got "past"}}
func.func @f(%x: index {xfmr.dim = "past"}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects argument 0 to be an index, since it is a dim, but got 'i64'}}
func.func @f(%x: i64 {xfmr.dim = #xfmr.dim<past>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects 'xfmr.weight' to be a unit attribute, but got 1}}
func.func private @f(%x: tensor<4xf32> {xfmr.weight = 1 : i64}) {
  return
}

// -----

// expected-error @below {{expects 'xfmr.weight' on arguments of a private function}}
func.func @f(%x: tensor<4xf32> {xfmr.weight}) {
  return
}

// -----

// expected-error @below {{expects argument 0 to be a tensor or buffer of static shape, since it is a weight, but got 'tensor<?xf32>'}}
func.func private @f(%x: tensor<?xf32> {xfmr.weight}) {
  return
}

// -----

module attributes {xfmr.weights_bytes = 64 : i64} {
  // expected-error @below {{expects an offset that is a multiple of 64, but got 32}}
  xfmr.weight @w : tensor<4xf32> = #xfmr.tensor<"w" : tensor<4xf32>> at 32
}

// -----

module attributes {xfmr.weights_bytes = 64 : i64} {
  // expected-error @below {{expects an offset that is a multiple of 64, but got -64}}
  xfmr.weight @w : tensor<4xf32> = #xfmr.tensor<"w" : tensor<4xf32>> at -64
}

// -----

module attributes {xfmr.weights_bytes = 79 : i64} {
  // expected-error @below {{expects to end within the 'xfmr.weights_bytes' of its module, but begins at 64}}
  xfmr.weight @w : tensor<4xf32> = #xfmr.tensor<"w" : tensor<4xf32>> at 64
}

// -----

// The end of this weight does not fit in 64 bits.
module attributes {xfmr.weights_bytes = 64 : i64} {
  // expected-error @below {{expects to end within the 'xfmr.weights_bytes' of its module, but begins at 9223372036854775744}}
  xfmr.weight @w : tensor<16777216x8xf32> = #xfmr.tensor<"w" : tensor<16777216x8xf32>> at 9223372036854775744
}

// -----

// expected-error @below {{expects to end within the 'xfmr.weights_bytes' of its module, but begins at 0}}
xfmr.weight @w : tensor<4xf32> = #xfmr.tensor<"w" : tensor<4xf32>> at 0

// -----

// expected-error @below {{expects no attribute 'xfmr.entries' on an operation}}
func.func @f() attributes {xfmr.entries} {
  return
}

// -----

// expected-error @below {{expects no attribute 'xfmr.name' on argument 0}}
func.func @f(%x: tensor<?xi64> {xfmr.name = "x"}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

// expected-error @below {{expects no attribute 'xfmr.group' on result 0}}
func.func @f(%x: tensor<?xi64>) -> (tensor<?xi64> {xfmr.group}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return %x : tensor<?xi64>
}
