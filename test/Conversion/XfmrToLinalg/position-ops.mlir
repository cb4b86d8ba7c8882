// RUN: attune-opt %s --convert-xfmr-to-linalg --split-input-file | FileCheck %s
// RUN: attune-opt %s --convert-xfmr-to-linalg="attention-precision=bf16 attention-head=64" --split-input-file | FileCheck %s --check-prefix=BF16 --implicit-check-not=bf16

// Tables of vectors of distances become panels, those of all heads and those of each; attention with them stays f32.
// BF16-LABEL: @tables
// CHECK-LABEL: @tables
// CHECK-SAME: %[[ALL:[a-z0-9]+]]: tensor<63x8xf32>, %[[EACH:[a-z0-9]+]]: tensor<5x16xf32>
// CHECK-DAG: %[[K:.*]] = xfmr.weight_distance_panels %[[ALL]], 1 : tensor<63x8xf32>
// CHECK-DAG: %[[Q:.*]] = xfmr.weight_distance_panels %[[EACH]], 2 : tensor<5x16xf32>
// CHECK: xfmr.attention {{.*}} relative_key(%[[K]] : tensor<1x8x93xf32>) relative_query(%[[Q]] : tensor<2x8x35xf32>)
func.func @tables(%q: tensor<?x2x8xf32>, %offsets: tensor<?xi64>, %n: index, %all: tensor<63x8xf32>, %each: tensor<5x16xf32>) -> tensor<?x2x8xf32> {
  %a = xfmr.attention %q, %q, %q offsets(%offsets, %offsets) lengths(%n, %n) relative_key(%all : tensor<63x8xf32>)
    relative_query(%each : tensor<5x16xf32>) {scale = 1.0 : f64} : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<?x2x8xf32>
  return %a : tensor<?x2x8xf32>
}

// -----

// A table that is both operands is converted once.
// CHECK-LABEL: @shared
// CHECK: %[[T:.*]] = xfmr.weight_distance_panels
// CHECK-NOT: weight_distance_panels
// CHECK: relative_key(%[[T]] : tensor<1x8x93xf32>) relative_query(%[[T]] : tensor<1x8x93xf32>)
func.func @shared(%q: tensor<?x2x8xf32>, %offsets: tensor<?xi64>, %n: index, %t: tensor<63x8xf32>) -> tensor<?x2x8xf32> {
  %a = xfmr.attention %q, %q, %q offsets(%offsets, %offsets) lengths(%n, %n) relative_key(%t : tensor<63x8xf32>)
    relative_query(%t : tensor<63x8xf32>) {scale = 1.0 : f64} : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<?x2x8xf32>
  return %a : tensor<?x2x8xf32>
}

// -----

// Panels are left as they are.
// CHECK-LABEL: @negative_panels
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<2x8x35xf32>
// CHECK-NOT: weight_distance_panels
// CHECK: relative_query(%[[T]] : tensor<2x8x35xf32>)
func.func @negative_panels(%q: tensor<?x2x8xf32>, %offsets: tensor<?xi64>, %n: index, %t: tensor<2x8x35xf32>) -> tensor<?x2x8xf32> {
  %a = xfmr.attention %q, %q, %q offsets(%offsets, %offsets) lengths(%n, %n) relative_query(%t : tensor<2x8x35xf32>)
    {scale = 1.0 : f64} : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<?x2x8xf32>
  return %a : tensor<?x2x8xf32>
}
