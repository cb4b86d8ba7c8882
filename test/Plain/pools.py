#!/usr/bin/env python3
"""Writes the inputs of pools.mlir: 6 tokens with the features 1 to 12, the ends of 3 sequences, tokens to skip."""
import json
import struct
import sys

tensors = {"x": ("F32", [6, 2], "f", range(1, 13)), "ends": ("I64", [4], "q", [0, 3, 4, 6]), "skip": ("I64", [3], "q", [1, 1, 1])}
header, data = {}, b""
for name, (dtype, shape, code, values) in tensors.items():
    packed = struct.pack(f"<{len(values)}{code}", *values)
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
    data += packed
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text + data)
