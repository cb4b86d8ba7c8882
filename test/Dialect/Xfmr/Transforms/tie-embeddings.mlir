// RUN: attune-opt %s --split-input-file --xfmr-tie-embeddings | FileCheck %s
// RUN: attune-opt %s --split-input-file --xfmr-tie-embeddings --remark-policy=all --remarks-filter=".*" 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Each entry reads the weights of the projection, also an entry without one. Other tables keep their rows.
// CHECK-LABEL: @forward
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} {tied = #xfmr.precision<bf16>} : tensor<203x48xf32>
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} : tensor<64x48xf32>
// CHECK: xfmr.linear
// CHECK-LABEL: @encode
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} {tied = #xfmr.precision<bf16>} : tensor<203x48xf32>
// REMARK: remark: [Passed] TieEmbeddings | Category:xfmr-tie-embeddings | Function=forward | Remark="its rows are read from the weights of a projection, bf16"
xfmr.weight @wte : tensor<203x48xf32> = #xfmr.tensor<"wte" : tensor<203x48xf32>>
xfmr.weight @wpe : tensor<64x48xf32> = #xfmr.tensor<"wpe" : tensor<64x48xf32>>
func.func @forward(%ids: tensor<?xi64>) -> tensor<?x203xf32> {
  %table = xfmr.weight_ref @wte : tensor<203x48xf32>
  %0 = xfmr.embedding %ids, %table : tensor<203x48xf32>
  %positions = xfmr.weight_ref @wpe : tensor<64x48xf32>
  %1 = xfmr.embedding %ids, %positions : tensor<64x48xf32>
  %2 = arith.addf %0, %1 : tensor<?x48xf32>
  %head = xfmr.weight_ref @wte : tensor<203x48xf32>
  %3 = xfmr.linear %2, %head {precision = #xfmr.precision<bf16>} : tensor<?x48xf32>, tensor<203x48xf32>
  return %3 : tensor<?x203xf32>
}
func.func @encode(%ids: tensor<?xi64>) -> tensor<?x48xf32> {
  %table = xfmr.weight_ref @wte : tensor<203x48xf32>
  %0 = xfmr.embedding %ids, %table : tensor<203x48xf32>
  return %0 : tensor<?x48xf32>
}

// -----

// The format of the projection is that of the table. Two weights of one source are one matrix.
// CHECK-LABEL: @format
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"int4:32">, tied = #xfmr.precision<int8>} : tensor<203x48xf32>
xfmr.weight @table : tensor<203x48xf32> = #xfmr.tensor<"wte" : tensor<203x48xf32>>
xfmr.weight @head : tensor<203x48xf32> = #xfmr.tensor<"wte" : tensor<203x48xf32>>
func.func @format(%ids: tensor<?xi64>) -> tensor<?x203xf32> {
  %table = xfmr.weight_ref @table : tensor<203x48xf32>
  %0 = xfmr.embedding %ids, %table : tensor<203x48xf32>
  %head = xfmr.weight_ref @head : tensor<203x48xf32>
  %1 = xfmr.linear %0, %head {format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<int8>} : tensor<?x48xf32>, tensor<203x48xf32>
  return %1 : tensor<?x203xf32>
}

// -----

// Products of f32 have formats, too.
// CHECK-LABEL: @f32_format
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"int8:32">, tied = #xfmr.precision<f32>} : tensor<203x48xf32>
xfmr.weight @table : tensor<203x48xf32> = #xfmr.tensor<"wte" : tensor<203x48xf32>>
func.func @f32_format(%ids: tensor<?xi64>) -> tensor<?x203xf32> {
  %table = xfmr.weight_ref @table : tensor<203x48xf32>
  %0 = xfmr.embedding %ids, %table : tensor<203x48xf32>
  %1 = xfmr.linear %0, %table {format = #xfmr.weight_format<"int8:32">} : tensor<?x48xf32>, tensor<203x48xf32>
  return %1 : tensor<?x203xf32>
}

// -----

// Among ranks, the embedding reads the whole table if the head is rounded, and the gather of its columns goes.
// CHECK-LABEL: @ranks
// CHECK: %[[WHOLE:.*]] = xfmr.embedding %{{.*}}, %{{.*}} {tied = #xfmr.precision<int8>} : tensor<203x48xf32>
// CHECK: %[[COLUMNS:.*]] = xfmr.rank_slice %[[WHOLE]], 1 at [0, 24] : tensor<?x48xf32> -> tensor<?x24xf32>
// CHECK-NOT: xfmr.all_gather
// CHECK: xfmr.linear %[[WHOLE]]
// CHECK: return %{{.*}}, %[[COLUMNS]]
xfmr.weight @table : tensor<203x48xf32> = #xfmr.tensor<"wte" : tensor<203x48xf32>>
func.func @ranks(%ids: tensor<?xi64>) -> (tensor<?x104xf32>, tensor<?x24xf32>) {
  %table = xfmr.weight_ref @table : tensor<203x48xf32>
  %columns = xfmr.weight_shard %table, 1 at [0, 24] : tensor<203x48xf32> -> tensor<203x24xf32>
  %0 = xfmr.embedding %ids, %columns : tensor<203x24xf32>
  %1 = xfmr.all_gather %0, 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
  %rows = xfmr.weight_shard %table, 0 at [0, 99] : tensor<203x48xf32> -> tensor<104x48xf32>
  %2 = xfmr.linear %1, %rows {precision = #xfmr.precision<int8>} : tensor<?x48xf32>, tensor<104x48xf32>
  return %2, %0 : tensor<?x104xf32>, tensor<?x24xf32>
}

// -----

// In f32 the columns have the bits of the whole table.
// CHECK-LABEL: @negative_ranks_f32
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} : tensor<203x24xf32>
xfmr.weight @table : tensor<203x48xf32> = #xfmr.tensor<"wte" : tensor<203x48xf32>>
func.func @negative_ranks_f32(%ids: tensor<?xi64>) -> tensor<?x104xf32> {
  %table = xfmr.weight_ref @table : tensor<203x48xf32>
  %columns = xfmr.weight_shard %table, 1 at [0, 24] : tensor<203x48xf32> -> tensor<203x24xf32>
  %0 = xfmr.embedding %ids, %columns : tensor<203x24xf32>
  %1 = xfmr.all_gather %0, 1 at [0, 24] : tensor<?x24xf32> -> tensor<?x48xf32>
  %rows = xfmr.weight_shard %table, 0 at [0, 99] : tensor<203x48xf32> -> tensor<104x48xf32>
  %2 = xfmr.linear %1, %rows : tensor<?x48xf32>, tensor<104x48xf32>
  return %2 : tensor<?x104xf32>
}

// -----

// A table that is the matrix times a factor reads the matrix.
// CHECK-LABEL: @scaled
// CHECK: %[[TABLE:.*]] = xfmr.weight_ref @shared : tensor<11x8xf32>
// CHECK: xfmr.embedding %{{.*}}, %[[TABLE]] {scale = 2.8284271247461903 : f64, tied = #xfmr.precision<f32>} : tensor<11x8xf32>
xfmr.weight @shared : tensor<11x8xf32> = #xfmr.tensor<"shared" : tensor<11x8xf32>>
xfmr.weight @shared.scaled : tensor<11x8xf32> = #xfmr.scale<#xfmr.tensor<"shared" : tensor<11x8xf32>>, 2.8284271247461903 : f64>
func.func @scaled(%ids: tensor<?xi64>) -> tensor<?x11xf32> {
  %table = xfmr.weight_ref @shared.scaled : tensor<11x8xf32>
  %0 = xfmr.embedding %ids, %table : tensor<11x8xf32>
  %head = xfmr.weight_ref @shared : tensor<11x8xf32>
  %1 = xfmr.linear %0, %head : tensor<?x8xf32>, tensor<11x8xf32>
  return %1 : tensor<?x11xf32>
}

// -----

// A matrix that is the table times a factor is read, too, if it is rounded anyway.
// CHECK-LABEL: @divided
// CHECK: %[[TABLE:.*]] = xfmr.weight_ref @head : tensor<11x8xf32>
// CHECK: xfmr.embedding %{{.*}}, %[[TABLE]] {scale = 4.000000e+00 : f64, tied = #xfmr.precision<int8>} : tensor<11x8xf32>
xfmr.weight @shared : tensor<11x8xf32> = #xfmr.tensor<"shared" : tensor<11x8xf32>>
xfmr.weight @head : tensor<11x8xf32> = #xfmr.scale<#xfmr.tensor<"shared" : tensor<11x8xf32>>, 0.25 : f64>
func.func @divided(%ids: tensor<?xi64>) -> tensor<?x11xf32> {
  %table = xfmr.weight_ref @shared : tensor<11x8xf32>
  %0 = xfmr.embedding %ids, %table : tensor<11x8xf32>
  %head = xfmr.weight_ref @head : tensor<11x8xf32>
  %1 = xfmr.linear %0, %head {precision = #xfmr.precision<int8>} : tensor<?x8xf32>, tensor<11x8xf32>
  return %1 : tensor<?x11xf32>
}

// -----

// CHECK-LABEL: @negative_divided_f32
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} : tensor<11x8xf32>
// REMARK: remark: [Missed] TieEmbeddings | {{.*}} Reason="the matrix of the projection is scaled and rounded to f32"
xfmr.weight @shared : tensor<11x8xf32> = #xfmr.tensor<"shared" : tensor<11x8xf32>>
xfmr.weight @head : tensor<11x8xf32> = #xfmr.scale<#xfmr.tensor<"shared" : tensor<11x8xf32>>, 0.25 : f64>
func.func @negative_divided_f32(%ids: tensor<?xi64>) -> tensor<?x11xf32> {
  %table = xfmr.weight_ref @shared : tensor<11x8xf32>
  %0 = xfmr.embedding %ids, %table : tensor<11x8xf32>
  %head = xfmr.weight_ref @head : tensor<11x8xf32>
  %1 = xfmr.linear %0, %head : tensor<?x8xf32>, tensor<11x8xf32>
  return %1 : tensor<?x11xf32>
}

// -----

// A table and a head of different tensors.
// CHECK-LABEL: @negative_untied
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} : tensor<11x8xf32>
xfmr.weight @words : tensor<11x8xf32> = #xfmr.scale<#xfmr.tensor<"words" : tensor<11x8xf32>>, 2.0 : f64>
xfmr.weight @head : tensor<11x8xf32> = #xfmr.tensor<"head" : tensor<11x8xf32>>
func.func @negative_untied(%ids: tensor<?xi64>) -> tensor<?x11xf32> {
  %table = xfmr.weight_ref @words : tensor<11x8xf32>
  %0 = xfmr.embedding %ids, %table : tensor<11x8xf32>
  %head = xfmr.weight_ref @head : tensor<11x8xf32>
  %1 = xfmr.linear %0, %head : tensor<?x8xf32>, tensor<11x8xf32>
  return %1 : tensor<?x11xf32>
}

// -----

// The rows of a table with other users are stored anyway, such as the slices of deep projections.
// CHECK-LABEL: @negative_other_use
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} : tensor<12x8xf32>
// REMARK: remark: [Missed] TieEmbeddings | Category:xfmr-tie-embeddings | Function=negative_other_use | Reason="another operation uses its table"
xfmr.weight @wte : tensor<12x8xf32> = #xfmr.tensor<"wte" : tensor<12x8xf32>>
func.func @negative_other_use(%ids: tensor<?xi64>, %x: tensor<?x4xf32>) -> (tensor<?x12xf32>, tensor<?x12xf32>) {
  %w = xfmr.weight_ref @wte : tensor<12x8xf32>
  %0 = xfmr.embedding %ids, %w : tensor<12x8xf32>
  %1 = xfmr.linear %0, %w : tensor<?x8xf32>, tensor<12x8xf32>
  %slice = xfmr.weight_slice %w, 0 to 4 : tensor<12x8xf32>
  %2 = xfmr.linear %x, %slice : tensor<?x4xf32>, tensor<12x4xf32>
  return %1, %2 : tensor<?x12xf32>, tensor<?x12xf32>
}

// -----

// The first projection in the order of operations counts.
// CHECK-LABEL: @first
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} {tied = #xfmr.precision<f32>} : tensor<64x32xf32>
xfmr.weight @wte : tensor<64x32xf32> = #xfmr.tensor<"wte" : tensor<64x32xf32>>
func.func @first(%ids: tensor<?xi64>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %w = xfmr.weight_ref @wte : tensor<64x32xf32>
  %0 = xfmr.embedding %ids, %w : tensor<64x32xf32>
  %1 = xfmr.linear %0, %w : tensor<?x32xf32>, tensor<64x32xf32>
  %2 = xfmr.linear %0, %w {format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<int8>} : tensor<?x32xf32>, tensor<64x32xf32>
  return %1, %2 : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

// The matrix is 0, or rounded far from the table's values.
// CHECK-LABEL: @negative_magnitude
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} : tensor<11x8xf32>
xfmr.weight @table : tensor<11x8xf32> = #xfmr.scale<#xfmr.tensor<"w" : tensor<11x8xf32>>, 2.0 : f64>
xfmr.weight @head : tensor<11x8xf32> = #xfmr.scale<#xfmr.tensor<"w" : tensor<11x8xf32>>, 0.0 : f64>
func.func @negative_magnitude(%ids: tensor<?xi64>) -> tensor<?x11xf32> {
  %table = xfmr.weight_ref @table : tensor<11x8xf32>
  %0 = xfmr.embedding %ids, %table : tensor<11x8xf32>
  %head = xfmr.weight_ref @head : tensor<11x8xf32>
  %1 = xfmr.linear %0, %head {precision = #xfmr.precision<bf16>} : tensor<?x8xf32>, tensor<11x8xf32>
  return %1 : tensor<?x11xf32>
}

// -----

// The format of the projection takes the place of that of the table.
// CHECK-LABEL: @table_format
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"f16">, tied = #xfmr.precision<f32>} : tensor<203x48xf32>
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"bf16">} : tensor<64x48xf32>
xfmr.weight @table : tensor<203x48xf32> = #xfmr.tensor<"wte" : tensor<203x48xf32>>
xfmr.weight @positions : tensor<64x48xf32> = #xfmr.tensor<"wpe" : tensor<64x48xf32>>
func.func @table_format(%ids: tensor<?xi64>) -> (tensor<?x203xf32>, tensor<?x48xf32>) {
  %table = xfmr.weight_ref @table : tensor<203x48xf32>
  %0 = xfmr.embedding %ids, %table {format = #xfmr.weight_format<"bf16">} : tensor<203x48xf32>
  %positions = xfmr.weight_ref @positions : tensor<64x48xf32>
  %1 = xfmr.embedding %ids, %positions {format = #xfmr.weight_format<"bf16">} : tensor<64x48xf32>
  %2 = xfmr.linear %0, %table {format = #xfmr.weight_format<"f16">} : tensor<?x48xf32>, tensor<203x48xf32>
  return %2, %1 : tensor<?x203xf32>, tensor<?x48xf32>
}

// -----

// Integers with products of f16, as on a GPU.
// CHECK-LABEL: @integers_f16
// CHECK: xfmr.embedding %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"int4:32">, tied = #xfmr.precision<f16>} : tensor<203x48xf32>
xfmr.weight @table : tensor<203x48xf32> = #xfmr.tensor<"wte" : tensor<203x48xf32>>
func.func @integers_f16(%ids: tensor<?xi64>) -> tensor<?x203xf32> {
  %table = xfmr.weight_ref @table : tensor<203x48xf32>
  %0 = xfmr.embedding %ids, %table : tensor<203x48xf32>
  %1 = xfmr.linear %0, %table {format = #xfmr.weight_format<"int4:32">, precision = #xfmr.precision<f16>} : tensor<?x48xf32>, tensor<203x48xf32>
  return %1 : tensor<?x203xf32>
}
