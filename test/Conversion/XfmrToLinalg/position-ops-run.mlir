// RUN: attune-opt --convert-xfmr-to-linalg --one-shot-bufferize="bufferize-function-boundaries" --convert-linalg-to-loops \
// RUN:     --convert-vector-to-scf --convert-scf-to-cf --convert-vector-to-llvm --convert-math-to-llvm --expand-strided-metadata --lower-affine \
// RUN:     --finalize-memref-to-llvm --convert-arith-to-llvm --convert-func-to-llvm --convert-cf-to-llvm --reconcile-unrealized-casts %s \
// RUN:   | mlir-runner --entry-point-result=void -e main -shared-libs=%mlir_lib/libmlir_c_runner_utils.so,%mlir_lib/libmlir_runner_utils.so \
// RUN:   | FileCheck %s

// Runs the biases of distances by the simplest upstream lowering. Column c is the distance c - 7 from a query to a key.
// Expected values are those of the formula of T5: with 8 buckets in both directions and a maximum distance of 16,
// distances 0 and 1 have buckets of their own, 2 to 5 share one, 6 and more share the last.

func.func @print(%t: tensor<2x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %f0 = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c2 step %c1 {
    %v = vector.transfer_read %t[%i, %c0], %f0 : tensor<2x?xf32>, vector<15xf32>
    vector.print %v : vector<15xf32>
  }
  return
}

func.func @main() {
  %length = arith.constant 8 : index
  %table = arith.constant dense<[[0.0, 100.0], [1.0, 101.0], [2.0, 102.0], [3.0, 103.0], [4.0, 104.0], [5.0, 105.0], [6.0, 106.0], [7.0, 107.0]]> : tensor<8x2xf32>
  // CHECK: ( 3, 3, 2, 2, 2, 2, 1, 0, 5, 6, 6, 6, 6, 7, 7 )
  // CHECK-NEXT: ( 103, 103, 102, 102, 102, 102, 101, 100, 105, 106, 106, 106, 106, 107, 107 )
  %both = xfmr.relative_position_bias %table, %length {bidirectional, max_distance = 16 : i64} : tensor<8x2xf32>
  call @print(%both) : (tensor<2x?xf32>) -> ()

  // Keys after the query are at distance 0.
  // CHECK-NEXT: ( 5, 5, 4, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0 )
  // CHECK-NEXT: ( 105, 105, 104, 104, 103, 102, 101, 100, 100, 100, 100, 100, 100, 100, 100 )
  %backward = xfmr.relative_position_bias %table, %length {max_distance = 16 : i64} : tensor<8x2xf32>
  call @print(%backward) : (tensor<2x?xf32>) -> ()

  // The slope times the negative distance, in both directions.
  // CHECK-NEXT: ( -3.5, -3, -2.5, -2, -1.5, -1, -0.5, {{-?}}0, -0.5, -1, -1.5, -2, -2.5, -3, -3.5 )
  // CHECK-NEXT: ( -1.75, -1.5, -1.25, -1, -0.75, -0.5, -0.25, {{-?}}0, -0.25, -0.5, -0.75, -1, -1.25, -1.5, -1.75 )
  %slopes = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %alibi = xfmr.alibi_bias %slopes, %length : tensor<2xf32>
  call @print(%alibi) : (tensor<2x?xf32>) -> ()
  return
}
