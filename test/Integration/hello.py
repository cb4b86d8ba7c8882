# ===- hello.py - Compares what the example programs print -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# hello.py MODEL DIR LENGTH PROGRAM…: the programs in DIR print the first pooled values of the ids they make up; the
# reference gives the same.

import array
import json
import os
import subprocess
import sys

import models

model, work, length = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(os.path.join(model, "config.json")) as f:
    vocabulary = json.load(f)["vocab_size"]
inputs, outputs = os.path.join(work, "inputs.safetensors"), os.path.join(work, "expected.safetensors")
models.save(inputs, {"input_ids": ("I64", [1, length], [(i * 7919 + 13) % vocabulary for i in range(length)])})
subprocess.run(["attune-test-reference", model, inputs, outputs], check=True)
expected = list(array.array("f", models.load(outputs)["pooler_output"][2]))[:8]

for program in sys.argv[4:]:
    for threads in ("1", "2"):
        text = subprocess.run([os.path.join(work, program), str(length), threads, "2"], check=True, stdout=subprocess.PIPE,
                              text=True).stdout
        name, values = text.splitlines()[0].split(":")
        got = [float(v) for v in values.split()]
        # pooler_output lies in (-1, 1): the golden case allows 2.6e-5, six printed digits add 5e-7.
        worst = max(abs(a - b) for a, b in zip(got, expected))
        if name != "pooler_output" or len(got) != 8 or worst > 3e-5:
            sys.exit(f"{program} {threads}: error {worst}, expected {expected}, printed:\n{text}")
