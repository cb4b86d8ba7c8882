# ===- padded_probabilities.py - Attention probabilities of packed batches --===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# padded_probabilities.py MODEL DIR ATOL: runs an encoder-decoder with padding on the left of both stacks: computed by
# the plain path, and skipped by compiled code. The latter's probabilities are those of the former where query and key
# are visible, and zero elsewhere. Logits of visible tokens are the same within 10 ATOL.

import os
import struct
import subprocess
import sys

import models

model, work, atol = sys.argv[1], sys.argv[2], float(sys.argv[3])
masks = {"encoder": [1, 1, 1, 1, 1, 0, 0, 1, 1, 1], "decoder": [1, 1, 1, 1, 0, 1, 1, 1]}
sides = {"encoder_attentions": ("encoder", "encoder"), "decoder_attentions": ("decoder", "decoder"),
         "cross_attentions": ("decoder", "encoder")}
os.makedirs(work, exist_ok=True)
source = os.path.join(work, "in.safetensors")
models.save(source, {"input_ids": ("I64", [2, 5], [3, 4, 5, 6, 7, 1, 1, 8, 9, 4]), "attention_mask": ("I64", [2, 5], masks["encoder"]),
                     "decoder_input_ids": ("I64", [2, 4], [2, 5, 6, 7, 1, 2, 9, 3]),
                     "decoder_attention_mask": ("I64", [2, 4], masks["decoder"])})


def run(name, flag):
    target = os.path.join(work, name + ".safetensors")
    subprocess.run(["attune", "run", model, "--input", source, "--output", target, flag, "--outputs=logits," + ",".join(sides)], check=True)
    return models.load(target)


def floats(entry):
    return struct.unpack(f"<{len(entry[2]) // 4}f", entry[2])


computed, skipped = run("compute", "--from-phase=import"), run("skip", "--padding=skip")
assert skipped.keys() == computed.keys() and len(skipped) >= 4
logits, others = (floats(outputs.pop("logits")) for outputs in (skipped, computed))
width = len(logits) // len(masks["decoder"])
for i, (got, wanted) in enumerate(zip(logits, others)):
    assert not masks["decoder"][i // width] or abs(got - wanted) <= 10 * atol, ("logits", i, got, wanted)
for name, entry in skipped.items():
    queries, keys = (masks[side] for side in sides[name.split(".")[0]])
    _, heads, rows, columns = entry[1]
    for i, (got, other) in enumerate(zip(floats(entry), floats(computed[name]))):
        sequence, row, column = i // (heads * rows * columns), i // columns % rows, i % columns
        wanted = other if queries[sequence * rows + row] and keys[sequence * columns + column] else 0.0
        assert abs(got - wanted) <= atol, (name, i, got, wanted)
