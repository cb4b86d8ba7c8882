#!/usr/bin/env python3
"""Stores the projections of a model folder quantized, as published files do, and checks what is read (standard library only).

quantize_folder.py make FOLDER FORM [--bits=N] [--group=N] [--order] [--scale=F16|BF16|F32] [--block=ROWS,COLUMNS] [--bias]
                   [--key=KEY=JSON]... [--without=KEY]
quantize_folder.py check [--all] FOLDER

FORM: gptq, gptq_v2, awq, packed, packed-asym, int8, int8-asym, float8, fp8. --order shuffles the groups of columns (g_idx). --bias gives
matrices of gptq biases that are not zero. --key sets a key of `quantization_config`, --without removes one. The values are random; the
floats that they stand for are kept in FOLDER/expected.bin, row by row, computed here from the definition of each form: scale * (value -
zero), rounded to float.

`check` reads rows of matrices by attune-import --values and compares bits: with the feature `long` of all, else of one of each shape.
"""
import json
import math
import os
import random
import struct
import subprocess
import sys

from tensor_file import read, write


def as_float(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def pack(values, bits):
    """Returns the words into which |values| of |bits| bits are packed, the first one into the lowest bits."""
    whole = sum(value << (i * bits) for i, value in enumerate(values))
    return [(whole >> (32 * w)) & 0xFFFFFFFF for w in range(-(-len(values) * bits // 32))]


def words(rows):
    return struct.pack(f"<{len(rows) * len(rows[0])}I", *(w for row in rows for w in row))


def transpose(rows):
    return [list(column) for column in zip(*rows)]


def random_scale(dtype):
    """Returns a random scale that |dtype| can represent, and its bytes."""
    value = random.uniform(0.001, 0.1) * random.choice((-1, 1))
    if dtype == "F16":
        data = struct.pack("<e", value)
        return struct.unpack("<e", data)[0], data
    data = struct.pack("<f", value)
    if dtype == "BF16":
        data = data[2:]
        return struct.unpack("<f", b"\0\0" + data)[0], data
    return struct.unpack("<f", data)[0], data


def float8(code):
    sign, exponent, mantissa = -1 if code & 128 else 1, (code >> 3) & 15, code & 7
    return sign * (math.ldexp(mantissa, -9) if exponent == 0 else math.ldexp(8 + mantissa, exponent - 10))


class Quantizer:
    def __init__(self, form, flags):
        self.form = form
        self.bits = int(flags.get("bits", 8 if form in ("int8", "int8-asym", "float8", "fp8") else 4))
        self.group = int(flags.get("group", 0))
        self.scale = flags.get("scale", "F16")
        self.order = "order" in flags
        self.bias = "bias" in flags
        self.block = tuple(map(int, flags["block"].split(","))) if "block" in flags else None

    def config(self):
        size = self.group or -1
        if self.form.startswith("gptq"):
            return {"quant_method": "gptq", "bits": self.bits, "group_size": size, "desc_act": self.order, "sym": False,
                    "checkpoint_format": self.form}
        if self.form == "awq":
            return {"quant_method": "awq", "bits": 4, "group_size": size, "zero_point": True, "version": "gemm"}
        if self.form == "fp8":
            return {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": list(self.block)}
        strategy = {"strategy": "block", "block_structure": list(self.block)} if self.block else \
            {"strategy": "group", "group_size": self.group} if self.group else {"strategy": "channel"}
        weights = {"num_bits": self.bits, "type": "float" if self.form == "float8" else "int", "symmetric": not self.form.endswith("asym"),
                   "dynamic": False, **strategy}
        form = {"packed": "pack-quantized", "int8": "int-quantized", "float8": "float-quantized"}[self.form.split("-")[0]]
        return {"quant_method": "compressed-tensors", "format": form, "quantization_status": "compressed", "ignore": ["lm_head"],
                "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": None}}}

    def quantize(self, module, rows, columns):
        """Returns the tensors of a random quantized matrix, and its values as floats."""
        form, bits = self.form, self.bits
        size = self.group or columns
        scale_rows = 1
        if self.block:
            scale_rows, size = self.block
        groups = -(-columns // size)
        group_of = [k // size for k in range(columns)]
        if self.order:
            random.shuffle(group_of)
        scales = [[random_scale(self.scale) for _ in range(groups)] for _ in range(-(-rows // scale_rows))]
        signed = not form.startswith("gptq") and form != "awq"
        low = -(1 << (bits - 1)) if signed else 0
        if form in ("float8", "fp8"):
            codes = [[random.choice([c for c in range(256) if c & 127 != 127]) for _ in range(columns)] for _ in range(rows)]
            values = [[float8(c) for c in row] for row in codes]
        else:
            codes = values = [[low + random.randrange(1 << bits) for _ in range(columns)] for _ in range(rows)]
        has_zeros = not signed or form.endswith("asym")
        # Zero points of gptq are stored minus one. One is subtracted from all values of a word, so that 0 borrows from the next.
        ones = sum(1 << i for i in range(0, 32, bits)) if form == "gptq" and 32 % bits == 0 else 0
        first = 1 if form == "gptq" and not ones else 0
        zeros = [[low + random.randrange(first, 1 << bits) if has_zeros else 0 for _ in range(groups)] for _ in range(rows)]
        floats = [[as_float(scales[n // scale_rows][g][0] * (values[n][k] - zeros[n][g])) for k, g in enumerate(group_of)]
                  for n in range(rows)]

        data = b"".join(s[1] for row in (transpose(scales) if not signed else scales) for s in row)
        if form.startswith("gptq"):
            stored = words(transpose([pack(row, bits) for row in codes]))
            packed = [pack([z - first for z in column], bits) for column in transpose(zeros)]
            stored_zeros = words([[(word - ones) & 0xFFFFFFFF for word in line] for line in packed])
            tensors = [("qweight", "I32", [columns * bits // 32, rows], stored),
                       ("qzeros", "I32", [groups, -(-rows * bits // 32)], stored_zeros),
                       ("scales", self.scale, [groups, rows], data), ("bias", "F16", [rows], struct.pack("<e", self.bias) * rows)]
            if self.order:
                tensors.append(("g_idx", "I32", [columns], struct.pack(f"<{columns}i", *group_of)))
        elif form == "awq":
            def shuffle(line):
                return [line[i // 8 * 8 + (0, 2, 4, 6, 1, 3, 5, 7)[i % 8]] for i in range(len(line))]
            tensors = [("qweight", "I32", [columns, rows // 8], words([pack(shuffle(line), 4) for line in transpose(codes)])),
                       ("qzeros", "I32", [groups, rows // 8], words([pack(shuffle(line), 4) for line in transpose(zeros)])),
                       ("scales", self.scale, [groups, rows], data)]
        elif form.startswith("packed"):
            packed = [pack([c - low for c in row], bits) for row in codes]
            tensors = [("weight_packed", "I32", [rows, len(packed[0])], words(packed)), ("weight_scale", self.scale, [rows, groups], data),
                       ("weight_shape", "I64", [2], struct.pack("<2q", rows, columns))]
            if has_zeros:
                packed = transpose([pack([z - low for z in column], bits) for column in transpose(zeros)])
                tensors.append(("weight_zero_point", "I32", [len(packed), groups], words(packed)))
            if self.order:
                tensors.append(("weight_g_idx", "I32", [columns], struct.pack(f"<{columns}i", *group_of)))
        elif form.startswith("int8"):
            tensors = [("weight", "I8", [rows, columns], struct.pack(f"<{rows * columns}b", *(c for row in codes for c in row))),
                       ("weight_scale", self.scale, [rows, groups], data)]
            if has_zeros:
                packed = struct.pack(f"<{rows * groups}b", *(z for row in zeros for z in row))
                tensors.append(("weight_zero_point", "I8", [rows, groups], packed))
        else:
            name = "weight_scale_inv" if form == "fp8" else "weight_scale"
            tensors = [("weight", "F8_E4M3", [rows, columns], bytes(c for row in codes for c in row)),
                       (name, self.scale, [len(scales), groups], data)]
        return [(f"{module}.{suffix}", dtype, shape, content) for suffix, dtype, shape, content in tensors], floats


def make(folder, form, flags, keys):
    random.seed(form + str(sorted(flags.items())))
    path = os.path.join(folder, "model.safetensors")
    quantizer = Quantizer(form, flags)
    result, index, floats = [], {}, b""
    stored = read(path)
    names = {name for name, *_ in stored}
    for name, dtype, shape, data in stored:
        if "_proj.weight" not in name:
            result.append((name, dtype, shape, data))
            continue
        tensors, rows = quantizer.quantize(name[:-len(".weight")], *shape)
        result += [t for t in tensors if not (t[0].endswith(".bias") and t[0] in names)]  # a bias of the model stays
        index[name] = {"shape": shape, "offset": len(floats)}
        floats += b"".join(struct.pack(f"<{shape[1]}f", *row) for row in rows)
    write(path, result)
    with open(os.path.join(folder, "expected.bin"), "wb") as f:
        f.write(floats)
    with open(os.path.join(folder, "expected.json"), "w") as f:
        json.dump(index, f)
    path = os.path.join(folder, "config.json")
    with open(path) as f:
        config = json.load(f)
    config["quantization_config"] = {**quantizer.config(), **keys}
    config["quantization_config"].pop(flags.get("without"), None)
    with open(path, "w") as f:
        json.dump(config, f)


def check(folder, everything):
    with open(os.path.join(folder, "expected.json")) as f:
        index = json.load(f)
    with open(os.path.join(folder, "expected.bin"), "rb") as f:
        floats = f.read()
    compared = 0
    chosen = index if everything else dict({tuple(entry["shape"]): (name, entry) for name, entry in index.items()}.values())
    for name, entry in chosen.items():
        rows, columns = entry["shape"]
        # From the middle of a row over the end of another.
        begin, count = columns // 2 + 1, min(1024, rows * columns - columns // 2 - 1)
        for at in (begin, rows * columns - count):
            command = ["attune-import", f"--values={name}:{at}:{count}", folder]
            lines = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout.split()
            offset = entry["offset"] + 4 * at
            expected = [f"{bits:08x}" for bits in struct.unpack(f"<{count}I", floats[offset:offset + 4 * count])]
            if lines != expected:
                wrong = [i for i, (a, b) in enumerate(zip(lines, expected)) if a != b]
                sys.exit(f"{name}: {len(lines)} values, {len(wrong)} of {count} differ, the first at {at + (wrong or [0])[0]}")
            compared += count
    print(f"{len(chosen)} of {len(index)} matrices, {compared} values: equal")


command = sys.argv[1]
if command == "check":
    check(sys.argv[-1], everything="--all" in sys.argv)
else:
    flags, keys = {}, {}
    for flag in sys.argv[4:]:
        name, _, value = flag[2:].partition("=")
        if name == "key":
            key, _, text = value.partition("=")
            keys[key] = json.loads(text)
        else:
            flags[name] = value
    make(sys.argv[2], sys.argv[3], flags, keys)
