// RUN: attune-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(func.func(attune-drop-cache-results))' | FileCheck %s

// CHECK-LABEL: func.func @in_place
// CHECK-SAME: %[[K:.*]]: memref<?x12xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 12]>}, %{{.*}}: memref<?x12xf32> {xfmr.cache = #xfmr.cache<"v", [slots, 12]>}) attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>}
// CHECK: return{{$}}
func.func @in_place(%k: memref<?x12xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 12]>}, %v: memref<?x12xf32> {xfmr.cache = #xfmr.cache<"v", [slots, 12]>})
    -> (memref<?x12xf32> {xfmr.cache = #xfmr.cache<"v", [slots, 12]>}, memref<?x12xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 12]>}) attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
  return %v, %k : memref<?x12xf32>, memref<?x12xf32>
}

// The pass does not change functions other than entries.
// CHECK-LABEL: func.func private @layer
// CHECK: return %{{.*}} : memref<?x12xf32>
func.func private @layer(%k: memref<?x12xf32>) -> memref<?x12xf32> {
  return %k : memref<?x12xf32>
}

// -----

// expected-error @below {{expects result 0 to be a cache that is updated in place, but "k" is copied}}
func.func @copied(%k: memref<?x12xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 12]>}) -> (memref<?x12xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 12]>}) attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %k, %c0 : memref<?x12xf32>
  %copy = memref.alloc(%n) : memref<?x12xf32>
  memref.copy %k, %copy : memref<?x12xf32> to memref<?x12xf32>
  return %copy : memref<?x12xf32>
}

// -----

// expected-error @below {{expects result 0 to be a cache that is updated in place}}
func.func @exchanged(%k: memref<?x12xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 12]>}, %v: memref<?x12xf32> {xfmr.cache = #xfmr.cache<"v", [slots, 12]>}) -> (memref<?x12xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 12]>})
    attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
  return %v : memref<?x12xf32>
}
