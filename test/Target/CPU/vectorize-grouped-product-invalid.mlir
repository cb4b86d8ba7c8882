// RUN: attune-opt %s --attune-vectorize-tiles=dot-unit=avx2 --split-input-file --verify-diagnostics

func.func @strided(%q: memref<2x64xi8, strided<[128, 2]>>, %s: memref<2x2xf32>, %z: memref<2x2xi32>, %p: memref<1x2x288xi8>, %out: memref<2x16xf32>) {
  // expected-error @below {{cannot be vectorized: its rows are not contiguous}}
  tile.grouped_product ins(%q, %s, %z, %p : memref<2x64xi8, strided<[128, 2]>>, memref<2x2xf32>, memref<2x2xi32>, memref<1x2x288xi8>)
      outs(%out : memref<2x16xf32>) width 16 format <"int4:32">
  return
}

// -----

func.func @bf16(%x: memref<2x64xbf16>, %p: memref<1x2x288xi8>, %out: memref<2x16xf32>) {
  // expected-error @below {{cannot be vectorized: its rows are bf16, which only AVX-512 multiplies}}
  tile.grouped_product ins(%x, %p : memref<2x64xbf16>, memref<1x2x288xi8>) outs(%out : memref<2x16xf32>) width 16 format <"int4:32">
  return
}

// -----

func.func @strided_floats(%x: memref<2x64xf32, strided<[128, 2]>>, %p: memref<1x2x288xi8>, %out: memref<2x16xf32>) {
  // expected-error @below {{cannot be vectorized: its rows are not contiguous}}
  tile.grouped_product ins(%x, %p : memref<2x64xf32, strided<[128, 2]>>, memref<1x2x288xi8>) outs(%out : memref<2x16xf32>) width 16 format <"int4:32">
  return
}

// -----

func.func @panels(%q: memref<2x64xi8>, %s: memref<2x2xf32>, %z: memref<2x2xi32>, %p: memref<1x2x288xi8, strided<[1024, 512, 1]>>, %out: memref<2x16xf32>) {
  // expected-error @below {{cannot be vectorized: its panels have no known layout}}
  tile.grouped_product ins(%q, %s, %z, %p : memref<2x64xi8>, memref<2x2xf32>, memref<2x2xi32>, memref<1x2x288xi8, strided<[1024, 512, 1]>>)
      outs(%out : memref<2x16xf32>) width 16 format <"int4:32">
  return
}

// -----

func.func @tensors(%x: tensor<2x64xf32>, %p: tensor<1x2x288xi8>, %out: tensor<2x16xf32>) -> tensor<2x16xf32> {
  // expected-error @below {{expects buffers, but has tensor operands}}
  %y = tile.grouped_product ins(%x, %p : tensor<2x64xf32>, tensor<1x2x288xi8>) outs(%out : tensor<2x16xf32>) width 16 format <"int4:32">
      -> tensor<2x16xf32>
  return %y : tensor<2x16xf32>
}
