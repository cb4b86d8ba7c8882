# ===- attention_tiles_gpu.py - Tiles of f32 attention against its rows -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# attention_tiles_gpu.py DIR GPU: attention of f32 on an emulated GPU. A tile of up to 8 rows goes to warps, a larger one
# through shared memory. Checks that both give a row the same bits, by causal calls of 3 and of 70 tokens, of which the first
# three see the same keys, and that 150 and 70 tokens are right, against sums in double.

import array
import math
import os
import random
import sys

import models
from sweep import run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
from support.gpu_artifacts import ATTENTION  # noqa: E402

BATCH, SHORT, LENGTHS = 2, 3, (70, 150)
# The largest error of sums of f32 beside those in double, for values up to 1.
ALLOWED = 2e-6

def attend(q, k, v, length, heads, size, batch, query, head, window):
    """Returns one row of attention, in double."""
    def vector(values, row):
        at = ((batch * length + row) * heads + head) * size
        return values[at:at + size]
    first = max(0, query - window) if window else 0
    scores = [sum(a * b for a, b in zip(vector(q, query), vector(k, key))) / math.sqrt(size) for key in range(first, query + 1)]
    weights = [math.exp(score - max(scores)) for score in scores]
    values = [vector(v, key) for key in range(first, query + 1)]
    return [sum(w * value[i] for w, value in zip(weights, values)) / sum(weights) for i in range(size)]


def main(work, gpu):
    os.makedirs(work, exist_ok=True)
    for heads, size, window in ((2, 16, 0), (1, 72, 0), (1, 128, 0), (2, 20, 66)):
        source, features, results = os.path.join(work, "attention.mlir"), heads * size, {}
        with open(source, "w") as f:
            hidden = ", causal" + (f", window_left = {window} : i64" if window else "")
            f.write(ATTENTION.format(f=features, h=heads, d=size, scale=size**-0.5, causal=hidden))
        rng = random.Random(size)
        whole = {name: [[rng.uniform(-1, 1) for _ in range(max(LENGTHS) * features)] for _ in range(BATCH)] for name in "qkv"}
        for length in (SHORT, *LENGTHS):
            inputs, output = os.path.join(work, "in.safetensors"), os.path.join(work, "out.safetensors")
            parts = {name: array.array("f", [x for sequence in whole[name] for x in sequence[:length * features]]) for name in "qkv"}
            models.save(inputs, {name: ("F32", [BATCH, length, features], part) for name, part in parts.items()})
            run("attune-emulated", "run", source, "--input", inputs, "--output", output, "--target=cuda", "--gpu=" + gpu)
            found = memoryview(models.load(output)["y"][2]).cast("f")
            results[length] = [found[b * length * features:(b + 1) * length * features] for b in range(BATCH)]
            for query in (0, length // 2, length - 1):
                expected = attend(*(parts[name] for name in "qkv"), length, heads, size, 1, query, heads - 1, window)
                at = ((length + query) * heads + heads - 1) * size
                worst = max(abs(a - b) for a, b in zip(expected, found[at:at + size]))
                assert worst <= ALLOWED, f"heads of {size}, {length} tokens, row {query}: off by {worst}"
        for batch in range(BATCH):
            few = results[SHORT][batch].tobytes()
            for length in LENGTHS:
                mine = results[length][batch][:SHORT * features].tobytes()
                assert mine == few, f"heads of {size}, {length} tokens: other bits than {SHORT} tokens"
        print(f"heads of {size}, window {window}, on {gpu}: equal bits")


main(*sys.argv[1:])
