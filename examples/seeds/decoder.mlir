//===- decoder.mlir - The decoder of "Attention Is All You Need" -*- mlir -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// One layer: attention to the token itself and earlier ones, attention to the encoder states, feed-forward; then a
// projection and the softmax over its features. Target and encoder states have different lengths, so each has its own
// offsets.
//
// attune compile decoder.mlir --weights=weights.safetensors --emit=shared -o decoder.so
//
//===----------------------------------------------------------------------===//

// The table of positions has 64 rows.
module attributes {xfmr.model = #xfmr.model<family = "seed", architecture = "Decoder", limits = {length = 64 : i64}>} {
  xfmr.weight @positions : tensor<64x32xf32> = #xfmr.computed<"sinusoidal", {layout = "interleaved"} : tensor<64x32xf32>>
  xfmr.weight @"linear.weight" : tensor<32x32xf32> = #xfmr.tensor<"linear.weight" : tensor<32x32xf32>>
  xfmr.weight @"linear.bias" : tensor<32xf32> = #xfmr.tensor<"linear.bias" : tensor<32xf32>>

  xfmr.weight @"decoder.0.attention.q.weight" : tensor<32x32xf32> = #xfmr.tensor<"decoder.0.attention.q.weight" : tensor<32x32xf32>>
  xfmr.weight @"decoder.0.attention.q.bias" : tensor<32xf32> = #xfmr.tensor<"decoder.0.attention.q.bias" : tensor<32xf32>>
  xfmr.weight @"decoder.0.attention.k.weight" : tensor<32x32xf32> = #xfmr.tensor<"decoder.0.attention.k.weight" : tensor<32x32xf32>>
  xfmr.weight @"decoder.0.attention.k.bias" : tensor<32xf32> = #xfmr.tensor<"decoder.0.attention.k.bias" : tensor<32xf32>>
  xfmr.weight @"decoder.0.attention.v.weight" : tensor<32x32xf32> = #xfmr.tensor<"decoder.0.attention.v.weight" : tensor<32x32xf32>>
  xfmr.weight @"decoder.0.attention.v.bias" : tensor<32xf32> = #xfmr.tensor<"decoder.0.attention.v.bias" : tensor<32xf32>>
  xfmr.weight @"decoder.0.attention.o.weight" : tensor<32x32xf32> = #xfmr.tensor<"decoder.0.attention.o.weight" : tensor<32x32xf32>>
  xfmr.weight @"decoder.0.attention.o.bias" : tensor<32xf32> = #xfmr.tensor<"decoder.0.attention.o.bias" : tensor<32xf32>>
  xfmr.weight @"decoder.0.attention.norm.weight" : tensor<32xf32> = #xfmr.tensor<"decoder.0.attention.norm.weight" : tensor<32xf32>>
  xfmr.weight @"decoder.0.attention.norm.bias" : tensor<32xf32> = #xfmr.tensor<"decoder.0.attention.norm.bias" : tensor<32xf32>>
  xfmr.weight @"decoder.0.cross.q.weight" : tensor<32x32xf32> = #xfmr.tensor<"decoder.0.cross.q.weight" : tensor<32x32xf32>>
  xfmr.weight @"decoder.0.cross.q.bias" : tensor<32xf32> = #xfmr.tensor<"decoder.0.cross.q.bias" : tensor<32xf32>>
  xfmr.weight @"decoder.0.cross.k.weight" : tensor<32x32xf32> = #xfmr.tensor<"decoder.0.cross.k.weight" : tensor<32x32xf32>>
  xfmr.weight @"decoder.0.cross.k.bias" : tensor<32xf32> = #xfmr.tensor<"decoder.0.cross.k.bias" : tensor<32xf32>>
  xfmr.weight @"decoder.0.cross.v.weight" : tensor<32x32xf32> = #xfmr.tensor<"decoder.0.cross.v.weight" : tensor<32x32xf32>>
  xfmr.weight @"decoder.0.cross.v.bias" : tensor<32xf32> = #xfmr.tensor<"decoder.0.cross.v.bias" : tensor<32xf32>>
  xfmr.weight @"decoder.0.cross.o.weight" : tensor<32x32xf32> = #xfmr.tensor<"decoder.0.cross.o.weight" : tensor<32x32xf32>>
  xfmr.weight @"decoder.0.cross.o.bias" : tensor<32xf32> = #xfmr.tensor<"decoder.0.cross.o.bias" : tensor<32xf32>>
  xfmr.weight @"decoder.0.cross.norm.weight" : tensor<32xf32> = #xfmr.tensor<"decoder.0.cross.norm.weight" : tensor<32xf32>>
  xfmr.weight @"decoder.0.cross.norm.bias" : tensor<32xf32> = #xfmr.tensor<"decoder.0.cross.norm.bias" : tensor<32xf32>>
  xfmr.weight @"decoder.0.ffn.up.weight" : tensor<48x32xf32> = #xfmr.tensor<"decoder.0.ffn.up.weight" : tensor<48x32xf32>>
  xfmr.weight @"decoder.0.ffn.up.bias" : tensor<48xf32> = #xfmr.tensor<"decoder.0.ffn.up.bias" : tensor<48xf32>>
  xfmr.weight @"decoder.0.ffn.down.weight" : tensor<32x48xf32> = #xfmr.tensor<"decoder.0.ffn.down.weight" : tensor<32x48xf32>>
  xfmr.weight @"decoder.0.ffn.down.bias" : tensor<32xf32> = #xfmr.tensor<"decoder.0.ffn.down.bias" : tensor<32xf32>>
  xfmr.weight @"decoder.0.ffn.norm.weight" : tensor<32xf32> = #xfmr.tensor<"decoder.0.ffn.norm.weight" : tensor<32xf32>>
  xfmr.weight @"decoder.0.ffn.norm.bias" : tensor<32xf32> = #xfmr.tensor<"decoder.0.ffn.norm.bias" : tensor<32xf32>>

