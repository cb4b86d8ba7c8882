// RUN: attune-opt %s -split-input-file -verify-diagnostics -attune-outline-parallel

func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a parallel loop on buffers, but got 1 results}}
  %y = scf.forall (%i) in (4) shared_outs(%o = %x) -> tensor<4xf32> {
    scf.forall.in_parallel {
    }
  }
  return %y : tensor<4xf32>
}

// -----

func.func private @parallel(%x: memref<?xf32>) {
  %zero = arith.constant 0.0 : f32
  scf.forall (%i) in (4) {
    memref.store %zero, %x[%i] : memref<?xf32>
  }
  return
}
func.func @nested(%x: memref<?xf32>) {
  scf.forall (%i) in (4) {
    // expected-error @below {{a parallel loop must not call 'parallel', which has a parallel loop}}
    func.call @parallel(%x) : (memref<?xf32>) -> ()
  }
  return
}
