// RUN: attune-opt --convert-xfmr-to-linalg --one-shot-bufferize="bufferize-function-boundaries" --convert-linalg-to-loops \
// RUN:     --scf-forall-to-for --convert-vector-to-scf --convert-scf-to-cf --convert-vector-to-llvm --convert-math-to-llvm --expand-strided-metadata --lower-affine \
// RUN:     --finalize-memref-to-llvm --convert-arith-to-llvm --convert-func-to-llvm --convert-cf-to-llvm --reconcile-unrealized-casts %s \
// RUN:   | mlir-runner --entry-point-result=void -e main -shared-libs=%mlir_lib/libmlir_c_runner_utils.so,%mlir_lib/libmlir_runner_utils.so \
// RUN:   | FileCheck %s

// Runs the converted operations by the simplest upstream lowering. Token 0 has a tie, token 1 a NaN, token 2 infinities.

func.func @integers(%t: tensor<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %t, %c0 : tensor<?xi64>
  scf.for %i = %c0 to %n step %c1 {
    %v = tensor.extract %t[%i] : tensor<?xi64>
    vector.print %v : i64 punctuation <comma>
  }
  vector.print str " end\n"
  return
}
func.func @floats(%t: tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %t, %c0 : tensor<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = tensor.extract %t[%i] : tensor<?xf32>
    vector.print %v : f32 punctuation <comma>
  }
  vector.print str " end\n"
  return
}
func.func @main() {
  %table = arith.constant dense<[[1.0, 3.0, 3.0, 2.0], [0xFFC00000, 0.0, 1.0, 0xFFC00000], [0x7F800000, 5.0, 0x7F800000, 0xFF800000]]> : tensor<3x4xf32>
  %scores = tensor.cast %table : tensor<3x4xf32> to tensor<?x4xf32>
  %choices, %shares = xfmr.choose_experts %scores, 2 {normalized} : tensor<?x4xf32>
  // CHECK: 1, 2, 2, 1, 0, 2, end
  %flat = tensor.collapse_shape %choices [[0, 1]] : tensor<?x2xi64> into tensor<?xi64>
  call @integers(%flat) : (tensor<?xi64>) -> ()
  // CHECK: 0.5, 0.5, 0.731059, 0.268941, {{-?nan, -?nan,}} end
  %flatShares = tensor.collapse_shape %shares [[0, 1]] : tensor<?x2xf32> into tensor<?xf32>
  call @floats(%flatShares) : (tensor<?xf32>) -> ()
  // All experts: a permutation, whatever the scores.
  %all, %allShares = xfmr.choose_experts %scores, 4 : tensor<?x4xf32>
  // CHECK: 1, 2, 3, 0, 2, 1, 0, 3, 0, 2, 1, 3, end
  %flatAll = tensor.collapse_shape %all [[0, 1]] : tensor<?x4xi64> into tensor<?xi64>
  call @integers(%flatAll) : (tensor<?xi64>) -> ()

  // A chosen NaN makes all shares of its token NaN.
  %normal, %normalShares = xfmr.choose_experts %scores, 4 {normalized} : tensor<?x4xf32>
  %nanRow = tensor.extract_slice %normalShares[1, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
  %someNan = tensor.cast %nanRow : tensor<4xf32> to tensor<?xf32>
  // CHECK: {{-?nan, -?nan, -?nan, -?nan,}} end
  call @floats(%someNan) : (tensor<?xf32>) -> ()

  // By sigmoids and a bias: token 0 prefers expert 0 by its bias, but its share has none.
  %biases = arith.constant dense<[10.0, 0.0, 0.5, 0.0]> : tensor<4xf32>
  %byBias, %biasShares = xfmr.choose_experts %scores, 2 bias(%biases : tensor<4xf32>) {sigmoid} : tensor<?x4xf32>
  // CHECK: 0, 2, 2, 1, 0, 2, end
  %flatBias = tensor.collapse_shape %byBias [[0, 1]] : tensor<?x2xi64> into tensor<?xi64>
  call @integers(%flatBias) : (tensor<?xi64>) -> ()
  // CHECK: 0.731059, 0.952574, 0.731059, 0.5, 1, 1, end
  %flatBiasShares = tensor.collapse_shape %biasShares [[0, 1]] : tensor<?x2xf32> into tensor<?xf32>
  call @floats(%flatBiasShares) : (tensor<?xf32>) -> ()
  // Of two groups of two, the better one: by its largest key, or by the sum of its two largest keys.
  %groupTable = arith.constant dense<[[4.0, -4.0, 1.0, 2.0], [-1.0, -2.0, 3.0, 0.0], [1.0, 2.0, 1.0, 2.0]]> : tensor<3x4xf32>
  %grouped = tensor.cast %groupTable : tensor<3x4xf32> to tensor<?x4xf32>
  %byOne, %oneShares = xfmr.choose_experts %grouped, 2 {group_keys = 1 : i64, groups = 2 : i64, kept_groups = 1 : i64} : tensor<?x4xf32>
  // CHECK: 0, 1, 2, 3, 1, 0, end
  %flatOne = tensor.collapse_shape %byOne [[0, 1]] : tensor<?x2xi64> into tensor<?xi64>
  call @integers(%flatOne) : (tensor<?xi64>) -> ()
  %byTwo, %twoShares = xfmr.choose_experts %grouped, 2 {group_keys = 2 : i64, groups = 2 : i64, kept_groups = 1 : i64, normalized} : tensor<?x4xf32>
  // CHECK: 3, 2, 2, 3, 1, 0, end
  %flatTwo = tensor.collapse_shape %byTwo [[0, 1]] : tensor<?x2xi64> into tensor<?xi64>
  call @integers(%flatTwo) : (tensor<?xi64>) -> ()
  // CHECK: 0.731059, 0.268941, 0.952574, 0.0474259, 0.731059, 0.268941, end
  %flatTwoShares = tensor.collapse_shape %twoShares [[0, 1]] : tensor<?x2xf32> into tensor<?xf32>
  call @floats(%flatTwoShares) : (tensor<?xf32>) -> ()

  // A group whose key is NaN, the sum of infinities, is the last.
  %oddGroups = arith.constant dense<[[0x7F800000, 0x7FC00000, 1.0, 2.0]]> : tensor<1x4xf32>
  %oddScores = tensor.cast %oddGroups : tensor<1x4xf32> to tensor<?x4xf32>
  %byNan, %nanShares = xfmr.choose_experts %oddScores, 2 {group_keys = 2 : i64, groups = 2 : i64, kept_groups = 1 : i64} : tensor<?x4xf32>
  // CHECK: 3, 2, end
  %flatNan = tensor.collapse_shape %byNan [[0, 1]] : tensor<?x2xi64> into tensor<?xi64>
  call @integers(%flatNan) : (tensor<?xi64>) -> ()

  %given = arith.constant dense<[[0.25, 0.75], [0.5, 0.125], [1.0, 2.0]]> : tensor<3x2xf32>
  %factors = tensor.cast %given : tensor<3x2xf32> to tensor<?x2xf32>
  // Pairs in the order of experts; expert 3 has none.
  %offsets, %tokens, %rowShares = xfmr.group_by_expert %choices, %factors, 4 : tensor<?x2xi64>, tensor<?x2xf32>
  %someOffsets = tensor.cast %offsets : tensor<5xi64> to tensor<?xi64>
  // CHECK: 0, 1, 3, 6, 6, end
  call @integers(%someOffsets) : (tensor<?xi64>) -> ()
  // CHECK: 2, 0, 1, 0, 1, 2, end
  call @integers(%tokens) : (tensor<?xi64>) -> ()
  // CHECK: 1, 0.25, 0.125, 0.75, 0.5, 2, end
  call @floats(%rowShares) : (tensor<?xf32>) -> ()

  %rowTable = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %rows = tensor.cast %rowTable : tensor<2x2xf32> to tensor<?x2xf32>
  %sumTable = arith.constant dense<[[10.0, 10.0], [20.0, 20.0], [30.0, 30.0]]> : tensor<3x2xf32>
  %sum = tensor.cast %sumTable : tensor<3x2xf32> to tensor<?x2xf32>
  %whereTable = arith.constant dense<[2, 0]> : tensor<2xi64>
  %where = tensor.cast %whereTable : tensor<2xi64> to tensor<?xi64>
  %byTable = arith.constant dense<[0.5, 2.0]> : tensor<2xf32>
  %by = tensor.cast %byTable : tensor<2xf32> to tensor<?xf32>
  %added = xfmr.add_rows %rows, %by to %sum at %where : tensor<?x2xf32>, tensor<?xf32> to tensor<?x2xf32>
  // CHECK: 16, 18, 20, 20, 30.5, 31, end
  %flatSum = tensor.collapse_shape %added [[0, 1]] : tensor<?x2xf32> into tensor<?xf32>
  call @floats(%flatSum) : (tensor<?xf32>) -> ()
  // A negative token: its row is not added.
  %paddedTable = arith.constant dense<[1, -1]> : tensor<2xi64>
  %paddedTokens = tensor.cast %paddedTable : tensor<2xi64> to tensor<?xi64>
  %some = xfmr.add_rows %rows, %by to %sum at %paddedTokens {padded} : tensor<?x2xf32>, tensor<?xf32> to tensor<?x2xf32>
  // CHECK: 10, 10, 20.5, 21, 30, 30, end
  %flatSome = tensor.collapse_shape %some [[0, 1]] : tensor<?x2xf32> into tensor<?xf32>
  call @floats(%flatSome) : (tensor<?xf32>) -> ()

  // A list for each expert. Expert 3 has no tokens, expert 1 all but one, expert 2 all. Choices that are no expert, or
  // the same expert twice, as unused rows may have, are not listed, or once.
  %counts, %listed, %listedShares = xfmr.list_by_expert %choices, %factors, 4 : tensor<?x2xi64>, tensor<?x2xf32>
  %someCounts = tensor.cast %counts : tensor<4xi64> to tensor<?xi64>
  // CHECK: 1, 2, 3, 0, end
  call @integers(%someCounts) : (tensor<?xi64>) -> ()
  %flatListed = tensor.collapse_shape %listed [[0, 1]] : tensor<4x?xi64> into tensor<?xi64>
  // CHECK: 2, -1, -1, 0, 1, -1, 0, 1, 2, -1, -1, -1, end
  call @integers(%flatListed) : (tensor<?xi64>) -> ()
  %flatListedShares = tensor.collapse_shape %listedShares [[0, 1]] : tensor<4x?xf32> into tensor<?xf32>
  // CHECK: 1, 0, 0, 0.25, 0.125, 0, 0.75, 0.5, 2, 0, 0, 0, end
  call @floats(%flatListedShares) : (tensor<?xf32>) -> ()
  %oddTable = arith.constant dense<[[1, 1], [-7, 9], [0, 1]]> : tensor<3x2xi64>
  %odd = tensor.cast %oddTable : tensor<3x2xi64> to tensor<?x2xi64>
  %oddCounts, %oddListed, %oddShares = xfmr.list_by_expert %odd, %factors, 2 : tensor<?x2xi64>, tensor<?x2xf32>
  %someOddCounts = tensor.cast %oddCounts : tensor<2xi64> to tensor<?xi64>
  // CHECK: 1, 2, end
  call @integers(%someOddCounts) : (tensor<?xi64>) -> ()
  %flatOdd = tensor.collapse_shape %oddListed [[0, 1]] : tensor<2x?xi64> into tensor<?xi64>
  // CHECK: 2, -1, -1, 0, 2, -1, end
  call @integers(%flatOdd) : (tensor<?xi64>) -> ()
  %flatOddShares = tensor.collapse_shape %oddShares [[0, 1]] : tensor<2x?xf32> into tensor<?xf32>
  // CHECK: 1, 0, 0, 0.25, 2, 0, end
  call @floats(%flatOddShares) : (tensor<?xf32>) -> ()
  return
}
