// RUN: attune-opt %s | attune-opt | FileCheck %s
// RUN: attune-opt --mlir-print-op-generic %s | attune-opt | FileCheck %s

// CHECK: xfmr.weight @table : tensor<203x48xf32> = #xfmr.tensor<"embeddings.word" : tensor<203x48xf32>>
xfmr.weight @table : tensor<203x48xf32> = #xfmr.tensor<"embeddings.word" : tensor<203x48xf32>>
// CHECK: xfmr.weight "private" @pooler.dense.bias : tensor<8xf32> = #xfmr.fill<0.000000e+00 : f32 : tensor<8xf32>>
xfmr.weight "private" @"pooler.dense.bias" : tensor<8xf32> = #xfmr.fill<0.000000e+00 : f32 : tensor<8xf32>>
// CHECK: xfmr.weight @computed : tensor<64x8xf32> = #xfmr.computed<"sinusoidal", {base = 1.000000e+04 : f64} : tensor<64x8xf32>>
xfmr.weight @computed : tensor<64x8xf32> = #xfmr.computed<"sinusoidal", {base = 1.0e+4 : f64} : tensor<64x8xf32>>
// CHECK: xfmr.weight @concat : tensor<5x8xf32> = #xfmr.concat<0, [#xfmr.tensor<"a" : tensor<2x8xf32>>, #xfmr.tensor<"b" : tensor<3x8xf32>>]>
xfmr.weight @concat : tensor<5x8xf32> = #xfmr.concat<0, [#xfmr.tensor<"a" : tensor<2x8xf32>>, #xfmr.tensor<"b" : tensor<3x8xf32>>]>
// CHECK: xfmr.weight @slice : tensor<2x3xf32> = #xfmr.slice<#xfmr.tensor<"a" : tensor<2x8xf32>>, 1, 2, 5>
xfmr.weight @slice : tensor<2x3xf32> = #xfmr.slice<#xfmr.tensor<"a" : tensor<2x8xf32>>, 1, 2, 5>
// CHECK: xfmr.weight @select : tensor<3x8xf32> = #xfmr.select<#xfmr.tensor<"a" : tensor<2x8xf32>>, 0, [1, 0, 1]>
xfmr.weight @select : tensor<3x8xf32> = #xfmr.select<#xfmr.tensor<"a" : tensor<2x8xf32>>, 0, [1, 0, 1]>
// CHECK: xfmr.weight @transpose : tensor<8x2xf32> = #xfmr.transpose<#xfmr.tensor<"a" : tensor<2x8xf32>>, [1, 0]>
xfmr.weight @transpose : tensor<8x2xf32> = #xfmr.transpose<#xfmr.tensor<"a" : tensor<2x8xf32>>, [1, 0]>
// CHECK: xfmr.weight @reshape : tensor<2x2x4xf32> = #xfmr.reshape<#xfmr.tensor<"a" : tensor<2x8xf32>>, [2, 2, 4]>
xfmr.weight @reshape : tensor<2x2x4xf32> = #xfmr.reshape<#xfmr.tensor<"a" : tensor<2x8xf32>>, [2, 2, 4]>
// CHECK: xfmr.weight @scale : tensor<2x8xf32> = #xfmr.scale<#xfmr.tensor<"a" : tensor<2x8xf32>>, 1.250000e-01 : f64>
xfmr.weight @scale : tensor<2x8xf32> = #xfmr.scale<#xfmr.tensor<"a" : tensor<2x8xf32>>, 0.125 : f64>
// CHECK: xfmr.weight @shift : tensor<2x8xf32> = #xfmr.shift<#xfmr.tensor<"a" : tensor<2x8xf32>>, 1.000000e+00 : f64>
xfmr.weight @shift : tensor<2x8xf32> = #xfmr.shift<#xfmr.tensor<"a" : tensor<2x8xf32>>, 1.0 : f64>
// CHECK: xfmr.weight @project : tensor<5x3xf32> = #xfmr.project<#xfmr.tensor<"a" : tensor<5x8xf32>>, #xfmr.tensor<"w" : tensor<3x8xf32>>, #xfmr.tensor<"b" : tensor<3xf32>>>
xfmr.weight @project : tensor<5x3xf32> = #xfmr.project<#xfmr.tensor<"a" : tensor<5x8xf32>>, #xfmr.tensor<"w" : tensor<3x8xf32>>, #xfmr.tensor<"b" : tensor<3xf32>>>
// CHECK: xfmr.weight @project_without_bias : tensor<5x3xf32> = #xfmr.project<#xfmr.tensor<"a" : tensor<5x8xf32>>, #xfmr.tensor<"w" : tensor<3x8xf32>>>
xfmr.weight @project_without_bias : tensor<5x3xf32> = #xfmr.project<#xfmr.tensor<"a" : tensor<5x8xf32>>, #xfmr.tensor<"w" : tensor<3x8xf32>>>
// CHECK: xfmr.weight @norm : tensor<5x8xf32> = #xfmr.layer_norm<#xfmr.tensor<"a" : tensor<5x8xf32>>, #xfmr.tensor<"g" : tensor<8xf32>>, #xfmr.tensor<"b" : tensor<8xf32>>, 9.9999999999999995E-8 : f64>
xfmr.weight @norm : tensor<5x8xf32> = #xfmr.layer_norm<#xfmr.tensor<"a" : tensor<5x8xf32>>, #xfmr.tensor<"g" : tensor<8xf32>>, #xfmr.tensor<"b" : tensor<8xf32>>, 1.0e-7 : f64>
// CHECK: xfmr.weight @panels : tensor<2x8x16xf32> = #xfmr.panels<#xfmr.tensor<"c" : tensor<20x8xf32>>, 16>
xfmr.weight @panels : tensor<2x8x16xf32> = #xfmr.panels<#xfmr.tensor<"c" : tensor<20x8xf32>>, 16>