  func.func private @layer(%x: tensor<?x32xf32>, %offsets: tensor<?xi64>, %length: index, %memory: tensor<?x32xf32>, %memory_offsets: tensor<?xi64>, %memory_length: index,
      %attention_q_w: tensor<32x32xf32> {xfmr.weight}, %attention_q_b: tensor<32xf32> {xfmr.weight},
      %attention_k_w: tensor<32x32xf32> {xfmr.weight}, %attention_k_b: tensor<32xf32> {xfmr.weight},
      %attention_v_w: tensor<32x32xf32> {xfmr.weight}, %attention_v_b: tensor<32xf32> {xfmr.weight},
      %attention_o_w: tensor<32x32xf32> {xfmr.weight}, %attention_o_b: tensor<32xf32> {xfmr.weight},
      %attention_norm_w: tensor<32xf32> {xfmr.weight}, %attention_norm_b: tensor<32xf32> {xfmr.weight},
      %cross_q_w: tensor<32x32xf32> {xfmr.weight}, %cross_q_b: tensor<32xf32> {xfmr.weight},
      %cross_k_w: tensor<32x32xf32> {xfmr.weight}, %cross_k_b: tensor<32xf32> {xfmr.weight},
      %cross_v_w: tensor<32x32xf32> {xfmr.weight}, %cross_v_b: tensor<32xf32> {xfmr.weight},
      %cross_o_w: tensor<32x32xf32> {xfmr.weight}, %cross_o_b: tensor<32xf32> {xfmr.weight},
      %cross_norm_w: tensor<32xf32> {xfmr.weight}, %cross_norm_b: tensor<32xf32> {xfmr.weight},
      %ffn_up_w: tensor<48x32xf32> {xfmr.weight}, %ffn_up_b: tensor<48xf32> {xfmr.weight},
      %ffn_down_w: tensor<32x48xf32> {xfmr.weight}, %ffn_down_b: tensor<32xf32> {xfmr.weight},
      %ffn_norm_w: tensor<32xf32> {xfmr.weight}, %ffn_norm_b: tensor<32xf32> {xfmr.weight}) -> tensor<?x32xf32> {
    %own = xfmr.multi_head_attention %x, %x
        weights(%attention_q_w, %attention_k_w, %attention_v_w, %attention_o_w : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>)
        bias(%attention_q_b, %attention_k_b, %attention_v_b, %attention_o_b : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>)
        offsets(%offsets, %offsets) lengths(%length, %length)
        {causal, num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 0.35355339059327379 : f64} : tensor<?x32xf32>, tensor<?x32xf32> -> tensor<?x32xf32>
    %y = xfmr.layer_norm %own, %attention_norm_w, %attention_norm_b residual(%x : tensor<?x32xf32>) {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, tensor<32xf32>, tensor<32xf32>
    %read = xfmr.multi_head_attention %y, %memory
        weights(%cross_q_w, %cross_k_w, %cross_v_w, %cross_o_w : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>)
        bias(%cross_q_b, %cross_k_b, %cross_v_b, %cross_o_b : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>)
        offsets(%offsets, %memory_offsets) lengths(%length, %memory_length)
        {num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 0.35355339059327379 : f64} : tensor<?x32xf32>, tensor<?x32xf32> -> tensor<?x32xf32>
    %z = xfmr.layer_norm %read, %cross_norm_w, %cross_norm_b residual(%y : tensor<?x32xf32>) {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, tensor<32xf32>, tensor<32xf32>
    %inner = xfmr.ffn <relu> %z, %ffn_up_w, %ffn_down_w bias(%ffn_up_b, %ffn_down_b)
        : tensor<?x32xf32>, tensor<48x32xf32>, tensor<32x48xf32>, bias tensor<48xf32>, tensor<32xf32>
    %r = xfmr.layer_norm %inner, %ffn_norm_w, %ffn_norm_b residual(%z : tensor<?x32xf32>) {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, tensor<32xf32>, tensor<32xf32>
    return %r : tensor<?x32xf32>
  }

  func.func @forward(%tgt: tensor<?x?x32xf32> {xfmr.input = #xfmr.input<"tgt", [batch, length, 32]>},
                     %memory: tensor<?x?x32xf32> {xfmr.input = #xfmr.input<"memory", [batch, source_length, 32]>})
      -> (tensor<?x?x32xf32> {xfmr.output = #xfmr.output<"output", [batch, length, 32]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %batch = tensor.dim %tgt, %c0 : tensor<?x?x32xf32>
    %length = tensor.dim %tgt, %c1 : tensor<?x?x32xf32>
    %memory_length = tensor.dim %memory, %c1 : tensor<?x?x32xf32>
    %tokens = arith.muli %batch, %length : index
    %offsets = xfmr.sequence_offsets %batch, %length
    %memory_offsets = xfmr.sequence_offsets %batch, %memory_length

    %memory_rows = tensor.collapse_shape %memory [[0, 1], [2]] : tensor<?x?x32xf32> into tensor<?x32xf32>
    %rows = tensor.collapse_shape %tgt [[0, 1], [2]] : tensor<?x?x32xf32> into tensor<?x32xf32>
    // The position of each token in its sequence, t mod length. The dialect has no operation for it, so it is a linalg
    // loop.
    %none = tensor.empty(%tokens) : tensor<?xi64>
    %places = linalg.generic {indexing_maps = [affine_map<(t) -> (t)>], iterator_types = ["parallel"]} outs(%none : tensor<?xi64>) {
    ^bb0(%unused: i64):
      %t = linalg.index 0 : index
      %place = arith.remui %t, %length : index
      %id = arith.index_cast %place : index to i64
      linalg.yield %id : i64
    } -> tensor<?xi64>
    %table = xfmr.weight_ref @positions : tensor<64x32xf32>
    %positions = xfmr.embedding %places, %table : tensor<64x32xf32>
    %x0 = arith.addf %rows, %positions : tensor<?x32xf32>

    %attention_q_w_0 = xfmr.weight_ref @"decoder.0.attention.q.weight" : tensor<32x32xf32>
    %attention_q_b_0 = xfmr.weight_ref @"decoder.0.attention.q.bias" : tensor<32xf32>
    %attention_k_w_0 = xfmr.weight_ref @"decoder.0.attention.k.weight" : tensor<32x32xf32>
    %attention_k_b_0 = xfmr.weight_ref @"decoder.0.attention.k.bias" : tensor<32xf32>
    %attention_v_w_0 = xfmr.weight_ref @"decoder.0.attention.v.weight" : tensor<32x32xf32>
    %attention_v_b_0 = xfmr.weight_ref @"decoder.0.attention.v.bias" : tensor<32xf32>
    %attention_o_w_0 = xfmr.weight_ref @"decoder.0.attention.o.weight" : tensor<32x32xf32>
    %attention_o_b_0 = xfmr.weight_ref @"decoder.0.attention.o.bias" : tensor<32xf32>
    %attention_norm_w_0 = xfmr.weight_ref @"decoder.0.attention.norm.weight" : tensor<32xf32>
    %attention_norm_b_0 = xfmr.weight_ref @"decoder.0.attention.norm.bias" : tensor<32xf32>
    %cross_q_w_0 = xfmr.weight_ref @"decoder.0.cross.q.weight" : tensor<32x32xf32>
    %cross_q_b_0 = xfmr.weight_ref @"decoder.0.cross.q.bias" : tensor<32xf32>
    %cross_k_w_0 = xfmr.weight_ref @"decoder.0.cross.k.weight" : tensor<32x32xf32>
    %cross_k_b_0 = xfmr.weight_ref @"decoder.0.cross.k.bias" : tensor<32xf32>
    %cross_v_w_0 = xfmr.weight_ref @"decoder.0.cross.v.weight" : tensor<32x32xf32>
    %cross_v_b_0 = xfmr.weight_ref @"decoder.0.cross.v.bias" : tensor<32xf32>
    %cross_o_w_0 = xfmr.weight_ref @"decoder.0.cross.o.weight" : tensor<32x32xf32>
    %cross_o_b_0 = xfmr.weight_ref @"decoder.0.cross.o.bias" : tensor<32xf32>
    %cross_norm_w_0 = xfmr.weight_ref @"decoder.0.cross.norm.weight" : tensor<32xf32>
    %cross_norm_b_0 = xfmr.weight_ref @"decoder.0.cross.norm.bias" : tensor<32xf32>
    %ffn_up_w_0 = xfmr.weight_ref @"decoder.0.ffn.up.weight" : tensor<48x32xf32>
    %ffn_up_b_0 = xfmr.weight_ref @"decoder.0.ffn.up.bias" : tensor<48xf32>
    %ffn_down_w_0 = xfmr.weight_ref @"decoder.0.ffn.down.weight" : tensor<32x48xf32>
    %ffn_down_b_0 = xfmr.weight_ref @"decoder.0.ffn.down.bias" : tensor<32xf32>
    %ffn_norm_w_0 = xfmr.weight_ref @"decoder.0.ffn.norm.weight" : tensor<32xf32>
    %ffn_norm_b_0 = xfmr.weight_ref @"decoder.0.ffn.norm.bias" : tensor<32xf32>
    %x1 = call @layer(%x0, %offsets, %length, %memory_rows, %memory_offsets, %memory_length,
        %attention_q_w_0, %attention_q_b_0, %attention_k_w_0, %attention_k_b_0, %attention_v_w_0, %attention_v_b_0, %attention_o_w_0, %attention_o_b_0, %attention_norm_w_0, %attention_norm_b_0, %cross_q_w_0, %cross_q_b_0, %cross_k_w_0, %cross_k_b_0, %cross_v_w_0, %cross_v_b_0, %cross_o_w_0, %cross_o_b_0, %cross_norm_w_0, %cross_norm_b_0, %ffn_up_w_0, %ffn_up_b_0, %ffn_down_w_0, %ffn_down_b_0, %ffn_norm_w_0, %ffn_norm_b_0)
        : (tensor<?x32xf32>, tensor<?xi64>, index, tensor<?x32xf32>, tensor<?xi64>, index,
           tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<48x32xf32>, tensor<48xf32>, tensor<32x48xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<?x32xf32>

    %linear_w = xfmr.weight_ref @"linear.weight" : tensor<32x32xf32>
    %linear_b = xfmr.weight_ref @"linear.bias" : tensor<32xf32>
    %logits = xfmr.linear %x1, %linear_w bias(%linear_b) : tensor<?x32xf32>, tensor<32x32xf32>, bias tensor<32xf32>
    %shares = xfmr.softmax %logits : tensor<?x32xf32>
    %output = tensor.expand_shape %shares [[0, 1], [2]] output_shape [%batch, %length, 32] : tensor<?x32xf32> into tensor<?x?x32xf32>
    return %output : tensor<?x?x32xf32>
  }
}
