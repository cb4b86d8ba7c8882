// RUN: attune-opt %s --convert-xfmr-to-linalg="attention-precision=bf16 attention-head=64" --split-input-file | FileCheck %s
// RUN: attune-opt %s --convert-xfmr-to-linalg="attention-precision=f16 attention-head=64" --split-input-file | FileCheck %s --check-prefix=F16
// RUN: attune-opt %s --convert-xfmr-to-linalg --split-input-file | FileCheck %s --check-prefix=NONE --implicit-check-not=quantize_rows --implicit-check-not=truncf
// NONE-LABEL: @projected

// A projection that only attention reads stores its result in low precision; queries, too.
// CHECK-LABEL: @projected
// CHECK: %[[Y:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: -> tensor<?x48xbf16>
// CHECK-DAG: %[[KEYS:.*]] = tensor.extract_slice %[[Y]][0, 16] [%{{.*}}, 16]
// CHECK-DAG: %[[VALUES:.*]] = tensor.extract_slice %[[Y]][0, 32] [%{{.*}}, 16]
// CHECK-DAG: %[[K:.*]] = tensor.expand_shape %[[KEYS]] {{.*}} : tensor<?x16xbf16> into tensor<?x2x8xbf16>
// CHECK-DAG: %[[V:.*]] = tensor.expand_shape %[[VALUES]] {{.*}} : tensor<?x16xbf16> into tensor<?x2x8xbf16>
// CHECK: xfmr.attention %{{.*}}, %[[K]], %[[V]] {{.*}} : tensor<?x2x8xbf16>, tensor<?x2x8xbf16>, tensor<?x2x8xbf16> -> tensor<?x2x8xf32>
// CHECK-NOT: quantize_rows
// F16: tensor<?x48xf16>
func.func @projected(%x: tensor<?x12xf32>, %w: tensor<48x12xf32>, %b: tensor<48xf32>, %offsets: tensor<?xi64>, %n: index) -> tensor<?x2x8xf32> {
  %y = xfmr.linear %x, %w bias(%b) : tensor<?x12xf32>, tensor<48x12xf32>, bias tensor<48xf32>
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x12xf32>
  %q = tensor.extract_slice %y[0, 0] [%rows, 16] [1, 1] : tensor<?x48xf32> to tensor<?x16xf32>
  %k = tensor.extract_slice %y[0, 16] [%rows, 16] [1, 1] : tensor<?x48xf32> to tensor<?x16xf32>
  %v = tensor.extract_slice %y[0, 32] [%rows, 16] [1, 1] : tensor<?x48xf32> to tensor<?x16xf32>
  %qh = xfmr.split_heads %q, 2 : tensor<?x16xf32>
  %kh = xfmr.split_heads %k, 2 : tensor<?x16xf32>
  %vh = xfmr.split_heads %v, 2 : tensor<?x16xf32>
  %a = xfmr.attention %qh, %kh, %vh offsets(%offsets, %offsets) lengths(%n, %n) {scale = 1.0 : f64}
    : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<?x2x8xf32>
  return %a : tensor<?x2x8xf32>
}

// -----

// Keys and values with other users are rounded in a separate operation; such queries are not.
// CHECK-LABEL: @shared
// CHECK-SAME: (%[[Q:.*]]: tensor<?x2x8xf32>, %[[K:.*]]: tensor<?x2x8xf32>, %[[V:.*]]: tensor<?x32xf32>
// CHECK-DAG: %[[KEYS:.*]] = tensor.collapse_shape %[[K]]
// CHECK-DAG: tile.quantize_rows ins(%[[KEYS]] : tensor<?x16xf32>) {{.*}} -> tensor<?x16xbf16>
// CHECK-DAG: %[[VALUES:.*]] = tensor.extract_slice %[[V]]
// CHECK-DAG: tile.quantize_rows ins(%[[VALUES]] : tensor<?x16xf32>) {{.*}} -> tensor<?x16xbf16>
// CHECK: xfmr.attention %{{.*}} : tensor<?x2x8xf32>, tensor<?x2x8xbf16>, tensor<?x2x8xbf16> -> tensor<?x2x8xf32>
func.func @shared(%q: tensor<?x2x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x32xf32>, %offsets: tensor<?xi64>, %n: index) -> (tensor<?x2x8xf32>, tensor<?x2x8xf32>) {
  %turned = arith.negf %k : tensor<?x2x8xf32>
  %all = arith.addf %turned, %q : tensor<?x2x8xf32>
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %v, %c0 : tensor<?x32xf32>
  %s = tensor.extract_slice %v[0, 16] [%rows, 16] [1, 1] : tensor<?x32xf32> to tensor<?x16xf32>
  %o = tensor.extract_slice %v[0, 0] [%rows, 16] [1, 1] : tensor<?x32xf32> to tensor<?x16xf32>
  %vh = xfmr.split_heads %s, 2 : tensor<?x16xf32>
  %oh = xfmr.split_heads %o, 2 : tensor<?x16xf32>
  %sum = arith.addf %all, %oh : tensor<?x2x8xf32>
  %a = xfmr.attention %q, %k, %vh offsets(%offsets, %offsets) lengths(%n, %n) {scale = 1.0 : f64}
    : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<?x2x8xf32>
  return %a, %sum : tensor<?x2x8xf32>, tensor<?x2x8xf32>
}

// -----

// Does not round operands that are caches, larger heads, and operands of attention whose scores are results.
// CHECK-LABEL: @negative_attention
// CHECK-NOT: quantize_rows
// CHECK-NOT: bf16
// CHECK: return
func.func @negative_attention(%q: tensor<?x2x12xf32>, %p: tensor<?x2x8xf32>, %k: tensor<?x2x?x12x64xf32>, %v: tensor<?x2x?x12xf32>, %offsets: tensor<?xi64>, %n: index)
    -> (tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x8xf32>, tensor<?x2x?x?xf32>) {
  %0 = xfmr.attention %q, %k, %v offsets(%offsets) lengths(%n, %n) key_lengths(%offsets) {scale = 1.0 : f64}
    : tensor<?x2x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x12xf32> -> tensor<?x2x12xf32>
  %1 = xfmr.attention %q, %q, %q offsets(%offsets, %offsets) lengths(%n, %n) {scale = 1.0 : f64}
    : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x12xf32> -> tensor<?x2x12xf32>
  %2, %s = xfmr.attention %p, %p, %p offsets(%offsets, %offsets) lengths(%n, %n) {scale = 1.0 : f64}
    : tensor<?x2x8xf32>, tensor<?x2x8xf32>, tensor<?x2x8xf32> -> tensor<?x2x8xf32>, tensor<?x2x?x?xf32>
  return %0, %1, %2, %s : tensor<?x2x12xf32>, tensor<?x2x12xf32>, tensor<?x2x8xf32>, tensor<?x2x?x?xf32>
}
