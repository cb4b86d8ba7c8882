// RUN: attune-opt %s --attune-outputs-to-arguments | FileCheck %s

// Results become arguments in order, with their attributes; one value may be several results.
// CHECK-LABEL: @several_results
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<?x8xf32> {xfmr.input = #xfmr.input<"x", [batch, 8]>},
// CHECK-SAME: %[[Y:[a-z0-9]+]]: memref<?x8xf32> {xfmr.output = #xfmr.output<"y", [batch, 8]>},
// CHECK-SAME: %[[Z:[a-z0-9]+]]: memref<4xf32>,
// CHECK-SAME: %[[AGAIN:[a-z0-9]+]]: memref<?x8xf32> {xfmr.output = #xfmr.output<"again", [batch, 8]>}) attributes {xfmr.entry = #xfmr.entry<"forward">}
// CHECK: %[[V:.*]] = math.tanh %[[X]]
// CHECK: bufferization.materialize_in_destination %[[V]] in restrict writable %[[Y]]
// CHECK: bufferization.materialize_in_destination %{{.*}} in restrict writable %[[Z]]
// CHECK: bufferization.materialize_in_destination %[[V]] in restrict writable %[[AGAIN]]
// CHECK: return{{$}}
func.func @several_results(%x: tensor<?x8xf32> {xfmr.input = #xfmr.input<"x", [batch, 8]>})
    -> (tensor<?x8xf32> {xfmr.output = #xfmr.output<"y", [batch, 8]>}, tensor<4xf32>, tensor<?x8xf32> {xfmr.output = #xfmr.output<"again", [batch, 8]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %y = math.tanh %x : tensor<?x8xf32>
  %z = arith.constant dense<1.0> : tensor<4xf32>
  return %y, %z, %y : tensor<?x8xf32>, tensor<4xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: @negative_no_entry
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>) -> tensor<?x8xf32> {
// CHECK-NEXT: return %[[X]]
func.func @negative_no_entry(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  return %x : tensor<?x8xf32>
}

// A cache is a buffer that the caller owns, and so is the updated cache.
// CHECK-LABEL: @caches
// CHECK-SAME: (%[[K:.*]]: memref<?x8xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 8]>}, %[[Y:.*]]: memref<?x8xf32>) -> (memref<?x8xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 8]>})
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[K]] restrict writable : memref<?x8xf32> to tensor<?x8xf32>
// CHECK: %[[V:.*]] = math.tanh %[[T]]
// CHECK: bufferization.materialize_in_destination %[[V]] in restrict writable %[[Y]]
// CHECK: %[[B:.*]] = bufferization.to_buffer %[[V]] read_only : tensor<?x8xf32> to memref<?x8xf32>
// CHECK: return %[[B]]
func.func @caches(%k: tensor<?x8xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 8]>}) -> (tensor<?x8xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 8]>}, tensor<?x8xf32>)
    attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
  %y = math.tanh %k : tensor<?x8xf32>
  return %y, %y : tensor<?x8xf32>, tensor<?x8xf32>
}