// CHECK-LABEL: @weights
func.func @weights(%a: tensor<8x8xf32>, %b: tensor<4x8xf32>, %d: tensor<5x8xf32>) {
  // CHECK: xfmr.weight_ref @table : tensor<203x48xf32>
  %table = xfmr.weight_ref @table : tensor<203x48xf32>
  // CHECK: xfmr.weight_concat 0, %{{.*}}, %{{.*}} : tensor<8x8xf32>, tensor<4x8xf32>
  %concat = xfmr.weight_concat 0, %a, %b : tensor<8x8xf32>, tensor<4x8xf32>
  // CHECK: xfmr.weight_pack %{{.*}}, 32 : tensor<203x48xf32>
  %pack = xfmr.weight_pack %table, 32 : tensor<203x48xf32>
  // CHECK: xfmr.weight_transpose %{{.*}} : tensor<4x8xf32>
  %transpose = xfmr.weight_transpose %b : tensor<4x8xf32>
  // CHECK: xfmr.weight_slice %{{.*}}, 2 to 7 : tensor<4x8xf32>
  %slice = xfmr.weight_slice %b, 2 to 7 : tensor<4x8xf32>
  // CHECK: xfmr.weight_distance_panels %{{.*}}, 2 : tensor<5x8xf32>
  %distances = xfmr.weight_distance_panels %d, 2 : tensor<5x8xf32>
  // The inferred types.
  // CHECK: call @use({{.*}}) : (tensor<12x8xf32>, tensor<7x48x32xf32>, tensor<8x4xf32>, tensor<2x4x35xf32>) -> ()
  call @use(%concat, %pack, %transpose, %distances) : (tensor<12x8xf32>, tensor<7x48x32xf32>, tensor<8x4xf32>, tensor<2x4x35xf32>) -> ()
  return
}
func.func private @use(tensor<12x8xf32>, tensor<7x48x32xf32>, tensor<8x4xf32>, tensor<2x4x35xf32>)

