# ===- safetensors.py - Reading and writing safetensors files --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds the tensors of a safetensors file, and writes such files."""
import array
import json
import struct


def layout(path):
    """Returns name -> (shape, offset in the file, bytes) of the F32 tensors of a file."""
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        header = json.loads(f.read(size))
    header.pop("__metadata__", None)
    return {
        name: (entry["shape"], 8 + size + entry["data_offsets"][0], entry["data_offsets"][1] - entry["data_offsets"][0])
        for name, entry in header.items()
        if entry["dtype"] == "F32"
    }


def read(path, place):
    """Returns the bytes of the tensor that layout() has found at |place|."""
    with open(path, "rb") as f:
        f.seek(place[1])
        return f.read(place[2])


def save(path, tensors):
    """Writes name -> (dtype, shape, bytes)."""
    header, offset = {}, 0
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(raw)]}
        offset += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for _, _, raw in tensors.values():
            f.write(raw)


def integers(shape, values):
    """Returns an I64 tensor for save()."""
    return "I64", shape, array.array("q", values).tobytes()


def save_integers(path, tensors):
    """Writes name -> (shape, values) as I64."""
    save(path, {name: integers(shape, values) for name, (shape, values) in tensors.items()})
