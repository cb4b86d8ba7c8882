// RUN: attune-opt %s -split-input-file -verify-diagnostics -attune-prepare-for-llvm

func.func @allocates() {
  // expected-error @below {{compiled code must not allocate; 'attune-plan-memory' places buffers in the workspace}}
  %x = memref.alloc() : memref<4xf32>
  return
}

// -----

func.func @libm(%x: f32) -> f32 {
  // expected-error @below {{would become a call of libm; 'attune-expand-math' makes instructions of the functions it knows}}
  %y = math.exp %x : f32
  return %y : f32
}
