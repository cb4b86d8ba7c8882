// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @key_panel_c1(%k: memref<40x12xf32>, %p: memref<12x32xf32>) {
  // expected-error @below {{expects at most 32 keys, the panel's width, but got 40}}
  xfmr.key_panel ins(%k : memref<40x12xf32>) outs(%p : memref<12x32xf32>)
  return
}

// -----

func.func @key_panel_c1_rows(%k: memref<?x12xf32>, %p: memref<16x32xf32>) {
  // expected-error @below {{expects the rows of the panel to be 12, but got 16}}
  xfmr.key_panel ins(%k : memref<?x12xf32>) outs(%p : memref<16x32xf32>)
  return
}

// -----

func.func @key_panel_static(%k: memref<?x12xf32>, %p: memref<12x?xf32>) {
  // expected-error @below {{expects a panel of static shape, but got 'memref<12x?xf32>'}}
  xfmr.key_panel ins(%k : memref<?x12xf32>) outs(%p : memref<12x?xf32>)
  return
}

// -----

func.func @attention_tile_c1(%q: memref<?x8xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x12xf32>) {
  // expected-error @below {{expects the head size of 'key' to be 8, but got 12}}
  xfmr.attention_tile ins(%q, %k, %v : memref<?x8xf32>, memref<?x12x32xf32>, memref<?x12xf32>) outs(%d : memref<?x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @attention_tile_c1_result(%q: memref<?x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x8xf32>, %d: memref<?x12xf32>) {
  // expected-error @below {{expects the columns of the result to be 8, but got 12}}
  xfmr.attention_tile ins(%q, %k, %v : memref<?x12xf32>, memref<?x12x32xf32>, memref<?x8xf32>) outs(%d : memref<?x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @attention_tile_c1_width(%q: memref<?x12xf32>, %k: memref<?x12x24xf32>, %v: memref<?x12xf32>, %d: memref<?x12xf32>) {
  // expected-error @below {{expects a panel width that is a multiple of 16, but got 'memref<?x12x24xf32>'}}
  xfmr.attention_tile ins(%q, %k, %v : memref<?x12xf32>, memref<?x12x24xf32>, memref<?x12xf32>) outs(%d : memref<?x12xf32>) {scale = 1.0 : f64, key_block = 48 : i64}
  return
}

// -----

func.func @attention_tile_key_block(%q: memref<?x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x12xf32>) {
  // expected-error @below {{expects 'key_block' to be a multiple of the panel width, 32, but got 48}}
  xfmr.attention_tile ins(%q, %k, %v : memref<?x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) outs(%d : memref<?x12xf32>) {scale = 1.0 : f64, key_block = 48 : i64}
  return
}

// -----

func.func @attention_tile_c2(%q: memref<?x12xf32>, %k: memref<?x12x32xf32>, %v: memref<?x12xf32>, %d: memref<?x12xf32>, %m: memref<?xf32>) {
  // expected-error @below {{expects 'mask' of rank 2, but got 'memref<?xf32>'}}
  xfmr.attention_tile ins(%q, %k, %v : memref<?x12xf32>, memref<?x12x32xf32>, memref<?x12xf32>) mask(%m : memref<?xf32>) outs(%d : memref<?x12xf32>) {scale = 1.0 : f64, key_block = 32 : i64}
  return
}

// -----

func.func @parallel_call_missing(%host: !llvm.ptr, %n: index) {
  // expected-error @below {{expects 'body' to name a function, but got @missing}}
  xfmr.parallel_call %host, %n, %n @missing()
  return
}

// -----

func.func private @body(%begin: index, %end: index) {
  return
}
func.func @parallel_call_c1(%host: !llvm.ptr, %n: index) {
  // expected-error @below {{expects 'body' to have type '(index, index, index) -> ()', but got '(index, index) -> ()'}}
  xfmr.parallel_call %host, %n, %n @body()
  return
}
