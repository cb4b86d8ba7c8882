// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @linear_c5_type(%x: tensor<?x40xf32>, %w: tensor<20x40xbf16>) {
  // expected-error @below {{expects f32 tensors with a format, but got 'tensor<20x40xbf16>'}}
  %0 = xfmr.linear %x, %w {format = #xfmr.weight_format<"int8:32">} : tensor<?x40xf32>, tensor<20x40xbf16>
  return
}

// -----

// expected-error @below {{expects a format such as "int8:32" or "int4:64:asym", but got "int5:32"}}
func.func private @format() attributes {test = #xfmr.weight_format<"int5:32">}

// -----

// expected-error @below {{expects a format such as "int8:32" or "int4:64:asym", but got "int8:33"}}
func.func private @format() attributes {test = #xfmr.weight_format<"int8:33">}

// -----

// expected-error @below {{expects a format such as "int8:32" or "int4:64:asym", but got "int8"}}
func.func private @format() attributes {test = #xfmr.weight_format<"int8">}

// -----

// expected-error @below {{expects a format such as "int8:32" or "int4:64:asym", but got "int4:32:f16"}}
func.func private @format() attributes {test = #xfmr.weight_format<"int4:32:f16">}

// -----

// expected-error @below {{expects a format such as "int8:32" or "int4:64:asym", but got "int4:32:f32:asym"}}
func.func private @format() attributes {test = #xfmr.weight_format<"int4:32:f32:asym">}

// -----

// expected-error @below {{expects a format such as "int8:32" or "int4:64:asym", but got "int4:032"}}
func.func private @format() attributes {test = #xfmr.weight_format<"int4:032">}

// -----

func.func @weight_quantize_panels_c1(%w: tensor<20x40xf32>) {
  // expected-error @below {{expects a width that is a positive multiple of 16, but got 24}}
  %0 = xfmr.weight_quantize_panels %w, 24 format <"int4:32"> : tensor<20x40xf32>
  return
}

// -----

func.func @weight_quantize_panels_c1_large(%w: tensor<20x40xf32>) {
  // expected-error @below {{expects a width of at most 4096 and at most 2147483647 columns, but got 4611686018427387904 and 'tensor<20x40xf32>'}}
  %0 = xfmr.weight_quantize_panels %w, 4611686018427387904 format <"int4:32"> : tensor<20x40xf32>
  return
}

// -----

// expected-error @below {{expects a width of at most 4096 and at most 2147483647 columns, but got 4112 and 'tensor<20x40xf32>'}}
xfmr.weight @w : tensor<3x2x144xi8> = #xfmr.quantized_panels<#xfmr.tensor<"w" : tensor<20x40xf32>>, 4112, <"int4:32">>

// -----

// expected-error @below {{expects a width that is a positive multiple of 16, but got 8}}
xfmr.weight @w : tensor<3x2x144xi8> = #xfmr.quantized_panels<#xfmr.tensor<"w" : tensor<20x40xf32>>, 8, <"int4:32">>

// -----

// expected-error @below {{expects float elements, but got}}
xfmr.weight @w : tensor<2x2x288xi8> = #xfmr.quantized_panels<#xfmr.row_quantized<#xfmr.tensor<"w" : tensor<20x40xf32>>>, 16, <"int4:32">>

// -----

func.func @quantize_rows_destinations(%x: tensor<?x40xf32>, %q: tensor<?x64xbf16>) {
  // expected-error @below {{expects no group without sums, but got 32}}
  %0 = tile.quantize_rows ins(%x : tensor<?x40xf32>) group 32 outs(%q : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return
}

// -----

func.func @quantize_rows_c3_group(%x: tensor<?x40xf32>, %q: tensor<?x64xi8>, %s: tensor<?x2xf32>, %z: tensor<?x2xi32>) {
  // expected-error @below {{expects a group that is a positive multiple of 16, but got 0}}
  %0:3 = tile.quantize_rows ins(%x : tensor<?x40xf32>) outs(%q, %s, %z : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @quantize_rows_c3_columns(%x: tensor<?x40xf32>, %q: tensor<?x96xi8>, %s: tensor<?x2xf32>, %z: tensor<?x2xi32>) {
  // expected-error @below {{expects i8 of 40 columns in whole groups of 32, but got 'tensor<?x96xi8>'}}
  %0:3 = tile.quantize_rows ins(%x : tensor<?x40xf32>) group 32 outs(%q, %s, %z : tensor<?x96xi8>, tensor<?x2xf32>, tensor<?x2xi32>) -> tensor<?x96xi8>, tensor<?x2xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @quantize_rows_c3_scales(%x: tensor<?x40xf32>, %q: tensor<?x64xi8>, %s: tensor<?x3xf32>, %z: tensor<?x2xi32>) {
  // expected-error @below {{expects 'scales' to have 2 columns of f32 and the rows of 'input', but got 'tensor<?x3xf32>'}}
  %0:3 = tile.quantize_rows ins(%x : tensor<?x40xf32>) group 32 outs(%q, %s, %z : tensor<?x64xi8>, tensor<?x3xf32>, tensor<?x2xi32>) -> tensor<?x64xi8>, tensor<?x3xf32>, tensor<?x2xi32>
  return
}

// -----

func.func @quantize_rows_c3_sums(%x: tensor<?x40xf32>, %q: tensor<?x64xi8>, %s: tensor<?x2xf32>, %z: tensor<?x2xf32>) {
  // expected-error @below {{expects 'sums' to have 2 columns of i32 and the rows of 'input', but got 'tensor<?x2xf32>'}}
  %0:3 = tile.quantize_rows ins(%x : tensor<?x40xf32>) group 32 outs(%q, %s, %z : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xf32>
  return
}

// -----

func.func @grouped_product_c1_rank(%q: tensor<?x64xi8>, %s: tensor<?x2xf32>, %z: tensor<?x2xi32>, %p: tensor<2x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects 'panels' of rank 3, but got 'tensor<2x288xi8>'}}
  %0 = tile.grouped_product ins(%q, %s, %z, %p : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<2x288xi8>) outs(%y : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  return
}

// -----

func.func @grouped_product_c1_rows(%q: tensor<?x64xi16>, %s: tensor<?x2xf32>, %z: tensor<?x2xi32>, %p: tensor<2x2x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects rows of 'i8', but got 'tensor<?x64xi16>'}}
  %0 = tile.grouped_product ins(%q, %s, %z, %p : tensor<?x64xi16>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<2x2x288xi8>) outs(%y : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  return
}

// -----

func.func @grouped_product_c1_inputs(%q: tensor<?x64xi8>, %s: tensor<?x2xf32>, %p: tensor<2x2x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects rows and panels, or rows, scales, sums and panels, but got 3 inputs}}
  %0 = tile.grouped_product ins(%q, %s, %p : tensor<?x64xi8>, tensor<?x2xf32>, tensor<2x2x288xi8>) outs(%y : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  return
}

// -----

func.func @grouped_product_c1_float_rows(%x: tensor<?x64xi8>, %p: tensor<2x2x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects rows of 'f32', but got 'tensor<?x64xi8>'}}
  %0 = tile.grouped_product ins(%x, %p : tensor<?x64xi8>, tensor<2x2x288xi8>) outs(%y : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  return
}

// -----

func.func @grouped_product_c2_float_groups(%x: tensor<?x65xf32>, %p: tensor<2x2x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects rows of 2 groups of 'int4:32', but got 'tensor<?x65xf32>'}}
  %0 = tile.grouped_product ins(%x, %p : tensor<?x65xf32>, tensor<2x2x288xi8>) outs(%y : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  return
}

// -----

func.func @grouped_product_c2_bf16(%x: tensor<?x63xbf16>, %p: tensor<2x2x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects an even number of columns of 16-bit rows, but got 'tensor<?x63xbf16>'}}
  %0 = tile.grouped_product ins(%x, %p : tensor<?x63xbf16>, tensor<2x2x288xi8>) outs(%y : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  return
}

// -----

func.func @grouped_product_c1_scales(%q: tensor<?x64xi8>, %s: tensor<?x2xf16>, %z: tensor<?x2xi32>, %p: tensor<2x2x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects scales of 'f32', but got 'tensor<?x2xf16>'}}
  %0 = tile.grouped_product ins(%q, %s, %z, %p : tensor<?x64xi8>, tensor<?x2xf16>, tensor<?x2xi32>, tensor<2x2x288xi8>) outs(%y : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  return
}

// -----

func.func @grouped_product_c1_static(%q: tensor<?x64xi8>, %s: tensor<?x2xf32>, %z: tensor<?x2xi32>, %p: tensor<2x?x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects the groups of panels to be static and positive, but got 'tensor<2x?x288xi8>'}}
  %0 = tile.grouped_product ins(%q, %s, %z, %p : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<2x?x288xi8>) outs(%y : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  return
}

// -----

func.func @grouped_product_c2_columns(%q: tensor<?x40xi8>, %s: tensor<?x2xf32>, %z: tensor<?x2xi32>, %p: tensor<2x2x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects rows of whole groups of 'int4:32', such as 64 columns, but got 'tensor<?x40xi8>'}}
  %0 = tile.grouped_product ins(%q, %s, %z, %p : tensor<?x40xi8>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<2x2x288xi8>) outs(%y : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  return
}

// -----

func.func @grouped_product_c2_groups(%q: tensor<?x32xi8>, %s: tensor<?x2xf32>, %z: tensor<?x2xi32>, %p: tensor<2x2x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects rows of 2 groups of 'int4:32', but got 'tensor<?x32xi8>'}}
  %0 = tile.grouped_product ins(%q, %s, %z, %p : tensor<?x32xi8>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<2x2x288xi8>) outs(%y : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  return
}

// -----

func.func @grouped_product_c2_scales(%q: tensor<?x64xi8>, %s: tensor<?x3xf32>, %z: tensor<?x2xi32>, %p: tensor<2x2x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects the columns of scales to be 2, but got 3}}
  %0 = tile.grouped_product ins(%q, %s, %z, %p : tensor<?x64xi8>, tensor<?x3xf32>, tensor<?x2xi32>, tensor<2x2x288xi8>) outs(%y : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  return
}

