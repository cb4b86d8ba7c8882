# ===- experts.py - Decoders with experts -----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from ..cases import Absent, Case, forward
from .common import LLAMA, free_head_sizes
from .decoders import ALL, SOME, family

QWEN = {**LLAMA, "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 21, "decoder_sparse_step": 1, "mlp_only_layers": []}

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
]
