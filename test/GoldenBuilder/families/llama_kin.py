# ===- llama_kin.py - Decoders that are Llama, GPT or Granite but for little -===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re

import numpy as np

from ..cases import Absent, Case, Family, forward
from .common import GPT, LLAMA, ROPES, free_head_sizes, gpt_sizes, llama_sizes
from .decoders import ALL, KEY_BIAS, LN_LLAMA, NO_HEADS, OLD_MASKS, SOME, family

BIASES = {"attention_bias": [False, True], "mlp_bias": [False, True], "rope_scaling": ROPES, "tie_word_embeddings": [True, False]}
MULTIPLIERS = {"embedding_multiplier": 3.5, "attention_multiplier": 0.2, "residual_multiplier": 0.7, "logits_scaling": 2.5}


def renamed(tensors, names):
    """Returns |tensors| with each (pattern, replacement) of |names| applied to their names."""
    for pattern, replacement in names:
        tensors = {re.sub(pattern, replacement, name): value for name, value in tensors.items()}
    return tensors


def pack_exaone(tensors):
    return renamed(tensors, [(r"^model\.layers", "transformer.h"), (r"^model\.embed_tokens", "transformer.wte"),
                             (r"^model\.norm", "transformer.ln_f"), ("self_attn.o_proj", "attn.attention.out_proj"),
                             ("self_attn", "attn.attention"), ("input_layernorm", "ln_1"), ("post_attention_layernorm", "ln_2"),
                             ("gate_proj", "c_fc_0"), ("up_proj", "c_fc_1"), ("down_proj", "c_proj")])


def pack_internlm2(tensors):
    """Packs projections to `wqkv`: for each head of keys, the rows of its heads of queries, of its keys and of its values."""
    packed, heads = {}, LLAMA["num_key_value_heads"]
    for name, value in tensors.items():
        if name.endswith("q_proj.weight"):
            parts = [value] + [tensors[name.replace("q_proj", part)] for part in ("k_proj", "v_proj")]
            rows = [part.reshape(heads, -1, part.shape[1]) for part in parts]
            packed[name.replace("q_proj", "wqkv")] = np.ascontiguousarray(np.concatenate(rows, 1).reshape(-1, value.shape[1]))
        elif not re.search(r"[kv]_proj\.weight$", name):
            packed[name] = value
    return renamed(packed, [("embed_tokens", "tok_embeddings"), ("self_attn.o_proj", "attention.wo"), ("self_attn", "attention"),
                            ("input_layernorm", "attention_norm"), ("post_attention_layernorm", "ffn_norm"), ("mlp.", "feed_forward."),
                            ("gate_proj", "w1"), ("up_proj", "w3"), ("down_proj", "w2"), (r"^lm_head", "output")])


def pack_projections(tensors, name, parts):
    """Joins the rows of q, k and v (or other |parts|) under |name|."""
    packed = {}
    for tensor, value in tensors.items():
        if "." + parts[0] + "." in tensor:
            joined = [tensors[tensor.replace(parts[0], part)] for part in parts]
            packed[tensor.replace(parts[0], name)] = np.ascontiguousarray(np.concatenate(joined))
        elif not any("." + part + "." in tensor for part in parts):
            packed[tensor] = value
    return packed


def pack_chatglm(tensors):
    packed = pack_projections(tensors, "query_key_value", ("q_proj", "k_proj", "v_proj"))
    return renamed(packed, [(r"^model\.layers", "transformer.encoder.layers"), (r"^model\.norm", "transformer.encoder.final_layernorm"),
                            (r"^model\.embed_tokens", "transformer.embedding.word_embeddings"), ("self_attn.o_proj", "self_attn.dense"),
                            ("self_attn", "self_attention"), ("gate_up_proj", "dense_h_to_4h"), ("down_proj", "dense_4h_to_h"),
                            (r"^lm_head", "transformer.output_layer")])


def pack_baichuan(tensors):
    return pack_projections(tensors, "W_pack", ("q_proj", "k_proj", "v_proj"))


