// RUN: attune-opt %s -split-input-file -verify-diagnostics -attune-entry-wrappers

// expected-error @below {{expects module attribute 'xfmr.entry_dims' to name the dims of entry "forward"}}
func.func @no_dims(%x: memref<?xf32> {xfmr.input = #xfmr.input<"x", [batch]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}

// -----

module attributes {xfmr.entry_dims = {forward = ["batch"]}} {
// expected-error @below {{dimension "length" is not among the dims of the entry, ["batch"]}}
func.func @unknown_dim(%x: memref<?xf32> {xfmr.input = #xfmr.input<"x", [length]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}
}

// -----

module attributes {xfmr.entry_dims = {forward = []}, xfmr.workspace = {forward = "3*(4"}} {
// expected-error @below {{cannot read the formula of 'workspace', got "3*(4"}}
func.func @formula() attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}
}

// -----

module attributes {xfmr.entry_dims = {forward = []}} {
// expected-error @below {{argument 0 of type 'f32' is neither input, output, weights, workspace, workers nor host}}
func.func @unknown_argument(%x: f32) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}
}
