#!/usr/bin/env python3
"""Rewrites the weight file of a model folder in the ways that files in the wild differ (standard library only).

rewrite_weights.py FOLDER [--prefix=P] [--rename=FROM=TO]... [--copy=FROM=TO] [--negate=NAME] [--drop=NAME] [--extra] [--reverse]
                   [--dtype=F16|BF16|I32] [--shards=N] [--stack-experts]

--prefix prepends P to all names; --rename replaces a part of all names; --copy adds a tensor under another name;
--negate changes the sign of the first element of an F32 tensor;
--extra adds an I64 tensor that is no parameter; --reverse reverses the order of the data.
--stack-experts joins PATH.experts.E.{gate,up,down}_proj.weight of all experts E to PATH.experts.gate_up_proj and
PATH.experts.down_proj.
"""
import json
import os
import re
import struct
import sys

from tensor_file import read, write


def stack_experts(tensors):
    stacks, others = {}, []
    for tensor in tensors:
        match = re.fullmatch(r"(.*\.experts)\.(\d+)\.(gate|up|down)_proj\.weight", tensor[0])
        if match:
            stacks.setdefault(match[1], {})[int(match[2]), match[3]] = tensor
        else:
            others.append(tensor)
    for path, parts in stacks.items():
        count = 1 + max(expert for expert, _ in parts)
        _, dtype, (features, hidden), _ = parts[0, "gate"]
        both = b"".join(parts[e, kind][3] for e in range(count) for kind in ("gate", "up"))
        others.append((path + ".gate_up_proj", dtype, [count, 2 * features, hidden], both))
        others.append((path + ".down_proj", dtype, [count, hidden, features], b"".join(parts[e, "down"][3] for e in range(count))))
    return others


def convert(tensor, dtype):
    name, _, shape, data = tensor
    count = len(data) // 4
    if dtype == "F16":
        data = struct.pack(f"<{count}e", *struct.unpack(f"<{count}f", data))
    elif dtype == "BF16":  # cut off: the tests do not ask how a writer rounds
        data = b"".join(data[i + 2:i + 4] for i in range(0, len(data), 4))
    return name, dtype, shape, data


folder, flags = sys.argv[1], sys.argv[2:]
path = os.path.join(folder, "model.safetensors")
tensors = read(path)
for flag in flags:
    key, _, value = flag.partition("=")
    if key == "--prefix":
        tensors = [(value + t[0],) + t[1:] for t in tensors]
    elif key == "--rename":
        old, new = value.split("=")
        tensors = [(t[0].replace(old, new),) + t[1:] for t in tensors]
    elif key == "--copy":
        old, new = value.split("=")
        tensors += [(new,) + t[1:] for t in tensors if t[0] == old]
    elif key == "--negate":
        tensors = [t[:3] + (t[3][:3] + bytes([t[3][3] ^ 128]) + t[3][4:],) if t[0] == value else t for t in tensors]
    elif key == "--drop":
        tensors = [t for t in tensors if t[0] != value]
    elif key == "--stack-experts":
        tensors = stack_experts(tensors)
    elif key == "--extra":
        tensors.append(("embeddings.position_ids", "I64", [1, 2], struct.pack("<2q", 0, 1)))
    elif key == "--reverse":
        tensors.reverse()
    elif key == "--dtype":
        tensors = [convert(t, value) for t in tensors]
    elif key == "--shards":
        os.remove(path)
        count, places = int(value), {}
        for i in range(count):
            name = f"model-{i + 1:05}-of-{count:05}.safetensors"
            write(os.path.join(folder, name), tensors[i::count])
            places.update((t[0], name) for t in tensors[i::count])
        with open(os.path.join(folder, "model.safetensors.index.json"), "w") as f:
            json.dump({"metadata": {}, "weight_map": places}, f)
        sys.exit()
write(path, tensors)
