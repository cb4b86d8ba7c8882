// The type of caches is a property of the target: a flag of the phases, and text in the attribute.
// RUN: rm -rf %t && split-file %s %t
// RUN: attune-opt %t/model.mlir --attune-to-dialect="cpu=x86-64-v3 cache-precision=int8" | FileCheck %s --check-prefix=FLAG
// FLAG: xfmr.kv_cache_update {{.*}} tensor<?x2x?x16x64xi8>, tensor<?x2x?x16xi8>

// RUN: attune-opt %t/target.mlir --attune-replace-target="cpu=x86-64-v3 cache-precision=bf16" -o %t/replaced.mlir
// RUN: FileCheck %s --check-prefix=REPLACED --input-file=%t/replaced.mlir
// REPLACED: rt.target = #rt.target<"cpu", {cache_precision = "bf16", {{.*}}}>
// RUN: attune-opt %t/replaced.mlir --attune-to-dialect --attune-to-linalg --attune-to-tiled | FileCheck %s --check-prefix=TILED
// TILED: tile.key_panel {{.*}} outs(%{{.*}} : tensor<12x64xbf16>)
// TILED: tile.cache_rows {{.*}} outs(%{{.*}} : tensor<?x12xbf16>)

// RUN: attune-opt %t/model.mlir --attune-to-dialect="cpu=x86-64-v4 cache-precision=int8" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: xfmr-shard{ranks=0},
// ORDER-NEXT: xfmr-lower-caches{type=int8},

// RUN: %if nvvm %{ attune-opt %t/target.mlir --attune-replace-target="target=cuda gpu=sm_80 cache-precision=int8" -o %t/cuda.mlir %}
// RUN: %if nvvm %{ FileCheck %s --check-prefix=CUDA --input-file=%t/cuda.mlir %}
// CUDA: rt.target = #rt.target<"cuda", {archs = ["sm_80"], cache_precision = "int8", precision = "f32"}>
// RUN: %if nvvm %{ attune-opt %t/cuda.mlir --attune-to-dialect --attune-to-linalg --attune-to-tiled | FileCheck %s --check-prefix=GPU %}
// GPU: tile.key_panel {{.*}} outs(%{{.*}} : tensor<16x64xi8>)
// GPU: tile.cache_rows {{.*}} outs(%{{.*}} : tensor<?x16xi8>)

// RUN: not attune-opt %t/model.mlir --attune-to-dialect="cache-precision=int4" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: int4
// RUN: not attune-opt %t/target.mlir --attune-replace-target="cache-precision=int4" 2>&1 | FileCheck %s --check-prefix=REPLACEMENT
// REPLACEMENT: expects a cache-precision of f32, bf16, f16 or int8, but got 'int4'
// RUN: sed -e 's/cache_precision = "bf16"/cache_precision = "f8"/' %t/replaced.mlir > %t/damaged.mlir
// RUN: not attune-opt %t/damaged.mlir --attune-to-dialect 2>&1 | FileCheck %s --check-prefix=DAMAGED
// DAMAGED: error: 'rt.target': expected 'cache_precision' to be f32, bf16, f16 or int8, got 'f8'

//--- model.mlir
func.func @update(%k: tensor<?x2x12xf32>, %keys: tensor<?x2x?x12x64xf32>, %values: tensor<?x2x?x12xf32>, %past: tensor<?xi64>,
                  %off: tensor<?xi64>) -> (tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>) {
  %kc, %vc = xfmr.kv_cache_update %k, %k into %keys, %values at(%past) offsets(%off)
      : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>
  return %kc, %vc : tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>
}

//--- target.mlir
module attributes {rt.target = #rt.target<"cpu", {features = [], kernels = "mlir", precision = "f32", vector_bits = 256, vector_registers = 16}>} {
  func.func @update(%k: tensor<?x2x12xf32>, %keys: tensor<?x2x?x12x64xf32>, %values: tensor<?x2x?x12xf32>, %past: tensor<?xi64>,
                    %off: tensor<?xi64>) -> (tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>) {
    %kc, %vc = xfmr.kv_cache_update %k, %k into %keys, %values at(%past) offsets(%off)
        : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>
    return %kc, %vc : tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32>
  }
}
