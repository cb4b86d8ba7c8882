#!/usr/bin/env python3
"""write_inputs.py FILE NAME:TYPE:SHAPE=VALUE,… …: writes tensors of TYPE F32 or I64 to a safetensors file. SHAPE is its sizes,
separated by x, such as 6x2."""
import json
import math
import struct
import sys

header, data = {}, b""
for argument in sys.argv[2:]:
    declaration, values = argument.split("=")
    name, dtype, sizes = declaration.split(":")
    code, parse = {"F32": ("f", float), "I64": ("q", int)}[dtype]
    shape, values = [int(size) for size in sizes.split("x")], [parse(value) for value in values.split(",")]
    assert math.prod(shape) == len(values), argument
    packed = struct.pack(f"<{len(values)}{code}", *values)
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
    data += packed
text = json.dumps(header).encode()
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text + data)
