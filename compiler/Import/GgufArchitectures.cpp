//===- GgufArchitectures.cpp - The architectures of GGUF files ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "compiler/Import/GgufArchitectures.h"

using namespace attune::gguf;

/// The names of Llama's tensors, most of which Gemma, Phi-3 and Qwen have, too.
static constexpr NamePair llamaNames[] = {
    {"token_embd", "model.embed_tokens"},
    {"output_norm", "model.norm"},
    {"output", "lm_head"},
    {"blk.%.attn_norm", "model.layers.%.input_layernorm"},
    {"blk.%.attn_q", "model.layers.%.self_attn.q_proj"},
    {"blk.%.attn_k", "model.layers.%.self_attn.k_proj"},
    {"blk.%.attn_v", "model.layers.%.self_attn.v_proj"},
    {"blk.%.attn_q_norm", "model.layers.%.self_attn.q_norm"},
    {"blk.%.attn_k_norm", "model.layers.%.self_attn.k_norm"},
    {"blk.%.attn_output", "model.layers.%.self_attn.o_proj"},
    {"blk.%.ffn_norm", "model.layers.%.post_attention_layernorm"},
    {"blk.%.ffn_gate", "model.layers.%.mlp.gate_proj"},
    {"blk.%.ffn_up", "model.layers.%.mlp.up_proj"},
    {"blk.%.ffn_down", "model.layers.%.mlp.down_proj"},
};

/// The names in which Phi-3 differs: it joins the projections of queries, keys and values, and those of gate and up.
static constexpr NamePair phi3Names[] = {
    {"blk.%.attn_qkv", "model.layers.%.self_attn.qkv_proj"},
    {"blk.%.ffn_up", "model.layers.%.mlp.gate_up_proj"},
};

/// The names in which Gemma 2 and 3 differ: their layers have norms before and behind both branches.
static constexpr NamePair gemma2Names[] = {
    {"blk.%.post_attention_norm", "model.layers.%.post_attention_layernorm"},
    {"blk.%.ffn_norm", "model.layers.%.pre_feedforward_layernorm"},
    {"blk.%.post_ffw_norm", "model.layers.%.post_feedforward_layernorm"},
};

/// The names of Mixtral's experts. Its other names are Llama's.
static constexpr NamePair mixtralNames[] = {
    {"blk.%.ffn_gate_inp", "model.layers.%.block_sparse_moe.gate"},
    {"blk.%.ffn_gate_exps", "model.layers.%.block_sparse_moe.experts.#.w1"},
    {"blk.%.ffn_down_exps", "model.layers.%.block_sparse_moe.experts.#.w2"},
    {"blk.%.ffn_up_exps", "model.layers.%.block_sparse_moe.experts.#.w3"},
};

/// The names of the experts of Qwen and OLMoE; the last four are those of Qwen 2's expert for all tokens.
static constexpr NamePair expertNames[] = {
    {"blk.%.ffn_gate_inp", "model.layers.%.mlp.gate"},
    {"blk.%.ffn_gate_exps", "model.layers.%.mlp.experts.#.gate_proj"},
    {"blk.%.ffn_up_exps", "model.layers.%.mlp.experts.#.up_proj"},
    {"blk.%.ffn_down_exps", "model.layers.%.mlp.experts.#.down_proj"},
    {"blk.%.ffn_gate_inp_shexp", "model.layers.%.mlp.shared_expert_gate"},
    {"blk.%.ffn_gate_shexp", "model.layers.%.mlp.shared_expert.gate_proj"},
    {"blk.%.ffn_up_shexp", "model.layers.%.mlp.shared_expert.up_proj"},
    {"blk.%.ffn_down_shexp", "model.layers.%.mlp.shared_expert.down_proj"},
};

static constexpr NamePair gpt2Names[] = {
    {"token_embd", "transformer.wte"},
    {"position_embd", "transformer.wpe"},
    {"output_norm", "transformer.ln_f"},
    {"output", "lm_head"},
    {"blk.%.attn_norm", "transformer.h.%.ln_1"},
    {"blk.%.attn_qkv", "transformer.h.%.attn.c_attn"},
    {"blk.%.attn_output", "transformer.h.%.attn.c_proj"},
    {"blk.%.ffn_norm", "transformer.h.%.ln_2"},
    {"blk.%.ffn_up", "transformer.h.%.mlp.c_fc"},
    {"blk.%.ffn_down", "transformer.h.%.mlp.c_proj"},
};

