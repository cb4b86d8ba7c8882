# ===- cache_types_gpu.py - Caches of bf16, f16 and int8 on GPUs ------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cache_types_gpu.py DIR SIZE:DTYPE:GPU[:TYPE]…: Llama with heads of SIZE components, two queries for each key, and products
# of DTYPE, on an emulated GPU with caches of TYPE, without it of each type. Two panels of tokens go through the caches in
# one call, by one token and by three.
# Checks that the keys and values of the first layer are those of the f32 caches of that GPU, rounded here as
# `xfmr.kv_cache_update` says, and that results are off those of the f32 caches, but less than a bound for each type.

import json
import math
import os
import sys

import models
from cache_types import ALLOWED, floats, round_vector
from sweep import run

TOKENS, VOCABULARY, STEPS = 70, 101, "66,1,3"


def make_model(size, work):
    config, folder = os.path.join(work, f"config-{size}"), os.path.join(work, f"model-{size}")
    os.makedirs(config, exist_ok=True)
    with open(os.path.join(config, "config.json"), "w") as f:
        json.dump(dict(architectures=["LlamaForCausalLM"], model_type="llama", vocab_size=VOCABULARY, bos_token_id=1, eos_token_id=2,
                       hidden_size=4 * size, head_dim=size, intermediate_size=32, num_hidden_layers=1, num_attention_heads=4,
                       num_key_value_heads=2, max_position_embeddings=128, rms_norm_eps=1e-6, hidden_act="silu", rope_theta=1e4), f)
    run("attune", "init", config, "-o", folder, "--seed", "3")
    return folder


def main(work, *cases):
    os.makedirs(work, exist_ok=True)
    inputs, output = os.path.join(work, "in.safetensors"), os.path.join(work, "out.safetensors")
    models.save(inputs, {"input_ids": models.random_ids(models.generator("caches"), VOCABULARY, 1, TOKENS)})
    for case in cases:
        size, dtype, gpu, *types = case.split(":")
        model, exact = make_model(int(size), work), None
        for kind in ("f32", *(types or ("bf16", "f16", "int8"))):
            run("attune-emulated", "run", model, "--input", inputs, "--output", output, "--outputs=logits,past_key_values",
                "--steps=" + STEPS, "--target=cuda", "--gpu=" + gpu, "--dtype=" + dtype, "--cache-dtype=" + kind)
            found = {name: floats(entry) for name, entry in models.load(output).items()}
            assert all(map(math.isfinite, found["logits"])), f"{case}, {kind}: not numbers"
            if kind == "f32":
                exact = found
                continue
            for name in (name for name in found if name.startswith("past_key_values.0.")):
                for first in range(0, len(found[name]), int(size)):
                    kept, want = found[name][first:first + int(size)], round_vector(exact[name][first:first + int(size)], kind)
                    assert list(kept) == want, f"{case}, {kind} {name}: {kept} instead of {want}"
            error = max(abs(a - b) for a, b in zip(exact["logits"], found["logits"])) / max(map(abs, exact["logits"]))
            # Products of bf16 and f16 round keys and values once more.
            allowed = max(ALLOWED[kind], ALLOWED.get(dtype, 0))
            assert 0 < error <= allowed, f"{case}, {kind}: the logits are off by {error}"
            print(f"heads of {size}, products of {dtype} on {gpu}, caches of {kind}: logits off by {error:.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
