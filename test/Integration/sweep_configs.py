# ===- sweep_configs.py - The models of sweep_families.py and their inputs --===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import models

GPT2 = dict(model_type="gpt2", architectures=["GPT2LMHeadModel"], vocab_size=23, n_positions=12, n_embd=20, n_head=4, n_layer=2)
LLAMA = dict(model_type="llama", architectures=["LlamaForCausalLM"], vocab_size=23, max_position_embeddings=40, hidden_size=24,
             num_attention_heads=6,
             num_key_value_heads=3, num_hidden_layers=2, intermediate_size=37)
BART = dict(model_type="bart", architectures=["BartForConditionalGeneration"], vocab_size=23, max_position_embeddings=12, d_model=30,
            encoder_layers=1,
            decoder_layers=2, encoder_attention_heads=3, decoder_attention_heads=5, encoder_ffn_dim=37, decoder_ffn_dim=41)
T5 = dict(model_type="t5", architectures=["T5ForConditionalGeneration"], vocab_size=23, d_model=26, d_kv=7, d_ff=37, num_layers=2,
          num_heads=3,
          relative_attention_num_buckets=8, relative_attention_max_distance=10)

# Configuration, extra inputs, checks after the first if not "past steps" ("int8 steps": by products of less precision,
# whose bound is a share of the largest value), and heads to remove.
CONFIGS = {
    "gpt2": [(dict(GPT2, scale_attn_by_inverse_layer_idx=True, n_inner=33, activation_function="relu", add_cross_attention=True),
              ["token_type_ids", "encoder_hidden_states", "encoder_attention_mask"]),
             (dict(GPT2, architectures=["GPT2DoubleHeadsModel"]), ["choices", "token_type_ids", "mc_token_ids"]),
             (dict(GPT2, architectures=["GPT2ForQuestionAnswering"], activation_function="quick_gelu"), [], "forward", {"1": [0, 3]}),
             (dict(GPT2, architectures=["GPT2ForSequenceClassification"], vocab_size=5, pad_token_id=2, num_labels=3), [])],
    "llama": [(dict(LLAMA, head_dim=6, attention_bias=True, mlp_bias=True, tie_word_embeddings=True, rope_theta=500.0,
                    rope_scaling={"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                  "original_max_position_embeddings": 16}), ["position_ids"]),
              (dict(LLAMA, num_key_value_heads=1, rope_scaling={"type": "linear", "factor": 2.5}), [], "steps"),
              (dict(LLAMA, architectures=["LlamaForQuestionAnswering"], hidden_size=13, head_dim=8, hidden_act="gelu"), [], "forward")],
    "bart": [(dict(BART, scale_embedding=True), ["decoder_attention_mask"]),
             (dict(BART, model_type="marian", architectures=["MarianMTModel"], d_model=15, activation_function="swish",
                   scale_embedding=True), [], "past"),
             (dict(BART, architectures=["BartForCausalLM"], activation_function="gelu_fast"),
              ["encoder_hidden_states", "encoder_attention_mask", "head_mask", "cross_attn_head_mask"], "steps"),
             (dict(BART, model_type="marian", architectures=["MarianForCausalLM"], d_model=15, tie_word_embeddings=False), [],
              "int8 steps"),
             (dict(BART, activation_function="silu", architectures=["BartForSequenceClassification"], eos_token_id=2,
                   decoder_start_token_id=3),
              ["head_mask", "decoder_head_mask", "cross_attn_head_mask"])],
    "t5": [(dict(T5), ["decoder_attention_mask", "head_mask"]),
           (dict(T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False, num_decoder_layers=1), [], "int8 steps"),
           (dict(T5, architectures=["T5ForSequenceClassification"], eos_token_id=2, decoder_start_token_id=3,
                 feed_forward_proj="gated-quick_gelu"),
            ["head_mask"]),
           (dict(T5, architectures=["T5ForQuestionAnswering"], decoder_start_token_id=3, dense_act_fn="tanh", is_gated_act=True), [],
            "forward"),
           (dict(T5, architectures=["T5ForTokenClassification"], num_labels=3), [], "forward"),
           (dict(T5, architectures=["T5EncoderModel"], feed_forward_proj="gated-silu"), [])],
}


def head_mask(rng, config, side):
    layers, heads = (config.get(key, config.get(other))
                     for key, other in ((side + "_layers", "num_layers"), (side + "_attention_heads", "num_heads")))
    return "F32", [layers, heads], [rng.choice([0.0, 1.0, 0.5]) for _ in range(layers * heads)]


def make_inputs(config, extra, rng):
    """Returns inputs of two sequences, the second one padded; the mask of the first hides its first tokens."""
    batch, length, target, vocab = 2, 9, 7, config["vocab_size"]
    if "choices" in extra:  # six sequences, of which each row has three
        masks = [int(i % length > i // length) for i in range(6 * length)]
        return {"input_ids": models.random_ids(rng, vocab, batch, 3, length), "attention_mask": ("I64", [batch, 3, length], masks),
                "token_type_ids": models.random_ids(rng, vocab, batch, 3, length), "mc_token_ids": models.random_ids(rng, length, batch, 3)}
    tensors = {"input_ids": models.random_ids(rng, vocab, batch, length),
               "attention_mask": ("I64", [batch, length], [0] * 2 + [1] * (length - 2) + [1] * (length - 3) + [0] * 3)}
    kind, alone = config["architectures"][0], ("T5EncoderModel", "T5ForTokenClassification", "BartForCausalLM", "MarianForCausalLM")
    if "Sequence" in kind and config["model_type"] in ("bart", "t5"):
        # The decoder gets the encoder's ids; each sequence has an end.
        tensors["input_ids"][2][3] = tensors["input_ids"][2][5] = tensors["input_ids"][2][length + 4] = config["eos_token_id"]
    elif config["model_type"] in ("bart", "marian", "t5") and kind not in alone:
        tensors["decoder_input_ids"] = models.random_ids(rng, vocab, batch, target)
    for name in extra:
        if name == "position_ids":
            tensors[name] = models.random_ids(rng, config["max_position_embeddings"], batch, length)
        elif name == "decoder_attention_mask":
            tensors[name] = "I64", [batch, target], [1] * target + [0] * 3 + [1] * (target - 3)
        elif name == "encoder_hidden_states":
            hidden = config.get("n_embd", config.get("d_model"))
            tensors[name] = "F32", [batch, 5, hidden], models.as_floats(rng.uniform(-1, 1) for _ in range(batch * 5 * hidden))
        elif name == "encoder_attention_mask":
            tensors[name] = "I64", [batch, 5], [1, 1, 0, 1, 1, 0, 1, 1, 1, 0]
        elif name.endswith("head_mask"):
            tensors[name] = head_mask(rng, config, "encoder" if name == "head_mask" and "Causal" not in kind else "decoder")
        else:
            tensors[name] = models.random_ids(rng, vocab, batch, length)
    return tensors
