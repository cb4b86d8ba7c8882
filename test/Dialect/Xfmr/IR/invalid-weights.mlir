// RUN: attune-opt --split-input-file --verify-diagnostics %s

// expected-error @below {{expects a static shape of sizes above 0, but got 'tensor<?x8xf32>'}}
xfmr.weight @weight_c1 : tensor<?x8xf32> = #xfmr.tensor<"a" : tensor<?x8xf32>>

// -----

// expected-error @below {{expects a static shape of sizes above 0, but got 'tensor<0x8xf32>'}}
xfmr.weight @empty : tensor<0x8xf32> = #xfmr.tensor<"a" : tensor<0x8xf32>>

// -----

// expected-error @below {{expects elements of a size, and fewer than 2^63 bits, but got 'tensor<4611686018427387904x8xf32>'}}
xfmr.weight @large : tensor<4611686018427387904x8xf32> = #xfmr.tensor<"a" : tensor<4611686018427387904x8xf32>>

// -----

// expected-error @below {{expects a source of type 'tensor<4x8xf32>', but got 'tensor<8x4xf32>'}}
xfmr.weight @weight_c2 : tensor<4x8xf32> = #xfmr.transpose<#xfmr.tensor<"a" : tensor<4x8xf32>>, [1, 0]>

// -----

// expected-error @below {{expects a weight source, but got 4 : i64}}
xfmr.weight @weight_c2_no_source : tensor<4x8xf32> = 4

// -----

func.func @weight_ref_c1() {
  // expected-error @below {{expects @missing to be a weight}}
  %w = xfmr.weight_ref @missing : tensor<8xf32>
  return
}

// -----

xfmr.weight @w : tensor<4xf32> = #xfmr.tensor<"w" : tensor<4xf32>>
func.func @weight_ref_c1_type() {
  // expected-error @below {{expects the type of weight @w, 'tensor<4xf32>', but got 'tensor<8xf32>'}}
  %w = xfmr.weight_ref @w : tensor<8xf32>
  return
}

// -----

func.func @weight_concat_c1(%a: tensor<4x8xf32>, %b: tensor<4x6xf32>) {
  // expected-error @below {{expects weights that differ only along axis 0, but got 'tensor<4x8xf32>' and 'tensor<4x6xf32>'}}
  %w = xfmr.weight_concat 0, %a, %b : tensor<4x8xf32>, tensor<4x6xf32>
  return
}

// -----

