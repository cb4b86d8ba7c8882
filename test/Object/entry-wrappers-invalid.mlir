// RUN: attune-opt %s -split-input-file -verify-diagnostics -attune-entry-wrappers

// expected-error @below {{expects sizes in terms of the dims of the entry, batch, length, but got "width"}}
func.func @unknown_dim(%x: memref<?x?xf32> {xfmr.input = #xfmr.input<"x", [batch, length]>})
    attributes {xfmr.entry = #xfmr.entry<"forward">, rt.workspace = #xfmr.formula<[width], affine_map<()[s0] -> (s0 * 64)>>} {
  return
}

// -----

// The number of workers decides no work.
// expected-error @below {{expects sizes in terms of the dims of the entry, batch, but got "workers"}}
func.func @workers(%x: memref<?xf32> {xfmr.input = #xfmr.input<"x", [batch]>}) attributes {
    xfmr.entry = #xfmr.entry<"forward">, rt.kernel_work = [#rt.kernel_work<"a", calls = 1, flops = <[workers], affine_map<()[s0] -> (s0)>>,
                                                              weight_bytes = <[], affine_map<() -> (0)>>, tensor_bytes = <[], affine_map<() -> (0)>>>]} {
  return
}

// -----

// expected-error @below {{argument 0 of type 'f32' is neither input nor output and has no role}}
func.func @unknown_argument(%x: f32) attributes {xfmr.entry = #xfmr.entry<"forward">} {
  return
}