// -----

func.func @grouped_product_c2_bytes(%q: tensor<?x64xi8>, %s: tensor<?x2xf32>, %z: tensor<?x2xi32>, %p: tensor<2x2x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects the bytes of a group to be 544, but got 288}}
  %0 = tile.grouped_product ins(%q, %s, %z, %p : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<2x2x288xi8>) outs(%y : tensor<?x20xf32>) width 16 format <"int8:32"> -> tensor<?x20xf32>
  return
}

// -----

func.func @grouped_product_c3_width(%q: tensor<?x64xi8>, %s: tensor<?x2xf32>, %z: tensor<?x2xi32>, %p: tensor<2x2x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects a width that is a positive multiple of 16, but got 8}}
  %0 = tile.grouped_product ins(%q, %s, %z, %p : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<2x2x288xi8>) outs(%y : tensor<?x20xf32>) width 8 format <"int4:32"> -> tensor<?x20xf32>
  return
}

// -----

func.func @grouped_product_c3_depth(%x: memref<?x9223372036854775807xf32>, %p: memref<?x1x64xi8>, %y: memref<?x20xf32>) {
  // expected-error @below {{expects a width of at most 4096 and rows of at most 2147483647 columns, but got 16 and 'memref<?x9223372036854775807xf32>'}}
  tile.grouped_product ins(%x, %p : memref<?x9223372036854775807xf32>, memref<?x1x64xi8>) outs(%y : memref<?x20xf32>) width 16 format <"int8:0:f32">
  return
}