// CHECK-LABEL: @tokens
func.func @tokens(%batch: index, %length: index, %mask: tensor<?x?xi64>, %x: tensor<?x48xf32>, %probabilities: tensor<?x4x?x?xf32>)
    -> (tensor<?x?xf32>, tensor<?x48xf32>, tensor<?x48xf32>) {
  // CHECK: xfmr.sequence_offsets %{{.*}}, %{{.*}}
  %padded = xfmr.sequence_offsets %batch, %length
  // CHECK: xfmr.pack_tokens %{{.*}} : tensor<?x?xi64>
  %offsets, %positions = xfmr.pack_tokens %mask : tensor<?x?xi64>
  // CHECK: xfmr.gather_tokens %{{.*}}, %{{.*}} : tensor<?xi64>
  %ids = xfmr.gather_tokens %padded, %positions : tensor<?xi64>
  // CHECK: xfmr.gather_tokens %{{.*}}, %{{.*}} : tensor<?x48xf32>
  %packed = xfmr.gather_tokens %x, %positions : tensor<?x48xf32>
  // CHECK: xfmr.scatter_tokens %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x48xf32>
  %scattered = xfmr.scatter_tokens %packed, %positions, %length : tensor<?x48xf32>
  // CHECK: xfmr.scatter_probabilities %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4x?x?xf32>
  %p = xfmr.scatter_probabilities %probabilities, %offsets, %positions : tensor<?x4x?x?xf32>
  // CHECK: xfmr.counted_positions %{{.*}} {padding = 1 : i64} : tensor<?x?xi64>
  %counted = xfmr.counted_positions %mask {padding = 1 : i64} : tensor<?x?xi64>
  // CHECK: xfmr.additive_mask %{{.*}} : tensor<?x?xi64>
  %bias = xfmr.additive_mask %mask : tensor<?x?xi64>
  // CHECK: xfmr.visible_before %{{.*}} : tensor<?x?xf32>
  %before = xfmr.visible_before %bias : tensor<?x?xf32>
  %table = xfmr.weight_ref @table : tensor<203x48xf32>
  // CHECK: xfmr.embedding %{{.*}}, %{{.*}} : tensor<203x48xf32>
  %e = xfmr.embedding %ids, %table : tensor<203x48xf32>
  // CHECK: xfmr.embedding %{{.*}}, %{{.*}} {scale = 2.000000e+00 : f64, tied = #xfmr.precision<bf16>} : tensor<203x48xf32>
  %tied = xfmr.embedding %ids, %table {tied = #xfmr.precision<bf16>, scale = 2.0 : f64} : tensor<203x48xf32>
  // CHECK: xfmr.embedding %{{.*}}, %{{.*}} {format = #xfmr.weight_format<"int8:32">, tied = #xfmr.precision<int8>} : tensor<203x48xf32>
  %bytes = xfmr.embedding %ids, %table {tied = #xfmr.precision<int8>, format = #xfmr.weight_format<"int8:32">} : tensor<203x48xf32>
  // CHECK: xfmr.pool <first> %{{.*}}, %{{.*}} : tensor<?x48xf32>
  %first = xfmr.pool <first> %scattered, %padded : tensor<?x48xf32>
  // CHECK: xfmr.pool <mean> %{{.*}}, %{{.*}} packed(%{{.*}}, %{{.*}}) : tensor<?x48xf32>
  %mean = xfmr.pool <mean> %e, %offsets packed(%positions, %length) : tensor<?x48xf32>
  // CHECK: xfmr.pool <weighted_mean> %{{.*}}, %{{.*}} skip(%{{.*}}) : tensor<?x48xf32>
  %weighted = xfmr.pool <weighted_mean> %e, %offsets skip(%ids) : tensor<?x48xf32>
  // CHECK: xfmr.pool <mean_sqrt_length> %{{.*}}, %{{.*}} : tensor<?x48xf32>
  %sqrt = xfmr.pool <mean_sqrt_length> %weighted, %offsets : tensor<?x48xf32>
  return %bias, %first, %mean : tensor<?x?xf32>, tensor<?x48xf32>, tensor<?x48xf32>
}

// CHECK-LABEL: @projections
func.func @projections(%x: tensor<?x48xf32>, %w: tensor<112x48xf32>, %b: tensor<112xf32>, %d: tensor<48x112xf32>, %c: tensor<48xf32>)
    -> tensor<?x48xf32> {
  // CHECK: xfmr.linear %{{.*}}, %{{.*}} : tensor<?x48xf32>, tensor<112x48xf32>{{$}}
  %plain = xfmr.linear %x, %w : tensor<?x48xf32>, tensor<112x48xf32>
  // CHECK: xfmr.linear %{{.*}}, %{{.*}} bias(%{{.*}}) residual(%{{.*}}) {activation = #xfmr.activation<gelu_tanh>} : tensor<?x48xf32>, tensor<112x48xf32>, bias tensor<112xf32>, residual tensor<?x112xf32>
  %full = xfmr.linear %x, %w bias(%b) residual(%plain) {activation = #xfmr.activation<gelu_tanh>}
    : tensor<?x48xf32>, tensor<112x48xf32>, bias tensor<112xf32>, residual tensor<?x112xf32>
  // CHECK: xfmr.linear %{{.*}}, %{{.*}} residual(%{{.*}}) : tensor<?x112xf32>, tensor<48x112xf32>, residual tensor<?x48xf32>
  %residual = xfmr.linear %full, %d residual(%x) : tensor<?x112xf32>, tensor<48x112xf32>, residual tensor<?x48xf32>
  // CHECK: xfmr.ffn <gelu> %{{.*}}, %{{.*}}, %{{.*}} bias(%{{.*}}, %{{.*}}) residual(%{{.*}}) : tensor<?x48xf32>, tensor<112x48xf32>, tensor<48x112xf32>, bias tensor<112xf32>, tensor<48xf32>, residual tensor<?x48xf32>
  %ffn = xfmr.ffn <gelu> %residual, %w, %d bias(%b, %c) residual(%x)
    : tensor<?x48xf32>, tensor<112x48xf32>, tensor<48x112xf32>, bias tensor<112xf32>, tensor<48xf32>, residual tensor<?x48xf32>
  // CHECK: xfmr.linear %{{.*}}, %{{.*}} bias(%{{.*}}) multiplier(%{{.*}}) residual(%{{.*}}) : tensor<?x48xf32>, tensor<112x48xf32>, bias tensor<112xf32>, multiplier tensor<?x112xf32>, residual tensor<?x112xf32>
  %gated = xfmr.linear %x, %w bias(%b) multiplier(%plain) residual(%full)
    : tensor<?x48xf32>, tensor<112x48xf32>, bias tensor<112xf32>, multiplier tensor<?x112xf32>, residual tensor<?x112xf32>
  // CHECK: xfmr.linear %{{.*}}, %{{.*}} multiplier(%{{.*}}) : tensor<?x48xf32>, tensor<112x48xf32>, multiplier tensor<?x112xf32>{{$}}
  %scaled = xfmr.linear %x, %w multiplier(%gated) : tensor<?x48xf32>, tensor<112x48xf32>, multiplier tensor<?x112xf32>
  // CHECK: xfmr.ffn <silu> %{{.*}}, %{{.*}}, %{{.*}} gate(%{{.*}} : tensor<112x48xf32>) residual(%{{.*}}) : tensor<?x48xf32>, tensor<112x48xf32>, tensor<48x112xf32>, residual tensor<?x48xf32>
  %swiglu = xfmr.ffn <silu> %x, %w, %d gate(%w : tensor<112x48xf32>) residual(%x)
    : tensor<?x48xf32>, tensor<112x48xf32>, tensor<48x112xf32>, residual tensor<?x48xf32>
  // CHECK: xfmr.ffn <gelu_tanh> %{{.*}}, %{{.*}}, %{{.*}} gate(%{{.*}}, %{{.*}} : tensor<112x48xf32>, tensor<112xf32>) bias(%{{.*}}, %{{.*}}) : tensor<?x48xf32>, tensor<112x48xf32>, tensor<48x112xf32>, bias tensor<112xf32>, tensor<48xf32>
  %geglu = xfmr.ffn <gelu_tanh> %swiglu, %w, %d gate(%w, %b : tensor<112x48xf32>, tensor<112xf32>) bias(%b, %c)
    : tensor<?x48xf32>, tensor<112x48xf32>, tensor<48x112xf32>, bias tensor<112xf32>, tensor<48xf32>
  // CHECK: xfmr.rms_norm %{{.*}}, %{{.*}} {epsilon = 9.9999999999999995E-7 : f64} : tensor<?x48xf32>, tensor<48xf32>
  %rms = xfmr.rms_norm %geglu, %c {epsilon = 1.0e-6 : f64} : tensor<?x48xf32>, tensor<48xf32>
  // CHECK: xfmr.rms_norm %{{.*}}, %{{.*}} residual(%{{.*}} : tensor<?x48xf32>) {epsilon
  %add_rms = xfmr.rms_norm %rms, %c residual(%x : tensor<?x48xf32>) {epsilon = 1.0e-6 : f64} : tensor<?x48xf32>, tensor<48xf32>
  // CHECK: xfmr.ffn <silu> %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x48xf32>, tensor<112x48xf32>, tensor<48x112xf32>{{$}}
  %bare = xfmr.ffn <silu> %ffn, %w, %d : tensor<?x48xf32>, tensor<112x48xf32>, tensor<48x112xf32>
  // CHECK: xfmr.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 9.9999999999999998E-13 : f64} : tensor<?x48xf32>, tensor<48xf32>, tensor<48xf32>
  %norm = xfmr.layer_norm %bare, %c, %c {epsilon = 1.0e-12 : f64} : tensor<?x48xf32>, tensor<48xf32>, tensor<48xf32>
  // CHECK: xfmr.layer_norm %{{.*}}, %{{.*}}, %{{.*}} residual(%{{.*}} : tensor<?x48xf32>) {epsilon
  %add_norm = xfmr.layer_norm %norm, %c, %c residual(%x : tensor<?x48xf32>) {epsilon = 1.0e-5 : f64}
    : tensor<?x48xf32>, tensor<48xf32>, tensor<48xf32>
  // CHECK: xfmr.activation <tanh> %{{.*}} : tensor<?x48xf32>
  %tanh = xfmr.activation <tanh> %add_norm : tensor<?x48xf32>
  // CHECK: xfmr.softmax %{{.*}} : tensor<?x48xf32>
  %softmax = xfmr.softmax %tanh : tensor<?x48xf32>
  // CHECK: xfmr.softmax log %{{.*}} : tensor<?x48xf32>
  %log_softmax = xfmr.softmax log %softmax : tensor<?x48xf32>
  // CHECK: xfmr.dropout %{{.*}} {rate = 1.000000e-01 : f64} : tensor<?x48xf32>
  %dropout = xfmr.dropout %log_softmax {rate = 0.1 : f64} : tensor<?x48xf32>
  return %dropout : tensor<?x48xf32>
}

// CHECK-LABEL: @attention
func.func @attention(%x: tensor<?x48xf32>, %offsets: tensor<?xi64>, %length: index, %mask: tensor<?x?xf32>, %heads: tensor<4xf32>) -> tensor<?x48xf32> {
  // CHECK: xfmr.split_heads %{{.*}}, 4 : tensor<?x48xf32>
  %q = xfmr.split_heads %x, 4 : tensor<?x48xf32>
  // CHECK: xfmr.attention %{{.*}}, %{{.*}}, %{{.*}} offsets(%{{.*}}, %{{.*}}) lengths(%{{.*}}, %{{.*}}) {masked_rows = #xfmr.masked_rows<zero>, scale = 1.250000e-01 : f64} : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>{{$}}
  %plain = xfmr.attention %q, %q, %q offsets(%offsets, %offsets) lengths(%length, %length)
    {scale = 0.125 : f64, masked_rows = #xfmr.masked_rows<zero>} : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>
  // CHECK: xfmr.attention {{.*}} mask(%{{.*}} : tensor<?x?xf32>) head_mask(%{{.*}} : tensor<4xf32>) {scale = 1.250000e-01 : f64} : {{.*}} -> tensor<?x4x12xf32>, tensor<?x4x?x?xf32>
  %full, %p = xfmr.attention %q, %q, %plain offsets(%offsets, %offsets) lengths(%length, %length) mask(%mask : tensor<?x?xf32>)
    head_mask(%heads : tensor<4xf32>) {scale = 0.125 : f64}
    : tensor<?x4x12xf32>, tensor<?x4x12xf32>, tensor<?x4x12xf32> -> tensor<?x4x12xf32>, tensor<?x4x?x?xf32>
  // CHECK: xfmr.merge_heads %{{.*}} : tensor<?x4x12xf32>
  %merged = xfmr.merge_heads %full : tensor<?x4x12xf32>
  return %merged : tensor<?x48xf32>
}

// Two key/value heads for four query heads, keys from another sequence, a mask per head.
// CHECK-LABEL: @multi_head_attention
func.func @multi_head_attention(%x: tensor<?x48xf32>, %memory: tensor<?x32xf32>, %wq: tensor<48x48xf32>, %wk: tensor<24x32xf32>, %wo: tensor<8x48xf32>,
                                %bq: tensor<48xf32>, %bk: tensor<24xf32>, %bo: tensor<8xf32>, %offsets: tensor<?xi64>, %length: index,
                                %mask: tensor<?x4x1x?xi64>, %heads: tensor<4xf32>) -> tensor<?x8xf32> {
  // CHECK: xfmr.multi_head_attention %{{.*}}, %{{.*}} weights(%{{.*}}, %{{.*}}, %{{.*}} : tensor<48x48xf32>, tensor<24x32xf32>, tensor<24x32xf32>) offsets(
  // CHECK-SAME: -> tensor<?x48xf32>{{$}}
  %bare = xfmr.multi_head_attention %x, %memory weights(%wq, %wk, %wk : tensor<48x48xf32>, tensor<24x32xf32>, tensor<24x32xf32>)
    offsets(%offsets, %offsets) lengths(%length, %length) {num_heads = 4 : i64, num_kv_heads = 2 : i64, scale = 1.0 : f64}
    : tensor<?x48xf32>, tensor<?x32xf32> -> tensor<?x48xf32>
  // CHECK: xfmr.multi_head_attention {{.*}} bias(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<48xf32>, tensor<24xf32>, tensor<24xf32>, tensor<8xf32>) offsets(
  // CHECK-SAME: mask(%{{.*}} : tensor<?x4x1x?xi64>) head_mask(%{{.*}} : tensor<4xf32>)
  // CHECK-SAME: -> tensor<?x8xf32>, tensor<?x4x?x?xf32>
  %full, %p = xfmr.multi_head_attention %bare, %memory
    weights(%wq, %wk, %wk, %wo : tensor<48x48xf32>, tensor<24x32xf32>, tensor<24x32xf32>, tensor<8x48xf32>)
    bias(%bq, %bk, %bk, %bo : tensor<48xf32>, tensor<24xf32>, tensor<24xf32>, tensor<8xf32>)
    offsets(%offsets, %offsets) lengths(%length, %length) mask(%mask : tensor<?x4x1x?xi64>) head_mask(%heads : tensor<4xf32>)
    {num_heads = 4 : i64, num_kv_heads = 2 : i64, scale = 1.0 : f64} : tensor<?x48xf32>, tensor<?x32xf32> -> tensor<?x8xf32>, tensor<?x4x?x?xf32>
  return %full : tensor<?x8xf32>
}

// All values of score_stage.
// CHECK-LABEL: @scores
func.func @scores(%q: tensor<?x4x12xf32>, %k: tensor<?x2x12xf32>, %v: tensor<?x2x20xf32>, %offsets: tensor<?xi64>, %lens: tensor<?xi64>, %length: index,
                  %mask: tensor<?x?x?x?xi1>, %distance: tensor<4x?xf32>, %table: tensor<63x12xf32>, %ofHeads: tensor<63x48xf32>) -> tensor<?x4x20xf32> {
  // CHECK: xfmr.attention {{.*}} offsets(%{{.*}}, %{{.*}}) lengths(%{{.*}}, %{{.*}}) key_lengths(%{{.*}}) mask(%{{.*}} : tensor<?x?x?x?xi1>) distance_bias(%{{.*}} : tensor<4x?xf32>) relative_key(%{{.*}} : tensor<63x12xf32>) relative_query(%{{.*}} : tensor<63x48xf32>)
  // CHECK-SAME: {alignment = #xfmr.alignment<start>, causal, mask_fill = -1.000000e+10 : f64, masked_rows = #xfmr.masked_rows<least_masked>, scale = 1.250000e-01 : f64, score_stage = #xfmr.score_stage<masked>, softcap = 3.000000e+01 : f64, window_left = 7 : i64, window_right = 0 : i64}
  // CHECK-SAME: tensor<?x4x12xf32>, tensor<?x2x12xf32>, tensor<?x2x20xf32> -> tensor<?x4x20xf32>, tensor<?x4x?x?xf32>
  %o, %p = xfmr.attention %q, %k, %v offsets(%offsets, %offsets) lengths(%length, %length) key_lengths(%lens) mask(%mask : tensor<?x?x?x?xi1>)
    distance_bias(%distance : tensor<4x?xf32>) relative_key(%table : tensor<63x12xf32>) relative_query(%ofHeads : tensor<63x48xf32>)
    {scale = 0.125 : f64, causal, alignment = #xfmr.alignment<start>, window_left = 7 : i64, window_right = 0 : i64, softcap = 30.0 : f64, mask_fill = -1.0e10 : f64,
     masked_rows = #xfmr.masked_rows<least_masked>, score_stage = #xfmr.score_stage<masked>}
    : tensor<?x4x12xf32>, tensor<?x2x12xf32>, tensor<?x2x20xf32> -> tensor<?x4x20xf32>, tensor<?x4x?x?xf32>
  return %o : tensor<?x4x20xf32>
}

// A separate value operand, and the attributes of attention.
// CHECK-LABEL: @multi_head_attention_value
func.func @multi_head_attention_value(%x: tensor<?x48xf32>, %memory: tensor<?x32xf32>, %value: tensor<?x16xf32>, %wq: tensor<48x48xf32>, %wk: tensor<48x32xf32>,
                                      %wv: tensor<40x16xf32>, %offsets: tensor<?xi64>, %lens: tensor<?xi64>, %length: index, %distance: tensor<1x?xf32>) -> tensor<?x40xf32> {
  // CHECK: xfmr.multi_head_attention %{{.*}}, %{{.*}} value(%{{.*}} : tensor<?x16xf32>) weights({{.*}}) offsets({{.*}}) lengths({{.*}}) key_lengths(%{{.*}}) distance_bias(%{{.*}} : tensor<1x?xf32>) {causal, num_heads
  %o = xfmr.multi_head_attention %x, %memory value(%value : tensor<?x16xf32>) weights(%wq, %wk, %wv : tensor<48x48xf32>, tensor<48x32xf32>, tensor<40x16xf32>)
    offsets(%offsets, %offsets) lengths(%length, %length) key_lengths(%lens) distance_bias(%distance : tensor<1x?xf32>)
    {num_heads = 4 : i64, num_kv_heads = 4 : i64, scale = 1.0 : f64, causal} : tensor<?x48xf32>, tensor<?x32xf32> -> tensor<?x40xf32>
  return %o : tensor<?x40xf32>
}

// CHECK-LABEL: @positions
func.func @positions(%x: tensor<?x4x12xf32>, %ids: tensor<?xi64>, %angles: tensor<512x8xf32>, %buckets: tensor<32x4xf32>, %slopes: tensor<4xf32>, %length: index)
    -> (tensor<?x4x12xf32>, tensor<4x?xf32>, tensor<4x?xf32>) {
  // CHECK: xfmr.rotary %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4x12xf32>, tensor<512x8xf32>
  %half = xfmr.rotary %x, %ids, %angles : tensor<?x4x12xf32>, tensor<512x8xf32>
  // CHECK: xfmr.rotary %{{.*}}, %{{.*}}, %{{.*}} {interleaved} : tensor<?x4x12xf32>, tensor<512x8xf32>
  %pairs = xfmr.rotary %half, %ids, %angles {interleaved} : tensor<?x4x12xf32>, tensor<512x8xf32>
  // CHECK: xfmr.relative_position_bias %{{.*}}, %{{.*}} {bidirectional, max_distance = 128 : i64} : tensor<32x4xf32>
  %b = xfmr.relative_position_bias %buckets, %length {bidirectional, max_distance = 128 : i64} : tensor<32x4xf32>
  // CHECK: xfmr.alibi_bias %{{.*}}, %{{.*}} : tensor<4xf32>
  %a = xfmr.alibi_bias %slopes, %length : tensor<4xf32>
  // CHECK: return {{.*}} : tensor<?x4x12xf32>, tensor<4x?xf32>, tensor<4x?xf32>
  return %pairs, %b, %a : tensor<?x4x12xf32>, tensor<4x?xf32>, tensor<4x?xf32>
}

// CHECK-LABEL: @caches
func.func @caches(%q: tensor<?x4x12xf32>, %k: tensor<?x2x12xf32>, %v: tensor<?x2x20xf32>, %past_k: tensor<?x2x?x12xf32>, %past_v: tensor<?x2x?x20xf32>,
                  %kc: tensor<?x2x?x12x64xf32>, %vc: tensor<?x2x?x20xf32>, %zeros: tensor<?xi64>, %past: tensor<?xi64>, %total: tensor<?xi64>,
                  %offsets: tensor<?xi64>, %length: index) -> (tensor<?x4x20xf32>, tensor<?x2x?x12xf32>, tensor<?x2x?x20xf32>) {
  // CHECK: xfmr.kv_cache_update %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}} at(%{{.*}}) : tensor<?x2x?x12xf32>, tensor<?x2x?x20xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
  %k0, %v0 = xfmr.kv_cache_update %past_k, %past_v into %kc, %vc at(%zeros)
    : tensor<?x2x?x12xf32>, tensor<?x2x?x20xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
  // CHECK: xfmr.kv_cache_update %{{.*}}, %{{.*}} into %{{.*}}, %{{.*}} at(%{{.*}}) offsets(%{{.*}}) : tensor<?x2x12xf32>, tensor<?x2x20xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
  %k1, %v1 = xfmr.kv_cache_update %k, %v into %k0, %v0 at(%past) offsets(%offsets)
    : tensor<?x2x12xf32>, tensor<?x2x20xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
  // CHECK: xfmr.attention %{{.*}}, %{{.*}}, %{{.*}} offsets(%{{[^,]*}}) lengths(%{{.*}}, %{{.*}}) key_lengths(%{{.*}}) {causal, scale = 1.250000e-01 : f64} : tensor<?x4x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32> -> tensor<?x4x20xf32>
  %o = xfmr.attention %q, %k1, %v1 offsets(%offsets) lengths(%length, %length) key_lengths(%total) {scale = 0.125 : f64, causal}
    : tensor<?x4x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32> -> tensor<?x4x20xf32>
  // CHECK: xfmr.kv_cache_update {{.*}} at(%{{.*}}) slots(%{{.*}}) offsets(%{{.*}}) : tensor<?x2x12xf32>
  %k2, %v2 = xfmr.kv_cache_update %k, %v into %k1, %v1 at(%past) slots(%zeros) offsets(%offsets)
    : tensor<?x2x12xf32>, tensor<?x2x20xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
  // CHECK: xfmr.attention {{.*}} lengths(%{{.*}}, %{{.*}}) slots(%{{.*}}) key_lengths(%{{.*}}) {scale = 1.250000e-01 : f64}
  %s = xfmr.attention %q, %k2, %v2 offsets(%offsets) lengths(%length, %length) slots(%zeros) key_lengths(%total) {scale = 0.125 : f64}
    : tensor<?x4x12xf32>, tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32> -> tensor<?x4x20xf32>
  // CHECK: xfmr.kv_cache_read %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
  %rk, %rv = xfmr.kv_cache_read %k1, %v1, %length : tensor<?x2x?x12x64xf32>, tensor<?x2x?x20xf32>
  // CHECK: return {{.*}} : tensor<?x4x20xf32>, tensor<?x2x?x12xf32>, tensor<?x2x?x20xf32>
  return %o, %rk, %rv : tensor<?x4x20xf32>, tensor<?x2x?x12xf32>, tensor<?x2x?x20xf32>
}

// CHECK-LABEL: @mask_caches
func.func @mask_caches(%cache: tensor<?x?xf32>, %ids: tensor<?xi64>, %mask: tensor<?x?xf32>, %length: index) -> tensor<?x?xf32> {
  // CHECK: xfmr.mask_cache_update %{{.*}} at(%{{.*}}) slots(%{{.*}}) offsets(%{{.*}}) : tensor<?x?xf32>
  %0 = xfmr.mask_cache_update %cache at(%ids) slots(%ids) offsets(%ids) : tensor<?x?xf32>
  // CHECK: xfmr.mask_cache_update %{{.*}} at(%{{.*}}) slots(%{{.*}}) offsets(%{{.*}}) mask(%{{.*}} : tensor<?x?xf32>) : tensor<?x?xf32>
  %1 = xfmr.mask_cache_update %0 at(%ids) slots(%ids) offsets(%ids) mask(%mask : tensor<?x?xf32>) : tensor<?x?xf32>
  // CHECK: xfmr.mask_cache_read %{{.*}}, %{{.*}} slots(%{{.*}}) : tensor<?x?xf32>
  %2 = xfmr.mask_cache_read %1, %length slots(%ids) : tensor<?x?xf32>
  return %2 : tensor<?x?xf32>
}

// Norms of heads: each head is a row.
// CHECK-LABEL: @head_norms
func.func @head_norms(%x: tensor<?x4x12xf32>, %w: tensor<12xf32>) -> tensor<?x4x12xf32> {
  // CHECK: xfmr.rms_norm %{{.*}}, %{{.*}} {epsilon = 9.9999999999999995E-7 : f64} : tensor<?x4x12xf32>, tensor<12xf32>
  %rms = xfmr.rms_norm %x, %w {epsilon = 1.0e-6 : f64} : tensor<?x4x12xf32>, tensor<12xf32>
  // CHECK: xfmr.layer_norm %{{.*}}, %{{.*}}, %{{.*}} {epsilon = 9.9999999999999995E-7 : f64} : tensor<?x4x12xf32>, tensor<12xf32>, tensor<12xf32>
  %norm = xfmr.layer_norm %rms, %w, %w {epsilon = 1.0e-6 : f64} : tensor<?x4x12xf32>, tensor<12xf32>, tensor<12xf32>
  return %norm : tensor<?x4x12xf32>
}

// CHECK-LABEL: @shards
func.func @shards(%x: tensor<?x24xf32>, %mask: tensor<2x4x?x?xf32>, %w: tensor<64x8xf32>, %stack: tensor<3x64x8xf32>)
    -> (tensor<?x64xf32>, tensor<2x2x?x?xf32>, tensor<24x8xf32>, tensor<3x24x8xf32>) {
  // CHECK: xfmr.all_gather %{{.*}}, 1 at [0, 24, 40] : tensor<?x24xf32> -> tensor<?x64xf32>
  %all = xfmr.all_gather %x, 1 at [0, 24, 40] : tensor<?x24xf32> -> tensor<?x64xf32>
  // CHECK: xfmr.rank_slice %{{.*}}, 1 at [0, 2] : tensor<2x4x?x?xf32> -> tensor<2x2x?x?xf32>
  %part = xfmr.rank_slice %mask, 1 at [0, 2] : tensor<2x4x?x?xf32> -> tensor<2x2x?x?xf32>
  // CHECK: xfmr.weight_shard %{{.*}}, 0 at [0, 24, 40] : tensor<64x8xf32> -> tensor<24x8xf32>
  %rows = xfmr.weight_shard %w, 0 at [0, 24, 40] : tensor<64x8xf32> -> tensor<24x8xf32>
  // CHECK: xfmr.weight_shard %{{.*}}, 1 at [0, 24, 40] : tensor<3x64x8xf32> -> tensor<3x24x8xf32>
  %experts = xfmr.weight_shard %stack, 1 at [0, 24, 40] : tensor<3x64x8xf32> -> tensor<3x24x8xf32>
  return %all, %part, %rows, %experts : tensor<?x64xf32>, tensor<2x2x?x?xf32>, tensor<24x8xf32>, tensor<3x24x8xf32>
}
// CHECK: xfmr.weight @sharded : tensor<24x8xf32> = #xfmr.shard<#xfmr.tensor<"w" : tensor<64x8xf32>>, 0, 24, [0, 24, 40]>
xfmr.weight @sharded : tensor<24x8xf32> = #xfmr.shard<#xfmr.tensor<"w" : tensor<64x8xf32>>, 0, 24, [0, 24, 40]>

// CHECK-LABEL: @merge_dynamic_heads
func.func @merge_dynamic_heads(%x: tensor<?x?x12xf32>) -> tensor<?x?xf32> {
  // CHECK: xfmr.merge_heads %{{.*}} : tensor<?x?x12xf32>
  %y = xfmr.merge_heads %x : tensor<?x?x12xf32>
  return %y : tensor<?x?xf32>
}
