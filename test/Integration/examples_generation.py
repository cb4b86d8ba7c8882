# ===- examples_generation.py - What the examples print is what cases say ---===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# examples_generation.py CASE COMPLETE: the program continues each prompt of a golden case as the case does.
# examples_generation.py CASE TRANSLATE BEAMS: the same for the sources of a case of beam search, with its scores.

import array
import json
import os
import subprocess
import sys

import models

case, program = sys.argv[1:3]


def load(name):
    return {key: (shape, list(array.array("q" if dtype == "I64" else "f", data)))
            for key, (dtype, shape, data) in models.load(os.path.join(case, name)).items()}


def rows_of(tensor):
    (rows, width), values = tensor
    return [values[i * width:(i + 1) * width] for i in range(rows)]


def lines_of(command, text=""):
    return subprocess.run(command, check=True, input=text, stdout=subprocess.PIPE, text=True).stdout.splitlines()


with open(os.path.join(case, "config.json")) as f:
    end = json.load(f)["eos_token_id"]
inputs, expected = load("inputs.safetensors"), load("expected.safetensors")
prompts, sequences = rows_of(inputs["input_ids"]), rows_of(expected["sequences"])


def cut(ids):
    return ids[:ids.index(end) + 1] if end in ids else ids


if len(sys.argv) == 3:
    for prompt, sequence in zip(prompts, sequences):
        new = cut(sequence[len(prompt):])
        got = [int(line) for line in lines_of([program, str(len(sequence) - len(prompt)), *map(str, prompt)])]
        assert got == new, (prompt, got, new)
else:
    # All lines make one batch of sources, padded on the right, with masks.
    masks = rows_of(inputs["attention_mask"])
    text = "".join(" ".join(map(str, prompt[:sum(mask)])) + "\n" for prompt, mask in zip(prompts, masks))
    lines = lines_of([program, sys.argv[3], str(len(sequences) // len(prompts))], text)
    assert len(lines) == len(sequences)
    for line, sequence, score in zip(lines, sequences, expected["sequences_scores"][1]):
        got, ids = line.split(":")
        assert abs(float(got) - score) < 1e-4 and [int(i) for i in ids.split()] == cut(sequence[1:]), (line, sequence, score)