// -----

func.func @grouped_product_c3_panels(%q: tensor<?x64xi8>, %s: tensor<?x2xf32>, %z: tensor<?x2xi32>, %p: tensor<3x2x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects 2 panels for 20 columns, but got 3}}
  %0 = tile.grouped_product ins(%q, %s, %z, %p : tensor<?x64xi8>, tensor<?x2xf32>, tensor<?x2xi32>, tensor<3x2x288xi8>) outs(%y : tensor<?x20xf32>) width 16 format <"int4:32"> -> tensor<?x20xf32>
  return
}

// -----

func.func @linear_c5_bf16(%x: tensor<?x40xf32>, %w: tensor<20x40xf32>) {
  // expected-error @below {{expects the precision f32 with the format bf16, but got int8}}
  %0 = xfmr.linear %x, %w {format = #xfmr.weight_format<"bf16">, precision = #xfmr.precision<int8>} : tensor<?x40xf32>, tensor<20x40xf32>
  return
}

// -----

func.func @embedding_c2_tied(%ids: tensor<?xi64>, %w: tensor<20x40xf32>) {
  // expected-error @below {{expects 'tied' f32 with the format f16}}
  %0 = xfmr.embedding %ids, %w {format = #xfmr.weight_format<"f16">, tied = #xfmr.precision<bf16>} : tensor<20x40xf32>
  return
}

// -----

func.func @weight_quantize_panels_c2(%w: tensor<20x40xf32>) {
  // expected-error @below {{expects a format with groups, but got bf16}}
  %0 = xfmr.weight_quantize_panels %w, 16 format <"bf16"> : tensor<20x40xf32>
  return
}

// -----

// expected-error @below {{expects a format with groups, but got f16}}
xfmr.weight @w : tensor<2x2x288xi8> = #xfmr.quantized_panels<#xfmr.tensor<"w" : tensor<20x40xf32>>, 16, <"f16">>

// -----

func.func @grouped_product_c4(%x: tensor<?x40xf32>, %p: tensor<2x2x288xi8>, %y: tensor<?x20xf32>) {
  // expected-error @below {{expects a format with groups, but got bf16}}
  %0 = tile.grouped_product ins(%x, %p : tensor<?x40xf32>, tensor<2x2x288xi8>) outs(%y : tensor<?x20xf32>) width 16 format <"bf16"> -> tensor<?x20xf32>
  return
}

// -----

func.func @linear_c5_features(%x: tensor<?x2147483648xf32>, %w: tensor<8x2147483648xf32>) {
  // expected-error @below {{expects at most 2147483647 features of 'input' with a format, but got 2147483648}}
  %y = xfmr.linear %x, %w {format = #xfmr.weight_format<"int4:32">} : tensor<?x2147483648xf32>, tensor<8x2147483648xf32>
  return
}

// -----

func.func @embedding_c2_features(%ids: tensor<?xi64>, %t: tensor<8x2147483648xf32>) {
  // expected-error @below {{expects at most 2147483647 features with a format, but got 'tensor<8x2147483648xf32>'}}
  %y = xfmr.embedding %ids, %t {format = #xfmr.weight_format<"int4:32">, tied = #xfmr.precision<int8>} : tensor<8x2147483648xf32>
  return
}
