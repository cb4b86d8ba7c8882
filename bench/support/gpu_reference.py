# ===- gpu_reference.py - Some elements of a result, in double -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes some rows and columns of a result in double, the first and the last among them: all of a large result would
take Python hours."""
import math
import random

# The largest error allowed, relative to the largest element of the row: for f32 sums; for inputs with 8 and with 11 bits of significand.
TOLERANCES = {"f32": 2e-5, "bf16": 2e-2, "f16": 4e-3}


def sample(count, most):
    """Returns at most |most| numbers of range(count), with both ends."""
    return sorted({0, count - 1, *random.Random(count).sample(range(count), min(count, most))})


def compare(rows, dtype):
    """Returns the largest error of (got, expected) relative to the largest expected value of the same row, and whether
    it is allowed."""
    def error(row):
        worst = max(abs(got - expected) if math.isfinite(got) else math.inf for got, expected in row)
        return worst / max(abs(expected) for _, expected in row)

    worst = max(map(error, rows))
    return worst, worst <= TOLERANCES[dtype]


def linear(x, w, y, tokens, k, n):
    """Returns (got, expected) of some elements of y = x w^T, by row."""
    result = []
    columns = [(j, w[j * k:(j + 1) * k]) for j in sample(n, 16)]
    for i in sample(tokens, 8):
        row = x[i * k:(i + 1) * k]
        result.append([(y[i * n + j], math.fsum(a * b for a, b in zip(row, column))) for j, column in columns])
    return result


def attention(q, k, v, y, batch, length, heads, size, causal):
    """Returns (got, expected) of some rows of attention, each of one head."""
    width, rows, some = heads * size, [], random.Random(length)

    def row(tensor, b, i, h):
        first = (b * length + i) * width + h * size
        return tensor[first:first + size]

    for b, i, h in [(0, 0, 0), (batch - 1, length - 1, heads - 1)] + [tuple(map(some.randrange, (batch, length, heads))) for _ in range(6)]:
        query, seen = row(q, b, i, h), range(i + 1 if causal else length)
        scores = [sum(a * c for a, c in zip(query, row(k, b, j, h))) / size**0.5 for j in seen]
        largest = max(scores)
        weights = [math.exp(score - largest) for score in scores]
        total, result = math.fsum(weights), [0.0] * size
        for j, weight in zip(seen, weights):
            for d, value in enumerate(row(v, b, j, h)):
                result[d] += weight * value
        rows.append(list(zip(row(y, b, i, h), (value / total for value in result))))
    return rows
