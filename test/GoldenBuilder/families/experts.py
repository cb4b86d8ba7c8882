# ===- experts.py - Decoders with experts -----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from ..cases import Absent, Case, forward, steps
from .common import LLAMA, free_head_sizes
from .decoders import ALL, NO_HEADS, SOME, family

QWEN = {**LLAMA, "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 21, "decoder_sparse_step": 1, "mlp_only_layers": []}

# The version 2 views rotated components as complex numbers, which wants even sizes before them.
LATENT = {**LLAMA, "num_key_value_heads": 6, "q_lora_rank": 17, "kv_lora_rank": 18, "qk_nope_head_dim": 6, "qk_rope_head_dim": 4,
          "v_head_dim": 5, "n_routed_experts": 6, "num_experts_per_tok": 2, "n_shared_experts": 2, "moe_intermediate_size": 15,
          "first_k_dense_replace": 1, "num_hidden_layers": 3}
MSCALE = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "mscale": 0.7, "mscale_all_dim": 0.9}
# Only the choice of experts depends on it, which a small change does not move.
CHOICE_BIAS = (r"e_score_correction_bias$",)


def latent_steps(prefix, config=None):
    """Returns the case that decodes in chunks. It stores no keys and values: the reference caches the low-rank vectors
    from which it computes them."""
    return [Case("steps", prefix + "ForCausalLM", ["later chunks"], steps(4, 1, 1, 3, 2, past=False), config or {})]


def latent_sizes(rng):
    heads = int(rng.integers(1, 6))
    return {"hidden_size": heads * 4 * int(rng.integers(1, 5)), "num_attention_heads": heads, "num_key_value_heads": heads,
            "num_hidden_layers": int(rng.integers(1, 4)), "intermediate_size": int(rng.integers(5, 90)),
            "vocab_size": int(rng.integers(40, 140)), "max_position_embeddings": int(rng.integers(40, 70)),
            "q_lora_rank": [None, 9, 24][int(rng.integers(3))], "kv_lora_rank": 2 * int(rng.integers(3, 15)),
            "qk_nope_head_dim": 2 * int(rng.integers(1, 6)), "qk_rope_head_dim": 2 * int(rng.integers(1, 7)),
            "v_head_dim": int(rng.integers(1, 14))}


# The kept groups have as many experts as a token chooses; the reference would choose others as well, without a share.
GROUPS = [{"n_group": 1, "topk_group": 1}, {"n_group": 2, "topk_group": 1}, {"n_group": 3, "topk_group": 2}]

