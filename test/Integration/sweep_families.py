# ===- sweep_families.py - Models of all families against plain Python -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# sweep_families.py FAMILY DIR [COUNT [forward]]: small models of FAMILY (the first COUNT) with odd sizes and generated
# weights, each with ragged masks and all its outputs, compared by `attune check` with the results of families_*.py;
# decoders, unless `forward` is said, once more without their first tokens, whose keys and values are given (encoders
# then need no tokens either), and in steps, with those that the session keeps.

import json
import os
import struct
import sys

import families
import families_bart
import families_decoders
import families_encoders
import families_plain
import families_t5
import models
import past_case
from sweep import run
from sweep_configs import CONFIGS, make_inputs

MODULES = families_bart, families_decoders, families_encoders, families_plain, families_t5
FORWARD = {name: forward for module in MODULES for name, forward in module.FAMILIES.items()}


def rows(shape, values):
    """Returns the flat |values| as nested lists of |shape|."""
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


def forward_one(model, inputs):
    inputs = dict(inputs)
    mask = inputs.pop("attention_mask", inputs.pop("mask", None))
    return FORWARD[model.config["model_type"]](model, inputs.pop("input_ids", None), mask, **inputs)


def hide_heads(config, tensors, pruned):
    """Returns |tensors| and a head mask that hides the heads |pruned|, {"layer": heads}."""
    layers, heads = (next(config[key] for key in keys if key in config)
                     for keys in (("num_hidden_layers", "n_layers", "n_layer"), ("num_attention_heads", "n_heads", "n_head")))
    visible = [float(head not in pruned.get(str(layer), [])) for layer in range(layers) for head in range(heads)]
    return {**tensors, "head_mask": ("F32", [layers, heads], visible)}


def expect_pruned(config, weights, tensors, pruned):
    """Returns the outputs without pruned heads: as if these were hidden, but without their probabilities, keys and values."""
    expected = expect(config, weights, hide_heads(config, tensors, pruned))
    for name in expected:
        group, _, layer = name.partition(".")
        gone = pruned.get(layer.split(".")[0], [])
        if gone and group in ("attentions", "past_key_values"):
            expected[name] = [[head for number, head in enumerate(row) if number not in gone] for row in expected[name]]
    return expected


def expect(config, weights, tensors):
    """Returns {"name": nested values} of the whole batch; a group has a name for each member, such as `hidden_states.3`."""
    model, parts = families.Model(config, weights), []
    nested = {name: rows(shape, values) for name, (_, shape, values) in tensors.items()}
    for b in range(len(next(iter(nested.values())))):
        own = {name: value if name.endswith("head_mask") else value[b if len(value) > 1 else 0] for name, value in nested.items()}
        if any(word in config.get("architectures", ["-"])[0] for word in ("Choice", "Double")):
            every = [forward_one(model, {name: value if name.endswith("head_mask") else value[c] for name, value in own.items()})
                     for c in range(len(own["input_ids"]))]
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


def write_case(folder, tensors, expected, call, precision=0.0):
    """Writes a case. It allows 2e-5 of the largest value, four times the least bound of golden cases, because the errors are
    not measured here; plus 1e-5 of each value; plus |precision| of each value where outputs are rounded."""
    os.makedirs(folder, exist_ok=True)
    models.save(os.path.join(folder, "inputs.safetensors"), tensors)
    values = {name: ("F32", shape_of(nested), flatten(nested)) for name, nested in expected.items()}
    models.save(os.path.join(folder, "expected.safetensors"), values)
    outputs = {}
    for name, (_, shape, flat) in values.items():
        largest = max(map(abs, flat))
        outputs[name] = {"dtype": "F32", "shape": shape, "max_abs": largest, "atol": 2e-5 * largest, "rtol": 1e-5 + precision}
    with open(os.path.join(folder, "case.json"), "w") as f:
        json.dump({"call": call, "outputs": outputs}, f)


def steps_inputs(tensors):
    """Returns the same inputs with the first token of each sequence visible: a query without a visible key depends on later keys."""
    name = "decoder_attention_mask" if "decoder_input_ids" in tensors else "attention_mask"
    if name not in tensors:
        return tensors
    dtype, shape, values = tensors[name]
    return {**tensors, name: (dtype, shape, [1 if i % shape[1] == 0 else value for i, value in enumerate(values)])}


def main(family, work, count=None, only=None):
    for number, (config, extra, *rest) in enumerate(CONFIGS[family][:count and int(count)]):
        checks, pruned = (only or (rest[0] if rest else "past steps")).split(), rest[1:]
        folder = os.path.join(work, f"{family}-{number}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "config.json"), "w") as f:
            json.dump(config, f)
        run("attune", "init", folder, "-o", folder, "--seed", str(number + 3))
        tensors, weights = make_inputs(config, extra, models.generator(family, number)), load_weights(folder)
        expected = expect_pruned(config, weights, tensors, *pruned) if pruned else expect(config, weights, tensors)
        write_case(folder, tensors, expected, {"function": "forward", "kwargs": {}, **({"prune_heads": pruned[0]} if pruned else {})})
        print(run("attune", "check", folder))
        if any(word in config["architectures"][0] for word in ("Sequence", "Double")):
            continue  # judged as a whole, so there is nothing to say of a part
        if "past" in checks and any(name.startswith("past_key_values") for name in expected):
            past_case.main(folder, 3, folder + "-past", ["input_ids"] if "decoder_input_ids" in tensors and number == 0 else [])
            print(run("attune", "check", folder + "-past"))
        # Logits of each token.
        if "steps" in checks and "logits" in expected:
            tensors = steps_inputs(tensors)
            logits = expect(config, weights, tensors)["logits"]
            write_case(folder, tensors, {"logits": logits}, {"function": "incremental", "steps": [1, 3, 1, 1, len(logits[0]) - 6]})
            print(run("attune", "check", folder, *("--dtype=" + word for word in checks if word != "steps" and word != "past")))


if __name__ == "__main__":
    main(*sys.argv[1:])