CHATGLM = {"model_type": "chatglm", "architectures": ["ChatGLMModel"],
           "auto_map": {"AutoConfig": "configuration_chatglm.ChatGLMConfig",
                        "AutoModel": "modeling_chatglm.ChatGLMForConditionalGeneration",
                        "AutoModelForCausalLM": "modeling_chatglm.ChatGLMForConditionalGeneration"},
           "num_layers": 2, "num_hidden_layers": Absent, "padded_vocab_size": 101, "vocab_size": Absent, "ffn_hidden_size": 53,
           "intermediate_size": Absent, "kv_channels": 12, "head_dim": Absent, "seq_length": 64, "max_position_embeddings": Absent,
           "layernorm_epsilon": 1e-6, "rms_norm_eps": Absent, "multi_query_attention": True, "multi_query_group_num": 2,
           "num_key_value_heads": Absent, "add_qkv_bias": True, "add_bias_linear": False, "rmsnorm": True, "post_layer_norm": True,
           "apply_residual_connection_post_layernorm": False, "rope_ratio": 1, "hidden_act": Absent, "attention_bias": Absent,
           "partial_rotary_factor": Absent, "apply_query_key_layer_scaling": True}
EXAONE = {"model_type": "exaone", "architectures": ["ExaoneForCausalLM"], "num_layers": 2, "num_hidden_layers": Absent,
          "layer_norm_epsilon": 1e-6, "rms_norm_eps": Absent, "activation_function": "silu", "hidden_act": Absent}
def pack_composite(tensors):
    """Returns |tensors| as the language model in a file of a model of images and text, with a tensor of the image part."""
    return {**{"language_model." + name: value for name, value in tensors.items()},
            "vision_tower.vision_model.post_layernorm.weight": np.ones(6, np.float32)}


GEMMA3 = {**LLAMA, "model_type": "gemma3_text", "head_dim": 10, "hidden_act": Absent, "hidden_activation": "gelu_pytorch_tanh",
          "query_pre_attn_scalar": 12, "sliding_window": 4, "sliding_window_pattern": 2, "rope_theta": 1e5, "rope_local_base_freq": 100.0,
          "tie_word_embeddings": True}
COMPOSITE = {"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"],
             "text_config": {key: value for key, value in GEMMA3.items() if value is not Absent and key != "tie_word_embeddings"},
             "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 6}, "tie_word_embeddings": True,
             **{key: Absent for key in GEMMA3 if key not in ("model_type", "tie_word_embeddings", "bos_token_id", "eos_token_id")}}
MINICPM = {"model_type": "minicpm", "architectures": ["MiniCPMForCausalLM"], "scale_emb": 3.5, "scale_depth": 1.4, "dim_model_base": 9,
           **{key: Absent for key in MULTIPLIERS}}

