// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt %s --mlir-print-op-generic | attune-opt | FileCheck %s

// CHECK: module attributes {xfmr.model = #xfmr.model<family = "bert", architecture = "BertModel", limits = {length = 40 : i64}, labels = ["no", "yes"],
// CHECK-SAME: generation = {bad_words_ids = {{\[\[}}5], [6, 7]], do_sample = true, max_length = 9 : i64, temperature = 5.000000e-01 : f64}>,
// CHECK-SAME: xfmr.weights_bytes = 192 : i64}
module attributes {xfmr.model = #xfmr.model<family = "bert", architecture = "BertModel", limits = {length = 40}, labels = ["no", "yes"],
                                            generation = {max_length = 9, bad_words_ids = [[5], [6, 7]], do_sample = true, temperature = 0.5}>,
                   xfmr.weights_bytes = 192 : i64} {
  // CHECK: xfmr.weight @at : tensor<4x8xf32> = #xfmr.tensor<"w" : tensor<4x8xf32>> at 64{{$}}
  xfmr.weight @at : tensor<4x8xf32> = #xfmr.tensor<"w" : tensor<4x8xf32>> at 64

  // CHECK: @forward(%{{.*}}: tensor<?x?xi64> {xfmr.input = #xfmr.input<"ids", [batch, length], max_value = 203>},
  // CHECK-SAME: tensor<?x?xi64> {xfmr.input = #xfmr.input<"mask", [batch, length], default = ones, max_value = 2>},
  // CHECK-SAME: tensor<3x?xf32> {xfmr.input = #xfmr.input<"past values", [3, "a b"]>})
  // CHECK-SAME: -> (tensor<?x?xi64> {xfmr.output = #xfmr.output<"y", [batch, length]>}, tensor<3x?xf32> {xfmr.output = #xfmr.output<"z", [3, past], group>})
  // CHECK-SAME: attributes {xfmr.entry = #xfmr.entry<"forward">}
  func.func @forward(%ids: tensor<?x?xi64> {xfmr.input = #xfmr.input<"ids", [batch, length], max_value = 203>},
                     %mask: tensor<?x?xi64> {xfmr.input = #xfmr.input<"mask", ["batch", length], default = ones, max_value = 2>},
                     %past: tensor<3x?xf32> {xfmr.input = #xfmr.input<"past values", [3, "a b"], default = required>})
      -> (tensor<?x?xi64> {xfmr.output = #xfmr.output<"y", [batch, length]>}, tensor<3x?xf32> {xfmr.output = #xfmr.output<"z", [3, past], group>})
      attributes {xfmr.entry = #xfmr.entry<"forward", caches = unused>} {
    return %ids, %past : tensor<?x?xi64>, tensor<3x?xf32>
  }

  // CHECK: @decode(%{{.*}}: index {xfmr.dim = #xfmr.dim<past>}, %{{.*}}: index {xfmr.dim = #xfmr.dim<source_length>},
  // CHECK-SAME: memref<?x2x?x12x64xf32> {xfmr.cache = #xfmr.cache<"keys", [slots, 2, panels, 12, 64]>},
  // CHECK-SAME: memref<?x2x?x12xf32> {xfmr.cache = #xfmr.cache<"values", [sources, 2, source_capacity, 12]>},
  // CHECK-SAME: memref<?x?xf32> {xfmr.cache = #xfmr.cache<"visible", [slots, capacity]>}, %{{.*}}: memref<?xf32> {xfmr.output = #xfmr.output<"y", [batch]>})
  // CHECK-SAME: -> (memref<?x?xf32> {xfmr.cache = #xfmr.cache<"visible", [slots, capacity]>})
  // CHECK-SAME: attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>}
  func.func @decode(%past: index {xfmr.dim = #xfmr.dim<past>}, %length: index {xfmr.dim = #xfmr.dim<source_length>},
                    %keys: memref<?x2x?x12x64xf32> {xfmr.cache = #xfmr.cache<"keys", [slots, 2, panels, 12, 64]>},
                    %values: memref<?x2x?x12xf32> {xfmr.cache = #xfmr.cache<"values", [sources, 2, source_capacity, 12]>},
                    %visible: memref<?x?xf32> {xfmr.cache = #xfmr.cache<"visible", [slots, capacity]>},
                    %y: memref<?xf32> {xfmr.output = #xfmr.output<"y", [batch]>})
      -> (memref<?x?xf32> {xfmr.cache = #xfmr.cache<"visible", [slots, capacity]>}) attributes {xfmr.entry = #xfmr.entry<"decode", caches = continue>} {
    return %visible : memref<?x?xf32>
  }

  // CHECK: func.func private @layer(%{{.*}}: tensor<4x8xf32> {xfmr.weight}, %{{.*}}: memref<8xi8> {xfmr.weight})
  func.func private @layer(%w: tensor<4x8xf32> {xfmr.weight}, %b: memref<8xi8> {xfmr.weight}) {
    return
  }
}
