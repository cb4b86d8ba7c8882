// RUN: attune-opt %s --split-input-file --verify-diagnostics --remarks-filter-missed=attune-count-kernel-work --remark-format=emitRemark -attune-count-kernel-work | FileCheck %s

// Two layers of one linear kernel, each with weights of its own, then rows of a table that is looked up. Of the kernel's input only the middle third is
// read; the ids are given to @rows only for their number as well, which costs nothing.
// CHECK-NOT: tile.work
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: rt.kernel_work = [
// CHECK-SAME: #rt.kernel_work<"linear", calls = 2, flops = <[batch], affine_map<()[s0] -> (s0 * 64)>>, weight_bytes = <[], affine_map<() -> (256)>>, tensor_bytes = <[batch], affine_map<()[s0] -> (s0 * 32)>>>,
// CHECK-SAME: #rt.kernel_work<"rows", calls = 1, flops = <[], affine_map<() -> (0)>>, weight_bytes = <[batch], affine_map<()[s0] -> (s0 * 16)>>, tensor_bytes = <[batch], affine_map<()[s0] -> (s0 * 24)>>>,
// CHECK-SAME: #rt.kernel_work<"unused", calls = 0, flops = <[], affine_map<() -> (0)>>, weight_bytes = <[], affine_map<() -> (0)>>, tensor_bytes = <[], affine_map<() -> (0)>>>]
// CHECK-NOT: tile.work
xfmr.weight @w0 : tensor<8x4xf32> = #xfmr.tensor<"w0" : tensor<8x4xf32>>
xfmr.weight @w1 : tensor<8x4xf32> = #xfmr.tensor<"w1" : tensor<8x4xf32>>
xfmr.weight @table : tensor<9x4xf32> = #xfmr.tensor<"table" : tensor<9x4xf32>>
func.func private @linear(%x: tensor<?x6xf32>, %w: tensor<8x4xf32>, %out: tensor<?x2xf32>) -> tensor<?x2xf32> attributes {tile.kernel = #tile.kernel<"linear">} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x6xf32>
  %middle = tensor.extract_slice %x[0, 2] [%n, 2] [1, 1] : tensor<?x6xf32> to tensor<?x2xf32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %out) -> (tensor<?x2xf32>) {
    %s = tensor.extract_slice %middle[%i, 0] [1, 2] [1, 1] : tensor<?x2xf32> to tensor<1x2xf32>
    %v = tensor.extract_slice %w[%i, 0] [1, 2] [1, 1] : tensor<8x4xf32> to tensor<1x2xf32>
    %m = arith.mulf %s, %v : tensor<1x2xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %m into %o[%i, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<?x2xf32> }
  }
  return %r : tensor<?x2xf32>
}
func.func private @rows(%ids: tensor<?xi64>, %table: tensor<9x4xf32>, %out: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {tile.kernel = #tile.kernel<"rows">} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%out : tensor<?x4xf32>) {
  ^bb0(%id: i64, %o: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<9x4xf32>
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
func.func private @unused(%x: tensor<?x6xf32>) attributes {tile.kernel = #tile.kernel<"unused">} {
  return
}
func.func private @layer(%x: tensor<?x6xf32>, %w: tensor<8x4xf32> {xfmr.weight}, %out: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %y = call @linear(%x, %w, %out) {tile.work = #tile.work<flops = <[#xfmr.argument<0, 0>], affine_map<()[s0] -> (s0 * 32)>>>} : (tensor<?x6xf32>, tensor<8x4xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
func.func @forward(%x: tensor<?x6xf32> {xfmr.input = #xfmr.input<"x", [batch, 6]>}, %ids: tensor<?xi64> {xfmr.input = #xfmr.input<"ids", [batch]>})
    -> (tensor<?x4xf32> {xfmr.output = #xfmr.output<"y", [batch, 4]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x6xf32>
  %w0 = xfmr.weight_ref @w0 : tensor<8x4xf32>
  %w1 = xfmr.weight_ref @w1 : tensor<8x4xf32>
  %table = xfmr.weight_ref @table : tensor<9x4xf32>
  %e0 = tensor.empty(%n) : tensor<?x2xf32>
  %e1 = tensor.empty(%n) : tensor<?x2xf32>
  %e2 = tensor.empty(%n) : tensor<?x4xf32>
  %a = call @layer(%x, %w0, %e0) : (tensor<?x6xf32>, tensor<8x4xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %b = call @layer(%x, %w1, %e1) : (tensor<?x6xf32>, tensor<8x4xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %y = call @rows(%ids, %table, %e2) : (tensor<?xi64>, tensor<9x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// Of the table of rotary embeddings one row of 8 floats counts for each token, besides its position: 4 * 8 and 8 bytes, and heads of
// 4 x 12 floats are read and written.
// CHECK-LABEL: func.func private @rotary
// CHECK: func.func @forward
// CHECK-SAME: #rt.kernel_work<"rotary", calls = 1, flops = <[], affine_map<() -> (0)>>, weight_bytes = <[batch], affine_map<()[s0] -> (s0 * 32)>>, tensor_bytes = <[batch], affine_map<()[s0] -> (s0 * 392)>>>
xfmr.weight @table : tensor<512x8xf32> = #xfmr.tensor<"table" : tensor<512x8xf32>>
func.func private @rotary(%x: tensor<?x4x12xf32>, %ids: tensor<?xi64>, %table: tensor<512x8xf32>, %out: tensor<?x4x12xf32>) -> tensor<?x4x12xf32>
    attributes {tile.kernel = #tile.kernel<"rotary">} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x12xf32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %out) -> (tensor<?x4x12xf32>) {
    %h = tensor.extract_slice %x[%i, 0, 0] [1, 4, 12] [1, 1, 1] : tensor<?x4x12xf32> to tensor<1x4x12xf32>
    %p = tensor.extract_slice %ids[%i] [1] [1] : tensor<?xi64> to tensor<1xi64>
    %d = tensor.extract_slice %o[%i, 0, 0] [1, 4, 12] [1, 1, 1] : tensor<?x4x12xf32> to tensor<1x4x12xf32>
    %y = tile.rotary_tile ins(%h, %p, %table : tensor<1x4x12xf32>, tensor<1xi64>, tensor<512x8xf32>) outs(%d : tensor<1x4x12xf32>) -> tensor<1x4x12xf32>
    scf.forall.in_parallel { tensor.parallel_insert_slice %y into %o[%i, 0, 0] [1, 4, 12] [1, 1, 1] : tensor<1x4x12xf32> into tensor<?x4x12xf32> }
  }
  return %r : tensor<?x4x12xf32>
}
func.func @forward(%x: tensor<?x4x12xf32> {xfmr.input = #xfmr.input<"x", [batch, 4, 12]>}, %ids: tensor<?xi64> {xfmr.input = #xfmr.input<"ids", [batch]>})
    -> (tensor<?x4x12xf32> {xfmr.output = #xfmr.output<"y", [batch, 4, 12]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4x12xf32>
  %table = xfmr.weight_ref @table : tensor<512x8xf32>
  %e = tensor.empty(%n) : tensor<?x4x12xf32>
  %y = call @rotary(%x, %ids, %table, %e) : (tensor<?x4x12xf32>, tensor<?xi64>, tensor<512x8xf32>, tensor<?x4x12xf32>) -> tensor<?x4x12xf32>
  return %y : tensor<?x4x12xf32>
}

// -----

// A size is read from memory, so the entry has no work function.
// CHECK-LABEL: func.func private @fill
// CHECK-NOT: rt.kernel_work
func.func private @fill(%out: tensor<?xf32>) -> tensor<?xf32> attributes {tile.kernel = #tile.kernel<"fill">} {
  return %out : tensor<?xf32>
}
// expected-remark @below {{the work of its kernels does not follow from its dims}}
func.func @forward(%ids: tensor<?xi64> {xfmr.input = #xfmr.input<"ids", [batch]>}) -> (tensor<?xf32> {xfmr.output = #xfmr.output<"y", [batch]>})
    attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %id = tensor.extract %ids[%c0] : tensor<?xi64>
  %n = arith.index_cast %id : i64 to index
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = call @fill(%e) : (tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// A table of bf16 whose elements a kernel widens to f32 counts with two bytes for each element of the result.
// CHECK-LABEL: func.func @widened_table(
// CHECK-SAME: #rt.kernel_work<"rows", calls = 1, flops = <[], affine_map<() -> (0)>>, weight_bytes = <[batch], affine_map<()[s0] -> (s0 * 8)>>
xfmr.weight @table : tensor<9x4xbf16> = #xfmr.tensor<"table" : tensor<9x4xbf16>>
func.func private @rows(%ids: tensor<?xi64>, %table: tensor<9x4xbf16>, %out: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {tile.kernel = #tile.kernel<"rows">} {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%out : tensor<?x4xf32>) {
  ^bb0(%id: i64, %o: f32):
    %i = arith.index_cast %id : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<9x4xbf16>
    %w = arith.extf %v : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
func.func @widened_table(%ids: tensor<?xi64> {xfmr.input = #xfmr.input<"ids", [batch]>})
    -> (tensor<?x4xf32> {xfmr.output = #xfmr.output<"y", [batch, 4]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %table = xfmr.weight_ref @table : tensor<9x4xbf16>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = call @rows(%ids, %table, %e) : (tensor<?xi64>, tensor<9x4xbf16>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// In calls with `cache_bytes`, here 1000, only the caches count nothing by themselves: the update reads new values of 2 x 8 floats, and
// attention reads queries and a mask and writes its result and the probabilities.
// CHECK-LABEL: func.func @cached(
// CHECK-SAME: #rt.kernel_work<"update", calls = 1, {{.*}}, tensor_bytes = <[batch, keys], affine_map<()[s0, s1] -> ((s0 * s1) * 64 + 1000)>>>,
// CHECK-SAME: #rt.kernel_work<"attention", calls = 1, {{.*}}, tensor_bytes = <[batch, keys], affine_map<()[s0, s1] -> ((s0 * s1) * 16 + s0 * 128 + 1000)>>>]
func.func private @update(%x: tensor<?x2x?x8xf32>, %k: tensor<?x2x?x8x64xf32>, %v: tensor<?x2x?x8xf32>) -> (tensor<?x2x?x8x64xf32>, tensor<?x2x?x8xf32>)
    attributes {tile.kernel = #tile.kernel<"update">} {
  %y = linalg.copy ins(%x : tensor<?x2x?x8xf32>) outs(%v : tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32>
  return %k, %y : tensor<?x2x?x8x64xf32>, tensor<?x2x?x8xf32>
}
func.func private @attention(%q: tensor<?x2x8xf32>, %k: tensor<?x2x?x8x64xf32>, %v: tensor<?x2x?x8xf32>, %mask: tensor<?x2x1x?xf32>, %out: tensor<?x2x8xf32>,
                             %probabilities: tensor<?x2x1x?xf32>) -> (tensor<?x2x8xf32>, tensor<?x2x1x?xf32>) attributes {tile.kernel = #tile.kernel<"attention">} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %q, %c0 : tensor<?x2x8xf32>
  %keys = tensor.dim %mask, %c3 : tensor<?x2x1x?xf32>
  %panels = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%keys]
  %r:2 = scf.forall (%i, %h) in (%n, 2) shared_outs(%o = %out, %p = %probabilities) -> (tensor<?x2x8xf32>, tensor<?x2x1x?xf32>) {
    %qs = tensor.extract_slice %q[%i, %h, 0] [1, 1, 8] [1, 1, 1] : tensor<?x2x8xf32> to tensor<1x1x8xf32>
    %ks = tensor.extract_slice %k[%i, %h, 0, 0, 0] [1, 1, %panels, 8, 64] [1, 1, 1, 1, 1] : tensor<?x2x?x8x64xf32> to tensor<?x8x64xf32>
    %vs = tensor.extract_slice %v[%i, %h, 0, 0] [1, 1, %keys, 8] [1, 1, 1, 1] : tensor<?x2x?x8xf32> to tensor<?x8xf32>
    %ms = tensor.extract_slice %mask[%i, %h, 0, 0] [1, 1, 1, %keys] [1, 1, 1, 1] : tensor<?x2x1x?xf32> to tensor<1x1x?xf32>
    %os = tensor.extract_slice %o[%i, %h, 0] [1, 1, 8] [1, 1, 1] : tensor<?x2x8xf32> to tensor<1x1x8xf32>
    %ps = tensor.extract_slice %p[%i, %h, 0, 0] [1, 1, 1, %keys] [1, 1, 1, 1] : tensor<?x2x1x?xf32> to tensor<1x1x?xf32>
    %t:2 = tile.attention_tile ins(%qs, %ks, %vs : tensor<1x1x8xf32>, tensor<?x8x64xf32>, tensor<?x8xf32>) mask(%ms : tensor<1x1x?xf32>)
        outs(%os, %ps : tensor<1x1x8xf32>, tensor<1x1x?xf32>) {key_block = 512 : i64, scale = 1.0 : f64} -> tensor<1x1x8xf32>, tensor<1x1x?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t#0 into %o[%i, %h, 0] [1, 1, 8] [1, 1, 1] : tensor<1x1x8xf32> into tensor<?x2x8xf32>
      tensor.parallel_insert_slice %t#1 into %p[%i, %h, 0, 0] [1, 1, 1, %keys] [1, 1, 1, 1] : tensor<1x1x?xf32> into tensor<?x2x1x?xf32>
    }
  }
  return %r#0, %r#1 : tensor<?x2x8xf32>, tensor<?x2x1x?xf32>
}
func.func @cached(%q: tensor<?x2x8xf32> {xfmr.input = #xfmr.input<"q", [batch, 2, 8]>}, %x: tensor<?x2x?x8xf32> {xfmr.input = #xfmr.input<"x", [batch, 2, keys, 8]>},
                  %mask: tensor<?x2x1x?xf32> {xfmr.input = #xfmr.input<"mask", [batch, 2, 1, keys]>},
                  %k: tensor<?x2x?x8x64xf32> {xfmr.cache = #xfmr.cache<"k", [slots, 2, panels, 8, 64]>}, %v: tensor<?x2x?x8xf32> {xfmr.cache = #xfmr.cache<"v", [slots, 2, capacity, 8]>})
    -> (tensor<?x2x8xf32> {xfmr.output = #xfmr.output<"y", [batch, 2, 8]>}, tensor<?x2x1x?xf32> {xfmr.output = #xfmr.output<"p", [batch, 2, 1, keys]>})
    attributes {xfmr.entry = #xfmr.entry<"cached", caches = append>} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %n = tensor.dim %mask, %c0 : tensor<?x2x1x?xf32>
  %keys = tensor.dim %mask, %c3 : tensor<?x2x1x?xf32>
  %e = tensor.empty(%n) : tensor<?x2x8xf32>
  %p = tensor.empty(%n, %keys) : tensor<?x2x1x?xf32>
  %new:2 = call @update(%x, %k, %v) {tile.work = #tile.work<cache_bytes = <[], affine_map<() -> (1000)>>>}
    : (tensor<?x2x?x8xf32>, tensor<?x2x?x8x64xf32>, tensor<?x2x?x8xf32>) -> (tensor<?x2x?x8x64xf32>, tensor<?x2x?x8xf32>)
  %y:2 = call @attention(%q, %new#0, %new#1, %mask, %e, %p) {tile.work = #tile.work<cache_bytes = <[], affine_map<() -> (1000)>>>}
    : (tensor<?x2x8xf32>, tensor<?x2x?x8x64xf32>, tensor<?x2x?x8xf32>, tensor<?x2x1x?xf32>, tensor<?x2x8xf32>, tensor<?x2x1x?xf32>) -> (tensor<?x2x8xf32>, tensor<?x2x1x?xf32>)
  return %y#0, %y#1 : tensor<?x2x8xf32>, tensor<?x2x1x?xf32>
}
