// Attention of heads whose number is no power of two: biases by ALiBi's slopes, capped scores, no key later or more than 5 earlier.
module attributes {xfmr.model = #xfmr.model<family = "test", architecture = "Alibi", limits = {length = 40 : i64}>} {
  xfmr.weight @slopes : tensor<6xf32> = #xfmr.computed<"alibi_slopes", {} : tensor<6xf32>>

  func.func @forward(%x: tensor<?x?x24xf32> {xfmr.input = #xfmr.input<"x", [batch, length, 24]>})
      -> (tensor<?x?x24xf32> {xfmr.output = #xfmr.output<"y", [batch, length, 24]>},
          tensor<?x6x?x?xf32> {xfmr.output = #xfmr.output<"probabilities", [batch, 6, length, length]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %batch = tensor.dim %x, %c0 : tensor<?x?x24xf32>
    %length = tensor.dim %x, %c1 : tensor<?x?x24xf32>
    %offsets = xfmr.sequence_offsets %batch, %length
    %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x24xf32> into tensor<?x24xf32>
    %heads = xfmr.split_heads %rows, 6 : tensor<?x24xf32>
    %slopes = xfmr.weight_ref @slopes : tensor<6xf32>
    %bias = xfmr.alibi_bias %slopes, %length : tensor<6xf32>
    %attended, %probabilities = xfmr.attention %heads, %heads, %heads offsets(%offsets, %offsets) lengths(%length, %length)
        distance_bias(%bias : tensor<6x?xf32>) {scale = 0.5 : f64, causal, window_left = 5 : i64, softcap = 0.7 : f64}
        : tensor<?x6x4xf32>, tensor<?x6x4xf32>, tensor<?x6x4xf32> -> tensor<?x6x4xf32>, tensor<?x6x?x?xf32>
    %joined = xfmr.merge_heads %attended : tensor<?x6x4xf32>
    %y = tensor.expand_shape %joined [[0, 1], [2]] output_shape [%batch, %length, 24] : tensor<?x24xf32> into tensor<?x?x24xf32>
    return %y, %probabilities : tensor<?x?x24xf32>, tensor<?x6x?x?xf32>
  }
}
