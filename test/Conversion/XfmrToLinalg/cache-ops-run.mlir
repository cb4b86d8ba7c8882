// RUN: attune-opt --convert-xfmr-to-linalg --one-shot-bufferize="bufferize-function-boundaries" --convert-linalg-to-loops \
// RUN:     --convert-vector-to-scf --convert-scf-to-cf --convert-vector-to-llvm --convert-math-to-llvm --expand-strided-metadata --lower-affine \
// RUN:     --finalize-memref-to-llvm --convert-arith-to-llvm --convert-func-to-llvm --convert-cf-to-llvm --reconcile-unrealized-casts %s \
// RUN:   | mlir-runner --entry-point-result=void -e main -shared-libs=%mlir_lib/libmlir_c_runner_utils.so,%mlir_lib/libmlir_runner_utils.so \
// RUN:   | FileCheck %s

// Runs the masks of caches by the simplest upstream lowering: two sequences of 2 and 1 tokens, in slots 2 and 0 of a
// cache of 3 slots and 4 keys, after 1 and 3 tokens.

func.func @print(%t: tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %t, %c0 : tensor<?x?xf32>
  %f = arith.constant 9.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = vector.transfer_read %t[%i, %c0], %f : tensor<?x?xf32>, vector<4xf32>
    vector.print %v : vector<4xf32>
  }
  return
}

func.func @main() {
  %pastKeys = arith.constant dense<[1, 3]> : tensor<2xi64>
  %slotsOfSequences = arith.constant dense<[2, 0]> : tensor<2xi64>
  %begins = arith.constant dense<[0, 2, 3]> : tensor<3xi64>
  %values = arith.constant dense<-1.0> : tensor<3x4xf32>
  %added = arith.constant dense<[[-2.0, -3.0], [-4.0, -5.0]]> : tensor<2x2xf32>
  %past = tensor.cast %pastKeys : tensor<2xi64> to tensor<?xi64>
  %slots = tensor.cast %slotsOfSequences : tensor<2xi64> to tensor<?xi64>
  %offsets = tensor.cast %begins : tensor<3xi64> to tensor<?xi64>
  %cache = tensor.cast %values : tensor<3x4xf32> to tensor<?x?xf32>
  %mask = tensor.cast %added : tensor<2x2xf32> to tensor<?x?xf32>

  // Without a mask new keys are visible; the second sequence writes one key only.
  // CHECK: ( -1, -1, -1, 0 )
  // CHECK-NEXT: ( -1, -1, -1, -1 )
  // CHECK-NEXT: ( -1, 0, 0, -1 )
  %visible = xfmr.mask_cache_update %cache at(%past) slots(%slots) offsets(%offsets) : tensor<?x?xf32>
  call @print(%visible) : (tensor<?x?xf32>) -> ()
  // CHECK-NEXT: ( -1, -1, -1, -4 )
  // CHECK-NEXT: ( -1, -1, -1, -1 )
  // CHECK-NEXT: ( -1, -2, -3, -1 )
  %masked = xfmr.mask_cache_update %cache at(%past) slots(%slots) offsets(%offsets) mask(%mask : tensor<?x?xf32>) : tensor<?x?xf32>
  call @print(%masked) : (tensor<?x?xf32>) -> ()

  // A read gives the rows of the slots, cut at the length. The fourth column is beyond it.
  // CHECK-NEXT: ( -1, -2, -3, 9 )
  // CHECK-NEXT: ( -1, -1, -1, 9 )
  %length = arith.constant 3 : index
  %read = xfmr.mask_cache_read %masked, %length slots(%slots) : tensor<?x?xf32>
  call @print(%read) : (tensor<?x?xf32>) -> ()
  return
}
