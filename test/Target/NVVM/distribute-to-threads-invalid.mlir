// RUN: attune-opt %s --attune-distribute-to-threads=threads=128 --split-input-file --verify-diagnostics

// The pass reports IR that verifies and that it cannot distribute to threads.

func.func @tensors(%a: tensor<?x8xf32>, %n: index) -> tensor<?x8xf32> {
  // expected-error @below {{expects a loop on buffers, but got results}}
  %r = scf.forall (%i) in (%n) shared_outs(%o = %a) -> tensor<?x8xf32> {
    scf.forall.in_parallel {
    }
  }
  return %r : tensor<?x8xf32>
}

// -----

func.func @tensors_inside(%a: tensor<?x1x12xf32>, %k: tensor<?x12x32xf32>, %v: tensor<?x12xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{expects ranked buffers with strides, but got 'tensor<?x1x12xf32>'}}
    %o = tile.attention_tile ins(%a, %k, %v : tensor<?x1x12xf32>, tensor<?x12x32xf32>, tensor<?x12xf32>) outs(%a : tensor<?x1x12xf32>)
        {scale = 1.0 : f64, key_block = 32 : i64} -> tensor<?x1x12xf32>
  }
  return
}

// -----

func.func @rows_of_f32(%x: memref<?x48xf32>, %p: memref<1x2x288xi8>, %y: memref<?x16xf32>, %n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{is not implemented for threads of a GPU}}
    tile.grouped_product ins(%x, %p : memref<?x48xf32>, memref<1x2x288xi8>) outs(%y : memref<?x16xf32>) width 16 format <"int4:32">
  }
  return
}

// -----

func.func @keys_of_f64(%k: memref<?x12xf64>, %p: memref<12x64xf64>, %n: index) {
  scf.forall (%i) in (%n) {
    // expected-error @below {{is not implemented for threads of a GPU}}
    tile.key_panel ins(%k : memref<?x12xf64>) outs(%p : memref<12x64xf64>)
  }
  return
}

// -----

func.func @rotary_of_bf16(%x: memref<3x2x8xbf16>, %p: memref<3xi64>, %t: memref<9x8xf32>, %y: memref<3x2x8xbf16>) {
  scf.forall (%i) in (1) {
    // expected-error @below {{is not implemented for threads of a GPU}}
    tile.rotary_tile ins(%x, %p, %t : memref<3x2x8xbf16>, memref<3xi64>, memref<9x8xf32>) outs(%y : memref<3x2x8xbf16>)
  }
  return
}
