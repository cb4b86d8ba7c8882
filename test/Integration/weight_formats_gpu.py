# ===- weight_formats_gpu.py - Weights of 4 and 8 bits on GPUs --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# weight_formats_gpu.py DIR GPU DTYPE [--tokens=N] FORMAT…: a Llama whose weights every format represents exactly, small integers times a
# power of two, on an emulated GPU. Checks that its results with each FORMAT are those of weights of DTYPE but for the order
# of sums: for many tokens and for few, with rows that are no multiple of a tile, a K that ends within a step and a group
# (144) and one that is whole rounds of the warps that share it (256), and a head with an odd number of columns.

import json
import math
import os
import shutil
import struct
import sys

import models
from sweep import run

VOCABULARY, HIDDEN, LAYERS = 101, 144, 1
# Sums of f32 in another order differ by less; an activation near a tie may round the other way, which changes it by up to
# 2^-8 of itself.
ALLOWED = 4e-3


def make_model(work):
    config, folder = os.path.join(work, "config"), os.path.join(work, "model")
    os.makedirs(config, exist_ok=True)
    with open(os.path.join(config, "config.json"), "w") as f:
        json.dump(dict(architectures=["LlamaForCausalLM"], model_type="llama", vocab_size=VOCABULARY, bos_token_id=1, eos_token_id=2,
                       hidden_size=HIDDEN, head_dim=16, intermediate_size=256, num_hidden_layers=LAYERS, num_attention_heads=8,
                       num_key_value_heads=4, max_position_embeddings=256, rms_norm_eps=1e-6, hidden_act="silu", rope_theta=1e4), f)
    # init replaces only weights that it generated, and these are changed below.
    shutil.rmtree(folder, ignore_errors=True)
    run("attune", "init", config, "-o", folder, "--seed", "3")
    path, rng, tensors = os.path.join(folder, "model.safetensors"), models.generator("weights"), {}
    for name, (dtype, shape, data) in models.load(path).items():
        values = list(struct.unpack(f"<{models.product(shape)}f", data))
        if len(shape) == 2:
            # Integers from 0 to 7, with a 7 in every 16, so that formats with and without minima keep them. All
            # 16 of a run have the same sign.
            values = [(7 if i % 16 == 0 else rng.randrange(8)) / 64 * (1 if i // 16 % 2 else -1) for i in range(len(values))]
        tensors[name] = dtype, shape, values
    models.save(path, tensors)
    return folder


def main(work, gpu, dtype, *formats):
    many = 70
    if formats[0].startswith("--tokens="):
        many, formats = int(formats[0].partition("=")[2]), formats[1:]
    os.makedirs(work, exist_ok=True)
    model, output = make_model(work), os.path.join(work, "out.safetensors")
    for tokens in (many, 3):
        inputs = os.path.join(work, f"in-{tokens}.safetensors")
        models.save(inputs, {"input_ids": models.random_ids(models.generator("ids"), VOCABULARY, 1, tokens)})
        exact = None
        for kind in ("native", *formats):
            run("attune-emulated", "run", model, "--input", inputs, "--output", output, "--outputs=logits", "--target=cuda", "--gpu=" + gpu,
                "--dtype=" + dtype, "--weights-format=" + kind)
            found = memoryview(models.load(output)["logits"][2]).cast("f")
            assert len(found) == tokens * VOCABULARY and all(map(math.isfinite, found)), f"{kind}: not numbers"
            if exact is None:
                exact = found
                continue
            error = max(abs(a - b) for a, b in zip(exact, found)) / max(map(abs, exact))
            assert error <= ALLOWED, f"{kind}, {tokens} tokens: off by {error} of the largest value"
            print(f"{kind}, products of {dtype} on {gpu}, {tokens} tokens: off by {error:.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
