// RUN: attune-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s

// Bufferizes in place, without allocations and copies.
// CHECK-LABEL: @in_place
// CHECK-SAME: (%[[K:[a-z0-9]+]]: memref<?x12xf32>, %[[Q:[a-z0-9]+]]: memref<?x1x12xf32>, %[[SCALE:[a-z0-9]+]]: memref<1xf32>, %[[PANELS:[a-z0-9]+]]: memref<1x12x32xf32>, %[[OUT:[a-z0-9]+]]: memref<?x1x12xf32>, %[[P:[a-z0-9]+]]: memref<1x?x?xf32>)
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: %[[PANEL:.*]] = memref.subview %[[PANELS]]
// CHECK: tile.key_panel ins(%[[K]] : memref<?x12xf32>) outs(%[[PANEL]] :
// CHECK: tile.attention_tile ins(%[[Q]], %{{.*}}, %[[K]] : {{.*}}) head_scale(%[[SCALE]] : memref<1xf32>) outs(%[[OUT]], %[[P]] : memref<?x1x12xf32>, memref<1x?x?xf32>) {key_block = 512 : i64, scale = 2.500000e-01 : f64}
// CHECK: return %[[OUT]], %[[P]]
func.func @in_place(%k: tensor<?x12xf32>, %q: tensor<?x1x12xf32>, %scale: tensor<1xf32>, %panels: tensor<1x12x32xf32>, %out: tensor<?x1x12xf32>, %p: tensor<1x?x?xf32>)
    -> (tensor<?x1x12xf32>, tensor<1x?x?xf32>) {
  %panel = tensor.extract_slice %panels[0, 0, 0] [1, 12, 32] [1, 1, 1] : tensor<1x12x32xf32> to tensor<12x32xf32>
  %packed = tile.key_panel ins(%k : tensor<?x12xf32>) outs(%panel : tensor<12x32xf32>) -> tensor<12x32xf32>
  %all = tensor.insert_slice %packed into %panels[0, 0, 0] [1, 12, 32] [1, 1, 1] : tensor<12x32xf32> into tensor<1x12x32xf32>
  %keys = tensor.cast %all : tensor<1x12x32xf32> to tensor<?x12x32xf32>
  %y:2 = tile.attention_tile ins(%q, %keys, %k : tensor<?x1x12xf32>, tensor<?x12x32xf32>, tensor<?x12xf32>) head_scale(%scale : tensor<1xf32>)
    outs(%out, %p : tensor<?x1x12xf32>, tensor<1x?x?xf32>) {scale = 0.25 : f64, key_block = 512 : i64} -> tensor<?x1x12xf32>, tensor<1x?x?xf32>
  return %y#0, %y#1 : tensor<?x1x12xf32>, tensor<1x?x?xf32>
}

// The old contents of the destination are used afterwards: new memory, but nothing to copy into it, as the op overwrites it whole.
// CHECK-LABEL: @negative_destination_read_later
// CHECK-SAME: (%{{.*}}: memref<?x12xf32>, %[[OLD:[a-z0-9]+]]: memref<12x32xf32>)
// CHECK: %[[NEW:.*]] = memref.alloc() {{.*}}: memref<12x32xf32>
// CHECK-NOT: memref.copy
// CHECK: tile.key_panel ins(%{{.*}}) outs(%[[NEW]] :
// CHECK: return %[[NEW]], %[[OLD]]
func.func @negative_destination_read_later(%k: tensor<?x12xf32>, %old: tensor<12x32xf32>) -> (tensor<12x32xf32>, tensor<12x32xf32>) {
  %new = tile.key_panel ins(%k : tensor<?x12xf32>) outs(%old : tensor<12x32xf32>) -> tensor<12x32xf32>
  return %new, %old : tensor<12x32xf32>, tensor<12x32xf32>
}

// An input must not be the memory that is written: rows are read after others have been written.
// CHECK-LABEL: @negative_input_is_destination
// CHECK: memref.alloc
// CHECK: tile.attention_tile ins(%[[Q:[a-z0-9]+]],
// CHECK-NOT: outs(%[[Q]]
func.func @negative_input_is_destination(%q: tensor<?x1x12xf32>, %keys: tensor<?x12x32xf32>, %v: tensor<?x12xf32>) -> tensor<?x1x12xf32> {
  %y = tile.attention_tile ins(%q, %keys, %v : tensor<?x1x12xf32>, tensor<?x12x32xf32>, tensor<?x12xf32>)
    outs(%q : tensor<?x1x12xf32>) {scale = 0.25 : f64, key_block = 512 : i64} -> tensor<?x1x12xf32>
  return %y : tensor<?x1x12xf32>
}

// With a column, the columns of the panel before it are kept: the panel is also read.
// CHECK-LABEL: @old_columns_are_copied
// CHECK: %[[NEW:.*]] = memref.alloc() {{.*}}: memref<12x32xf32>
// CHECK: memref.copy %{{.*}}, %[[NEW]]
// CHECK: tile.key_panel ins(%{{.*}}) at(%{{.*}}) outs(%[[NEW]] :
func.func @old_columns_are_copied(%k: tensor<?x12xf32>, %column: index, %old: tensor<12x32xf32>) -> (tensor<12x32xf32>, tensor<12x32xf32>) {
  %new = tile.key_panel ins(%k : tensor<?x12xf32>) at(%column) outs(%old : tensor<12x32xf32>) -> tensor<12x32xf32>
  return %new, %old : tensor<12x32xf32>, tensor<12x32xf32>
}

// CHECK-LABEL: @heads_in_place
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: tile.rotary_tile {{.*}} outs(%[[OUT:.*]] : memref<?x1x12xf32>)
// CHECK: tile.unpack_keys {{.*}} outs(%[[ROWS:.*]] : memref<?x12xf32>)
// CHECK: return %[[OUT]], %[[ROWS]]
func.func @heads_in_place(%x: tensor<?x1x12xf32>, %ids: tensor<?xi64>, %table: tensor<64x8xf32>, %panel: tensor<12x64xf32>, %out: tensor<?x1x12xf32>,
                          %rows: tensor<?x12xf32>) -> (tensor<?x1x12xf32>, tensor<?x12xf32>) {
  %y = tile.rotary_tile ins(%x, %ids, %table : tensor<?x1x12xf32>, tensor<?xi64>, tensor<64x8xf32>) outs(%out : tensor<?x1x12xf32>) -> tensor<?x1x12xf32>
  %k = tile.unpack_keys ins(%panel : tensor<12x64xf32>) outs(%rows : tensor<?x12xf32>) -> tensor<?x12xf32>
  return %y, %k : tensor<?x1x12xf32>, tensor<?x12xf32>
}