FAMILIES = [
    family("arcee", "Arcee", {**LLAMA, "hidden_act": "relu2"},
           {"forward": (["squared relu without gate"], {}),
            "biases": (["biases; tied head; head_dim"], {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True,
                                                         "head_dim": 10})}, census={**BIASES, "hidden_act": ["relu2", "gelu"]}),
    family("seed_oss", "SeedOss", {**LLAMA, "head_dim": 10, "attention_bias": True, "attention_out_bias": False, "attention_dropout": 0.1,
                                   "residual_dropout": 0.1},
           {"forward": (["biases of q, k and v; head_dim"], {}),
            "biases": (["a bias of o and of the feed-forward alone"], {"attention_bias": False, "attention_out_bias": True,
                                                                       "mlp_bias": True})},
           census={**BIASES, "attention_out_bias": [False, True]}, sizes=free_head_sizes),
    family("helium", "Helium", {**LLAMA, "head_dim": 6, "rope_theta": 1e5},
           {"forward": (["rotary of neighbors"], {}),
            "biases": (["biases of all projections but o"], {"attention_bias": True, "mlp_bias": True, "rms_norm_eps": 1e-3})},
           SOME, census=BIASES, sizes=lambda rng: (lambda s: {**s, "head_dim": s["hidden_size"] // s["num_attention_heads"]})(
               llama_sizes(rng))),
    family("ernie4_5", "Ernie4_5", {**LLAMA, "head_dim": 10, "use_bias": False, "tie_word_embeddings": True, "rope_theta": 5e5},
           {"forward": (["rotary of neighbors; tied head"], {}),
            "bias": (["use_bias; an own head"], {"use_bias": True, "tie_word_embeddings": False})},
           NO_HEADS, census={"use_bias": [False, True], "tie_word_embeddings": [True, False]}, sizes=free_head_sizes),
    family("hunyuan_v1_dense", "HunYuanDenseV1", {**LLAMA, "head_dim": 10},
           {"forward": (["norms of q and k after rotary"], {}),
            "alpha": (["dynamic with alpha: another base at every length"],
                      {"rope_scaling": {"type": "dynamic", "alpha": 50.0, "factor": 1.0, "beta_fast": 32, "beta_slow": 1},
                       "attention_bias": True})},
           ("sequence", "model"), census={"attention_bias": [False, True], "rope_scaling": [None, {"type": "dynamic", "alpha": 9.0,
                                                                                                   "factor": 1.0}]},
           sizes=free_head_sizes),
    family("glm", "Glm", {**LLAMA, "head_dim": 12, "attention_bias": True, "partial_rotary_factor": 0.5, "pad_token_id": 0},
           {"forward": (["half of a head rotates neighbors; gate and up in one"], {}),
            "no_bias": (["no biases; a third of a head"], {"attention_bias": False, "partial_rotary_factor": 0.34})},
           SOME, census={"attention_bias": [False, True], "partial_rotary_factor": [0.5, 1.0, None], "tie_word_embeddings": [True, False]}),
    family("glm4", "Glm4", {**LLAMA, "head_dim": 12, "attention_bias": True, "partial_rotary_factor": 0.5},
           {"forward": (["norms of results of branches"], {}), "tied": (["tied head"], {"tie_word_embeddings": True})},
           SOME, census={"attention_bias": [False, True], "partial_rotary_factor": [0.5, 1.0], "tie_word_embeddings": [True, False]}),
    family("nemotron", "Nemotron", {**LLAMA, "rms_norm_eps": Absent, "norm_eps": 1e-5, "head_dim": 12, "hidden_act": "relu2",
                                    "partial_rotary_factor": 0.5},
           {"forward": (["layer norms by 1 + w; half of a head rotates; squared relu without gate"], {}),
            "biases": (["biases; tied head"], {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True})},
           ALL, census={**{key: BIASES[key] for key in ("attention_bias", "mlp_bias")}, "partial_rotary_factor": [0.5, 1.0]}),
    family("persimmon", "Persimmon", {**LN_LLAMA, "hidden_act": "relu2", "num_key_value_heads": Absent, "hidden_size": 48,
                                      "partial_rotary_factor": 0.5},
           {"forward": (["norms of q and k with biases; q, k, v packed per head"], {}),
            "no_norms": (["qk_layernorm false; rotary on a quarter"], {"qk_layernorm": False, "partial_rotary_factor": 0.25,
                                                                       "num_attention_heads": 3})},
           # In components that do not turn, a bias of normed keys adds the same to every score of a query.
           SOME, inert=(r"k_layernorm\.bias$",), census={"qk_layernorm": [True, False], "partial_rotary_factor": [0.5, 1.0]},
           sizes=lambda rng: {key: value for key, value in llama_sizes(rng).items() if key in ("num_hidden_layers", "intermediate_size",
                                                                                               "vocab_size")}),
    family("exaone4", "Exaone4", {**LLAMA, "num_hidden_layers": 3, "sliding_window": 4,
                                  "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
                                  "sliding_window_pattern": "LLG"},
           {"forward": (["norms of q, k and results; rotary in layers with a window alone"], {}),
            "pattern": (["a number of sliding_window_pattern"], {"layer_types": Absent, "sliding_window_pattern": 2}),
            "no_window": (["no window: every layer rotates"], {"sliding_window": None, "sliding_window_pattern": Absent,
                                                               "layer_types": ["full_attention"] * 3})},
           ALL, census={"layer_types": [Absent], "sliding_window_pattern": [1, 2, 3], "sliding_window": [2, 5],
                        "tie_word_embeddings": [True, False]}),
    Family("exaone", {**LLAMA, "model_type": "llama"}, [
        Case("file", "LlamaForCausalLM", ["EXAONE 3: Llama under GPT-2's names"], forward(mask="right"), weights="file",
             pack=pack_exaone, published=EXAONE)], classes=("LlamaForCausalLM",), sizes=llama_sizes, masks=OLD_MASKS),
    Family("internlm2", {**LLAMA, "model_type": "llama"}, [
        Case("file", "LlamaForCausalLM", ["InternLM2: Llama with one projection by heads of keys"], forward(mask="right"), weights="file",
             pack=pack_internlm2, published={"model_type": "internlm2", "architectures": ["InternLM2ForCausalLM"], "bias": False})],
           classes=("LlamaForCausalLM",), sizes=llama_sizes, masks=OLD_MASKS),
    Family("chatglm", {**LLAMA, "model_type": "glm", "head_dim": 12, "attention_bias": True, "partial_rotary_factor": 0.5}, [
        Case("file", "GlmForCausalLM", ["ChatGLM2 and later: GLM under other names, the class of auto_map"], forward(mask="right"),
             weights="file", pack=pack_chatglm, published=CHATGLM)], classes=("GlmForCausalLM",), sizes=llama_sizes),
    Family("baichuan", {**LLAMA, "model_type": "llama", "num_key_value_heads": 6}, [
        Case("file", "LlamaForCausalLM", ["Baichuan with rotary embeddings: Llama with one projection for q, k and v"],
             forward(mask="right"), weights="file", pack=pack_baichuan,
             published={"model_type": "baichuan", "architectures": ["BaiChuanForCausalLM"], "num_key_value_heads": Absent})],
           classes=("LlamaForCausalLM",), sizes=llama_sizes, masks=OLD_MASKS),
    Family("minicpm", {**LLAMA, "model_type": "granite", "embedding_multiplier": 3.5, "attention_multiplier": 6 ** -0.5,
                                  "residual_multiplier": 1.4 / 2 ** 0.5, "logits_scaling": 4.0}, [
        Case("file", "GraniteForCausalLM", ["MiniCPM: Granite's factors in other keys"], forward(mask="right"), weights="file",
             pack=dict, published=MINICPM)], classes=("GraniteForCausalLM",), sizes=llama_sizes),
    Family("gemma3", GEMMA3, [
        Case("text", "Gemma3ForCausalLM", ["the language model of a model of images"], forward(mask="right"), weights="file",
             pack=pack_composite, published=COMPOSITE)], classes=("Gemma3ForCausalLM",), sizes=llama_sizes),
    family("olmoe", "Olmoe", {**LLAMA, "pad_token_id": 1, "num_experts": 5, "num_experts_per_tok": 2, "intermediate_size": 21},
           {"forward": (["norms of all q and of all k; shares of a softmax over all experts"], {}),
            "norm": (["norm_topk_prob; attention_bias"], {"norm_topk_prob": True, "attention_bias": True})},
           NO_HEADS, census={"norm_topk_prob": [False, True], "attention_bias": [False, True], "num_experts": [3, 6],
                             "num_experts_per_tok": [1, 3]}),
    family("granitemoe", "GraniteMoe", {**LLAMA, **MULTIPLIERS, "num_local_experts": 5, "num_experts_per_tok": 2, "intermediate_size": 21},
           {"forward": (["stacked experts, gate and up in one; four multipliers"], {}),
            "tied": (["tied head; biases"], {"tie_word_embeddings": True, "attention_bias": True})},
           NO_HEADS, census={"num_local_experts": [3, 6], "num_experts_per_tok": [1, 3], "tie_word_embeddings": [True, False],
                             "attention_bias": [False, True]}),
    family("granitemoeshared", "GraniteMoeShared", {**LLAMA, **MULTIPLIERS, "num_local_experts": 5, "num_experts_per_tok": 2,
                                                    "intermediate_size": 21, "shared_intermediate_size": 29},
           {"forward": (["a network for all tokens beside experts"], {}),
            "none": (["no shared network"], {"shared_intermediate_size": 0})},
           NO_HEADS, census={"num_local_experts": [3, 6], "shared_intermediate_size": [0, 17]}),
    family("xglm", "XGLM", {"vocab_size": 101, "d_model": 36, "num_layers": 2, "attention_heads": 3, "ffn_dim": 53,
                            "max_position_embeddings": 40, "activation_function": "gelu", "scale_embedding": True, "pad_token_id": 1,
                            "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2},
           {"forward": (["computed positions from the third row on; scaled words"], {}),
            "plain": (["words are not scaled; relu; the row of padding is a position"],
                      {"scale_embedding": False, "activation_function": "relu", "pad_token_id": 6})},
           NO_HEADS, inert=KEY_BIAS, census={"scale_embedding": [True, False], "activation_function": ["gelu", "relu"]},
           sizes=lambda rng: {"attention_heads": 3, "d_model": 6 * int(rng.integers(1, 9)), "ffn_dim": int(rng.integers(5, 80)),
                              "num_layers": int(rng.integers(1, 4))},
           more=[Case("embeds", "XGLMModel", ["inputs_embeds are not scaled"], forward(mask="right", embeds=True),
                      inert=("embed_tokens",))]),
    family("biogpt", "BioGpt", {"vocab_size": 101, "hidden_size": 36, "num_hidden_layers": 2, "num_attention_heads": 3,
                                "intermediate_size": 53, "max_position_embeddings": 40, "hidden_act": "gelu", "layer_norm_eps": 1e-3,
                                "scale_embedding": True, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
           {"forward": (["learned positions from the third row on; layer_norm_eps is not read"], {}),
            "plain": (["words are not scaled; an own head"], {"scale_embedding": False, "tie_word_embeddings": False})},
           SOME, inert=KEY_BIAS, census={"scale_embedding": [True, False], "hidden_act": ["gelu", "relu"]}),
    Family("openai-gpt", {"model_type": "openai-gpt", **GPT, "n_positions": 40, "afn": "gelu", "layer_norm_epsilon": 1e-5,
                          "pad_token_id": 0},
           [Case("forward", "OpenAIGPTLMHeadModel", ["norms after the branches, none at the end; tanh form of gelu"],
                 forward(mask="right", states=True)),
            Case("types", "OpenAIGPTModel", ["token types are words; relu"], forward(types=True, positions=True), {"afn": "relu"}),
            Case("sequence", "OpenAIGPTForSequenceClassification", ["the last token that is not padding"], forward(batch=3, mask="right"),
                 {"num_labels": 3})],
           {"afn": ["gelu", "relu", "silu"]}, ("OpenAIGPTLMHeadModel", "OpenAIGPTModel"),
           lambda rng: {key: value for key, value in gpt_sizes(rng).items() if key != "n_inner"}, masks=("", "right")),
]
FAMILIES.append(
    Family("eurobert", {"model_type": "eurobert", **LLAMA, "num_key_value_heads": 3, "classifier_pooling": "late"},
           [Case("model", "EuroBertModel", ["Llama that sees later tokens"], forward(mask="right", states=True)),
            Case("mlm", "EuroBertForMaskedLM", ["a head with the bias of mlp_bias"], forward(mask="holes"),
                 {"mlp_bias": True, "attention_bias": True}),
            Case("late", "EuroBertForSequenceClassification", ["the mean of scores of visible tokens"], forward(batch=3, mask="right"),
                 {"num_labels": 3}),
            Case("mean", "EuroBertForSequenceClassification", ["scores of the mean"], forward(batch=3, mask="right"),
                 {"num_labels": 3, "classifier_pooling": "mean"}),
            Case("first", "EuroBertForSequenceClassification", ["scores of the first token"], forward(batch=3, mask="right"),
                 {"num_labels": 3, "classifier_pooling": "bos"}),
            Case("tokens", "EuroBertForTokenClassification", ["labels of each token"], forward(mask="holes"), {"num_labels": 4})],
           {**BIASES, "classifier_pooling": ["bos", "mean", "late"]},
           ("EuroBertModel", "EuroBertForMaskedLM", "EuroBertForSequenceClassification", "EuroBertForTokenClassification"),
           llama_sizes, "encoder"))
