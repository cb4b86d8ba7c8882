//===- encoder.mlir - The encoder of "Attention Is All You Need" -*- mlir -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
//
// Two layers: 32 features, 4 heads, 48 inner features. Weights are declared by their names in the safetensors file that
// the compiler reads; the IR does not contain them. Both layers are calls of the function @layer, each with its weights,
// so that it is compiled once. Tokens of all sequences are rows of one matrix; `offsets` has the first row of each one,
// then the number of rows.
//
// attune compile encoder.mlir --weights=weights.safetensors --emit=shared -o encoder.so
//
//===----------------------------------------------------------------------===//

// The table of positions has 64 rows.
module attributes {xfmr.model = #xfmr.model<family = "seed", architecture = "Encoder", limits = {length = 64 : i64}>} {
  xfmr.weight @positions : tensor<64x32xf32> = #xfmr.computed<"sinusoidal", {layout = "interleaved"} : tensor<64x32xf32>>

  // Layer 0
  xfmr.weight @"encoder.0.attention.q.weight" : tensor<32x32xf32> = #xfmr.tensor<"encoder.0.attention.q.weight" : tensor<32x32xf32>>
  xfmr.weight @"encoder.0.attention.q.bias" : tensor<32xf32> = #xfmr.tensor<"encoder.0.attention.q.bias" : tensor<32xf32>>
  xfmr.weight @"encoder.0.attention.k.weight" : tensor<32x32xf32> = #xfmr.tensor<"encoder.0.attention.k.weight" : tensor<32x32xf32>>
  xfmr.weight @"encoder.0.attention.k.bias" : tensor<32xf32> = #xfmr.tensor<"encoder.0.attention.k.bias" : tensor<32xf32>>
  xfmr.weight @"encoder.0.attention.v.weight" : tensor<32x32xf32> = #xfmr.tensor<"encoder.0.attention.v.weight" : tensor<32x32xf32>>
  xfmr.weight @"encoder.0.attention.v.bias" : tensor<32xf32> = #xfmr.tensor<"encoder.0.attention.v.bias" : tensor<32xf32>>
  xfmr.weight @"encoder.0.attention.o.weight" : tensor<32x32xf32> = #xfmr.tensor<"encoder.0.attention.o.weight" : tensor<32x32xf32>>
  xfmr.weight @"encoder.0.attention.o.bias" : tensor<32xf32> = #xfmr.tensor<"encoder.0.attention.o.bias" : tensor<32xf32>>
  xfmr.weight @"encoder.0.attention.norm.weight" : tensor<32xf32> = #xfmr.tensor<"encoder.0.attention.norm.weight" : tensor<32xf32>>
  xfmr.weight @"encoder.0.attention.norm.bias" : tensor<32xf32> = #xfmr.tensor<"encoder.0.attention.norm.bias" : tensor<32xf32>>
  xfmr.weight @"encoder.0.ffn.up.weight" : tensor<48x32xf32> = #xfmr.tensor<"encoder.0.ffn.up.weight" : tensor<48x32xf32>>
  xfmr.weight @"encoder.0.ffn.up.bias" : tensor<48xf32> = #xfmr.tensor<"encoder.0.ffn.up.bias" : tensor<48xf32>>
  xfmr.weight @"encoder.0.ffn.down.weight" : tensor<32x48xf32> = #xfmr.tensor<"encoder.0.ffn.down.weight" : tensor<32x48xf32>>
  xfmr.weight @"encoder.0.ffn.down.bias" : tensor<32xf32> = #xfmr.tensor<"encoder.0.ffn.down.bias" : tensor<32xf32>>
  xfmr.weight @"encoder.0.ffn.norm.weight" : tensor<32xf32> = #xfmr.tensor<"encoder.0.ffn.norm.weight" : tensor<32xf32>>
  xfmr.weight @"encoder.0.ffn.norm.bias" : tensor<32xf32> = #xfmr.tensor<"encoder.0.ffn.norm.bias" : tensor<32xf32>>

