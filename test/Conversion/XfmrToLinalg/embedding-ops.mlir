// RUN: attune-opt --convert-xfmr-to-linalg %s | FileCheck %s

// CHECK-LABEL: @embedding
// CHECK-SAME: (%[[IDS:.*]]: tensor<?xi64>, %[[TABLE:.*]]: tensor<203x48xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[IDS]] : tensor<?xi64>) outs(%{{.*}} : tensor<?x48xf32>) attrs = {tile.group = #tile.group<0, "embedding 203 x 48">}
// CHECK: %[[ROW:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: %[[COLUMN:.*]] = linalg.index 1
// CHECK: tensor.extract %[[TABLE]][%[[ROW]], %[[COLUMN]]]
func.func @embedding(%ids: tensor<?xi64>, %table: tensor<203x48xf32>) -> tensor<?x48xf32> {
  %0 = xfmr.embedding %ids, %table : tensor<203x48xf32>
  return %0 : tensor<?x48xf32>
}

// A tied embedding reads rows from the panels of the projection; both use one expression over the weight.
// CHECK-LABEL: @tied_f32
// CHECK: %[[PANELS:.*]] = xfmr.weight_pack %{{.*}}, 32 : tensor<203x48xf32>
// CHECK: %[[ROW:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: %[[COLUMN:.*]] = linalg.index 1
// CHECK: %[[PANEL:.*]] = arith.divui %[[ROW]], %{{.*}}
// CHECK: %[[IN:.*]] = arith.remui %[[ROW]], %{{.*}}
// CHECK: tensor.extract %[[PANELS]][%[[PANEL]], %[[COLUMN]], %[[IN]]] : tensor<7x48x32xf32>
func.func @tied_f32(%ids: tensor<?xi64>, %table: tensor<203x48xf32>) -> tensor<?x48xf32> {
  %0 = xfmr.embedding %ids, %table {tied = #xfmr.precision<f32>} : tensor<203x48xf32>
  return %0 : tensor<?x48xf32>
}

// CHECK-LABEL: @tied_bf16
// CHECK: %[[ROUNDED:.*]] = xfmr.weight_convert %{{.*}} : tensor<203x48xf32> -> tensor<203x48xbf16>
// CHECK: %[[PANELS:.*]] = xfmr.weight_pack %[[ROUNDED]], 32 group 2 multiple 2 : tensor<203x48xbf16>
// CHECK: linalg.generic {{.*}} "embedding 203 x 48, bf16"
// CHECK: %[[STORED:.*]] = tensor.extract %[[PANELS]][%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : tensor<7x24x32x2xbf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[STORED]] : bf16 to f32
// CHECK: %[[DOUBLE:.*]] = arith.extf %[[WIDE]] : f32 to f64
// CHECK: %[[PRODUCT:.*]] = arith.mulf %[[DOUBLE]], %{{.*}} : f64
// CHECK: arith.truncf %[[PRODUCT]] : f64 to f32
func.func @tied_bf16(%ids: tensor<?xi64>, %table: tensor<203x48xf32>) -> tensor<?x48xf32> {
  %0 = xfmr.embedding %ids, %table {tied = #xfmr.precision<bf16>, scale = 2.5 : f64} : tensor<203x48xf32>
  return %0 : tensor<?x48xf32>
}

// CHECK-LABEL: @tied_int8
// CHECK-DAG: %[[QUANTIZED:.*]] = xfmr.weight_quantize %{{.*}} : tensor<203x48xf32>
// CHECK-DAG: %[[PANELS:.*]] = xfmr.weight_pack %[[QUANTIZED]], 32 group 2 multiple 2 : tensor<203x48xi8>
// CHECK-DAG: %[[SCALES:.*]] = xfmr.weight_scales %{{.*}} : tensor<203x48xf32>
// CHECK: linalg.generic {{.*}} "embedding 203 x 48, int8"
// CHECK: %[[STORED:.*]] = tensor.extract %[[PANELS]]
// CHECK: %[[INTEGER:.*]] = arith.sitofp %[[STORED]] : i8 to f32
// CHECK: %[[SCALE:.*]] = tensor.extract %[[SCALES]][%{{.*}}] : tensor<203xf32>
// CHECK: arith.mulf %[[INTEGER]], %[[SCALE]] : f32
func.func @tied_int8(%ids: tensor<?xi64>, %table: tensor<203x48xf32>) -> tensor<?x48xf32> {
  %0 = xfmr.embedding %ids, %table {tied = #xfmr.precision<int8>} : tensor<203x48xf32>
  return %0 : tensor<?x48xf32>
}

// Scales and minima of f16 are put together from bytes; test/Integration/tied-embeddings.test compares the values.
// CHECK-LABEL: @tied_format
// CHECK: %[[PANELS:.*]] = xfmr.weight_quantize_panels %{{.*}}, 32 format <"int4:32:asym"> : tensor<203x48xf32>
// CHECK: linalg.generic {{.*}} "embedding 203 x 48, int4:32:asym"
// CHECK-COUNT-5: tensor.extract %[[PANELS]]
// CHECK: math.fma
func.func @tied_format(%ids: tensor<?xi64>, %table: tensor<203x48xf32>) -> tensor<?x48xf32> {
  %0 = xfmr.embedding %ids, %table {tied = #xfmr.precision<int8>, format = #xfmr.weight_format<"int4:32:asym">} : tensor<203x48xf32>
  return %0 : tensor<?x48xf32>
}

// A table of bf16 or f16 is widened in the gather; a tied one is read from the panels of the projection.
// CHECK-LABEL: @format_bf16
// CHECK: %[[ROUNDED:.*]] = xfmr.weight_convert %{{.*}} : tensor<203x48xf32> -> tensor<203x48xbf16>
// CHECK: linalg.generic {{.*}} "embedding 203 x 48, bf16"
// CHECK: %[[STORED:.*]] = tensor.extract %[[ROUNDED]][%{{.*}}, %{{.*}}] : tensor<203x48xbf16>
// CHECK: arith.extf %[[STORED]] : bf16 to f32
func.func @format_bf16(%ids: tensor<?xi64>, %table: tensor<203x48xf32>) -> tensor<?x48xf32> {
  %0 = xfmr.embedding %ids, %table {format = #xfmr.weight_format<"bf16">} : tensor<203x48xf32>
  return %0 : tensor<?x48xf32>
}

// CHECK-LABEL: @tied_f16
// CHECK: %[[ROUNDED:.*]] = xfmr.weight_convert %{{.*}} : tensor<203x48xf32> -> tensor<203x48xf16>
// CHECK: %[[PANELS:.*]] = xfmr.weight_pack %[[ROUNDED]], 32 : tensor<203x48xf16>
// CHECK: %[[STORED:.*]] = tensor.extract %[[PANELS]][%{{.*}}, %{{.*}}, %{{.*}}] : tensor<7x48x32xf16>
// CHECK: arith.extf %[[STORED]] : f16 to f32
func.func @tied_f16(%ids: tensor<?xi64>, %table: tensor<203x48xf32>) -> tensor<?x48xf32> {
  %0 = xfmr.embedding %ids, %table {tied = #xfmr.precision<f32>, format = #xfmr.weight_format<"f16">} : tensor<203x48xf32>
  return %0 : tensor<?x48xf32>
}
