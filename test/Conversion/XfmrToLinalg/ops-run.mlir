// RUN: attune-opt --convert-xfmr-to-linalg --one-shot-bufferize="bufferize-function-boundaries" --convert-linalg-to-loops \
// RUN:     --convert-vector-to-scf --convert-scf-to-cf --convert-vector-to-llvm --convert-math-to-llvm --expand-strided-metadata --lower-affine \
// RUN:     --finalize-memref-to-llvm --convert-arith-to-llvm --convert-func-to-llvm --convert-cf-to-llvm --reconcile-unrealized-casts %s \
// RUN:   | mlir-runner --entry-point-result=void -e main -shared-libs=%mlir_lib/libmlir_c_runner_utils.so,%mlir_lib/libmlir_runner_utils.so \
// RUN:   | FileCheck %s
// RUN: attune-opt --convert-xfmr-to-linalg=known-counts --one-shot-bufferize="bufferize-function-boundaries" --convert-linalg-to-loops \
// RUN:     --scf-forall-to-for --convert-vector-to-scf --convert-scf-to-cf --convert-vector-to-llvm --convert-math-to-llvm --expand-strided-metadata --lower-affine \
// RUN:     --finalize-memref-to-llvm --convert-arith-to-llvm --convert-func-to-llvm --convert-cf-to-llvm --reconcile-unrealized-casts %s \
// RUN:   | mlir-runner --entry-point-result=void -e main -shared-libs=%mlir_lib/libmlir_c_runner_utils.so,%mlir_lib/libmlir_runner_utils.so \
// RUN:   | FileCheck %s

// Runs the converted operations by the simplest upstream lowering. Three sequences of length 4: one that begins with
// padding, one without tokens, one with a visible first token.