  // Layer 1
  xfmr.weight @"encoder.1.attention.q.weight" : tensor<32x32xf32> = #xfmr.tensor<"encoder.1.attention.q.weight" : tensor<32x32xf32>>
  xfmr.weight @"encoder.1.attention.q.bias" : tensor<32xf32> = #xfmr.tensor<"encoder.1.attention.q.bias" : tensor<32xf32>>
  xfmr.weight @"encoder.1.attention.k.weight" : tensor<32x32xf32> = #xfmr.tensor<"encoder.1.attention.k.weight" : tensor<32x32xf32>>
  xfmr.weight @"encoder.1.attention.k.bias" : tensor<32xf32> = #xfmr.tensor<"encoder.1.attention.k.bias" : tensor<32xf32>>
  xfmr.weight @"encoder.1.attention.v.weight" : tensor<32x32xf32> = #xfmr.tensor<"encoder.1.attention.v.weight" : tensor<32x32xf32>>
  xfmr.weight @"encoder.1.attention.v.bias" : tensor<32xf32> = #xfmr.tensor<"encoder.1.attention.v.bias" : tensor<32xf32>>
  xfmr.weight @"encoder.1.attention.o.weight" : tensor<32x32xf32> = #xfmr.tensor<"encoder.1.attention.o.weight" : tensor<32x32xf32>>
  xfmr.weight @"encoder.1.attention.o.bias" : tensor<32xf32> = #xfmr.tensor<"encoder.1.attention.o.bias" : tensor<32xf32>>
  xfmr.weight @"encoder.1.attention.norm.weight" : tensor<32xf32> = #xfmr.tensor<"encoder.1.attention.norm.weight" : tensor<32xf32>>
  xfmr.weight @"encoder.1.attention.norm.bias" : tensor<32xf32> = #xfmr.tensor<"encoder.1.attention.norm.bias" : tensor<32xf32>>
  xfmr.weight @"encoder.1.ffn.up.weight" : tensor<48x32xf32> = #xfmr.tensor<"encoder.1.ffn.up.weight" : tensor<48x32xf32>>
  xfmr.weight @"encoder.1.ffn.up.bias" : tensor<48xf32> = #xfmr.tensor<"encoder.1.ffn.up.bias" : tensor<48xf32>>
  xfmr.weight @"encoder.1.ffn.down.weight" : tensor<32x48xf32> = #xfmr.tensor<"encoder.1.ffn.down.weight" : tensor<32x48xf32>>
  xfmr.weight @"encoder.1.ffn.down.bias" : tensor<32xf32> = #xfmr.tensor<"encoder.1.ffn.down.bias" : tensor<32xf32>>
  xfmr.weight @"encoder.1.ffn.norm.weight" : tensor<32xf32> = #xfmr.tensor<"encoder.1.ffn.norm.weight" : tensor<32xf32>>
  xfmr.weight @"encoder.1.ffn.norm.bias" : tensor<32xf32> = #xfmr.tensor<"encoder.1.ffn.norm.bias" : tensor<32xf32>>

