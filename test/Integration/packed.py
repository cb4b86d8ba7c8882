# ===- packed.py - Outputs of packed batches against a golden case ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# packed.py GOT CASE ATOL: GOT's outputs, computed with --padding=skip, are CASE's within ATOL where its attention mask
# is 1 and zero elsewhere. The length is the dimension after the batch, in keys and values ([batch, heads, length,
# size]) the third.

import struct
import sys

import models


def floats(entry):
    return struct.unpack(f"<{len(entry[2]) // 4}f", entry[2])


got, expected = models.load(sys.argv[1]), models.load(sys.argv[2] + "/expected.safetensors")
(_, (batch, length), mask) = models.load(sys.argv[2] + "/inputs.safetensors")["attention_mask"]
visible = struct.unpack(f"<{batch * length}q", mask)
assert got and 0 in visible
for name, entry in got.items():
    shape = entry[1]
    outer = shape[1] if name.startswith("past_key_values") else 1
    assert shape == expected[name][1], (name, shape)
    size = models.product(shape) // (batch * outer * length)
    for i, (a, b) in enumerate(zip(floats(entry), floats(expected[name]))):
        row, place = i // (outer * length * size), i // size % length
        wanted = b if visible[row * length + place] else 0.0
        assert abs(a - wanted) <= float(sys.argv[3]), (name, i, a, wanted)
