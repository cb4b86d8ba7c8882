# ===- examples_generation.py - What the examples print is what cases say ---===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# examples_generation.py CASE COMPLETE: the program continues each prompt of a golden case as the case does.
# examples_generation.py CASE TRANSLATE TEXT BEAMS: the same for the sources of a case of beam search, with its scores.
# examples_generation.py CASE FOLDER: copies the case and gives it a tokenizer whose words are the ids.

import array
import json
import os
import shutil
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
    config = json.load(f)
end = config["eos_token_id"]

if len(sys.argv) == 3 and not os.path.isfile(program):
    shutil.copytree(case, program)
    words = {str(id): id for id in range(config["vocab_size"])}
    with open(os.path.join(program, "tokenizer.json"), "w") as f:
        json.dump({"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
                   "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None,
                   "model": {"type": "WordLevel", "vocab": words, "unk_token": "0"}}, f)
    with open(os.path.join(program, "tokenizer_config.json"), "w") as f:
        json.dump({"tokenizer_class": "PreTrainedTokenizerFast"}, f)
    sys.exit()
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
    lines = lines_of([program, *sys.argv[3:], str(len(sequences) // len(prompts))], text)
    assert len(lines) == len(sequences)
    for line, sequence, score in zip(lines, sequences, expected["sequences_scores"][1]):
        got, ids = line.split(":")
        target = [i for i in cut(sequence[1:]) if i != end]
        assert abs(float(got) - score) < 1e-4 and [int(i) for i in ids.split()] == target, (line, sequence, score)
