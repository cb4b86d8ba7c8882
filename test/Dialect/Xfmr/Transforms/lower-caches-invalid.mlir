// RUN: attune-opt %s --split-input-file --verify-diagnostics --xfmr-lower-caches=type=int8
// RUN: not attune-opt %s --xfmr-lower-caches=type=int4 2>&1 | FileCheck %s
// CHECK: int4

func.func @reads(%keys: tensor<?x2x?x12x64xf32>, %values: tensor<?x2x?x12xf32>, %n: index) -> tensor<?x2x?x12xf32> {
  // expected-error @below {{'xfmr.kv_cache_read' op reads caches of f32, which cannot be kept in another type}}
  %k, %v = xfmr.kv_cache_read %keys, %values, %n : tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>
  return %k : tensor<?x2x?x12xf32>
}

// -----

func.func private @unknown(tensor<?x2x?x12xf32>)

func.func @passed(%k: tensor<?x2x12xf32>, %keys: tensor<?x2x?x12x64xf32>, %values: tensor<?x2x?x12xf32>, %past: tensor<?xi64>, %off: tensor<?xi64>) {
  %kc, %vc = xfmr.kv_cache_update %k, %k into %keys, %values at(%past) offsets(%off)
      : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>
  // expected-error @below {{a cache that is kept in another type is passed to 'unknown', which has no body}}
  call @unknown(%vc) : (tensor<?x2x?x12xf32>) -> ()
  return
}

// -----

func.func @read_otherwise(%k: tensor<?x2x12xf32>, %keys: tensor<?x2x?x12x64xf32>, %values: tensor<?x2x?x12xf32>, %past: tensor<?xi64>,
                          %off: tensor<?xi64>, %at: index) -> f32 {
  %kc, %vc = xfmr.kv_cache_update %k, %k into %keys, %values at(%past) offsets(%off)
      : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>
  // expected-error @below {{reads a cache that is kept in another type, expected attention or an operation on caches}}
  %x = tensor.extract %vc[%at, %at, %at, %at] : tensor<?x2x?x12xf32>
  return %x : f32
}
