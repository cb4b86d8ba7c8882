// RUN: attune-opt %s -split-input-file -verify-diagnostics -attune-outline-launches

func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a parallel loop on buffers, but got 1 results}}
  %y = scf.forall (%i) in (4) shared_outs(%o = %x) -> tensor<4xf32> {
    scf.forall.in_parallel {
    }
  }
  return %y : tensor<4xf32>
}

// -----

func.func @nested(%x: memref<?xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (4) {
    // expected-error @below {{expects no parallel loop inside another one, whose threads are one block}}
    scf.forall (%j) in (4) {
      memref.store %zero, %x[%j] : memref<?xf32>
    }
  }
  return
}

// -----

func.func @worker_without_workers(%x: memref<4x16xf32>) {
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (4) {
    // expected-error @below {{expects a function with an argument of 'rt.role' workers}}
    %id = rt.worker_id
    memref.store %one, %x[%id, %i] : memref<4x16xf32>
  }
  return
}
