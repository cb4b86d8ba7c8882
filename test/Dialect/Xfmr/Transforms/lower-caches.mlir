// RUN: attune-opt %s --split-input-file --xfmr-lower-caches=type=bf16 | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: attune-opt %s --split-input-file --xfmr-lower-caches=type=int8 | FileCheck %s --check-prefixes=CHECK,INT8
// RUN: attune-opt %s --split-input-file --xfmr-lower-caches | FileCheck %s --check-prefixes=CHECK,F32

// An entry, the function that it passes its caches to, and their results get the type. Masks stay f32.
// CHECK-LABEL: func.func private @layer
// BF16-SAME: %{{.*}}: tensor<?x2x?x12x64xbf16>, %{{.*}}: tensor<?x2x?x12xbf16>
// INT8-SAME: %{{.*}}: tensor<?x2x?x16x64xi8>, %{{.*}}: tensor<?x2x?x16xi8>
// F32-SAME: %{{.*}}: tensor<?x2x?x12x64xf32>, %{{.*}}: tensor<?x2x?x12xf32>
// BF16: xfmr.kv_cache_update {{.*}} : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x?x12x64xbf16>, tensor<?x2x?x12xbf16>
// INT8: xfmr.kv_cache_update {{.*}} : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x?x16x64xi8>, tensor<?x2x?x16xi8>
// BF16: xfmr.attention {{.*}} : tensor<?x4x12xf32>, tensor<?x2x?x12x64xbf16>, tensor<?x2x?x12xbf16> -> tensor<?x4x12xf32>
// INT8: xfmr.attention {{.*}} : tensor<?x4x12xf32>, tensor<?x2x?x16x64xi8>, tensor<?x2x?x16xi8> -> tensor<?x4x12xf32>
func.func private @layer(%q: tensor<?x4x12xf32>, %k: tensor<?x2x12xf32>, %keys: tensor<?x2x?x12x64xf32>, %values: tensor<?x2x?x12xf32>,
                         %past: tensor<?xi64>, %slots: tensor<?xi64>, %off: tensor<?xi64>, %lengths: tensor<?xi64>, %len: index, %total: index)
    -> (tensor<?x4x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>) {
  %kc, %vc = xfmr.kv_cache_update %k, %k into %keys, %values at(%past) slots(%slots) offsets(%off)
      : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>
  %o = xfmr.attention %q, %kc, %vc offsets(%off) lengths(%len, %total) slots(%slots) key_lengths(%lengths)
      {scale = 0.125 : f64, causal} : tensor<?x4x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32> -> tensor<?x4x12xf32>
  return %o, %kc, %vc : tensor<?x4x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>
}

// CHECK-LABEL: func.func @decode
// BF16-SAME: tensor<?x2x?x12x64xbf16> {xfmr.cache = #xfmr.cache<"past_key_values.0.0", [slots, 2, panels, 12, 64]>}
// INT8-SAME: tensor<?x2x?x16x64xi8> {xfmr.cache = #xfmr.cache<"past_key_values.0.0", [slots, 2, panels, 16, 64]>}
// INT8-SAME: tensor<?x2x?x16xi8> {xfmr.cache = #xfmr.cache<"past_key_values.0.1", [slots, 2, capacity, 16]>}
// CHECK-SAME: tensor<?x?xf32> {xfmr.cache = #xfmr.cache<"visible", [slots, capacity]>}
// BF16: call @layer({{.*}}) : ({{.*}}tensor<?x2x?x12x64xbf16>, tensor<?x2x?x12xbf16>{{.*}}) -> (tensor<?x4x12xf32>, tensor<?x2x?x12x64xbf16>, tensor<?x2x?x12xbf16>)
func.func @decode(%q: tensor<?x4x12xf32> {xfmr.input = #xfmr.input<"q", [tokens, 4, 12]>},
                  %k: tensor<?x2x12xf32> {xfmr.input = #xfmr.input<"k", [tokens, 2, 12]>},
                  %keys: tensor<?x2x?x12x64xf32> {xfmr.cache = #xfmr.cache<"past_key_values.0.0", [slots, 2, panels, 12, 64]>},
                  %values: tensor<?x2x?x12xf32> {xfmr.cache = #xfmr.cache<"past_key_values.0.1", [slots, 2, capacity, 12]>},
                  %visible: tensor<?x?xf32> {xfmr.cache = #xfmr.cache<"visible", [slots, capacity]>},
                  %past: tensor<?xi64> {xfmr.input = #xfmr.input<"past", [batch]>},
                  %slots: tensor<?xi64> {xfmr.input = #xfmr.input<"slots", [batch]>},
                  %off: tensor<?xi64> {xfmr.input = #xfmr.input<"off", [bounds]>},
                  %lengths: tensor<?xi64> {xfmr.input = #xfmr.input<"lengths", [batch]>},
                  %len: index {xfmr.dim = #xfmr.dim<past>}, %total: index {xfmr.dim = #xfmr.dim<source_length>})
    -> (tensor<?x4x12xf32> {xfmr.output = #xfmr.output<"o", [tokens, 4, 12]>},
        tensor<?x2x?x12x64xf32> {xfmr.cache = #xfmr.cache<"past_key_values.0.0", [slots, 2, panels, 12, 64]>},
        tensor<?x2x?x12xf32> {xfmr.cache = #xfmr.cache<"past_key_values.0.1", [slots, 2, capacity, 12]>},
        tensor<?x?xf32> {xfmr.cache = #xfmr.cache<"visible", [slots, capacity]>})
    attributes {xfmr.entry = #xfmr.entry<"decode", caches = append>} {
  %o, %kc, %vc = call @layer(%q, %k, %keys, %values, %past, %slots, %off, %lengths, %len, %total)
      : (tensor<?x4x12xf32>, tensor<?x2x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>,
         tensor<?xi64>, index, index) -> (tensor<?x4x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>)
  return %o, %kc, %vc, %visible : tensor<?x4x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>, tensor<?x?xf32>
}