FAMILIES = [
    family("mixtral", "Mixtral", {**LLAMA, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": None, "rope_theta": 1e6},
           {"forward": (["softmax over all experts, then the best two, whose shares are divided by their sum"], {}),
            "window": (["two experts of three; a window; tied head"], {"num_local_experts": 3, "sliding_window": 4,
                                                                       "tie_word_embeddings": True})},
           census={"num_local_experts": [2, 3, 6], "sliding_window": [None, 3], "tie_word_embeddings": [True, False]},
           more=[Case("many", "MixtralForCausalLM", ["experts that nobody chooses"], forward(batch=1, length=3, outputs=("logits",)),
                      {"num_local_experts": 12}),
                 Case("stacked", "MixtralForCausalLM", ["a file with stacked experts, the names of transformers 5"], forward(mask="right"),
                      weights="memory")]),
    family("qwen2_moe", "Qwen2Moe", {**QWEN, "shared_expert_intermediate_size": 29},
           {"forward": (["a shared expert behind a gate; shares are not divided by their sum"], {}),
            "norm": (["norm_topk_prob; without biases"], {"norm_topk_prob": True, "qkv_bias": False}),
            "dense": (["mlp_only_layers and decoder_sparse_step: dense layers between"],
                      {"num_hidden_layers": 4, "decoder_sparse_step": 2, "mlp_only_layers": [3], "use_sliding_window": True,
                       "sliding_window": 4, "max_window_layers": 3})},
           SOME, census={"norm_topk_prob": [False, True], "qkv_bias": [True, False], "num_experts": [2, 6], "num_experts_per_tok": [1, 2],
                         "mlp_only_layers": [[], [0]], "decoder_sparse_step": [1, 2]}),
    family("qwen3_moe", "Qwen3Moe", {**QWEN, "head_dim": 10, "norm_topk_prob": True},
           {"forward": (["norms of q and k; norm_topk_prob"], {}),
            "plain": (["shares not divided by their sum; attention_bias; a dense first layer"],
                      {"norm_topk_prob": False, "attention_bias": True, "mlp_only_layers": [0], "num_experts_per_tok": 3})},
           ALL, census={"norm_topk_prob": [False, True], "attention_bias": [False, True], "num_experts": [3, 6],
                        "num_experts_per_tok": [1, 3],
                        "mlp_only_layers": [[], [0]]}, sizes=free_head_sizes,
           more=[Case("stacked", "Qwen3MoeForCausalLM", ["a file with stacked experts, the names of transformers 5"], forward(mask="right"),
                      weights="memory")]),
    family("gpt_oss", "GptOss", {**LLAMA, "rms_norm_eps": 1e-5, "head_dim": 8, "num_local_experts": 5, "num_experts_per_tok": 2,
                                 "sliding_window": 4, "attention_bias": True,
                                 "layer_types": ["sliding_attention", "full_attention"], "hidden_act": "silu", "swiglu_limit": 7.0,
                                 "rope_theta": 150000,
                                 "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 32.0, "beta_slow": 1.0,
                                                  "truncate": False,
                                                  "original_max_position_embeddings": 16}},
           {"forward": (["a sink in each softmax; best experts of the logits, then softmax; clamped gates; YaRN without truncation"], {}),
            "default_types": (["layer_types absent: even layers with a window; three layers; gates that the limit clamps"],
                              {"layer_types": Absent, "num_hidden_layers": 3, "num_local_experts": 3, "swiglu_limit": 0.6})},
           SOME, census={"num_local_experts": [3, 6], "num_experts_per_tok": [2, 3], "sliding_window": [2, 5], "layer_types": [Absent],
                         "swiglu_limit": [0.6, 7.0]}, sizes=free_head_sizes),
    family("deepseek_v2", "DeepseekV2", {**LATENT, "topk_method": "greedy", "norm_topk_prob": False},
           {"forward": (["keys and values from one small vector, queries from another; a dense first layer; two shared experts"], {},
                        {"steps": False}),
            "groups": (["the best of three groups by their best experts; a factor of shares; YaRN whose scale is that of scores, too"],
                       {"topk_method": "group_limited_greedy", "n_group": 3, "topk_group": 2, "routed_scaling_factor": 2.5,
                        "rope_scaling": MSCALE, "q_lora_rank": None, "attention_bias": True}, {"steps": False})},
           ("sequence", "model"), census={"topk_method": ["greedy", "group_limited_greedy"], "n_group,topk_group": GROUPS,
                                          "attention_bias": [False, True], "rope_scaling": [None, MSCALE],
                                          "first_k_dense_replace": [0, 1]}, sizes=latent_sizes, greedy=False,
           caches=lambda config: False, more=latent_steps("DeepseekV2")),
    family("deepseek_v3", "DeepseekV3", {**LATENT, "num_experts_per_tok": 3, "n_group": 3, "topk_group": 2, "norm_topk_prob": True,
                                         "routed_scaling_factor": 2.5},
           {"forward": (["experts by sigmoids and a bias, of the best groups; shares divided by their sum"], {}, {"steps": False}),
            "plain": (["one group; shares as they are; rotary of halves; YaRN"],
                      {"n_group": 1, "topk_group": 1, "norm_topk_prob": False, "rope_interleave": False, "rope_scaling": MSCALE,
                       "first_k_dense_replace": 0, "n_shared_experts": 1}, {"steps": False})},
           SOME, census={"n_group,topk_group": GROUPS, "norm_topk_prob": [False, True], "attention_bias": [False, True],
                         "rope_scaling": [None, MSCALE], "first_k_dense_replace": [0, 1], "rope_interleave": [True, False]},
           sizes=latent_sizes, inert=CHOICE_BIAS, greedy=False, caches=lambda config: False, more=latent_steps("DeepseekV3")),
    family("glm4_moe", "Glm4Moe", {**LLAMA, "head_dim": 12, "n_routed_experts": 6, "num_experts_per_tok": 3, "n_shared_experts": 1,
                                   "moe_intermediate_size": 15, "first_k_dense_replace": 1, "num_hidden_layers": 3, "n_group": 1,
                                   "topk_group": 1, "norm_topk_prob": True, "use_qk_norm": True, "partial_rotary_factor": 0.5},
           {"forward": (["experts by sigmoids and a bias; norms of q and k; half of a head rotates"], {}),
            "plain": (["without norms; biases; groups; a factor of shares"],
                      {"use_qk_norm": False, "attention_bias": True, "n_group": 2, "topk_group": 1, "routed_scaling_factor": 1.5})},
           NO_HEADS, census={"n_group,topk_group": GROUPS, "norm_topk_prob": [False, True], "attention_bias": [False, True],
                             "use_qk_norm": [False, True], "first_k_dense_replace": [0, 1]}, inert=CHOICE_BIAS),
]
