# ===- sweep_families.py - Models of all families against plain Python -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# sweep_families.py FAMILY DIR: small models of FAMILY with odd sizes and generated weights, each with ragged masks and all its outputs, compared by
# `attune check` with what families.py computes; decoders once more without their first tokens, whose keys and values are given (encoders
# then need no tokens either), and in steps, with those that the session keeps.

import json
import os
import struct
import sys

import families
import families_encoders
import models
import past_case
from sweep import run

FORWARD = {**families.FAMILIES, **families_encoders.FAMILIES}
GPT2 = dict(model_type="gpt2", architectures=["GPT2LMHeadModel"], vocab_size=23, n_positions=12, n_embd=20, n_head=4, n_layer=2)
LLAMA = dict(model_type="llama", architectures=["LlamaForCausalLM"], vocab_size=23, max_position_embeddings=40, hidden_size=24, num_attention_heads=6,
             num_key_value_heads=3, num_hidden_layers=2, intermediate_size=37)
BART = dict(model_type="bart", architectures=["BartForConditionalGeneration"], vocab_size=23, max_position_embeddings=12, d_model=30, encoder_layers=1,
            decoder_layers=2, encoder_attention_heads=3, decoder_attention_heads=5, encoder_ffn_dim=37, decoder_ffn_dim=41)
T5 = dict(model_type="t5", architectures=["T5ForConditionalGeneration"], vocab_size=23, d_model=26, d_kv=7, d_ff=37, num_layers=2, num_heads=3,
          relative_attention_num_buckets=8, relative_attention_max_distance=10)

