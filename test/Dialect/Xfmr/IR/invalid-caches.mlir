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

func.func @kv_cache_read_c1_width(%kc: tensor<?x2x?x12x40xf32>, %vc: tensor<?x2x?x20xf32>, %n: index) {
  // expected-error @below {{expects a panel width that is a multiple of 16, but got 'tensor<?x2x?x12x40xf32>'}}
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
