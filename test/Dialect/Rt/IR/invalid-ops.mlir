// RUN: attune-opt %s -split-input-file -verify-diagnostics

func.func @no_body(%host: !llvm.ptr, %n: index) {
  // expected-error @below {{expects 'body' to name a function, but got @missing}}
  rt.parallel_call %host, %n, %n @missing()
  return
}

// -----

func.func private @body(%worker: index, %begin: index, %end: index) {
  return
}
func.func @c1_captures(%host: !llvm.ptr, %n: index, %x: memref<4xf32>) {
  // expected-error @below {{expects 'body' to have type '(memref<4xf32>, index, index, index) -> ()', but got '(index, index, index) -> ()'}}
  rt.parallel_call %host, %n, %n @body(%x) : memref<4xf32>
  return
}

// -----

func.func @c1_rank(%x: memref<?xf32>, %n: index) {
  // expected-error @below {{(C1) expects 1 to 5 sizes, as many numbers in 'box' and one stride less, got 2, 2 and 0}}
  rt.tensor_map %x sizes [%n, %n] strides [] {box = array<i64: 8, 8>, element_bytes = 4 : i64, swizzle = 0 : i64} : memref<?xf32>
  return
}

// -----

func.func @c2_box(%x: memref<?xf32>, %n: index) {
  // expected-error @below {{(C2) expects 1 to 256 elements in each dimension of 'box', got 257}}
  rt.tensor_map %x sizes [%n] strides [] {box = array<i64: 257>, element_bytes = 4 : i64, swizzle = 0 : i64} : memref<?xf32>
  return
}

// -----

func.func @c3_swizzle(%x: memref<?xf32>, %n: index) {
  // expected-error @below {{(C3) expects 'swizzle' to be 0, or 128 for a box of at most 128 bytes, got 128}}
  rt.tensor_map %x sizes [%n] strides [] {box = array<i64: 64>, element_bytes = 4 : i64, swizzle = 128 : i64} : memref<?xf32>
  return
}

// -----

func.func @c3_element(%x: memref<?xi8>, %n: index) {
  // expected-error @below {{(C3) expects 'element_bytes' to be 2 or 4, got 1}}
  rt.tensor_map %x sizes [%n] strides [] {box = array<i64: 64>, element_bytes = 1 : i64, swizzle = 0 : i64} : memref<?xi8>
  return
}

// -----

func.func @gather_c2(%x: memref<?x24xf32>, %d: memref<?x48xf32>, %s: memref<2x?x24xf32>) {
  // expected-error @below {{expects the last shard to end at 48, but got 20 + 24}}
  rt.all_gather ins(%x : memref<?x24xf32>) outs(%d, %s : memref<?x48xf32>, memref<2x?x24xf32>) 1 at [0, 20]
  return
}

// -----

func.func @gather_c3(%x: memref<?x24xf32>, %d: memref<?x48xf32>, %s: memref<?x24xf32>) {
  // expected-error @below {{expects a second destination of 2 times the input 'memref<?x24xf32>', but got 'memref<?x24xf32>'}}
  rt.all_gather ins(%x : memref<?x24xf32>) outs(%d, %s : memref<?x48xf32>, memref<?x24xf32>) 1 at [0, 24]
  return
}

// -----

func.func @gather_destinations(%x: memref<?x24xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{expects two destinations, but got 1}}
  rt.all_gather ins(%x : memref<?x24xf32>) outs(%d : memref<?x48xf32>) 1 at [0, 24]
  return
}
