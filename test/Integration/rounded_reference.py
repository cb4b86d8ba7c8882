# ===- rounded_reference.py - What rounding alone does to a BERT -----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# rounded_reference.py CASE DIR [--few]: computes a small BERT (inputs_embeds, absolute positions) with everything in
# double but the inputs of its projections, which are rounded to bf16 or quantized to int8 as the pages of `xfmr.linear`
# say, and compares with the compiled model. For formats of weights, with products of each type, the model first gets
# weights that the format represents; then the compiler must find their scales and integers again. Prints the distances
# of both from the reference implementation, and of one from the other. --few has fewer types and formats.

import json
import math
import os
import shutil
import struct
import sys

import models
from sweep import run

# Compiled code accumulates in f32, so now and then an input rounds the other way. Either is 25 times as far from the reference.
# With products of f32 nothing is rounded but sums.
ALLOWED = {"bf16": 1e-3, "int8": 1e-3, "int8 int8:32": 1e-3, "int8 int4:32": 1e-3, "int8 int4:16": 1e-3, "int8 int8:0": 1e-3,
           "f32 int4:32": 5e-6, "f32 int8:0": 5e-6, "bf16 int4:32": 1e-3}
FEW = ("bf16", "int8", "int8 int4:32", "int8 int8:0")


def bf16(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


def quantize(row):
    """Returns the quantized values of |row| and their scale."""
    scale = max(map(abs, row)) / 127 or 1.0
    return [round(x / scale) for x in row], scale


def groups_of(row, format):
    """Returns the groups of |row|, the last of which may be shorter."""
    size = int(format.split(":")[1]) or len(row)
    return [row[i:i + size] for i in range(0, len(row), size)]


def half(x):
    return struct.unpack("<e", struct.pack("<e", x))[0]


def represent(row, format):
    """Returns the integers and scales of the groups of |row|; the weight of the largest magnitude has the lowest integer."""
    most = 1 << int(format[3]) - 1
    result = []
    for group in groups_of(row, format):
        scale = half(max(group, key=abs) / -most) or 1.0
        result.append(([max(-most, min(most - 1, round(x / scale))) for x in group], scale))
        result[-1][0][group.index(max(group, key=abs))] = -most
    return result


def round_row(row, dtype):
    """Returns the numbers to which |row| is rounded, and their scale."""
    return quantize(row) if dtype == "int8" else ([bf16(x) for x in row] if dtype == "bf16" else row, 1.0)


class Bert:
    def __init__(self, case, dtype):
        with open(os.path.join(case, "config.json")) as f:
            self.config = json.load(f)
        tensors = models.load(os.path.join(case, "model.safetensors"))
        self.weights = {name.replace("bert.", "", 1): models.unpack(entry) for name, entry in tensors.items() if entry[0] == "F32"}
        self.dtype, *format = dtype.split()
        self.format = format[0] if format else "native"
        self.groups = {}
        if format:
            for name, weight in self.weights.items():
                if name.endswith((".query.weight", ".key.weight", ".value.weight", ".dense.weight")):
                    self.groups[name] = [represent(row, self.format) for row in weight]

    def save(self, case, path):
        """Writes the model with the weights that its format represents."""
        formats = {"F32": "f", "I64": "q"}
        tensors = {name: (dtype, shape, [value for value, in struct.iter_unpack("<" + formats[dtype], data)])
                   for name, (dtype, shape, data) in models.load(os.path.join(case, "model.safetensors")).items()}
        for name, (dtype, shape, _) in list(tensors.items()):
            if rows := self.groups.get(name.replace("bert.", "", 1)):
                tensors[name] = (dtype, shape, [q * scale for row in rows for integers, scale in row for q in integers])
        os.makedirs(path, exist_ok=True)
        models.save(os.path.join(path, "model.safetensors"), tensors)
        shutil.copy(os.path.join(case, "config.json"), path)

    def linear(self, rows, name):
        if self.groups:
            return self.grouped_linear(rows, name)
        weights, bias = [round_row(row, self.dtype) for row in self.weights[name + ".weight"]], self.weights[name + ".bias"]
        return [[sum(map(lambda x, y: x * y, row, column)) * scale * other + b for (column, other), b in zip(weights, bias)]
                for row, scale in (round_row(row, self.dtype) for row in rows)]

    def grouped_linear(self, rows, name):
        result = []
        for row in rows:
            inputs = [round_row(group, self.dtype) for group in groups_of(row, self.format)]
            result.append([sum(sum(map(lambda x, y: x * y, p, q)) * r * s for (p, r), (q, s) in zip(inputs, weights)) + b
                           for weights, b in zip(self.groups[name + ".weight"], self.weights[name + ".bias"])])
        return result

    def norm(self, rows, name):
        weight, bias, result = self.weights[name + ".weight"], self.weights[name + ".bias"], []
        for row in rows:
            mean = sum(row) / len(row)
            factor = (sum((x - mean) ** 2 for x in row) / len(row) + self.config["layer_norm_eps"]) ** -0.5
            result.append([(x - mean) * factor * w + b for x, w, b in zip(row, weight, bias)])
        return result

    def attention(self, query, key, value, mask):
        heads = self.config["num_attention_heads"]
        size, result = len(query[0]) // heads, [[] for _ in query]
        for begin in range(0, heads * size, size):
            part = slice(begin, begin + size)
            for row, q in zip(result, query):
                scores = [sum(map(lambda x, y: x * y, q[part], k[part])) / math.sqrt(size) if m else -math.inf for k, m in zip(key, mask)]
                weights = [math.exp(score - max(scores)) for score in scores]
                row += [sum(w * v[begin + d] for w, v in zip(weights, value)) / sum(weights) for d in range(size)]
        return result

    def pooled(self, embeddings, positions, mask):
        table, kind = self.weights["embeddings.position_embeddings.weight"], self.weights["embeddings.token_type_embeddings.weight"][0]
        rows = [[x + p + t for x, p, t in zip(row, table[position], kind)] for row, position in zip(embeddings, positions)]
        rows = self.norm(rows, "embeddings.LayerNorm")
        for layer in range(self.config["num_hidden_layers"]):
            name = f"encoder.layer.{layer}."
            states = self.attention(*(self.linear(rows, name + "attention.self." + part) for part in ("query", "key", "value")), mask)
            states = self.linear(states, name + "attention.output.dense")
            rows = self.norm([[a + b for a, b in zip(*pair)] for pair in zip(states, rows)], name + "attention.output.LayerNorm")
            states = [[x * 0.5 * (1 + math.erf(x * 0.5**0.5)) for x in row] for row in self.linear(rows, name + "intermediate.dense")]
            states = self.linear(states, name + "output.dense")
            rows = self.norm([[a + b for a, b in zip(*pair)] for pair in zip(states, rows)], name + "output.LayerNorm")
        return [math.tanh(x) for x in self.linear(rows[:1], "pooler.dense")[0]]


def main(case, work, few=""):
    os.makedirs(work, exist_ok=True)
    path, output = os.path.join(case, "inputs.safetensors"), os.path.join(work, "out.safetensors")
    inputs = {name: models.unpack(entry) for name, entry in models.load(path).items()}
    reference = models.unpack(models.load(os.path.join(case, "expected.safetensors"))["pooler_output"])
    largest = lambda a, b: max(abs(x - y) for row, other in zip(a, b) for x, y in zip(row, other))  # noqa: E731
    wrong = 0
    for dtype in ("f64", *(FEW if few == "--few" else ALLOWED)):
        bert = Bert(case, dtype)
        rounded = [bert.pooled(*row) for row in zip(inputs["inputs_embeds"], inputs["position_ids"], inputs["attention_mask"])]
        line = f"{dtype}: rounded {largest(rounded, reference):.4f} from the reference"
        if dtype == "f64":
            wrong += largest(rounded, reference) > 1e-6
        else:
            model, flags = case, ["--dtype=" + bert.dtype, "--weights-format=" + bert.format]
            if bert.groups:
                model = os.path.join(work, dtype.replace(" ", "-"))
                bert.save(case, model)
            run("attune", "run", model, "--input", path, "--output", output, "--outputs=pooler_output", *flags)
            compiled = models.unpack(models.load(output)["pooler_output"])
            wrong += not largest(compiled, rounded) <= ALLOWED[dtype]
            line += f", compiled {largest(compiled, reference):.4f}, apart {largest(compiled, rounded):.7f} of {ALLOWED[dtype]}"
        print(line)
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