static constexpr NamePair bertNames[] = {
    {"token_embd", "embeddings.word_embeddings"},
    {"token_types", "embeddings.token_type_embeddings"},
    {"position_embd", "embeddings.position_embeddings"},
    {"token_embd_norm", "embeddings.LayerNorm"},
    {"blk.%.attn_q", "encoder.layer.%.attention.self.query"},
    {"blk.%.attn_k", "encoder.layer.%.attention.self.key"},
    {"blk.%.attn_v", "encoder.layer.%.attention.self.value"},
    {"blk.%.attn_output", "encoder.layer.%.attention.output.dense"},
    {"blk.%.attn_output_norm", "encoder.layer.%.attention.output.LayerNorm"},
    {"blk.%.ffn_up", "encoder.layer.%.intermediate.dense"},
    {"blk.%.ffn_down", "encoder.layer.%.output.dense"},
    {"blk.%.layer_output_norm", "encoder.layer.%.output.LayerNorm"},
};

static constexpr KeyPair decoderKeys[] = {
    {"block_count", "num_hidden_layers"},
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "intermediate_size"},
    {"context_length", "max_position_embeddings"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    {"rope.freq_base", "rope_theta"},
};

static constexpr KeyPair mixtralKeys[] = {{"expert_count", "num_local_experts"}, {"expert_used_count", "num_experts_per_tok"}};

static constexpr KeyPair olmoeKeys[] = {{"expert_count", "num_experts"}, {"expert_used_count", "num_experts_per_tok"}};

static constexpr KeyPair qwenMoeKeys[] = {
    {"expert_count", "num_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_feed_forward_length", "moe_intermediate_size"},
    {"expert_shared_feed_forward_length", "shared_expert_intermediate_size"},
};

static constexpr KeyPair phi3Keys[] = {{"attention.sliding_window", "sliding_window"}};

static constexpr KeyPair gemma2Keys[] = {
    {"attention.sliding_window", "sliding_window"},
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"final_logit_softcapping", "final_logit_softcapping"},
};

static constexpr KeyPair gemma3Keys[] = {
    {"attention.sliding_window", "sliding_window"},
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"final_logit_softcapping", "final_logit_softcapping"},
    {"rope.freq_base_swa", "rope_local_base_freq"},
};

static constexpr KeyPair gpt2Keys[] = {
    {"block_count", "n_layer"},        {"embedding_length", "n_embd"},     {"feed_forward_length", "n_inner"},
    {"context_length", "n_positions"}, {"attention.head_count", "n_head"}, {"attention.layer_norm_epsilon", "layer_norm_epsilon"},
};

static constexpr KeyPair bertKeys[] = {
    {"block_count", "num_hidden_layers"},
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "intermediate_size"},
    {"context_length", "max_position_embeddings"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.layer_norm_epsilon", "layer_norm_eps"},
};

static constexpr Architecture architectureTable[] = {
    {"bert", "bert", "BertModel", {}, bertNames, {}, bertKeys, NoConversion},
    {"gemma", "gemma", "GemmaForCausalLM", {}, llamaNames, {}, decoderKeys, NormsPlusOne},
    {"gemma2", "gemma2", "Gemma2ForCausalLM", gemma2Names, llamaNames, gemma2Keys, decoderKeys, NormsPlusOne},
    {"gemma3", "gemma3_text", "Gemma3ForCausalLM", gemma2Names, llamaNames, gemma3Keys, decoderKeys, NormsPlusOne},
    {"gpt2", "gpt2", "GPT2LMHeadModel", {}, gpt2Names, {}, gpt2Keys, TransposedProjections},
    {"llama", "llama", "LlamaForCausalLM", {}, llamaNames, {}, decoderKeys, PairedRows},
    {"llama", "mixtral", "MixtralForCausalLM", mixtralNames, llamaNames, mixtralKeys, decoderKeys, PairedRows, Experts::Normalized},
    {"olmoe", "olmoe", "OlmoeForCausalLM", expertNames, llamaNames, olmoeKeys, decoderKeys, NoConversion, Experts::Plain},
    {"phi3", "phi3", "Phi3ForCausalLM", phi3Names, llamaNames, phi3Keys, decoderKeys, NoConversion},
    {"qwen2", "qwen2", "Qwen2ForCausalLM", {}, llamaNames, {}, decoderKeys, NoConversion},
    {"qwen2moe", "qwen2_moe", "Qwen2MoeForCausalLM", expertNames, llamaNames, qwenMoeKeys, decoderKeys, NoConversion, Experts::Plain},
    {"qwen3", "qwen3", "Qwen3ForCausalLM", {}, llamaNames, {}, decoderKeys, NoConversion},
    {"qwen3moe", "qwen3_moe", "Qwen3MoeForCausalLM", expertNames, llamaNames, qwenMoeKeys, decoderKeys, NoConversion, Experts::Normalized},
};

bool Architecture::isRotary() const {
  return llvm::any_of(keys, [](const KeyPair &key) { return llvm::StringRef(key.gguf) == "rope.freq_base"; });
}

llvm::ArrayRef<Architecture> attune::gguf::architectures() { return architectureTable; }