func.func @weight_concat_c1_axis(%a: tensor<4x8xf32>) {
  // expected-error @below {{expects an axis from 0 to 1, but got 2}}
  %w = xfmr.weight_concat 2, %a, %a : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @weight_pack_c1(%a: tensor<4x8xf32>) {
  // expected-error @below {{expects a positive width, but got 0}}
  %w = xfmr.weight_pack %a, 0 : tensor<4x8xf32>
  return
}

// -----

// expected-error @below {{expects at least one source}}
xfmr.weight @concat_empty : tensor<4xf32> = #xfmr.concat<0, []>

// -----

// expected-error @below {{expects sources that differ only along axis 0, but got 'tensor<4x8xf32>' and 'tensor<4x6xf32>'}}
xfmr.weight @concat : tensor<8x8xf32> = #xfmr.concat<0, [#xfmr.tensor<"a" : tensor<4x8xf32>>, #xfmr.tensor<"b" : tensor<4x6xf32>>]>

// -----

// expected-error @below {{expects 0 <= begin <= end <= 8, but got 4 and 9}}
xfmr.weight @slice : tensor<4x5xf32> = #xfmr.slice<#xfmr.tensor<"a" : tensor<4x8xf32>>, 1, 4, 9>

// -----

// expected-error @below {{expects indices from 0 to 3, but got 4}}
xfmr.weight @select : tensor<1x8xf32> = #xfmr.select<#xfmr.tensor<"a" : tensor<4x8xf32>>, 0, [4]>

// -----

// expected-error @below {{expects an axis from 0 to 1, but got -1}}
xfmr.weight @select_axis : tensor<1x8xf32> = #xfmr.select<#xfmr.tensor<"a" : tensor<4x8xf32>>, -1, [0]>

// -----

// expected-error @below {{expects a permutation of 2 dimensions, but got array<i64: 0, 0>}}
xfmr.weight @transpose : tensor<4x4xf32> = #xfmr.transpose<#xfmr.tensor<"a" : tensor<4x8xf32>>, [0, 0]>

// -----

// expected-error @below {{expects a shape of 32 elements, but got 30}}
xfmr.weight @reshape : tensor<5x6xf32> = #xfmr.reshape<#xfmr.tensor<"a" : tensor<4x8xf32>>, [5, 6]>

// -----

// expected-error @below {{expects sizes that are not negative, but got array<i64: -4, -8>}}
xfmr.weight @reshape_negative : tensor<4x8xf32> = #xfmr.reshape<#xfmr.tensor<"a" : tensor<4x8xf32>>, [-4, -8]>

// -----

// expected-error @below {{expects a weight source, but got "a"}}
xfmr.weight @scale : tensor<4x8xf32> = #xfmr.scale<"a", 2.0 : f64>

// -----

// expected-error @below {{expects a weight source, but got "a"}}
xfmr.weight @shift : tensor<4x8xf32> = #xfmr.shift<"a", 2.0 : f64>

// -----

// expected-error @below {{expects a matrix source, but got #xfmr.tensor<"a" : tensor<8xf32>>}}
xfmr.weight @panels : tensor<1x1x8xf32> = #xfmr.panels<#xfmr.tensor<"a" : tensor<8xf32>>, 8>

// -----

// expected-error @below {{expects a positive width, but got -8}}
xfmr.weight @panels_width : tensor<1x8x8xf32> = #xfmr.panels<#xfmr.tensor<"a" : tensor<8x8xf32>>, -8>

// -----

func.func @weight_slice_c1(%w: tensor<4x8xf32>) {
  // expected-error @below {{expects columns of the 8 of its weight, but got 4 to 9}}
  %s = xfmr.weight_slice %w, 4 to 9 : tensor<4x8xf32>
  return
}

// -----

func.func @weight_slice_c1_empty(%w: tensor<4x8xf32>) {
  // expected-error @below {{expects columns of the 8 of its weight, but got 4 to 4}}
  %s = xfmr.weight_slice %w, 4 to 4 : tensor<4x8xf32>
  return
}

// -----

func.func @weight_slice_c1_negative(%w: tensor<4x8xf32>) {
  // expected-error @below {{expects columns of the 8 of its weight, but got -1 to 4}}
  %s = xfmr.weight_slice %w, -1 to 4 : tensor<4x8xf32>
  return
}

// -----

// expected-error @below {{expects matrices with equal numbers of columns, but got 'tensor<5x8xf32>' and 'tensor<3x7xf32>'}}
xfmr.weight @project : tensor<5x3xf32> = #xfmr.project<#xfmr.tensor<"a" : tensor<5x8xf32>>, #xfmr.tensor<"w" : tensor<3x7xf32>>>

// -----

// expected-error @below {{expects a vector of 3 floats, but got #xfmr.tensor<"b" : tensor<5xf32>>}}
xfmr.weight @project : tensor<5x3xf32> = #xfmr.project<#xfmr.tensor<"a" : tensor<5x8xf32>>, #xfmr.tensor<"w" : tensor<3x8xf32>>, #xfmr.tensor<"b" : tensor<5xf32>>>

// -----

// expected-error @below {{expects a matrix source, but got #xfmr.tensor<"a" : tensor<8xf32>>}}
xfmr.weight @norm : tensor<8xf32> = #xfmr.layer_norm<#xfmr.tensor<"a" : tensor<8xf32>>, #xfmr.tensor<"g" : tensor<8xf32>>, #xfmr.tensor<"b" : tensor<8xf32>>, 1.0e-7 : f64>

// -----

// expected-error @below {{expects a vector of 8 floats, but got #xfmr.tensor<"g" : tensor<5xf32>>}}
xfmr.weight @norm : tensor<5x8xf32> = #xfmr.layer_norm<#xfmr.tensor<"a" : tensor<5x8xf32>>, #xfmr.tensor<"g" : tensor<5xf32>>, #xfmr.tensor<"b" : tensor<8xf32>>, 1.0e-7 : f64>

// -----

func.func @weight_distance_panels_c1(%t: tensor<5x8xf32>) {
  // expected-error @below {{expects 'heads' to divide the number of columns, 8, but got 3}}
  %p = xfmr.weight_distance_panels %t, 3 : tensor<5x8xf32>
  return
}
