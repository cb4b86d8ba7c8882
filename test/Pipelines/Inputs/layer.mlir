// One encoder layer called twice, as the importer writes it: hidden size 20, two heads, 50 inner columns.
module attributes {xfmr.model = #xfmr.model<family = "bert", architecture = "BertModel">} {
  xfmr.weight @q0 : tensor<20x20xf32> = #xfmr.tensor<"q.0" : tensor<20x20xf32>>
  xfmr.weight @q1 : tensor<20x20xf32> = #xfmr.tensor<"q.1" : tensor<20x20xf32>>
  xfmr.weight @up : tensor<50x20xf32> = #xfmr.tensor<"up" : tensor<50x20xf32>>
  xfmr.weight @up_bias : tensor<50xf32> = #xfmr.tensor<"up_bias" : tensor<50xf32>>
  xfmr.weight @down : tensor<20x50xf32> = #xfmr.tensor<"down" : tensor<20x50xf32>>
  xfmr.weight @ones : tensor<20xf32> = #xfmr.fill<1.0 : f32 : tensor<20xf32>>
  func.func private @layer(%x: tensor<?x20xf32>, %offsets: tensor<?xi64>, %length: index, %mask: tensor<?x?xf32>, %q: tensor<20x20xf32> {xfmr.weight},
                           %ones: tensor<20xf32> {xfmr.weight}, %up: tensor<50x20xf32> {xfmr.weight}, %up_bias: tensor<50xf32> {xfmr.weight},
                           %down: tensor<20x50xf32> {xfmr.weight}) -> tensor<?x20xf32> {
    %a = xfmr.multi_head_attention %x, %x weights(%q, %q, %q, %q : tensor<20x20xf32>, tensor<20x20xf32>, tensor<20x20xf32>, tensor<20x20xf32>)
      bias(%ones, %ones, %ones, %ones : tensor<20xf32>, tensor<20xf32>, tensor<20xf32>, tensor<20xf32>)
      offsets(%offsets, %offsets) lengths(%length, %length) mask(%mask : tensor<?x?xf32>)
      {num_heads = 2 : i64, num_kv_heads = 2 : i64, scale = 0.25 : f64} : tensor<?x20xf32>, tensor<?x20xf32> -> tensor<?x20xf32>
    %d = xfmr.dropout %a {rate = 0.1 : f64} : tensor<?x20xf32>
    %r = arith.addf %d, %x : tensor<?x20xf32>
    %n = xfmr.layer_norm %r, %ones, %ones {epsilon = 1.0e-12 : f64} : tensor<?x20xf32>, tensor<20xf32>, tensor<20xf32>
    %f = xfmr.ffn <gelu> %n, %up, %down bias(%up_bias, %ones) : tensor<?x20xf32>, tensor<50x20xf32>, tensor<20x50xf32>, bias tensor<50xf32>, tensor<20xf32>
    %s = arith.addf %f, %n : tensor<?x20xf32>
    %y = xfmr.layer_norm %s, %ones, %ones {epsilon = 1.0e-12 : f64} : tensor<?x20xf32>, tensor<20xf32>, tensor<20xf32>
    return %y : tensor<?x20xf32>
  }
  func.func @forward(%x: tensor<?x?x20xf32> {xfmr.input = #xfmr.input<"inputs_embeds", [batch, length, 20]>},
                     %attention_mask: tensor<?x?xi64> {xfmr.input = #xfmr.input<"attention_mask", [batch, length], default = ones>})
      -> (tensor<?x?x20xf32> {xfmr.output = #xfmr.output<"last_hidden_state", [batch, length, 20]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %batch = tensor.dim %x, %c0 : tensor<?x?x20xf32>
    %length = tensor.dim %x, %c1 : tensor<?x?x20xf32>
    %tokens = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x20xf32> into tensor<?x20xf32>
    %offsets = xfmr.sequence_offsets %batch, %length
    %mask = xfmr.additive_mask %attention_mask : tensor<?x?xi64>
    %q0 = xfmr.weight_ref @q0 : tensor<20x20xf32>
    %q1 = xfmr.weight_ref @q1 : tensor<20x20xf32>
    %ones = xfmr.weight_ref @ones : tensor<20xf32>
    %up = xfmr.weight_ref @up : tensor<50x20xf32>
    %up_bias = xfmr.weight_ref @up_bias : tensor<50xf32>
    %down = xfmr.weight_ref @down : tensor<20x50xf32>
    %y = func.call @layer(%tokens, %offsets, %length, %mask, %q0, %ones, %up, %up_bias, %down)
      : (tensor<?x20xf32>, tensor<?xi64>, index, tensor<?x?xf32>, tensor<20x20xf32>, tensor<20xf32>, tensor<50x20xf32>, tensor<50xf32>, tensor<20x50xf32>) -> tensor<?x20xf32>
    %z = func.call @layer(%y, %offsets, %length, %mask, %q1, %ones, %up, %up_bias, %down)
      : (tensor<?x20xf32>, tensor<?xi64>, index, tensor<?x?xf32>, tensor<20x20xf32>, tensor<20xf32>, tensor<50x20xf32>, tensor<50xf32>, tensor<20x50xf32>) -> tensor<?x20xf32>
    %out = tensor.expand_shape %z [[0, 1], [2]] output_shape [%batch, %length, 20] : tensor<?x20xf32> into tensor<?x?x20xf32>
    return %out : tensor<?x?x20xf32>
  }
}
