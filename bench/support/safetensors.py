# ===- safetensors.py - The two things needed of the format ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the tensors of a file are, and writing a file of integers."""
import array
import json
import struct


def layout(path):
    """Name -> (shape, offset in the file, bytes) of the F32 tensors of a file."""
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        header = json.loads(f.read(size))
    header.pop("__metadata__", None)
    return {
        name: (entry["shape"], 8 + size + entry["data_offsets"][0], entry["data_offsets"][1] - entry["data_offsets"][0])
        for name, entry in header.items()
        if entry["dtype"] == "F32"
    }


def save_integers(path, tensors):
    """Writes name -> (shape, values) as I64."""
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        raw = array.array("q", values).tobytes()
        header[name] = {"dtype": "I64", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
