// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @split_heads_c1(%x: tensor<?x48xf32>) {
  // expected-error @below {{expects 'num_heads' to divide the features of 'input', 48, but got 5}}
  %y = xfmr.split_heads %x, 5 : tensor<?x48xf32>
  return
}

// -----

func.func @attention_c1_head_size(%q: tensor<?x4x12xf32>, %k: tensor<?x4x8xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects 'query' and 'key' of one head size, but got 12 and 8}}
  %y = xfmr.attention %q, %k, %k offsets(%off, %off) lengths(%len, %len) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x8xf32>, tensor<?x4x8xf32> -> tensor<?x4x8xf32>
  return
}

// -----

func.func @attention_c1_value_heads(%q: tensor<?x4x12xf32>, %v: tensor<?x2x12xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects 'key' and 'value' of one number of heads, but got 4 and 2}}
  %y = xfmr.attention %q, %q, %v offsets(%off, %off) lengths(%len, %len) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x2x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c1_groups(%q: tensor<?x4x12xf32>, %k: tensor<?x3x12xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects the heads of 'key' to divide those of 'query', 4, but got 3}}
  %y = xfmr.attention %q, %k, %k offsets(%off, %off) lengths(%len, %len) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x3x12xf32>, tensor<?x3x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c2(%q: tensor<?x4x12xf32>, %v: tensor<?x4x8xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects a result of 4 heads of size 8, but got 'tensor<?x4x12xf32>'}}
  %y = xfmr.attention %q, %q, %v offsets(%off, %off) lengths(%len, %len) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x8xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c2_probabilities(%q: tensor<?x4x12xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects 'probabilities' of 4 heads, but got 'tensor<?x2x?x?xf32>'}}
  %y, %p = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>, tensor<?x2x?x?xf32>
  return
}

// -----

func.func @attention_c3_mask(%q: tensor<?x4x12xf32>, %m: tensor<?x2x?x?xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects 'mask' to have 1 or 4 heads, but got 'tensor<?x2x?x?xf32>'}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len) mask(%m : tensor<?x2x?x?xf32>) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c3_head_mask(%q: tensor<?x4x12xf32>, %h: tensor<2xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects 'head_mask' to have 4 elements, the number of heads, but got 2}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len) head_mask(%h : tensor<2xf32>) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @multi_head_attention_c1_heads(%x: tensor<?x48xf32>, %w: tensor<48x48xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects 'num_kv_heads' to divide 'num_heads', 4, but got 3}}
  %y = xfmr.multi_head_attention %x, %x weights(%w, %w, %w : tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>)
    offsets(%off, %off) lengths(%len, %len) {num_heads = 4 : i64, num_kv_heads = 3 : i64, scale = 1.0 : f64} : tensor<?x48xf32>, tensor<?x48xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @multi_head_attention_c1_columns(%x: tensor<?x48xf32>, %w: tensor<48x48xf32>, %k: tensor<48x32xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects 'wk' to have 48 columns, but got 32}}
  %y = xfmr.multi_head_attention %x, %x weights(%w, %k, %w : tensor<48x48xf32>, tensor<48x32xf32>, tensor<48x48xf32>)
    offsets(%off, %off) lengths(%len, %len) {num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 1.0 : f64} : tensor<?x48xf32>, tensor<?x48xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @multi_head_attention_c1_rows(%x: tensor<?x48xf32>, %w: tensor<48x48xf32>, %k: tensor<40x48xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects 'wk' to have 48 rows, but got 40}}
  %y = xfmr.multi_head_attention %x, %x weights(%w, %k, %w : tensor<48x48xf32>, tensor<40x48xf32>, tensor<48x48xf32>)
    offsets(%off, %off) lengths(%len, %len) {num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 1.0 : f64} : tensor<?x48xf32>, tensor<?x48xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @multi_head_attention_c2(%x: tensor<?x48xf32>, %w: tensor<48x48xf32>, %b: tensor<40xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects 'bq' to have 48 elements, but got 40}}
  %y = xfmr.multi_head_attention %x, %x weights(%w, %w, %w : tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>)
    bias(%b, %b, %b : tensor<40xf32>, tensor<40xf32>, tensor<40xf32>)
    offsets(%off, %off) lengths(%len, %len) {num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 1.0 : f64} : tensor<?x48xf32>, tensor<?x48xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @multi_head_attention_c2_output_bias(%x: tensor<?x48xf32>, %w: tensor<48x48xf32>, %b: tensor<48xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects no 'bo' without its weight}}
  %y = xfmr.multi_head_attention %x, %x weights(%w, %w, %w : tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>)
    bias(%b, %b, %b, %b : tensor<48xf32>, tensor<48xf32>, tensor<48xf32>, tensor<48xf32>)
    offsets(%off, %off) lengths(%len, %len) {num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 1.0 : f64} : tensor<?x48xf32>, tensor<?x48xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @multi_head_attention_c2_some(%x: tensor<?x48xf32>, %w: tensor<48x48xf32>, %b: tensor<48xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects 'bq', 'bk' and 'bv' together, and 'bo' only with them}}
  %y = "xfmr.multi_head_attention"(%x, %x, %w, %w, %w, %b, %off, %off, %len, %len)
    {num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 1.0 : f64, operandSegmentSizes = array<i32: 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0>}
    : (tensor<?x48xf32>, tensor<?x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>, tensor<48xf32>,
       tensor<?xi64>, tensor<?xi64>, index, index) -> tensor<?x48xf32>
  return
}

