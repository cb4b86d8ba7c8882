# ===- nan_scores.py - Scores of attention that are NaN ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""nan_scores.py FIXTURES [emulator] [--all]: a row of attention with a NaN in its visible scores is NaN, by compiled
code as by the plain path.

Such a row must not pass for one without a visible key, whose result is a mean of values. With `emulator`, the compiled
code is that of emulated GPUs, with attention by warps in f32 and by tensor cores in bf16. --all runs more models, CPUs
and GPUs than the first two."""

import json
import math
import struct
import subprocess
import sys

LENGTH = 5
NAN, LOWEST = float("nan"), -3.4028234663852886e38
# Queries 1, 2 and 4 have a NaN; query 3 sees no key; query 0 sees key 0.
MASK = [[0, 0, 0, 0, 0], [NAN] * 5, [0, NAN, 0, 0, 0], [LOWEST] * 5, [LOWEST, LOWEST, NAN, LOWEST, 0]]


def write(path):
    values = [value for row in MASK for value in row]
    ids = list(range(1, LENGTH + 1))
    middle = 8 * LENGTH
    header = {"input_ids": {"dtype": "I64", "shape": [1, LENGTH], "data_offsets": [0, middle]},
              "attention_mask": {"dtype": "F32", "shape": [1, 1, LENGTH, LENGTH], "data_offsets": [middle, middle + 4 * len(values)]}}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + struct.pack(f"<{LENGTH}q", *ids) + struct.pack(f"<{len(values)}f", *values))


def read(path):
    """Returns the output that has a row for each token, as [LENGTH][features]."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    for name, tensor in json.loads(data[8:8 + size]).items():
        if name in ("logits", "last_hidden_state"):
            begin, end = tensor["data_offsets"]
            values = struct.unpack(f"<{(end - begin) // 4}f", data[8 + size + begin:8 + size + end])
            width = len(values) // LENGTH
            return [values[i * width:(i + 1) * width] for i in range(LENGTH)]
    raise AssertionError(path)


def run(*arguments, tool="attune"):
    done = subprocess.run([tool, "run", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.stderr)


CPU = [("llama_forward",), ("llama_forward", "--dtype=int8"), ("llama_forward", "--cpu=x86-64-v3"), ("gpt2_forward",),
       ("families/gpt_neo_forward",), ("families/mistral_window",), ("families/gemma2_forward",), ("bert_base",)]
GPU = [("llama_forward", "--gpu=emulator"), ("llama_forward", "--gpu=emulator", "--dtype=bf16"),
       ("llama_forward", "--gpu=emulator_90a", "--dtype=bf16"), ("bert_base", "--gpu=emulator", "--dtype=bf16")]
emulated = "emulator" in sys.argv[2:]
write("in.safetensors")
for model, *flags in (GPU if emulated else CPU)[:None if "--all" in sys.argv[2:] else 2]:
    folder = f"{sys.argv[1]}/{model}"
    call = [folder, "--input=in.safetensors", "--outputs=" + ("last_hidden_state" if model == "bert_base" else "logits")]
    if emulated:
        run(*call, *flags, "--target=cuda", "--output=compiled.safetensors", tool="attune-emulated")
    else:
        run(*call, *flags, "--output=compiled.safetensors")
    run(*call, *(flag for flag in flags if not flag.startswith("--gpu")), "--from-phase=dialect", "--output=plain.safetensors")
    for token, (got, expected) in enumerate(zip(read("compiled.safetensors"), read("plain.safetensors"))):
        # A GPU reads no values of hidden keys, which are NaN from the second layer on: 0 times NaN is NaN elsewhere.
        if emulated and token not in (1, 2, 4):
            continue
        wrong = [math.isnan(a) for a in got] != [math.isnan(b) for b in expected]
        assert not wrong, (model, flags, token, got[:4], expected[:4])
        assert math.isnan(expected[0]) or token not in (1, 2, 4), (model, token, expected[:4])
    print("ok:", model, *flags)
