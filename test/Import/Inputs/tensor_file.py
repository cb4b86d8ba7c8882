"""safetensors files as lists of (name, dtype, shape, bytes), in the order of the file (standard library only)."""
import json
import struct


def read(path):
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    header.pop("__metadata__", None)
    return [(n, e["dtype"], e["shape"], data[slice(*e["data_offsets"])]) for n, e in header.items()]


def write(path, tensors):
    header, position = {}, 0
    for name, dtype, shape, data in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [position, position + len(data)]}
        position += len(data)
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(t[3] for t in tensors))
