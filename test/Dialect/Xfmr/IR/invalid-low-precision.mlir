// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @linear_c4(%x: tensor<?x6xf32>, %w: tensor<8x6xbf16>) {
  // expected-error @below {{expects f32 tensors with a lower precision, but got 'tensor<8x6xbf16>'}}
  %0 = xfmr.linear %x, %w {precision = #xfmr.precision<bf16>} : tensor<?x6xf32>, tensor<8x6xbf16>
  return
}

// -----

func.func @linear_c4_depth(%x: tensor<?x65537xf32>, %w: tensor<8x65537xf32>) {
  // expected-error @below {{expects at most 65536 features of 'input' with int8, but got 65537}}
  %0 = xfmr.linear %x, %w {precision = #xfmr.precision<int8>} : tensor<?x65537xf32>, tensor<8x65537xf32>
  return
}

// -----

func.func @weight_pack_c1(%w: tensor<8x6xi8>) {
  // expected-error @below {{expects a positive group, but got 0}}
  %p = xfmr.weight_pack %w, 16 group 0 multiple 1 : tensor<8x6xi8>
  return
}

// -----

func.func @weight_pack_c2(%w: tensor<8x6xi8>) {
  // expected-error @below {{expects a multiple of the group, 4, but got 6}}
  %p = xfmr.weight_pack %w, 16 group 4 multiple 6 : tensor<8x6xi8>
  return
}

// -----

func.func @weight_pack_c2_without_groups(%w: tensor<8x6xi8>) {
  // expected-error @below {{expects a multiple of the group, 1, but got 4}}
  %p = xfmr.weight_pack %w, 16 group 1 multiple 4 : tensor<8x6xi8>
  return
}

// -----

// expected-error @below {{expects a group of 2 or more, but got 1}}
xfmr.weight @group : tensor<1x6x16xf32> = #xfmr.grouped_panels<#xfmr.tensor<"w" : tensor<8x6xf32>>, 16, 1, 1>

// -----

// expected-error @below {{expects a multiple of the group, 4, but got 2}}
xfmr.weight @multiple : tensor<1x2x16x4xf32> = #xfmr.grouped_panels<#xfmr.tensor<"w" : tensor<8x6xf32>>, 16, 4, 2>

// -----

// expected-error @below {{expects a matrix source, but got #xfmr.tensor<"w" : tensor<8xf32>>}}
xfmr.weight @scales_rank : tensor<8xf32> = #xfmr.row_scales<#xfmr.tensor<"w" : tensor<8xf32>>>

// -----

// expected-error @below {{expects i8 elements, but got 'tensor<8x6xf32>'}}
xfmr.weight @sums : tensor<8xi32> = #xfmr.row_sums<#xfmr.tensor<"w" : tensor<8x6xf32>>>

// -----

// expected-error @below {{expects float elements, but got 'tensor<8x6xi8>'}}
xfmr.weight @quantized : tensor<8x6xi8> = #xfmr.row_quantized<#xfmr.row_quantized<#xfmr.tensor<"w" : tensor<8x6xf32>>>>

// -----

// expected-error @below {{expects a weight source of floats, but got 4 : i64}}
xfmr.weight @convert : tensor<8x6xbf16> = #xfmr.convert<4, bf16>

// -----

func.func @embedding_c2(%ids: tensor<?xi64>, %w: tensor<8x6xf32>) {
  // expected-error @below {{expects 'tied' f32 with the format bf16}}
  %0 = xfmr.embedding %ids, %w {tied = #xfmr.precision<f16>, format = #xfmr.weight_format<"bf16">} : tensor<8x6xf32>
  return
}

// -----

func.func @embedding_c2_untied(%ids: tensor<?xi64>, %w: tensor<8x6xf32>) {
  // expected-error @below {{expects 'tied' with the format int4:32}}
  %0 = xfmr.embedding %ids, %w {format = #xfmr.weight_format<"int4:32">} : tensor<8x6xf32>
  return
}

// -----

func.func @weight_pack_c1_static(%w: tensor<?x6xi8>) {
  // expected-error @below {{expects a static shape, but got 'tensor<?x6xi8>'}}
  %p = xfmr.weight_pack %w, 16 group 4 multiple 4 : tensor<?x6xi8>
  return
}

// -----

func.func @weight_quantize_panels_c1_static(%w: tensor<20x?xf32>) {
  // expected-error @below {{expects a static shape, but got 'tensor<20x?xf32>'}}
  %0 = xfmr.weight_quantize_panels %w, 16 format <"int4:32"> : tensor<20x?xf32>
  return
}

// -----

func.func @weight_distance_panels_c1_static(%t: tensor<?x48xf32>) {
  // expected-error @below {{expects a static shape, but got 'tensor<?x48xf32>'}}
  %p = xfmr.weight_distance_panels %t, 4 : tensor<?x48xf32>
  return
}
