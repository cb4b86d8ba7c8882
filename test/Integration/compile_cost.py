# ===- compile_cost.py - What compiling costs, and that depth is free -------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# compile_cost.py CONFIG_DIR DIR [LAYERS…]: compiles models with the sizes of CONFIG_DIR and 12, then 48 layers, up to
# optimized LLVM IR (an object would need its weights packed, a gigabyte of writing). Prints the CPU seconds, the peak
# of anonymous memory and the size of the optimized code of each; fails above 300 MB, or if memory or code of 48 layers
# exceed those of 12 by more than a tenth. With LAYERS, other numbers of layers are compiled and only measured, with the
# seconds of every phase. Seconds are printed, not judged: a busy machine must not fail a test. The weights are a sparse
# file of zeros, so nothing of their size is written here either.

import json
import os
import struct
import subprocess
import sys
import time

MAX_MEGABYTES = 300
# Growth from depth that is allowed: each layer adds a call and a row of weights.
MAX_GROWTH = 1.10
# The memory that the allocator keeps beside it differs between runs: of 40 MB, 15 are in use (valgrind's massif).
SLACK_MEGABYTES = 10


def tensors(config):
    """Yields the names and shapes of a BertModel's parameters."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    for name, rows in (("word", "vocab_size"), ("position", "max_position_embeddings"), ("token_type", "type_vocab_size")):
        yield f"embeddings.{name}_embeddings.weight", [config[rows], hidden]
    yield from layer_norm("embeddings.LayerNorm", hidden)
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}."
        for name in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"):
            yield from linear(layer + name, hidden, hidden)
        yield from linear(layer + "intermediate.dense", hidden, inner)
        yield from linear(layer + "output.dense", inner, hidden)
        yield from layer_norm(layer + "attention.output.LayerNorm", hidden)
        yield from layer_norm(layer + "output.LayerNorm", hidden)
    yield from linear("pooler.dense", hidden, hidden)


def linear(name, inputs, outputs):
    yield name + ".weight", [outputs, inputs]
    yield name + ".bias", [outputs]


def layer_norm(name, width):
    yield name + ".weight", [width]
    yield name + ".bias", [width]


def write_model(config, folder):
    os.makedirs(folder)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(config, f)
    header, end = {}, 0
    for name, shape in tensors(config):
        begin, end = end, end + 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    with open(os.path.join(folder, "model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.truncate(8 + len(text) + end)


def anonymous_megabytes(pid):
    try:
        with open(f"/proc/{pid}/status") as f:
            return next((int(line.split()[1]) / 1024 for line in f if line.startswith("RssAnon:")), 0)
    except OSError:
        return 0


def cost(folder, output, flags):
    """Returns (CPU seconds, megabytes) of one compilation into |output|."""
    process = subprocess.Popen(["attune", "compile", folder, "--compile-to=llvm", "-o", output, *flags])
    peak, usage = 0, None
    while usage is None:
        peak = max(peak, anonymous_megabytes(process.pid))
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            usage = used
            if status:
                sys.exit(f"attune compile {folder}: status {status}")
        else:
            time.sleep(0.005)
    return usage.ru_utime + usage.ru_stime, peak


def main(config_dir, work, *layers):
    with open(os.path.join(config_dir, "config.json")) as f:
        config = json.load(f)
    found = {}
    for count in [int(text) for text in layers] or (12, 48):
        folder = os.path.join(work, f"layers-{count}")
        write_model(dict(config, num_hidden_layers=count), folder)
        output = os.path.join(work, f"{count}.ll")
        seconds, megabytes = cost(folder, output, ["--time-report"] if layers else [])
        found[count] = megabytes, os.path.getsize(output)
        print(f"{count} layers: {seconds:.2f} s CPU, {megabytes:.0f} MB anonymous, {found[count][1]} bytes of code", flush=True)
    if layers:
        return
    if any(megabytes > MAX_MEGABYTES for megabytes, _ in found.values()):
        sys.exit(f"expected at most {MAX_MEGABYTES} MB")
    if found[48][0] > MAX_GROWTH * found[12][0] + SLACK_MEGABYTES or found[48][1] > MAX_GROWTH * found[12][1]:
        sys.exit("expected 48 layers to cost what 12 do")


if __name__ == "__main__":
    main(*sys.argv[1:])
