# ===- seeds.py - The hand-written models of examples/seeds ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# seeds.py EXAMPLES DIR: compiles encoder.mlir and decoder.mlir with random weights, runs the decoder on the encoder's
# result and compares both with plain Python.

import math
import os
import re
import struct
import sys

import models
from families import ACTIVATIONS, Model, add, attend, causal, each, split, softmax
from sweep import run
from sweep_families import flatten, rows

HIDDEN, HEADS = 32, 4


def random_weights(files, rng):
    """Returns a tensor for each `#xfmr.tensor<"NAME" : tensor<SHAPExf32>>` of the files."""
    tensors = {}
    for file in files:
        with open(file) as f:
            for name, shape in re.findall(r'#xfmr\.tensor<"([^"]+)" : tensor<([0-9x]+)xf32>>', f.read()):
                extents = [int(extent) for extent in shape.split("x")]
                tensors[name] = "F32", extents, [rng.uniform(-1, 1) / math.sqrt(extents[-1]) for _ in range(models.product(extents))]
    return tensors


def place(x):
    """Returns the rows of |x| with the sinusoidal encoding of their positions."""
    angles = [[p / 10000 ** (i // 2 * 2 / HIDDEN) for i in range(HIDDEN)] for p in range(len(x))]
    return add(x, [[math.cos(a) if i % 2 else math.sin(a) for i, a in enumerate(row)] for row in angles])


def branch(model, x, memory, name, masks):
    q, k, v = (split(model.linear(source, f"{name}.{m}"), HEADS) for source, m in ((x, "q"), (memory, "k"), (memory, "v")))
    joined, _ = attend(q, k, v, 1 / math.sqrt(HIDDEN / HEADS), masks)
    return model.norm(add(x, model.linear(joined, name + ".o")), name + ".norm", 1e-5)


def feed_forward(model, x, layer):
    inner = each(ACTIVATIONS["relu"], model.linear(x, layer + ".ffn.up"))
    return model.norm(add(x, model.linear(inner, layer + ".ffn.down")), layer + ".ffn.norm", 1e-5)


def encode(model, x):
    x = place(x)
    for layer in ("encoder.0", "encoder.1"):
        x = feed_forward(model, branch(model, x, x, layer + ".attention", []), layer)
    return x


def decode(model, x, memory):
    x = place(x)
    x = branch(model, x, x, "decoder.0.attention", [causal(len(x))])
    x = feed_forward(model, branch(model, x, memory, "decoder.0.cross", []), "decoder.0")
    return [softmax(row) for row in model.linear(x, "linear")]


def compare(path, name, expected):
    _, shape, data = models.load(path)[name]
    got, wanted = struct.unpack(f"<{models.product(shape)}f", data), flatten(expected)
    assert len(got) == len(wanted) and max(abs(v) for v in wanted) > 0
    worst = max(abs(a - b) for a, b in zip(got, wanted))
    # Sums of up to 48 terms of size 1, twice per layer: about a hundred roundings by the last digit of 1.
    assert worst < 1e-5, (name, worst)


def main(examples, work):
    os.makedirs(work, exist_ok=True)
    rng = models.generator("seeds")
    files = [os.path.join(examples, name + ".mlir") for name in ("encoder", "decoder")]
    weights, at = random_weights(files, rng), lambda name: os.path.join(work, name)
    models.save(at("weights.safetensors"), weights)
    model = Model({}, {name: rows(shape, values) for name, (_, shape, values) in weights.items()})
    batch, source, target = 3, 7, 5
    src, tgt = ([rng.uniform(-1, 1) for _ in range(batch * length * HIDDEN)] for length in (source, target))
    for file, name in zip(files, ("encoder", "decoder")):
        run("attune", "compile", file, "--weights=" + at("weights.safetensors"), "--emit=shared", "-o", at(name + ".so"))

    models.save(at("src.safetensors"), {"src": ("F32", [batch, source, HIDDEN], src)})
    run("attune-run", "run", at("encoder.so"), "--input=" + at("src.safetensors"), "--output=" + at("memory.safetensors"))
    memory = [encode(model, sequence) for sequence in rows([batch, source, HIDDEN], src)]
    compare(at("memory.safetensors"), "memory", memory)

    models.save(at("tgt.safetensors"), {"tgt": ("F32", [batch, target, HIDDEN], tgt),
                                        "memory": ("F32", [batch, source, HIDDEN], flatten(memory))})
    run("attune-run", "run", at("decoder.so"), "--input=" + at("tgt.safetensors"), "--output=" + at("output.safetensors"))
    compare(at("output.safetensors"), "output", [decode(model, x, m) for x, m in zip(rows([batch, target, HIDDEN], tgt), memory)])


if __name__ == "__main__":
    main(*sys.argv[1:])