func.func @ids(%t: tensor<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %t, %c0 : tensor<?xi64>
  scf.for %i = %c0 to %n step %c1 {
    %v = tensor.extract %t[%i] : tensor<?xi64>
    vector.print %v : i64
  }
  vector.print str "--\n"
  return
}
func.func @rows(%t: tensor<?x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %t, %c0 : tensor<?x3xf32>
  scf.for %i = %c0 to %n step %c1 {
    %f0 = arith.constant 0.0 : f32
    %v = vector.transfer_read %t[%i, %c0], %f0 {in_bounds = [true]} : tensor<?x3xf32>, vector<3xf32>
    vector.print %v : vector<3xf32>
  }
  vector.print str "--\n"
  return
}
func.func @main() {
  %padded = arith.constant dense<[[0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 1, 1]]> : tensor<3x4xi64>
  %mask = tensor.cast %padded : tensor<3x4xi64> to tensor<?x?xi64>
  %length = arith.constant 4 : index
  %rows = arith.constant 12 : index
  %offsets, %positions = xfmr.pack_tokens %mask : tensor<?x?xi64>
  // CHECK: {{^}}0{{$}}
  // CHECK-NEXT: 2
  // CHECK-NEXT: 2
  // CHECK-NEXT: 5
  // CHECK-NEXT: --
  call @ids(%offsets) : (tensor<?xi64>) -> ()
  // CHECK-NEXT: 1
  // CHECK-NEXT: 2
  // CHECK-NEXT: 8
  // CHECK-NEXT: 10
  // CHECK-NEXT: 11
  // CHECK-NEXT: --
  call @ids(%positions) : (tensor<?xi64>) -> ()

  %table = arith.constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0], [12.0, 13.0, 14.0], [15.0, 16.0, 17.0],
    [18.0, 19.0, 20.0], [21.0, 22.0, 23.0], [24.0, 25.0, 26.0], [27.0, 28.0, 29.0], [30.0, 31.0, 32.0], [33.0, 34.0, 35.0]]> : tensor<12x3xf32>
  %x = xfmr.embedding %positions, %table : tensor<12x3xf32>
  // CHECK-NEXT: ( 3, 4, 5 )
  // CHECK-NEXT: ( 6, 7, 8 )
  // CHECK-NEXT: ( 24, 25, 26 )
  // CHECK-NEXT: ( 30, 31, 32 )
  // CHECK-NEXT: ( 33, 34, 35 )
  // CHECK-NEXT: --
  call @rows(%x) : (tensor<?x3xf32>) -> ()
  %scattered = xfmr.scatter_tokens %x, %positions, %rows : tensor<?x3xf32>
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 3, 4, 5 )
  // CHECK-NEXT: ( 6, 7, 8 )
  // CHECK-COUNT-5: ( 0, 0, 0 )
  // CHECK-NEXT: ( 24, 25, 26 )
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 30, 31, 32 )
  // CHECK-NEXT: ( 33, 34, 35 )
  // CHECK-NEXT: --
  call @rows(%scattered) : (tensor<?x3xf32>) -> ()
  %gathered = xfmr.gather_tokens %scattered, %positions : tensor<?x3xf32>
  // CHECK-NEXT: ( 3, 4, 5 )
  // CHECK-NEXT: ( 6, 7, 8 )
  // CHECK-NEXT: ( 24, 25, 26 )
  // CHECK-NEXT: ( 30, 31, 32 )
  // CHECK-NEXT: ( 33, 34, 35 )
  // CHECK-NEXT: --
  call @rows(%gathered) : (tensor<?x3xf32>) -> ()

  %first = xfmr.pool <first> %x, %offsets packed(%positions, %length) : tensor<?x3xf32>
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 24, 25, 26 )
  // CHECK-NEXT: --
  call @rows(%first) : (tensor<?x3xf32>) -> ()
  %batch = arith.constant 3 : index
  %plain = xfmr.sequence_offsets %batch, %length
  %padded_first = xfmr.pool <first> %scattered, %plain : tensor<?x3xf32>
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 24, 25, 26 )
  // CHECK-NEXT: --
  call @rows(%padded_first) : (tensor<?x3xf32>) -> ()
  %mean = xfmr.pool <mean> %x, %offsets packed(%positions, %length) : tensor<?x3xf32>
  // CHECK-NEXT: ( 4.5, 5.5, 6.5 )
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 29, 30, 31 )
  // CHECK-NEXT: --
  call @rows(%mean) : (tensor<?x3xf32>) -> ()

  %leading = xfmr.pool <leading> %x, %offsets : tensor<?x3xf32>
  // CHECK-NEXT: ( 3, 4, 5 )
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 24, 25, 26 )
  // CHECK-NEXT: --
  call @rows(%leading) : (tensor<?x3xf32>) -> ()
  %last = xfmr.pool <last> %x, %offsets : tensor<?x3xf32>
  // CHECK-NEXT: ( 6, 7, 8 )
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 33, 34, 35 )
  // CHECK-NEXT: --
  call @rows(%last) : (tensor<?x3xf32>) -> ()
  %max = xfmr.pool <max> %x, %offsets : tensor<?x3xf32>
  // CHECK-NEXT: ( 6, 7, 8 )
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 33, 34, 35 )
  // CHECK-NEXT: --
  call @rows(%max) : (tensor<?x3xf32>) -> ()
  %sqrt = xfmr.pool <mean_sqrt_length> %x, %offsets : tensor<?x3xf32>
  // CHECK-NEXT: ( 6.36396, 7.77817, 9.19239 )
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 50.2295, 51.9615, 53.6936 )
  // CHECK-NEXT: --
  call @rows(%sqrt) : (tensor<?x3xf32>) -> ()
  %weighted = xfmr.pool <weighted_mean> %x, %offsets : tensor<?x3xf32>
  // CHECK-NEXT: ( 5, 6, 7 )
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 30.5, 31.5, 32.5 )
  // CHECK-NEXT: --
  call @rows(%weighted) : (tensor<?x3xf32>) -> ()
  // Prompts of 1, 0 and 1 tokens are skipped; then all tokens of the first two sequences are.
  %prompts = arith.constant dense<[1, 0, 1]> : tensor<3xi64>
  %skip = tensor.cast %prompts : tensor<3xi64> to tensor<?xi64>
  %leading_after = xfmr.pool <leading> %x, %offsets skip(%skip) : tensor<?x3xf32>
  // CHECK-NEXT: ( 6, 7, 8 )
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 30, 31, 32 )
  // CHECK-NEXT: --
  call @rows(%leading_after) : (tensor<?x3xf32>) -> ()
  %mean_after = xfmr.pool <mean> %x, %offsets skip(%skip) : tensor<?x3xf32>
  // CHECK-NEXT: ( 6, 7, 8 )
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 31.5, 32.5, 33.5 )
  // CHECK-NEXT: --
  call @rows(%mean_after) : (tensor<?x3xf32>) -> ()
  %weighted_after = xfmr.pool <weighted_mean> %x, %offsets skip(%skip) : tensor<?x3xf32>
  // CHECK-NEXT: ( 6, 7, 8 )
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 31.8, 32.8, 33.8 )
  // CHECK-NEXT: --
  call @rows(%weighted_after) : (tensor<?x3xf32>) -> ()
  %long_prompts = arith.constant dense<[2, 9, 2]> : tensor<3xi64>
  %all = tensor.cast %long_prompts : tensor<3xi64> to tensor<?xi64>
  %last_after = xfmr.pool <last> %x, %offsets skip(%all) : tensor<?x3xf32>
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 33, 34, 35 )
  // CHECK-NEXT: --
  call @rows(%last_after) : (tensor<?x3xf32>) -> ()
  %max_after = xfmr.pool <max> %x, %offsets skip(%all) : tensor<?x3xf32>
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 0, 0, 0 )
  // CHECK-NEXT: ( 33, 34, 35 )
  // CHECK-NEXT: --
  call @rows(%max_after) : (tensor<?x3xf32>) -> ()

  %softmax = xfmr.softmax %x : tensor<?x3xf32>
  // CHECK-COUNT-5: ( 0.0900306, 0.244728, 0.665241 )
  // CHECK-NEXT: --
  call @rows(%softmax) : (tensor<?x3xf32>) -> ()
  %log_softmax = xfmr.softmax log %x : tensor<?x3xf32>
  // CHECK-COUNT-5: ( -2.40761, -1.40761, -0.407606 )
  // CHECK-NEXT: --
  call @rows(%log_softmax) : (tensor<?x3xf32>) -> ()

  // One head, p[b, 0, i, j] = 100 b + 10 i + j: the values of tokens 0, 2 and 3 of the last sequence go there.
  %empty = tensor.empty(%batch, %length, %length) : tensor<?x1x?x?xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%empty : tensor<?x1x?x?xf32>) {
  ^bb0(%out: f32):
    %b = linalg.index 0 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %c100 = arith.constant 100 : index
    %c10 = arith.constant 10 : index
    %b100 = arith.muli %b, %c100 : index
    %i10 = arith.muli %i, %c10 : index
    %s0 = arith.addi %b100, %i10 : index
    %s1 = arith.addi %s0, %j : index
    %int = arith.index_cast %s1 : index to i64
    %float = arith.sitofp %int : i64 to f32
    linalg.yield %float : f32
  } -> tensor<?x1x?x?xf32>
  %padded_p = xfmr.scatter_probabilities %p, %offsets, %positions : tensor<?x1x?x?xf32>
  // CHECK-NEXT: ( 200, 0, 201, 202 )
  // CHECK-NEXT: ( 0, 0, 0, 0 )
  // CHECK-NEXT: ( 210, 0, 211, 212 )
  // CHECK-NEXT: ( 220, 0, 221, 222 )
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %f0 = arith.constant 0.0 : f32
  scf.for %i = %c0 to %length step %c1 {
    %row = vector.transfer_read %padded_p[%c2, %c0, %i, %c0], %f0 : tensor<?x1x?x?xf32>, vector<4xf32>
    vector.print %row : vector<4xf32>
  }

  // Padding is 7: it gets position 7, the others are counted from 8.
  %words = arith.constant dense<[[3, 7, 7, 9], [7, 7, 1, 2], [7, 7, 7, 7]]> : tensor<3x4xi64>
  %wordIds = tensor.cast %words : tensor<3x4xi64> to tensor<?x?xi64>
  %counted = xfmr.counted_positions %wordIds {padding = 7 : i64} : tensor<?x?xi64>
  %flat = tensor.collapse_shape %counted [[0, 1]] : tensor<?x?xi64> into tensor<?xi64>
  // CHECK-NEXT: {{^}}8{{$}}
  // CHECK-NEXT: {{^}}7{{$}}
  // CHECK-NEXT: {{^}}7{{$}}
  // CHECK-NEXT: {{^}}9{{$}}
  // CHECK-NEXT: {{^}}7{{$}}
  // CHECK-NEXT: {{^}}7{{$}}
  // CHECK-NEXT: {{^}}8{{$}}
  // CHECK-NEXT: {{^}}9{{$}}
  // CHECK-NEXT: {{^}}7{{$}}
  // CHECK-NEXT: {{^}}7{{$}}
  // CHECK-NEXT: {{^}}7{{$}}
  // CHECK-NEXT: {{^}}7{{$}}
  // CHECK-NEXT: --
  call @ids(%flat) : (tensor<?xi64>) -> ()

  // Keys with a value of at most half of the most negative f32 are hidden; so is minus infinity, and NaN is not.
  %hiding = arith.constant dense<[[0.0, -3.40282347E+38, 1.0, 0xFF800000], [-1.8e38, -1.6e38, 0x7FC00000, 0.0]]> : tensor<2x4xf32>
  %keys = tensor.cast %hiding : tensor<2x4xf32> to tensor<?x?xf32>
  %before = xfmr.visible_before %keys : tensor<?x?xf32>
  %flatBefore = tensor.collapse_shape %before [[0, 1]] : tensor<?x?xi64> into tensor<?xi64>
  // CHECK-NEXT: {{^}}0{{$}}
  // CHECK-NEXT: {{^}}1{{$}}
  // CHECK-NEXT: {{^}}1{{$}}
  // CHECK-NEXT: {{^}}2{{$}}
  // CHECK-NEXT: {{^}}0{{$}}
  // CHECK-NEXT: {{^}}0{{$}}
  // CHECK-NEXT: {{^}}1{{$}}
  // CHECK-NEXT: {{^}}2{{$}}
  // CHECK-NEXT: --
  call @ids(%flatBefore) : (tensor<?xi64>) -> ()
  return
}
