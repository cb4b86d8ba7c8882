# ===- families.py - What models compute, in plain Python ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Functions that the references of several families share. families_*.py have one function for each family,
# model(model, ids, mask, other inputs by name) -> {"output": rows}, written after the modules of the reference
# implementation, for small models only: doubles, lists of rows, one sequence at a time. Masks are added as the reference
# adds them, so that rows without a visible key agree, too.

import math

# Names of the projections of an attention.
HEADS = ("query", "key", "value")
LOWEST = -3.4028234663852886e38

ACTIVATIONS = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))),
    "gelu_new": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + math.exp(-x)),
    "tanh": math.tanh,
    "quick_gelu": lambda x: x / (1 + math.exp(-1.702 * x)),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "relu6": lambda x: min(max(x, 0.0), 6.0),
    "relu2": lambda x: max(x, 0.0) ** 2,
    "leaky_relu": lambda x: x if x > 0 else 0.01 * x,
    "linear": lambda x: x,
}
ACTIVATIONS["swish"] = ACTIVATIONS["silu"]
ACTIVATIONS["gelu_fast"] = ACTIVATIONS["gelu_pytorch_tanh"] = ACTIVATIONS["gelu_new"]


class Model:
    """A configuration and its weights, {"name": rows or a row}."""

    def __init__(self, config, weights):
        self.config, self.weights = config, weights

    def get(self, key, default=None):
        value = self.config.get(key)
        return default if value is None else value

    def linear(self, x, name, transposed=False):
        """Returns x W^T + b, or x W^T if there is no bias; |transposed| weights are [in, out]."""
        weight, bias = self.weights[name + ".weight"], self.weights.get(name + ".bias")
        if transposed:
            weight = list(zip(*weight))
        return [[sum(a * b for a, b in zip(row, w)) + (bias[n] if bias else 0.0) for n, w in enumerate(weight)] for row in x]

    def norm(self, x, name, epsilon):
        """Returns the layer norm of |x|, or its RMS norm if there is no bias."""
        weight, bias = self.weights[name + ".weight"], self.weights.get(name + ".bias")
        return [normalize(row, weight, bias, epsilon) for row in x]

    def rows(self, name, ids, factor=1.0):
        return [[factor * v for v in self.weights[name][i]] for i in ids]


def normalize(row, weight, bias, epsilon):
    mean = sum(row) / len(row) if bias else 0.0
    scale = 1 / math.sqrt(sum((v - mean) ** 2 for v in row) / len(row) + epsilon)
    return [(v - mean) * scale * w + (bias[i] if bias else 0.0) for i, (v, w) in enumerate(zip(row, weight))]


def add(a, b):
    return [[x + y for x, y in zip(p, q)] for p, q in zip(a, b)]


def each(function, x):
    return [[function(v) for v in row] for row in x]


def split(x, heads):
    """Returns |x| [T, H * D] as [H, T, D]."""
    size = len(x[0]) // heads
    return [[row[h * size:(h + 1) * size] for row in x] for h in range(heads)]


def project(model, x, memory, paths, heads):
    return (split(model.linear(source, path), heads) for source, path in zip((x, memory, memory), paths))


def softmax(row):
    top = max(row)
    weights = [math.exp(v - top) for v in row]
    total = sum(weights)
    return [v / total for v in weights]


def attend(query, key, value, scale, masks, bias=None, head_mask=None):
    """Attends with queries [H, T, D] to keys and values [G, S, D]. Adds |masks| one after the other; a sum below the range of
    a float becomes minus infinity. Returns the joined heads and the probabilities [H, T, S]."""
    maps, joined = [], [[] for _ in query[0]]
    for h, rows in enumerate(query):
        g = h * len(key) // len(query)
        probabilities = []
        for i, q in enumerate(rows):
            scores = []
            for j, k in enumerate(key[g]):
                score = scale * sum(a * b for a, b in zip(q, k)) + (bias[h][i][j] if bias else 0.0)
                for mask in masks:
                    score = max(score + mask[i][j], LOWEST) if score + mask[i][j] > 1.5 * LOWEST else -math.inf
                scores.append(score)
            row = [p * (head_mask[h] if head_mask else 1.0) for p in softmax(scores)]
            probabilities.append(row)
            joined[i] += [sum(p * v[e] for p, v in zip(row, value[g])) for e in range(len(value[g][0]))]
        maps.append(probabilities)
    return joined, maps


def visible(mask, queries):
    return [[0.0 if m else LOWEST for m in mask] for _ in range(queries)]


def causal(length):
    return [[0.0 if j <= i else LOWEST for j in range(length)] for i in range(length)]


def both(*masks):
    """Returns a mask that hides the keys that any of |masks| hides."""
    return [[min(values) for values in zip(*rows)] for rows in zip(*masks)]


def of_layer(head_mask, layer):
    """Returns the head mask of |layer|: a row of one for each layer, or one for all."""
    return head_mask[layer] if head_mask and isinstance(head_mask[0], list) else head_mask


def record(out, state, attention=None, prefix=""):
    """Appends hidden states and probabilities to their groups."""
    if state is not None:
        out.setdefault(prefix + "hidden_states", []).append(state)
    if attention is not None:
        out.setdefault(prefix + "attentions", []).append(attention)
