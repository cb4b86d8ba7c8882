// RUN: attune-opt %s --split-input-file --verify-diagnostics

func.func @tile_c1(%x: memref<?x8xf32>) {
  // expected-error @below {{expects 'strides' of 2 buffers, but got 1}}
  halide.tile "k" ins(%x : memref<?x8xf32>) outs(%x : memref<?x8xf32>) {description = "", strides = [array<i64: 8, 1>]}
  return
}

// -----

func.func @tile_c1_rank(%x: memref<?x8xf32>) {
  // expected-error @below {{expects 2 strides of buffer 0, but got array<i64: 1>}}
  halide.tile "k" outs(%x : memref<?x8xf32>) {description = "", strides = [array<i64: 1>]}
  return
}

// -----

func.func @tile_c2(%x: memref<?x8xf32>) {
  // expected-error @below {{expects the last stride of buffer 0 to be 1, but got 2}}
  halide.tile "k" outs(%x : memref<?x8xf32>) {description = "", strides = [array<i64: 8, 2>]}
  return
}

// -----

func.func @tile_c3(%x: memref<?x8xindex>) {
  // expected-error @below {{expects buffer 0 of a rank, of integers or floats, but got 'memref<?x8xindex>'}}
  halide.tile "k" outs(%x : memref<?x8xindex>) {description = "", strides = [array<i64: 8, 1>]}
  return
}

// -----

func.func @tile_c3_rank(%x: memref<*xf32>) {
  // expected-error @below {{expects buffer 0 of a rank, of integers or floats, but got 'memref<*xf32>'}}
  halide.tile "k" outs(%x : memref<*xf32>) {description = "", strides = [array<i64: 1>]}
  return
}
