// RUN: attune-opt %s -split-input-file -verify-diagnostics -attune-plan-memory

func.func @no_bound(%mask: memref<?xi64> {xfmr.input = #xfmr.input<"mask", [batch]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %count = memref.load %mask[%c0] : memref<?xi64>
  // expected-note @below {{the size comes from here; 'arith.minsi' with a known size gives it a bound}}
  %n = arith.index_cast %count : i64 to index
  // expected-error @below {{dimension 0 of this buffer has no bound in terms of the function's arguments}}
  %x = memref.alloc(%n) : memref<?xi64>
  memref.store %zero, %x[%c0] : memref<?xi64>
  return
}

// -----

func.func @carried(%x: memref<?xi64> {xfmr.input = #xfmr.input<"x", [batch]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi64>
  %first = memref.alloc(%n) : memref<?xi64>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%previous = %first) -> memref<?xi64> {
    // expected-error @below {{buffer must not leave the loop iteration it is allocated in}}
    %next = memref.alloc(%n) : memref<?xi64>
    memref.copy %previous, %next : memref<?xi64> to memref<?xi64>
    // expected-note @below {{it leaves here}}
    scf.yield %next : memref<?xi64>
  }
  memref.copy %last, %x : memref<?xi64> to memref<?xi64>
  return
}

// -----

func.func @layout(%x: memref<?xi64> {xfmr.input = #xfmr.input<"x", [batch]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  // expected-error @below {{expects a buffer of identity layout, but for the stride of its rows, in the default memory space, but got 'memref<4xf32, 1>'}}
  %a = memref.alloc() : memref<4xf32, 1>
  return
}

// -----

// expected-error @below {{expects no recursion, but 'again' calls itself}}
func.func private @again(%x: memref<?xi64>) {
  call @again(%x) : (memref<?xi64>) -> ()
  return
}

// -----

func.func private @inner(%x: memref<?xi64>) {
  scf.forall (%i) in (4) {
    %a = memref.alloc() : memref<4xi64>
    %v = memref.load %a[%i] : memref<4xi64>
    memref.store %v, %x[%i] : memref<?xi64>
  }
  return
}
func.func @nested(%x: memref<?xi64> {xfmr.input = #xfmr.input<"x", [batch]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  scf.forall (%i) in (4) {
    // expected-error @below {{a parallel loop must not call a function that has a parallel loop with buffers}}
    func.call @inner(%x) : (memref<?xi64>) -> ()
  }
  return
}

// -----

func.func @columns(%x: memref<8x8xf32> {xfmr.input = #xfmr.input<"x", [8, 8]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  // expected-error @below {{expects a buffer of identity layout, but for the stride of its rows, in the default memory space, but got 'memref<8x8xf32, strided<[1, 8]>>'}}
  %a = memref.alloc() : memref<8x8xf32, strided<[1, 8]>>
  memref.copy %x, %a : memref<8x8xf32> to memref<8x8xf32, strided<[1, 8]>>
  return
}

// -----

func.func private @count_without_buffers(%x: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{'rt.worker_count' op expects a function with buffers, since others are not told the number of workers}}
  %n = rt.worker_count
  memref.store %n, %x[%c0] : memref<?xindex>
  return
}
