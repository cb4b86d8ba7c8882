# ===- common.py - What the tables of families share ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from ..cases import Case, forward, generate, steps

# Sizes are odd where a family allows it, so that no tile, vector or block divides them.
BERT = {"vocab_size": 101, "hidden_size": 36, "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 53,
        "hidden_act": "gelu",
        "max_position_embeddings": 41, "type_vocab_size": 2, "layer_norm_eps": 1e-12, "pad_token_id": 0}
ROBERTA = {**BERT, "type_vocab_size": 1, "layer_norm_eps": 1e-5, "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}
LLAMA = {"vocab_size": 101, "hidden_size": 36, "intermediate_size": 53, "num_hidden_layers": 2, "num_attention_heads": 6,
         "num_key_value_heads": 2,
         "max_position_embeddings": 64, "hidden_act": "silu", "rms_norm_eps": 1e-6, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
         "tie_word_embeddings": False, "torch_dtype": "float32"}
GPT = {"vocab_size": 101, "n_embd": 36, "n_layer": 2, "n_head": 3, "n_positions": 48, "bos_token_id": 100, "eos_token_id": 100}
BART = {"vocab_size": 101, "d_model": 36, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 3,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 53, "decoder_ffn_dim": 45, "max_position_embeddings": 40, "is_encoder_decoder": True, "num_labels": 3}
T5 = {"vocab_size": 101, "d_model": 34, "d_kv": 9, "d_ff": 45, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 3,
      "relative_attention_num_buckets": 8,
      "relative_attention_max_distance": 12, "layer_norm_epsilon": 1e-6, "is_encoder_decoder": True, "pad_token_id": 0, "eos_token_id": 1,
      "decoder_start_token_id": 0}

HEADS = {"sequence": "ForSequenceClassification", "tokens": "ForTokenClassification", "answers": "ForQuestionAnswering", "model": "Model"}
EXERCISES = {"sequence": "one row of labels per sequence, of its last token that is not padding", "tokens": "labels of every token",
             "answers": "begin and end of an answer", "model": "the model without a head, names without its prefix"}
MASKS = "right", "left", ""


def decoder_cases(prefix, variants, heads=("sequence", "tokens", "answers", "model"), model=None, states=True, greedy=True, masks=MASKS):
    """Returns the usual cases of a decoder.

    For each variant {name: (exercises, configuration[, {"steps": False}])} there is a forward call and decoding in steps;
    for the first one also greedy search and the heads.
    """
    cases, causal = [], prefix + "ForCausalLM"
    for number, (name, (exercises, config, *options)) in enumerate(variants.items()):
        cases.append(Case(name, causal, exercises, forward(mask=masks[number % len(masks)], states=states), config))
        if {"steps": True, **(options[0] if options else {})}["steps"]:
            cases.append(Case(name + "_steps", causal, exercises, steps(4, 1, 1, 3, 2), config))
    config = next(iter(variants.values()))[1]
    if greedy:
        cases.append(Case("greedy", causal, ["prompts padded on the left; a row that ends early"], generate(), config, ends=True))
    for number, head in enumerate(heads):
        labels = {"num_labels": 3} if head in ("sequence", "tokens") else {}
        architecture = model if head == "model" and model else prefix + HEADS[head]
        cases.append(Case(head, architecture, [EXERCISES[head]], forward(batch=3, mask=masks[number % 2]), {**config, **labels}))
        if head == "sequence":
            cases.append(Case("sequence_left", architecture, ["the last token that is not padding, behind padding on the left"],
                              forward(batch=3, mask="left"), {**config, **labels}))
    return cases


def pick(rng, choices):
    return choices[int(rng.integers(len(choices)))]


def bert_sizes(rng, even=False):
    """Returns random sizes. If |even|, the size of a head is even, which rotary embeddings need."""
    heads, size = int(rng.integers(1, 6)), int(rng.integers(2, 14)) * (2 if even else 1)
    return {"hidden_size": heads * size, "num_attention_heads": heads, "num_hidden_layers": int(rng.integers(1, 4)),
            "intermediate_size": int(rng.integers(5, 90)),
            "vocab_size": int(rng.integers(40, 140)), "max_position_embeddings": int(rng.integers(40, 70))}


def even_sizes(rng):
    return bert_sizes(rng, even=True)


def llama_sizes(rng):
    sizes = bert_sizes(rng, even=True)
    groups = [count for count in range(1, sizes["num_attention_heads"] + 1) if sizes["num_attention_heads"] % count == 0]
    return {**sizes, "num_key_value_heads": pick(rng, groups)}


def free_head_sizes(rng):
    """Returns llama_sizes with a head size that does not follow from the other sizes."""
    return {**llama_sizes(rng), "hidden_size": 4 * int(rng.integers(3, 16)), "head_dim": 2 * int(rng.integers(2, 12))}


def gpt_sizes(rng):
    sizes = bert_sizes(rng, even=True)
    return {"n_embd": sizes["hidden_size"], "n_head": sizes["num_attention_heads"], "n_layer": sizes["num_hidden_layers"],
            "n_inner": sizes["intermediate_size"],
            "vocab_size": sizes["vocab_size"], "n_positions": sizes["max_position_embeddings"]}


def bart_sizes(rng):
    heads, size = int(rng.integers(1, 4)), int(rng.integers(2, 8)) * 2
    other = pick(rng, [count for count in range(1, heads * size + 1) if (heads * size) % count == 0 and count < 7])
    return {"d_model": heads * size, "encoder_attention_heads": heads, "decoder_attention_heads": other,
            "encoder_layers": int(rng.integers(1, 4)),
            "decoder_layers": int(rng.integers(1, 4)), "encoder_ffn_dim": int(rng.integers(5, 80)),
            "decoder_ffn_dim": int(rng.integers(5, 80)),
            "vocab_size": int(rng.integers(40, 140)), "max_position_embeddings": int(rng.integers(40, 70))}


def t5_sizes(rng):
    return {"d_model": int(rng.integers(5, 60)), "d_kv": int(rng.integers(3, 20)), "d_ff": int(rng.integers(5, 80)),
            "num_layers": int(rng.integers(1, 4)),
            "num_decoder_layers": int(rng.integers(1, 4)), "num_heads": int(rng.integers(1, 6)), "vocab_size": int(rng.integers(40, 140)),
            "relative_attention_num_buckets": 4 * int(rng.integers(1, 9)), "relative_attention_max_distance": int(rng.integers(17, 130))}


# Rotary tables in the spelling of published files, for the key `rope_scaling` of the census; without longrope, whose
# tables have as many entries as half a head.
ROPES = [None, {"type": "linear", "factor": 2.5}, {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                                     "original_max_position_embeddings": 24},
         {"rope_type": "dynamic", "factor": 3.0}, {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32}]
