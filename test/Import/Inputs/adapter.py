#!/usr/bin/env python3
"""Makes LoRA adapters in PEFT's form and checks their merge (standard library only).

adapter.py make FOLDER [--key=NAME=JSON]... [NAME=SHAPE[:DTYPE]]...    adapter_config.json and tensors of that shape ("3,8") under
                                                            base_model.model.NAME; a NAME that begins with / is taken without the prefix
adapter.py expect BASE MERGED TENSOR [A B SCALE FOLDER TURNED]...    MERGED/model.safetensors has TENSOR of BASE plus, for each five words,
                                                            SCALE times the product B A of tensors of FOLDER, transposed if TURNED is 1
"""
import json
import os
import struct
import sys


def save(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        code, size = {"F32": ("f", 4), "F16": ("e", 2), "I64": ("q", 8)}[dtype]
        packed = struct.pack(f"<{len(values)}{code}", *values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def load(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    result = {}
    for name, entry in header.items():
        if name != "__metadata__":
            part = data[slice(*entry["data_offsets"])]
            result[name] = entry["shape"], struct.unpack(f"<{len(part) // 4}f", part)
    return result


def make(folder, words):
    config = {"peft_type": "LORA", "r": 2, "lora_alpha": 3, "target_modules": ["query"], "lora_dropout": 0.05, "bias": "none",
              "base_model_name_or_path": "somebody/base", "task_type": "FEATURE_EXTRACTION", "auto_mapping": None}
    tensors = {}
    for word in words:
        if word.startswith("--key="):
            key, _, value = word[len("--key="):].partition("=")
            config[key] = json.loads(value)
            continue
        name, shape = word.split("=")
        shape, _, dtype = shape.partition(":")
        shape = [int(size) for size in shape.split(",")]
        count = 1
        for size in shape:
            count *= size
        values = [((i * 37 + len(name) * 11) % 61 - 30) / (64 if dtype != "I64" else 1) for i in range(count)]
        name = name[1:] if name.startswith("/") else "base_model.model." + name
        tensors[name] = dtype or "F32", shape, [int(v) for v in values] if dtype == "I64" else values
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "adapter_config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    save(os.path.join(folder, "adapter_model.safetensors"), tensors)


def expect(base, merged, tensor, words):
    shape, values = load(os.path.join(base, "model.safetensors"))[tensor]
    columns = shape[-1]
    sums = [0.0] * len(values)
    for i in range(0, len(words), 5):
        stored = load(os.path.join(words[i + 3], "adapter_model.safetensors"))
        (_, a), ((_, rank), b) = stored["base_model.model." + words[i]], stored["base_model.model." + words[i + 1]]
        scale, turned, width = float(words[i + 2]), words[i + 4] == "1", len(a) // rank
        for at in range(len(values)):
            row, column = divmod(at, columns)
            out, into = (column, row) if turned else (row, column)
            for k in range(rank):
                sums[at] += scale * b[out * rank + k] * a[k * width + into]
    found = load(os.path.join(merged, "model.safetensors"))[tensor][1]
    changed = 0
    for at, value in enumerate(values):
        wanted = value + sums[at]
        if abs(found[at] - wanted) > 1e-7 * abs(wanted) + 1e-12:
            sys.exit(f"{tensor}[{at}]: expected {wanted}, got {found[at]}")
        changed += found[at] != value
    print(f"{tensor}: {changed} of {len(values)} changed")


if sys.argv[1] == "make":
    make(sys.argv[2], sys.argv[3:])
else:
    expect(*sys.argv[2:5], sys.argv[5:])
