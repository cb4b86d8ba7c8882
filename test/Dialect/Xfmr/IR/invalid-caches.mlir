// RUN: attune-opt --split-input-file --verify-diagnostics %s

func.func @kv_cache_update_c1_rank(%k: tensor<?x2x12xf32>, %v: tensor<?x2x?x20xf32>, %kc: tensor<?x2x?x12x64xf32>, %vc: tensor<?x2x?x20xf32>, %past: tensor<?xi64>) {
  // expected-error @below {{expects 'key' and 'value' of one rank, but got 'tensor<?x2x12xf32>' and 'tensor<?x2x?x20xf32>'}}
  %0:2 = xfmr.kv_cache_update %k, %v into %kc, %vc at(%past) offsets(%past) : tensor<?x2x12xf32>, tensor<?x2x?x20xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
  return
}

// -----

func.func @kv_cache_update_c1_no_offsets(%k: tensor<?x2x12xf32>, %v: tensor<?x2x20xf32>, %kc: tensor<?x2x?x12x64xf32>, %vc: tensor<?x2x?x20xf32>, %past: tensor<?xi64>) {
  // expected-error @below {{expects 'offsets' for keys of tokens, 'tensor<?x2x12xf32>'}}
  %0:2 = xfmr.kv_cache_update %k, %v into %kc, %vc at(%past) : tensor<?x2x12xf32>, tensor<?x2x20xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
  return
}

// -----

func.func @kv_cache_update_c1_offsets(%k: tensor<?x2x?x12xf32>, %v: tensor<?x2x?x20xf32>, %kc: tensor<?x2x?x12x64xf32>, %vc: tensor<?x2x?x20xf32>, %past: tensor<?xi64>) {
  // expected-error @below {{expects no 'offsets' for keys of sequences, 'tensor<?x2x?x12xf32>'}}
  %0:2 = xfmr.kv_cache_update %k, %v into %kc, %vc at(%past) offsets(%past) : tensor<?x2x?x12xf32>, tensor<?x2x?x20xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
  return
}

// -----

func.func @kv_cache_update_c1_heads(%k: tensor<?x2x12xf32>, %v: tensor<?x4x20xf32>, %kc: tensor<?x2x?x12x64xf32>, %vc: tensor<?x2x?x20xf32>, %past: tensor<?xi64>) {
  // expected-error @below {{expects 'value' of 2 heads of size 20, as its cache, but got 'tensor<?x4x20xf32>'}}
  %0:2 = xfmr.kv_cache_update %k, %v into %kc, %vc at(%past) offsets(%past) : tensor<?x2x12xf32>, tensor<?x4x20xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
  return
}

// -----

func.func @kv_cache_read_c1_heads(%kc: tensor<?x2x?x12x64xf32>, %vc: tensor<?x3x?x20xf32>, %n: index) {
  // expected-error @below {{expects a value cache of 2 heads, as the key cache, but got 'tensor<?x3x?x20xf32>'}}
  %0:2 = xfmr.kv_cache_read %kc, %vc, %n : tensor<?x2x?x12x64xf32>, tensor<?x3x?x20xf32>
  return
}

// -----

func.func @kv_cache_read_c1_empty_panels(%kc: tensor<?x2x?x12x0xf32>, %vc: tensor<?x2x?x20xf32>, %n: index) {
  // expected-error @below {{expects a panel width that is a positive multiple of 16, but got 'tensor<?x2x?x12x0xf32>'}}
  %0:2 = xfmr.kv_cache_read %kc, %vc, %n : tensor<?x2x?x12x0xf32>, tensor<?x2x?x20xf32>
  return
}

// -----

func.func @kv_cache_read_c1_width(%kc: tensor<?x2x?x12x40xf32>, %vc: tensor<?x2x?x20xf32>, %n: index) {
  // expected-error @below {{expects a panel width that is a positive multiple of 16, but got 'tensor<?x2x?x12x40xf32>'}}
  %0:2 = xfmr.kv_cache_read %kc, %vc, %n : tensor<?x2x?x12x40xf32>, tensor<?x2x?x20xf32>
  return
}

// -----

func.func @kv_cache_read_c1_dynamic(%kc: tensor<?x2x?x?x64xf32>, %vc: tensor<?x2x?x20xf32>, %n: index) {
  // expected-error @below {{expects a key cache whose heads, head size and panel width are static, but got 'tensor<?x2x?x?x64xf32>'}}
  %0:2 = xfmr.kv_cache_read %kc, %vc, %n : tensor<?x2x?x?x64xf32>, tensor<?x2x?x20xf32>
  return
}

// -----

func.func @kv_cache_read_c1_dynamic_values(%kc: tensor<?x2x?x12x64xf32>, %vc: tensor<?x2x?x?xf32>, %n: index) {
  // expected-error @below {{expects a value cache whose heads and head size are static, but got 'tensor<?x2x?x?xf32>'}}
  %0:2 = xfmr.kv_cache_read %kc, %vc, %n : tensor<?x2x?x12x64xf32>, tensor<?x2x?x?xf32>
  return
}

// -----

