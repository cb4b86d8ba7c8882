// RUN: attune-opt %s -split-input-file -verify-diagnostics

func.func private @on_a_scalar(%x: f32) {
  // expected-error @below {{expects 'tile.group' on an operation on tensors or buffers}}
  %y = arith.negf %x {tile.group = #tile.group<0, "negate">} : f32
  return
}

// -----

func.func private @number(%x: tensor<4xf32>) {
  // expected-error @below {{expects a group number of at least 0, but got -1}}
  %y = linalg.negf {tile.group = #tile.group<-1, "negate">} ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @below {{expects 'tile.kernel' to be a #tile.kernel, but got "linear"}}
func.func private @text() attributes {tile.kernel = "linear"} {
  return
}

// -----

func.func private @on_an_operation(%x: tensor<4xf32>) {
  // expected-error @below {{expects 'tile.kernel' on a function or an scf.forall}}
  %y = linalg.negf {tile.kernel = #tile.kernel<"negate">} ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @below {{expects 'tile.rows' on tensors or buffers of rank 1 or more}}
func.func private @rows_of_a_number(%n: index {tile.rows}) {
  return
}

// -----

// expected-error @below {{expects an attribute of the tile dialect on operations, but got 'tile.unknown'}}
func.func private @unknown() attributes {tile.unknown} {
  return
}

// -----

// expected-error @below {{expected 'row_wise', 'backend' or 'note', each at most once, but got 'fast'}}
func.func private @word() attributes {tile.kernel = #tile.kernel<"linear", fast>} {
  return
}

// -----

// expected-error @below {{expects 'tile.work' on an scf.forall or a func.call}}
func.func private @work_of_a_function() attributes {tile.work = #tile.work<flops = <[], affine_map<() -> (8)>>>} {
  return
}

// -----

func.func private @text_for_work(%n: index) {
  // expected-error @below {{expects 'tile.work' to be a #tile.work, but got "8"}}
  scf.forall (%i) in (%n) {
  } {tile.work = "8"}
  return
}