  // norm(x + f(x)) for attention and for the feed-forward.
  func.func private @layer(%x: tensor<?x32xf32>, %offsets: tensor<?xi64>, %length: index,
      %attention_q_w: tensor<32x32xf32> {xfmr.weight}, %attention_q_b: tensor<32xf32> {xfmr.weight},
      %attention_k_w: tensor<32x32xf32> {xfmr.weight}, %attention_k_b: tensor<32xf32> {xfmr.weight},
      %attention_v_w: tensor<32x32xf32> {xfmr.weight}, %attention_v_b: tensor<32xf32> {xfmr.weight},
      %attention_o_w: tensor<32x32xf32> {xfmr.weight}, %attention_o_b: tensor<32xf32> {xfmr.weight},
      %attention_norm_w: tensor<32xf32> {xfmr.weight}, %attention_norm_b: tensor<32xf32> {xfmr.weight},
      %ffn_up_w: tensor<48x32xf32> {xfmr.weight}, %ffn_up_b: tensor<48xf32> {xfmr.weight},
      %ffn_down_w: tensor<32x48xf32> {xfmr.weight}, %ffn_down_b: tensor<32xf32> {xfmr.weight},
      %ffn_norm_w: tensor<32xf32> {xfmr.weight}, %ffn_norm_b: tensor<32xf32> {xfmr.weight}) -> tensor<?x32xf32> {
    %attended = xfmr.multi_head_attention %x, %x
        weights(%attention_q_w, %attention_k_w, %attention_v_w, %attention_o_w : tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>, tensor<32x32xf32>)
        bias(%attention_q_b, %attention_k_b, %attention_v_b, %attention_o_b : tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>)
        offsets(%offsets, %offsets) lengths(%length, %length)
        {num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 0.35355339059327379 : f64} : tensor<?x32xf32>, tensor<?x32xf32> -> tensor<?x32xf32>
    %y = xfmr.layer_norm %attended, %attention_norm_w, %attention_norm_b residual(%x : tensor<?x32xf32>) {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, tensor<32xf32>, tensor<32xf32>
    %inner = xfmr.ffn <relu> %y, %ffn_up_w, %ffn_down_w bias(%ffn_up_b, %ffn_down_b)
        : tensor<?x32xf32>, tensor<48x32xf32>, tensor<32x48xf32>, bias tensor<48xf32>, tensor<32xf32>
    %z = xfmr.layer_norm %inner, %ffn_norm_w, %ffn_norm_b residual(%y : tensor<?x32xf32>) {epsilon = 1.0e-5 : f64} : tensor<?x32xf32>, tensor<32xf32>, tensor<32xf32>
    return %z : tensor<?x32xf32>
  }

  // The entry that programs call. Inputs and outputs have names, and so have their dimensions.
  func.func @forward(%src: tensor<?x?x32xf32> {xfmr.input = #xfmr.input<"src", [batch, length, 32]>})
      -> (tensor<?x?x32xf32> {xfmr.output = #xfmr.output<"memory", [batch, length, 32]>}) attributes {xfmr.entry = #xfmr.entry<"forward">} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %batch = tensor.dim %src, %c0 : tensor<?x?x32xf32>
    %length = tensor.dim %src, %c1 : tensor<?x?x32xf32>
    %tokens = arith.muli %batch, %length : index
    %offsets = xfmr.sequence_offsets %batch, %length

    %rows = tensor.collapse_shape %src [[0, 1], [2]] : tensor<?x?x32xf32> into tensor<?x32xf32>
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

    %attention_q_w_0 = xfmr.weight_ref @"encoder.0.attention.q.weight" : tensor<32x32xf32>
    %attention_q_b_0 = xfmr.weight_ref @"encoder.0.attention.q.bias" : tensor<32xf32>
    %attention_k_w_0 = xfmr.weight_ref @"encoder.0.attention.k.weight" : tensor<32x32xf32>
    %attention_k_b_0 = xfmr.weight_ref @"encoder.0.attention.k.bias" : tensor<32xf32>
    %attention_v_w_0 = xfmr.weight_ref @"encoder.0.attention.v.weight" : tensor<32x32xf32>
    %attention_v_b_0 = xfmr.weight_ref @"encoder.0.attention.v.bias" : tensor<32xf32>
    %attention_o_w_0 = xfmr.weight_ref @"encoder.0.attention.o.weight" : tensor<32x32xf32>
    %attention_o_b_0 = xfmr.weight_ref @"encoder.0.attention.o.bias" : tensor<32xf32>
    %attention_norm_w_0 = xfmr.weight_ref @"encoder.0.attention.norm.weight" : tensor<32xf32>
    %attention_norm_b_0 = xfmr.weight_ref @"encoder.0.attention.norm.bias" : tensor<32xf32>
    %ffn_up_w_0 = xfmr.weight_ref @"encoder.0.ffn.up.weight" : tensor<48x32xf32>
    %ffn_up_b_0 = xfmr.weight_ref @"encoder.0.ffn.up.bias" : tensor<48xf32>
    %ffn_down_w_0 = xfmr.weight_ref @"encoder.0.ffn.down.weight" : tensor<32x48xf32>
    %ffn_down_b_0 = xfmr.weight_ref @"encoder.0.ffn.down.bias" : tensor<32xf32>
    %ffn_norm_w_0 = xfmr.weight_ref @"encoder.0.ffn.norm.weight" : tensor<32xf32>
    %ffn_norm_b_0 = xfmr.weight_ref @"encoder.0.ffn.norm.bias" : tensor<32xf32>
    %x1 = call @layer(%x0, %offsets, %length,
        %attention_q_w_0, %attention_q_b_0, %attention_k_w_0, %attention_k_b_0, %attention_v_w_0, %attention_v_b_0, %attention_o_w_0, %attention_o_b_0, %attention_norm_w_0, %attention_norm_b_0, %ffn_up_w_0, %ffn_up_b_0, %ffn_down_w_0, %ffn_down_b_0, %ffn_norm_w_0, %ffn_norm_b_0)
        : (tensor<?x32xf32>, tensor<?xi64>, index,
           tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<48x32xf32>, tensor<48xf32>, tensor<32x48xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<?x32xf32>

    %attention_q_w_1 = xfmr.weight_ref @"encoder.1.attention.q.weight" : tensor<32x32xf32>
    %attention_q_b_1 = xfmr.weight_ref @"encoder.1.attention.q.bias" : tensor<32xf32>
    %attention_k_w_1 = xfmr.weight_ref @"encoder.1.attention.k.weight" : tensor<32x32xf32>
    %attention_k_b_1 = xfmr.weight_ref @"encoder.1.attention.k.bias" : tensor<32xf32>
    %attention_v_w_1 = xfmr.weight_ref @"encoder.1.attention.v.weight" : tensor<32x32xf32>
    %attention_v_b_1 = xfmr.weight_ref @"encoder.1.attention.v.bias" : tensor<32xf32>
    %attention_o_w_1 = xfmr.weight_ref @"encoder.1.attention.o.weight" : tensor<32x32xf32>
    %attention_o_b_1 = xfmr.weight_ref @"encoder.1.attention.o.bias" : tensor<32xf32>
    %attention_norm_w_1 = xfmr.weight_ref @"encoder.1.attention.norm.weight" : tensor<32xf32>
    %attention_norm_b_1 = xfmr.weight_ref @"encoder.1.attention.norm.bias" : tensor<32xf32>
    %ffn_up_w_1 = xfmr.weight_ref @"encoder.1.ffn.up.weight" : tensor<48x32xf32>
    %ffn_up_b_1 = xfmr.weight_ref @"encoder.1.ffn.up.bias" : tensor<48xf32>
    %ffn_down_w_1 = xfmr.weight_ref @"encoder.1.ffn.down.weight" : tensor<32x48xf32>
    %ffn_down_b_1 = xfmr.weight_ref @"encoder.1.ffn.down.bias" : tensor<32xf32>
    %ffn_norm_w_1 = xfmr.weight_ref @"encoder.1.ffn.norm.weight" : tensor<32xf32>
    %ffn_norm_b_1 = xfmr.weight_ref @"encoder.1.ffn.norm.bias" : tensor<32xf32>
    %x2 = call @layer(%x1, %offsets, %length,
        %attention_q_w_1, %attention_q_b_1, %attention_k_w_1, %attention_k_b_1, %attention_v_w_1, %attention_v_b_1, %attention_o_w_1, %attention_o_b_1, %attention_norm_w_1, %attention_norm_b_1, %ffn_up_w_1, %ffn_up_b_1, %ffn_down_w_1, %ffn_down_b_1, %ffn_norm_w_1, %ffn_norm_b_1)
        : (tensor<?x32xf32>, tensor<?xi64>, index,
           tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<48x32xf32>, tensor<48xf32>, tensor<32x48xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<?x32xf32>

    %memory = tensor.expand_shape %x2 [[0, 1], [2]] output_shape [%batch, %length, 32] : tensor<?x32xf32> into tensor<?x?x32xf32>
    return %memory : tensor<?x?x32xf32>
  }
}
