# ===- masks.py - What the tools say of masks that are neither 0 nor 1 -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# masks.py FIXTURES DIR [--all]: runs models with masks that have another value somewhere; each is refused in one line
# with its position. --all has masks of every rank, with padding that is skipped and with one call of a decoder, too.

import os
import subprocess
import sys

import models

fixtures, work = sys.argv[1:3]
source, target = os.path.join(work, "in.safetensors"), os.path.join(work, "out.safetensors")


def refused(word, model, tensors, place, *flags, name="attention_mask"):
    models.save(source, tensors)
    command = ["attune", word, os.path.join(fixtures, model), "--input", source, "--output", target, *flags]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    expected = f"attune: error: {os.path.join(fixtures, model)}: input '{name}' is {place}, expected 0 or 1\n"
    # Ignores the message of the first run on a folder, which reports the compilation.
    errors = "".join(line for line in done.stderr.splitlines(True) if not line.startswith("attune: compiling "))
    assert (done.returncode, errors, done.stdout) == (1, expected, ""), (command, done, expected)
    assert not os.path.exists(target)


def mask(shape, at, value, name="attention_mask"):
    values = [1] * models.product(shape)
    values[at] = value
    return {name: ("I64", shape, values)}


ids = {"input_ids": ("I64", [2, 4], [1, 2, 3, 4, 5, 6, 7, 8])}
refused("run", "bert_base", {**ids, **mask([2, 4], 6, 2)}, "2 at [1, 2]")
refused("run", "bert_base", {**ids, **mask([2, 4], 0, -1)}, "-1 at [0, 0]")
refused("run", "gpt2_forward", {**ids, **mask([2, 4], 6, 2)}, "2 at [1, 2]", "--steps=1,2,1")
# golden-generation.test uses the same compiled models.
refused("generate", "gpt2_greedy_padded", {**ids, **mask([2, 4], 1, 5)}, "5 at [0, 1]", "--max-new-tokens=2")
refused("generate", "marian_beam4", {**ids, **mask([2, 4], 7, -2)}, "-2 at [1, 3]", "--max-new-tokens=2")
vectors = {"query": ("F32", [1, 2, 48], [0.0] * 96), "key": ("F32", [1, 3, 48], [0.0] * 144), "value": ("F32", [1, 3, 48], [0.0] * 144)}
refused("run", "seed_mha_mask", {**vectors, **mask([1, 1, 2, 3], 4, 2, "mask")}, "2 at [0, 0, 1, 1]", name="mask")
if sys.argv[3:] == ["--all"]:
    refused("run", "bert_base", {**ids, **mask([2, 4, 4], 31, 3)}, "3 at [1, 3, 3]")
    refused("run", "bert_base", {**ids, **mask([2, 1, 1, 4], 5, 2)}, "2 at [1, 0, 0, 1]")
    refused("run", "bert_base", {**ids, **mask([2, 4], 6, 2)}, "2 at [1, 2]", "--padding=skip")
    refused("run", "gpt2_forward", {**ids, **mask([2, 4], 3, 2)}, "2 at [0, 3]")