# Configuration, extra inputs, and the only ones of the checks after the first if not all.
CONFIGS = {
    "gpt2": [(dict(GPT2, scale_attn_by_inverse_layer_idx=True, n_inner=33, activation_function="relu", add_cross_attention=True),
              ["token_type_ids", "encoder_hidden_states", "encoder_attention_mask"]),
             (dict(GPT2, architectures=["GPT2DoubleHeadsModel"]), ["choices", "token_type_ids", "mc_token_ids"]),
             (dict(GPT2, architectures=["GPT2ForQuestionAnswering"], activation_function="quick_gelu"), [], "forward"),
             (dict(GPT2, architectures=["GPT2ForSequenceClassification"], vocab_size=5, pad_token_id=2, num_labels=3), [])],
    "llama": [(dict(LLAMA, head_dim=6, attention_bias=True, mlp_bias=True, tie_word_embeddings=True, rope_theta=500.0,
                    rope_scaling={"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                                  "original_max_position_embeddings": 16}), ["position_ids"]),
              (dict(LLAMA, num_key_value_heads=1, rope_scaling={"type": "linear", "factor": 2.5}), [])],
    "bart": [(dict(BART, scale_embedding=True), ["decoder_attention_mask"]),
             (dict(BART, model_type="marian", architectures=["MarianMTModel"], d_model=15, activation_function="swish", scale_embedding=True), [], "forward"),
             (dict(BART, architectures=["BartForCausalLM"], activation_function="gelu_fast"),
              ["encoder_hidden_states", "encoder_attention_mask", "head_mask", "cross_attn_head_mask"], "steps"),
             (dict(BART, model_type="marian", architectures=["MarianForCausalLM"], d_model=15, tie_word_embeddings=False), [], "steps"),
             (dict(BART, activation_function="silu", architectures=["BartForSequenceClassification"], eos_token_id=2, decoder_start_token_id=3),
              ["head_mask", "decoder_head_mask", "cross_attn_head_mask"])],
    "t5": [(dict(T5), ["decoder_attention_mask"]),
           (dict(T5, feed_forward_proj="gated-gelu", tie_word_embeddings=False, num_decoder_layers=1), []),
           (dict(T5, architectures=["T5ForSequenceClassification"], eos_token_id=2, decoder_start_token_id=3, feed_forward_proj="gated-quick_gelu"),
            ["head_mask"]),
           (dict(T5, architectures=["T5ForQuestionAnswering"], decoder_start_token_id=3, dense_act_fn="tanh", is_gated_act=True), [], "forward"),
           (dict(T5, architectures=["T5ForTokenClassification"], num_labels=3), [], "forward"),
           (dict(T5, architectures=["T5EncoderModel"], feed_forward_proj="gated-silu"), [])],
}


def rows(shape, values):
    """Nested lists of |shape|."""
    if len(shape) <= 1:
        return list(values)
    step = models.product(shape[1:])
    return [rows(shape[1:], values[i * step:(i + 1) * step]) for i in range(shape[0])]


def flatten(nested):
    return [value for part in nested for value in flatten(part)] if isinstance(nested, list) else [nested]


def shape_of(nested):
    return [len(nested)] + shape_of(nested[0]) if isinstance(nested, list) else []


def load_weights(folder):
    tensors = models.load(os.path.join(folder, "model.safetensors"))
    return {name: rows(shape, struct.unpack(f"<{models.product(shape)}f", data)) for name, (_, shape, data) in tensors.items()}


def head_mask(rng, config, side):
    layers, heads = (config.get(key, config.get(other)) for key, other in ((side + "_layers", "num_layers"), (side + "_attention_heads", "num_heads")))
    return "F32", [layers, heads], [rng.choice([0.0, 1.0, 0.5]) for _ in range(layers * heads)]


def make_inputs(config, extra, rng):
    """Two sequences, the second one padded; the mask of the first hides its first tokens."""
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


def forward_one(model, inputs):
    inputs = dict(inputs)
    mask = inputs.pop("attention_mask", inputs.pop("mask", None))
    return FORWARD[model.config["model_type"]](model, inputs.pop("input_ids", None), mask, **inputs)


def expect(config, weights, tensors):
    """{"name": nested values} of the whole batch, groups as their members."""
    model, parts = families.Model(config, weights), []
    nested = {name: rows(shape, values) for name, (_, shape, values) in tensors.items()}
    for b in range(len(next(iter(nested.values())))):
        own = {name: value if name.endswith("head_mask") else value[b if len(value) > 1 else 0] for name, value in nested.items()}
        if any(word in config.get("architectures", ["-"])[0] for word in ("Choice", "Double")):
            every = [forward_one(model, {name: value[c] for name, value in own.items()}) for c in range(len(own["input_ids"]))]
            parts.append({name: [one[name] for one in every] for name in every[0] if name.endswith("logits")})
        else:
            parts.append(forward_one(model, own))
    whole = {}
    for name in parts[0]:
        if name.endswith(("hidden_states", "attentions")):
            for i in range(len(parts[0][name])):
                whole[f"{name}.{i}"] = [part[name][i] for part in parts]
        else:
            whole[name] = [part[name] for part in parts]
    return whole


def write_case(folder, tensors, expected, call):
    """The tolerance of the golden cases: 5e-6 of the largest value and 1e-5 of each, times four for a bound that is not measured."""
    os.makedirs(folder, exist_ok=True)
    models.save(os.path.join(folder, "inputs.safetensors"), tensors)
    values = {name: ("F32", shape_of(nested), flatten(nested)) for name, nested in expected.items()}
    models.save(os.path.join(folder, "expected.safetensors"), values)
    outputs = {name: {"dtype": "F32", "shape": shape, "atol": 2e-5 * max(map(abs, flat)), "rtol": 1e-5} for name, (_, shape, flat) in values.items()}
    with open(os.path.join(folder, "case.json"), "w") as f:
        json.dump({"call": call, "outputs": outputs}, f)


def steps_inputs(tensors):
    """The same with the first token of each sequence visible: what a query sees that has no visible key depends on keys that come later."""
    name = "decoder_attention_mask" if "decoder_input_ids" in tensors else "attention_mask"
    if name not in tensors:
        return tensors
    dtype, shape, values = tensors[name]
    return {**tensors, name: (dtype, shape, [1 if i % shape[1] == 0 else value for i, value in enumerate(values)])}


def main(family, work):
    for number, (config, extra, *only) in enumerate(CONFIGS[family]):
        folder = os.path.join(work, f"{family}-{number}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "config.json"), "w") as f:
            json.dump(config, f)
        run("attune", "init", folder, "-o", folder, "--seed", str(number + 3))
        tensors = make_inputs(config, extra, models.generator(family, number))
        expected = expect(config, load_weights(folder), tensors)
        write_case(folder, tensors, expected, {"function": "forward", "kwargs": {}})
        print(run("attune", "check", folder))
        judged = any(word in config["architectures"][0] for word in ("Sequence", "Double"))  # as a whole, so there is nothing to say of a part
        if any(name.startswith("past_key_values") for name in expected) and not judged and not only:
            past_case.main(folder, 3, folder + "-past", ["input_ids"] if "decoder_input_ids" in tensors and number == 0 else [])
            print(run("attune", "check", folder + "-past"))
        # Logits of each token.
        if "logits" in expected and not judged and "forward" not in only:
            tensors = steps_inputs(tensors)
            logits = expect(config, load_weights(folder), tensors)["logits"]
            steps = [1, 3, 1, 1, len(logits[0]) - 6]
            write_case(folder, tensors, {"logits": logits}, {"function": "incremental", "steps": steps})
            print(run("attune", "check", folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
