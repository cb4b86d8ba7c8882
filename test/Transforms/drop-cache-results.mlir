// RUN: attune-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(func.func(attune-drop-cache-results))' | FileCheck %s

// CHECK-LABEL: func.func @in_place
// CHECK-SAME: %[[K:.*]]: memref<?x12xf32> {xfmr.cache = "k"}, %{{.*}}: memref<?x12xf32> {xfmr.cache = "v"}) attributes {xfmr.entry = "decode"}
// CHECK: return{{$}}
func.func @in_place(%k: memref<?x12xf32> {xfmr.cache = "k"}, %v: memref<?x12xf32> {xfmr.cache = "v"})
    -> (memref<?x12xf32> {xfmr.cache = "v"}, memref<?x12xf32> {xfmr.cache = "k"}) attributes {xfmr.entry = "decode"} {
  return %v, %k : memref<?x12xf32>, memref<?x12xf32>
}

// Not an entry: nobody's business.
// CHECK-LABEL: func.func private @layer
// CHECK: return %{{.*}} : memref<?x12xf32>
func.func private @layer(%k: memref<?x12xf32>) -> memref<?x12xf32> {
  return %k : memref<?x12xf32>
}

// -----

// expected-error @below {{expects result 0 to be a cache that is updated in place, but "k" is copied}}
func.func @copied(%k: memref<4x12xf32> {xfmr.cache = "k"}) -> (memref<4x12xf32> {xfmr.cache = "k"}) attributes {xfmr.entry = "decode"} {
  %copy = memref.alloc() : memref<4x12xf32>
  memref.copy %k, %copy : memref<4x12xf32> to memref<4x12xf32>
  return %copy : memref<4x12xf32>
}

// -----

// expected-error @below {{expects result 0 to be a cache that is updated in place}}
func.func @exchanged(%k: memref<4x12xf32> {xfmr.cache = "k"}, %v: memref<4x12xf32> {xfmr.cache = "v"}) -> (memref<4x12xf32> {xfmr.cache = "k"})
    attributes {xfmr.entry = "decode"} {
  return %v : memref<4x12xf32>
}
