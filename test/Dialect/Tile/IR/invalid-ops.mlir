// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @key_panel_c1(%k: memref<40x12xf32>, %p: memref<12x32xf32>) {
  // expected-error @below {{expects at most 32 keys, the panel's width, but got 40}}
  tile.key_panel ins(%k : memref<40x12xf32>) outs(%p : memref<12x32xf32>)
  return
}

// -----

func.func @key_panel_c1_rows(%k: memref<?x12xf32>, %p: memref<16x32xf32>) {
  // expected-error @below {{expects the components of the panel to be 12, but got 16}}
  tile.key_panel ins(%k : memref<?x12xf32>) outs(%p : memref<16x32xf32>)
  return
}

// -----

func.func @key_panel_static(%k: memref<?x12xf32>, %p: memref<12x?xf32>) {
  // expected-error @below {{expects the columns of the panel to be static and positive, but got 'memref<12x?xf32>'}}
  tile.key_panel ins(%k : memref<?x12xf32>) outs(%p : memref<12x?xf32>)
  return
}

// -----

func.func @attention_tile_c1(%q: memref<?x1x8xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>) {
  // expected-error @below {{expects the head size of 'key' to be 8, but got 12}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x8xf32>, memref<?x12x32xf32>, memref<?x12xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @attention_tile_c1_result(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x8xf32>, %d: memref<?x1x12xf32>) {
  // expected-error @below {{expects the columns of the result to be 8, but got 12}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x8xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @attention_tile_c1_width(%q: memref<?x1x12xf32>, %k: memref<?x12x24xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>) {
  // expected-error @below {{expects a panel width that is a positive multiple of 16, but got 'memref<?x12x24xf32>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x24xf32>, memref<?x12xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 48 : i64}
  return
}

// -----

