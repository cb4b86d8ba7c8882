// RUN: attune-opt %s -split-input-file -verify-diagnostics

func.func @no_body(%host: !llvm.ptr, %n: index) {
  // expected-error @below {{expects 'body' to name a function, but got @missing}}
  xfmr.parallel_call %host, %n, %n @missing()
  return
}

// -----

func.func private @body(%worker: index, %begin: index, %end: index) {
  return
}
func.func @c1_captures(%host: !llvm.ptr, %n: index, %x: memref<4xf32>) {
  // expected-error @below {{expects 'body' to have type '(memref<4xf32>, index, index, index) -> ()', but got '(index, index, index) -> ()'}}
  xfmr.parallel_call %host, %n, %n @body(%x) : memref<4xf32>
  return
}
