# ===- poison.py - A weight that is no number -------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""poison.py FILE TENSOR: makes the last value of a tensor of f32 NaN."""
import json
import struct
import sys

with open(sys.argv[1], "r+b") as file:
    size, = struct.unpack("<Q", file.read(8))
    end = json.loads(file.read(size))[sys.argv[2]]["data_offsets"][1]
    file.seek(8 + size + end - 4)
    file.write(struct.pack("<f", float("nan")))