func.func @attention_tile_c1_no_width(%q: memref<?x1x12xf32>, %k: memref<?x12x0xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>) {
  // expected-error @below {{expects a panel width that is a positive multiple of 16, but got 'memref<?x12x0xf32>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x0xf32>, memref<?x12xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @attention_tile_c1_head_size(%q: memref<?x1x?xbf16>, %k: memref<?x?xbf16>, %v: memref<?x12xbf16>, %d: memref<?x1x12xf32>) {
  // expected-error @below {{expects the head size of 'query' to be static and positive, but got 'memref<?x1x?xbf16>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x?xbf16>, memref<?x?xbf16>, memref<?x12xbf16>) outs(%d : memref<?x1x12xf32>)
    {scale = 1.0 : f64, key_block = 32 : i64, precision = #xfmr.precision<bf16>}
  return
}

// -----

func.func @attention_tile_c1_value_size(%q: memref<?x1x16xbf16>, %k: memref<?x16xbf16>, %v: memref<?x?xbf16>, %d: memref<?x1x?xf32>) {
  // expected-error @below {{expects the head size of 'value' to be static and positive, but got 'memref<?x?xbf16>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x16xbf16>, memref<?x16xbf16>, memref<?x?xbf16>) outs(%d : memref<?x1x?xf32>)
    {scale = 1.0 : f64, key_block = 32 : i64, precision = #xfmr.precision<bf16>}
  return
}

// -----

func.func @attention_tile_c1_kinds(%q: tensor<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>) {
  // expected-error @below {{expects ranked tensors only or ranked buffers only, but got 'tensor<?x1x12xf32>' and 'memref<?x12x32xf32>'}}
  tile.attention_tile ins(%q, %k, %v : tensor<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @attention_tile_c2_mask(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>, %m: memref<?xi64>) {
  // expected-error @below {{expects 'mask' of f32, but got 'memref<?xi64>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) mask(%m : memref<?xi64>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @attention_tile_c2_relative_key(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>, %p: index, %t: memref<1x12x?xf32>) {
  // expected-error @below {{expects 'relative_key' to have a static odd number of columns, more than 30, but got 'memref<1x12x?xf32>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) at(%p) relative_key(%t : memref<1x12x?xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @attention_tile_c2_relative_query(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>, %p: index, %t: memref<1x8x45xf32>) {
  // expected-error @below {{expects the rows of 'relative_query' to be 12, but got 8}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) at(%p) relative_query(%t : memref<1x8x45xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @attention_tile_c3_relative_query(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>, %t: memref<1x12x45xf32>) {
  // expected-error @below {{expects 'position' for what depends on positions}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) relative_query(%t : memref<1x12x45xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @rotary_tile_positions(%x: memref<?x4x12xf32>, %p: memref<?xf32>, %t: memref<64x12xf32>) {
  // expected-error @below {{expects 'positions' of i64, but got 'memref<?xf32>'}}
  tile.rotary_tile ins(%x, %p, %t : memref<?x4x12xf32>, memref<?xf32>, memref<64x12xf32>) outs(%x : memref<?x4x12xf32>)
  return
}

// -----

func.func @attention_tile_key_block(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>) {
  // expected-error @below {{expects 'key_block' to be a multiple of the panel width, 32, but got 48}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 48 : i64}
  return
}

// -----

func.func @attention_tile_c2(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>, %m: memref<?x?x?x?xf32>) {
  // expected-error @below {{expects 'mask' of rank 1 to 3, but got 'memref<?x?x?x?xf32>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) mask(%m : memref<?x?x?x?xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @attention_tile_c2_head_scale(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>, %x: memref<1x1xf32>) {
  // expected-error @below {{expects 'head_scale' of rank 1, but got 'memref<1x1xf32>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) head_scale(%x : memref<1x1xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @attention_tile_c3(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>) {
  // expected-error @below {{expects 'position' for what depends on positions}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64, causal}
  return
}

// -----

func.func @attention_tile_c5(%q: memref<?x1x16xf32>, %k: memref<?x16xf16>, %v: memref<?x16xf16>, %d: memref<?x1x16xf32>) {
  // expected-error @below {{expects 'precision' to be bf16 or f16 for keys in rows, but got f32}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x16xf32>, memref<?x16xf16>, memref<?x16xf16>) outs(%d : memref<?x1x16xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @attention_tile_c5_key(%q: memref<?x1x16xf32>, %k: memref<?x16xf32>, %v: memref<?x16xf16>, %d: memref<?x1x16xf32>) {
  // expected-error @below {{expects 'key' of 'f16', but got 'memref<?x16xf32>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x16xf32>, memref<?x16xf32>, memref<?x16xf16>) outs(%d : memref<?x1x16xf32>)
    {scale = 1.0 : f64, key_block = 32 : i64, precision = #xfmr.precision<f16>}
  return
}

// -----

func.func @attention_tile_c5_value(%q: memref<?x1x16xf32>, %k: memref<?x16x32xf32>, %v: memref<?x16xbf16>, %d: memref<?x1x16xf32>) {
  // expected-error @below {{expects 'value' of 'f32', but got 'memref<?x16xbf16>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x16xf32>, memref<?x16x32xf32>, memref<?x16xbf16>) outs(%d : memref<?x1x16xf32>)
    {scale = 1.0 : f64, key_block = 32 : i64, precision = #xfmr.precision<bf16>}
  return
}

// -----

func.func @attention_tile_c5_query(%q: memref<?x1x16xbf16>, %k: memref<?x16xf16>, %v: memref<?x16xf16>, %d: memref<?x1x16xf32>) {
  // expected-error @below {{expects 'query' of f32 or as keys are, but got 'memref<?x1x16xbf16>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x16xbf16>, memref<?x16xf16>, memref<?x16xf16>) outs(%d : memref<?x1x16xf32>)
    {scale = 1.0 : f64, key_block = 32 : i64, precision = #xfmr.precision<f16>}
  return
}

// -----

func.func @attention_tile_fill(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>) {
  // expected-error @below {{expects 'mask' for 'mask_fill'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64, mask_fill = -1.0e10 : f64}
  return
}

// -----

func.func @attention_tile_c4_state(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>, %s: memref<8x32xf32>, %x: memref<64x16xf32>) {
  // expected-error @below {{expects a 'state' of at least 32 columns, but got 16}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) scratch(%s, %x : memref<8x32xf32>, memref<64x16xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @key_rows_c1(%p: memref<12x32xf32>, %k: memref<40x12xf32>) {
  // expected-error @below {{expects at most 32 keys, the panel's width, but got 40}}
  tile.unpack_keys ins(%p : memref<12x32xf32>) outs(%k : memref<40x12xf32>)
  return
}

// -----

func.func @key_rows_c1_columns(%p: memref<12x32xf32>, %k: memref<?x16xf32>) {
  // expected-error @below {{expects the columns of the rows to be 12, but got 16}}
  tile.unpack_keys ins(%p : memref<12x32xf32>) outs(%k : memref<?x16xf32>)
  return
}

// -----

func.func @rotary_tile_c1(%x: memref<?x4x12xf32>, %p: memref<?xi64>, %t: memref<64x14xf32>) {
  // expected-error @below {{expects a table with an even number of columns, at most the head size, but got 'memref<64x14xf32>' for 'memref<?x4x12xf32>'}}
  tile.rotary_tile ins(%x, %p, %t : memref<?x4x12xf32>, memref<?xi64>, memref<64x14xf32>) outs(%x : memref<?x4x12xf32>)
  return
}

// -----

func.func @rotary_tile_c1_result(%x: memref<?x4x12xf32>, %p: memref<?xi64>, %t: memref<64x12xf32>, %y: memref<?x2x12xf32>) {
  // expected-error @below {{expects each size of the result to be 4, but got 2}}
  tile.rotary_tile ins(%x, %p, %t : memref<?x4x12xf32>, memref<?xi64>, memref<64x12xf32>) outs(%y : memref<?x2x12xf32>)
  return
}

// -----

func.func @parallel_call_missing(%host: !llvm.ptr, %n: index) {
  // expected-error @below {{expects 'body' to name a function, but got @missing}}
  rt.parallel_call %host, %n, %n @missing()
  return
}

// -----

func.func private @body(%begin: index, %end: index) {
  return
}
func.func @parallel_call_c1(%host: !llvm.ptr, %n: index) {
  // expected-error @below {{expects 'body' to have type '(index, index, index) -> ()', but got '(index, index) -> ()'}}
  rt.parallel_call %host, %n, %n @body()
  return
}

// -----

func.func @attention_tile_c2_sinks(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>, %x: memref<1x1xf32>) {
  // expected-error @below {{expects 'sinks' of rank 1, but got 'memref<1x1xf32>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) sinks(%x : memref<1x1xf32>) outs(%d : memref<?x1x12xf32>)
    {scale = 1.0 : f64, key_block = 32 : i64, masked_rows = #xfmr.masked_rows<zero>}
  return
}

// -----

func.func @attention_tile_c6(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x1x12xf32>, %x: memref<1xf32>) {
  // expected-error @below {{expects masked_rows = zero for 'sinks', but got least_masked}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) sinks(%x : memref<1xf32>) outs(%d : memref<?x1x12xf32>)
    {scale = 1.0 : f64, key_block = 32 : i64, masked_rows = #xfmr.masked_rows<least_masked>}
  return
}

// -----

func.func @quantize_rows_c1(%x: tensor<?x6xf32>, %c: tensor<?x4xbf16>) {
  // expected-error @below {{expects a destination of at least 6 columns, but got 'tensor<?x4xbf16>'}}
  %0 = tile.quantize_rows ins(%x : tensor<?x6xf32>) outs(%c : tensor<?x4xbf16>) -> tensor<?x4xbf16>
  return
}

// -----

func.func @key_panel_c1_width(%k: tensor<?x12xf32>, %d: tensor<12x1040xf32>) {
  // expected-error @below {{expects a panel of at most 1024 columns, but got 'tensor<12x1040xf32>'}}
  %0 = tile.key_panel ins(%k : tensor<?x12xf32>) outs(%d : tensor<12x1040xf32>) -> tensor<12x1040xf32>
  return
}

// -----

func.func @quantize_rows_c1_padding(%x: tensor<?x6xf32>, %c: tensor<?x262xbf16>) {
  // expected-error @below {{expects fewer than 256 columns more than the 6 of 'input', but got 'tensor<?x262xbf16>'}}
  %0 = tile.quantize_rows ins(%x : tensor<?x6xf32>) outs(%c : tensor<?x262xbf16>) -> tensor<?x262xbf16>
  return
}

// -----

func.func @quantize_rows_c1_input(%x: tensor<?x6xi32>, %c: tensor<?x6xbf16>) {
  // expected-error @below {{expects 'input' to be f32 rows of static size, but got 'tensor<?x6xi32>'}}
  %0 = tile.quantize_rows ins(%x : tensor<?x6xi32>) outs(%c : tensor<?x6xbf16>) -> tensor<?x6xbf16>
  return
}

// -----

func.func @quantize_rows_c1_rows(%x: tensor<3x6xf32>, %c: tensor<4x6xbf16>) {
  // expected-error @below {{expects a destination of 3 rows, but got 'tensor<4x6xbf16>'}}
  %0 = tile.quantize_rows ins(%x : tensor<3x6xf32>) outs(%c : tensor<4x6xbf16>) -> tensor<4x6xbf16>
  return
}

// -----

func.func @quantize_rows_c2(%x: tensor<?x6xf32>, %c: tensor<?x8xi8>) {
  // expected-error @below {{expects a destination of bf16, f16 or f32, but got 'tensor<?x8xi8>'}}
  %0 = tile.quantize_rows ins(%x : tensor<?x6xf32>) outs(%c : tensor<?x8xi8>) -> tensor<?x8xi8>
  return
}

// -----

func.func @quantize_rows_c2_scaled(%x: tensor<?x6xf32>, %c: tensor<?x8xbf16>, %s: tensor<?xf32>) {
  // expected-error @below {{expects a destination of i8 or i16, but got 'tensor<?x8xbf16>'}}
  %0:2 = tile.quantize_rows ins(%x : tensor<?x6xf32>) outs(%c, %s : tensor<?x8xbf16>, tensor<?xf32>) -> tensor<?x8xbf16>, tensor<?xf32>
  return
}

// -----

func.func @quantize_rows_c2_scales(%x: tensor<?x6xf32>, %c: tensor<?x8xi8>, %s: tensor<?x1xf32>) {
  // expected-error @below {{expects 'scales' to be f32 of rank 1, but got 'tensor<?x1xf32>'}}
  %0:2 = tile.quantize_rows ins(%x : tensor<?x6xf32>) outs(%c, %s : tensor<?x8xi8>, tensor<?x1xf32>) -> tensor<?x8xi8>, tensor<?x1xf32>
  return
}

// -----

func.func @key_panel_c1_type(%k: memref<?x12xf16>, %p: memref<12x64xbf16>) {
  // expected-error @below {{cannot store 'f16' as 'bf16', in 'memref<12x64xbf16>'}}
  tile.key_panel ins(%k : memref<?x12xf16>) outs(%p : memref<12x64xbf16>)
  return
}

// -----

func.func @key_panel_c1_width(%k: memref<?x12xf32>, %p: memref<16x32xi8>) {
  // expected-error @below {{expects a panel of i8 whose width is a multiple of 64, but got 'memref<16x32xi8>'}}
  tile.key_panel ins(%k : memref<?x12xf32>) outs(%p : memref<16x32xi8>)
  return
}

// -----

func.func @cache_rows_c1_f32(%v: memref<?x12xf32>, %r: memref<?x12xf32>) {
  // expected-error @below {{expects rows of bf16, f16 or i8, but got 'memref<?x12xf32>'}}
  tile.cache_rows ins(%v : memref<?x12xf32>) outs(%r : memref<?x12xf32>)
  return
}

// -----

func.func @cache_rows_c1_scale(%v: memref<?x12xf32>, %r: memref<?x12xi8>) {
  // expected-error @below {{expects the components of the rows to be 12, but got 8}}
  tile.cache_rows ins(%v : memref<?x12xf32>) outs(%r : memref<?x12xi8>)
  return
}

// -----

func.func @unpack_keys_c1_type(%p: memref<12x64xi8>, %r: memref<?x12xi8>) {
  // expected-error @below {{cannot store 'i8' as 'i8', in 'memref<?x12xi8>'}}
  tile.unpack_keys ins(%p : memref<12x64xi8>) outs(%r : memref<?x12xi8>)
  return
}

// -----

func.func @unpack_keys_c1_rounding(%p: memref<12x64xf32>, %r: memref<?x12xbf16>) {
  // expected-error @below {{cannot store 'f32' as 'bf16', in 'memref<?x12xbf16>'}}
  tile.unpack_keys ins(%p : memref<12x64xf32>) outs(%r : memref<?x12xbf16>)
  return
}

// -----

func.func @attention_tile_c5_types(%q: memref<?x1x12xf32>, %k: memref<?x16x64xi8>, %v: memref<?x12xbf16>, %d: memref<?x1x12xf32>) {
  // expected-error @below {{expects 'value' of 'i8', but got 'memref<?x12xbf16>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x16x64xi8>, memref<?x12xbf16>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 64 : i64}
  return
}

// -----

func.func @attention_tile_c5_width(%q: memref<?x1x12xf32>, %k: memref<?x16x32xi8>, %v: memref<?x16xi8>, %d: memref<?x1x12xf32>) {
  // expected-error @below {{expects a panel width that is a multiple of 64 for i8, but got 'memref<?x16x32xi8>'}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x16x32xi8>, memref<?x16xi8>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 64 : i64}
  return
}

// -----

func.func @cache_rows_values(%v: tensor<?x12xf64>, %d: tensor<?x12xf64>) -> tensor<?x12xf64> {
  // expected-error @below {{expects values of f32, but got 'tensor<?x12xf64>'}}
  %r = tile.cache_rows ins(%v : tensor<?x12xf64>) outs(%d : tensor<?x12xf64>) -> tensor<?x12xf64>
  return %r : tensor<?x12xf64>
}

// -----

func.func @attention_tile_fill_value(%q: memref<?x1x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %m: memref<?xf32>, %d: memref<?x1x12xf32>) {
  // expected-error @below {{expects 'mask_fill' above -1.701412e+38, below which scores are hidden, but got -3.000000e+38}}
  tile.attention_tile ins(%q, %k, %v : memref<?x1x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) mask(%m : memref<?xf32>) outs(%d : memref<?x1x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64, mask_fill = -3.0e38 : f64}
  return
}