// -----

func.func @multi_head_attention_c3(%x: tensor<?x48xf32>, %w: tensor<48x48xf32>, %h: tensor<2xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects 'head_mask' to have 4 elements, the number of heads, but got 2}}
  %y = xfmr.multi_head_attention %x, %x weights(%w, %w, %w : tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>)
    offsets(%off, %off) lengths(%len, %len) head_mask(%h : tensor<2xf32>)
    {num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 1.0 : f64} : tensor<?x48xf32>, tensor<?x48xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @attention_c1_one_cache(%q: tensor<?x4x12xf32>, %k: tensor<?x2x?x12x64xf32>, %v: tensor<?x2x?x12xf32>, %off: tensor<?xi64>, %len: index, %x: index) {
  // expected-error @below {{expects 'key' and 'value' to be caches or neither, but got 'tensor<?x2x?x12x64xf32>' and 'tensor<?x4x12xf32>'}}
  %y = xfmr.attention %q, %k, %q offsets(%off) lengths(%len, %len) key_lengths(%off) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c1_cache_lengths(%q: tensor<?x4x12xf32>, %k: tensor<?x2x?x12x64xf32>, %v: tensor<?x2x?x12xf32>, %off: tensor<?xi64>, %len: index, %x: index) {
  // expected-error @below {{expects 'key_lengths' and no 'key_offsets' for caches}}
  %y = xfmr.attention %q, %k, %v offsets(%off) lengths(%len, %len) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c1_key_offsets(%q: tensor<?x4x12xf32>, %k: tensor<?x2x?x12x64xf32>, %v: tensor<?x2x?x12xf32>, %off: tensor<?xi64>, %len: index, %x: index) {
  // expected-error @below {{expects 'key_offsets' for keys that are no cache}}
  %y = xfmr.attention %q, %q, %q offsets(%off) lengths(%len, %len) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c1_empty_panels(%q: tensor<?x4x12xf32>, %k: tensor<?x2x?x12x0xf32>, %v: tensor<?x2x?x12xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects a panel width that is a positive multiple of 16, but got 'tensor<?x2x?x12x0xf32>'}}
  %y = xfmr.attention %q, %k, %v offsets(%off) lengths(%len, %len) key_lengths(%off) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x2x?x12x0xf32>, tensor<?x2x?x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c1_panel_width(%q: tensor<?x4x12xf32>, %k: tensor<?x2x?x12x64xf32>, %v: tensor<?x2x?x12xf32>, %off: tensor<?xi64>, %len: index, %x: tensor<?x2x?x12x24xf32>) {
  // expected-error @below {{expects a panel width that is a positive multiple of 16, but got 'tensor<?x2x?x12x24xf32>'}}
  %y = xfmr.attention %q, %x, %v offsets(%off) lengths(%len, %len) key_lengths(%off) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x2x?x12x24xf32>, tensor<?x2x?x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c4_rows(%q: tensor<?x4x12xf32>, %k: tensor<?x2x?x12x64xf32>, %v: tensor<?x2x?x12xf32>, %off: tensor<?xi64>, %len: index, %x: tensor<3x?xf32>) {
  // expected-error @below {{expects 'distance_bias' to have 1 or 4 rows and an odd number of columns, but got 'tensor<3x?xf32>'}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len) distance_bias(%x : tensor<3x?xf32>) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c4_columns(%q: tensor<?x4x12xf32>, %k: tensor<?x2x?x12x64xf32>, %v: tensor<?x2x?x12xf32>, %off: tensor<?xi64>, %len: index, %x: tensor<4x16xf32>) {
  // expected-error @below {{expects 'distance_bias' to have 1 or 4 rows and an odd number of columns, but got 'tensor<4x16xf32>'}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len) distance_bias(%x : tensor<4x16xf32>) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c5_columns(%q: tensor<?x4x12xf32>, %k: tensor<?x2x?x12x64xf32>, %v: tensor<?x2x?x12xf32>, %off: tensor<?xi64>, %len: index, %x: tensor<15x8xf32>) {
  // expected-error @below {{expects 'relative_key' to have a static odd number of rows, and 12 columns, the head size, or 48, those of all heads, but got 'tensor<15x8xf32>'}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len) relative_key(%x : tensor<15x8xf32>) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c5_rows(%q: tensor<?x4x12xf32>, %k: tensor<?x2x?x12x64xf32>, %v: tensor<?x2x?x12xf32>, %off: tensor<?xi64>, %len: index, %x: tensor<16x12xf32>) {
  // expected-error @below {{expects 'relative_key' to have a static odd number of rows, and 12 columns, the head size, or 48, those of all heads, but got 'tensor<16x12xf32>'}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len) relative_key(%x : tensor<16x12xf32>) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c5_query(%q: tensor<?x4x12xf32>, %off: tensor<?xi64>, %len: index, %x: tensor<15x24xf32>) {
  // expected-error @below {{expects 'relative_query' to have a static odd number of rows, and 12 columns, the head size, or 48, those of all heads, but got 'tensor<15x24xf32>'}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len) relative_query(%x : tensor<15x24xf32>) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c5_panels(%q: tensor<?x4x12xf32>, %off: tensor<?xi64>, %len: index, %x: tensor<2x12x45xf32>) {
  // expected-error @below {{expects 'relative_key' to have a static odd number of rows, and 12 columns, the head size, or 48, those of all heads, but got 'tensor<2x12x45xf32>'}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len) relative_key(%x : tensor<2x12x45xf32>) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c6_window(%q: tensor<?x4x12xf32>, %k: tensor<?x2x?x12x64xf32>, %v: tensor<?x2x?x12xf32>, %off: tensor<?xi64>, %len: index, %x: index) {
  // expected-error @below {{expects 'window_right' not to be negative, but got -1}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len)  {scale = 1.0 : f64, window_left = 4 : i64, window_right = -1 : i64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c6_softcap(%q: tensor<?x4x12xf32>, %k: tensor<?x2x?x12x64xf32>, %v: tensor<?x2x?x12xf32>, %off: tensor<?xi64>, %len: index, %x: index) {
  // expected-error @below {{expects a positive 'softcap', but got 0.000000e+00 : f64}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len)  {scale = 1.0 : f64, softcap = 0.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c6_fill(%q: tensor<?x4x12xf32>, %k: tensor<?x2x?x12x64xf32>, %v: tensor<?x2x?x12xf32>, %off: tensor<?xi64>, %len: index, %x: tensor<?x?xf32>) {
  // expected-error @below {{expects a mask of i1 or i64 for 'mask_fill'}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len) mask(%x : tensor<?x?xf32>) {scale = 1.0 : f64, mask_fill = -1.0e10 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c6_stage(%q: tensor<?x4x12xf32>, %k: tensor<?x2x?x12x64xf32>, %v: tensor<?x2x?x12xf32>, %off: tensor<?xi64>, %len: index, %x: index) {
  // expected-error @below {{expects 'probabilities' for score_stage = product}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len)  {scale = 1.0 : f64, score_stage = #xfmr.score_stage<product>}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @multi_head_attention_c1_value(%x: tensor<?x48xf32>, %v: tensor<?x32xf32>, %w: tensor<48x48xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects 'wv' to have 32 columns, but got 48}}
  %y = xfmr.multi_head_attention %x, %x value(%v : tensor<?x32xf32>) weights(%w, %w, %w : tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>)
    offsets(%off, %off) lengths(%len, %len) {num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 1.0 : f64} : tensor<?x48xf32>, tensor<?x48xf32> -> tensor<?x48xf32>
  return
}

// -----

func.func @attention_c1_slots(%q: tensor<?x4x12xf32>, %off: tensor<?xi64>, %n: index) {
  // expected-error @below {{expects no 'slots' for keys that are no cache}}
  %0 = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%n, %n) slots(%off) {scale = 1.0 : f64} : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c7(%q: tensor<?x4x12xf32>, %s: tensor<2xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects 'sinks' to have 4 elements, the number of heads, but got 2}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len) sinks(%s : tensor<2xf32>)
    {scale = 1.0 : f64, masked_rows = #xfmr.masked_rows<zero>} : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c7_masked_rows(%q: tensor<?x4x12xf32>, %s: tensor<4xf32>, %off: tensor<?xi64>, %len: index) {
  // expected-error @below {{expects masked_rows = zero for 'sinks', but got uniform}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len) sinks(%s : tensor<4xf32>) {scale = 1.0 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c6_fill_value(%q: tensor<?x4x12xf32>, %off: tensor<?xi64>, %len: index, %x: tensor<?x?xi64>) {
  // expected-error @below {{expects 'mask_fill' above -1.701412e+38, below which scores are hidden, but got -2.000000e+38}}
  %y = xfmr.attention %q, %q, %q offsets(%off, %off) lengths(%len, %len) mask(%x : tensor<?x?xi64>) {scale = 1.0 : f64, mask_fill = -2.0e38 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  return
}