func.func @kv_cache_update_c2_types(%k: tensor<?x2x12xf32>, %kc: tensor<?x2x?x12x64xbf16>, %vc: tensor<?x2x?x12xf16>, %past: tensor<?xi64>) {
  // expected-error @below {{expects caches of one type of elements, but got 'tensor<?x2x?x12x64xbf16>' and 'tensor<?x2x?x12xf16>'}}
  %0:2 = xfmr.kv_cache_update %k, %k into %kc, %vc at(%past) offsets(%past) : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x?x12x64xbf16>, tensor<?x2x?x12xf16>
  return
}

// -----

func.func @kv_cache_update_c2_scales(%k: tensor<?x2x12xf32>, %kc: tensor<?x2x?x12x64xi8>, %vc: tensor<?x2x?x12xi8>, %past: tensor<?xi64>) {
  // expected-error @below {{expects 'key' of 2 heads of size 8, as its cache, but got 'tensor<?x2x12xf32>'}}
  %0:2 = xfmr.kv_cache_update %k, %k into %kc, %vc at(%past) offsets(%past) : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x?x12x64xi8>, tensor<?x2x?x12xi8>
  return
}

// -----

func.func @kv_cache_update_c2_width(%k: tensor<?x2x12xf32>, %kc: tensor<?x2x?x16x32xi8>, %vc: tensor<?x2x?x16xi8>, %past: tensor<?xi64>) {
  // expected-error @below {{expects a panel width that is a multiple of 64 for i8, but got 'tensor<?x2x?x16x32xi8>'}}
  %0:2 = xfmr.kv_cache_update %k, %k into %kc, %vc at(%past) offsets(%past) : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x?x16x32xi8>, tensor<?x2x?x16xi8>
  return
}

// -----

func.func @kv_cache_update_c2_empty(%k: tensor<?x2x12xf32>, %kc: tensor<?x2x?x4x64xi8>, %vc: tensor<?x2x?x16xi8>, %past: tensor<?xi64>) {
  // expected-error @below {{expects heads of at least one component, but got 'tensor<?x2x?x4x64xi8>'}}
  %0:2 = xfmr.kv_cache_update %k, %k into %kc, %vc at(%past) offsets(%past) : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x?x4x64xi8>, tensor<?x2x?x16xi8>
  return
}

// -----

func.func @kv_cache_read_c1_type(%kc: tensor<?x2x?x16x64xi8>, %vc: tensor<?x2x?x16xi8>, %n: index) {
  // expected-error @below {{expects caches of a floating-point type, but got 'tensor<?x2x?x16x64xi8>'}}
  %0:2 = "xfmr.kv_cache_read"(%kc, %vc, %n) : (tensor<?x2x?x16x64xi8>, tensor<?x2x?x16xi8>, index) -> (tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>)
  return
}

// -----

func.func @attention_c1_types(%q: tensor<?x4x12xf32>, %kc: tensor<?x2x?x12x64xbf16>, %vc: tensor<?x2x?x12xf32>, %o: tensor<?xi64>, %n: index) {
  // expected-error @below {{expects caches of one type of elements, but got 'tensor<?x2x?x12x64xbf16>' and 'tensor<?x2x?x12xf32>'}}
  %0 = xfmr.attention %q, %kc, %vc offsets(%o) lengths(%n, %n) key_lengths(%o) {scale = 1.0 : f64} : tensor<?x4x12xf32>, tensor<?x2x?x12x64xbf16>, tensor<?x2x?x12xf32> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c1_scales(%q: tensor<?x4x16xf32>, %kc: tensor<?x2x?x16x64xi8>, %vc: tensor<?x2x?x16xi8>, %o: tensor<?xi64>, %n: index) {
  // expected-error @below {{expects 'query' and 'key' of one head size, but got 16 and 12}}
  %0 = xfmr.attention %q, %kc, %vc offsets(%o) lengths(%n, %n) key_lengths(%o) {scale = 1.0 : f64} : tensor<?x4x16xf32>, tensor<?x2x?x16x64xi8>, tensor<?x2x?x16xi8> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c1_width(%q: tensor<?x4x12xf32>, %kc: tensor<?x2x?x16x32xi8>, %vc: tensor<?x2x?x16xi8>, %o: tensor<?xi64>, %n: index) {
  // expected-error @below {{expects a panel width that is a multiple of 64 for i8, but got 'tensor<?x2x?x16x32xi8>'}}
  %0 = xfmr.attention %q, %kc, %vc offsets(%o) lengths(%n, %n) key_lengths(%o) {scale = 1.0 : f64} : tensor<?x4x12xf32>, tensor<?x2x?x16x32xi8>, tensor<?x2x?x16xi8> -> tensor<?x4x12xf32>
  return
}

// -----

func.func @attention_c1_integers(%q: tensor<?x4x12xf32>, %k: tensor<?x2x16xi8>, %o: tensor<?xi64>, %n: index) {
  // expected-error @below {{expects keys and values that are no cache to be of a floating-point type, but got 'tensor<?x2x16xi8>' and 'tensor<?x2x16xi8>'}}
  %0 = xfmr.attention %q, %k, %k offsets(%o, %o) lengths(%n, %n) {scale = 1.0 : f64} : tensor<?x4x12xf32>, tensor<?x2x16xi8>, tensor<?x2x16xi8> -> tensor<?x4x12xf32>
  return
}
