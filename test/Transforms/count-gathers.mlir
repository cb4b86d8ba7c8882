// RUN: attune-opt %s --split-input-file --attune-count-gathers | FileCheck %s

// A layer of two gathers, called twice; each rank receives the parts of two others. The loop runs
// three times, as one over experts, whose rows are together those of the bound.
// CHECK: xfmr.gather_bytes = #xfmr.formula<[tokens], affine_map<()[s0] -> (s0 * 640)>>
// CHECK-SAME: xfmr.gathers = #xfmr.formula<[], affine_map<() -> (7)>>
module attributes {xfmr.ranks = 3 : i64} {
  func.func private @layer(%x: tensor<?x16xf32>) -> tensor<?x40xf32> {
    %a = xfmr.all_gather %x, 1 at [0, 16, 24] : tensor<?x16xf32> -> tensor<?x40xf32>
    %b = xfmr.all_gather %x, 1 at [0, 16, 24] : tensor<?x16xf32> -> tensor<?x40xf32>
    %y = arith.addf %a, %b : tensor<?x40xf32>
    return %y : tensor<?x40xf32>
  }
  func.func @forward(%x: tensor<?x16xf32> {xfmr.input = #xfmr.input<"x", [tokens, 16]>})
      -> (tensor<?x40xf32> {xfmr.output = #xfmr.output<"y", [tokens, 40]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
    %0 = call @layer(%x) : (tensor<?x16xf32>) -> tensor<?x40xf32>
    %1 = call @layer(%x) : (tensor<?x16xf32>) -> tensor<?x40xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %s = arith.addf %0, %1 : tensor<?x40xf32>
    %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %s) -> (tensor<?x40xf32>) {
      %g = xfmr.all_gather %x, 1 at [0, 16, 24] : tensor<?x16xf32> -> tensor<?x40xf32>
      %next = arith.addf %sum, %g : tensor<?x40xf32>
      scf.yield %next : tensor<?x40xf32>
    }
    return %y : tensor<?x40xf32>
  }
}

// -----

// The loop over lists of tokens (known-counts) runs once for each of four experts. A token is in the lists of its two experts, so its row
// counts twice.
// CHECK: xfmr.gather_bytes = #xfmr.formula<[tokens], affine_map<()[s0] -> (s0 * 128)>>
// CHECK-SAME: xfmr.gathers = #xfmr.formula<[], affine_map<() -> (4)>>
module attributes {xfmr.ranks = 2 : i64} {
  func.func @experts(%x: tensor<?x16xf32> {xfmr.input = #xfmr.input<"x", [tokens, 16]>}, %choices: tensor<?x2xi64> {xfmr.input = #xfmr.input<"choices", [tokens, 2]>},
                     %shares: tensor<?x2xf32> {xfmr.input = #xfmr.input<"shares", [tokens, 2]>})
      -> (tensor<?x32xf32> {xfmr.output = #xfmr.output<"y", [tokens, 32]>}) attributes {xfmr.entry = #xfmr.entry<"experts">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %n = tensor.dim %x, %c0 : tensor<?x16xf32>
    %counts, %lists, %rowShares = xfmr.list_by_expert %choices, %shares, 4 : tensor<?x2xi64>, tensor<?x2xf32>
    %sum = tensor.empty(%n) : tensor<?x32xf32>
    %y = scf.for %e = %c0 to %c4 step %c1 iter_args(%before = %sum) -> (tensor<?x32xf32>) {
      %counted = tensor.extract %counts[%e] : tensor<4xi64>
      %read = arith.index_cast %counted : i64 to index
      %count = arith.minsi %read, %n : index
      %list = tensor.extract_slice %lists[%e, 0] [1, %count] [1, 1] : tensor<4x?xi64> to tensor<?xi64>
      %factors = tensor.extract_slice %rowShares[%e, 0] [1, %count] [1, 1] : tensor<4x?xf32> to tensor<?xf32>
      %rows = xfmr.gather_tokens %x, %list : tensor<?x16xf32>
      %g = xfmr.all_gather %rows, 1 at [0, 16] : tensor<?x16xf32> -> tensor<?x32xf32>
      %next = xfmr.add_rows %g, %factors to %before at %list {padded} : tensor<?x32xf32>, tensor<?xf32> to tensor<?x32xf32>
      scf.yield %next : tensor<?x32xf32>
    }
    return %y : tensor<?x32xf32>
  }
}

// -----

// Rounded rows have half of the bytes; the sizes of a conversion are those of its operand.
// CHECK: xfmr.gather_bytes = #xfmr.formula<[tokens], affine_map<()[s0] -> (s0 * 64)>>
// CHECK-SAME: xfmr.gathers = #xfmr.formula<[], affine_map<() -> (2)>>
module attributes {xfmr.ranks = 2 : i64} {
  func.func @rounded(%x: tensor<?x16xf32> {xfmr.input = #xfmr.input<"x", [tokens, 16]>})
      -> (tensor<?x32xf32> {xfmr.output = #xfmr.output<"y", [tokens, 32]>}) attributes {xfmr.entry = #xfmr.entry<"rounded">} {
    %r = arith.truncf %x : tensor<?x16xf32> to tensor<?x16xbf16>
    %g = xfmr.all_gather %r, 1 at [0, 16] : tensor<?x16xbf16> -> tensor<?x32xbf16>
    %w = arith.extf %g : tensor<?x32xbf16> to tensor<?x32xf32>
    %r2 = arith.truncf %w : tensor<?x32xf32> to tensor<?x32xbf16>
    %s = xfmr.rank_slice %r2, 1 at [0, 16] : tensor<?x32xbf16> -> tensor<?x16xbf16>
    %g2 = xfmr.all_gather %s, 1 at [0, 16] : tensor<?x16xbf16> -> tensor<?x32xbf16>
    %y = arith.extf %g2 : tensor<?x32xbf16> to tensor<?x32xf32>
    return %y : tensor<?x32xf32>
  }
}

// -----

// Without ranks there is nothing to count.
// CHECK-NOT: xfmr.gathers
func.func @alone(%x: tensor<?x16xf32> {xfmr.input = #xfmr.input<"x", [tokens, 16]>})
    -> (tensor<?x16xf32> {xfmr.output = #xfmr.output<"y", [tokens, 16]>}) attributes {xfmr.entry = #xfmr.entry<"alone">} {
  return %x : tensor<?x16xf32>
}
