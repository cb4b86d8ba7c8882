# ===- alibi.py - Inputs/alibi.mlir against plain Python ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# alibi.py MLIR DIR: biases by distance, capped scores and a window together, written by hand in the dialect, compiled and run.

import math
import os
import sys

import models
from families import LOWEST, attend, split
from sweep import run
from sweep_families import rows, write_case

HEADS, SIZE, WINDOW, CAP = 6, 4, 5, 0.7
# Of 4 heads, the largest power of two, and for the other two every second one of 8.
SLOPES = [2.0 ** -(2 * (h + 1)) for h in range(4)] + [2.0 ** -1, 2.0 ** -3]


def attention(x):
    heads, n = split(x, HEADS), len(x)

    def score(h, i, j):
        """Returns the summand that turns half the product into the capped and biased score."""
        product = 0.5 * sum(a * b for a, b in zip(heads[h][i], heads[h][j]))
        return CAP * math.tanh(product / CAP) - product - SLOPES[h] * abs(j - i)

    bias = [[[score(h, i, j) for j in range(n)] for i in range(n)] for h in range(HEADS)]
    hidden = [[0.0 if i - WINDOW <= j <= i else LOWEST for j in range(n)] for i in range(n)]
    return attend(heads, heads, heads, 0.5, [hidden], bias)


def main(source, work):
    os.makedirs(work, exist_ok=True)
    shared, folders = os.path.join(work, "alibi.so"), []
    run("attune", "compile", source, "--emit=shared", "-o", shared)
    for batch, length in ((1, 1), (3, 7), (2, 40)):
        rng = models.generator("alibi", length)
        shape = [batch, length, HEADS * SIZE]
        values = models.as_floats(rng.uniform(-2, 2) for _ in range(models.product(shape)))
        results = [attention(x) for x in rows(shape, values)]
        folders.append(os.path.join(work, f"s{length}"))
        expected = {"y": [y for y, _ in results], "probabilities": [maps for _, maps in results]}
        write_case(folders[-1], {"x": ("F32", shape, values)}, expected, {"function": "forward", "kwargs": {}})
    print(run("attune-run", "check", "--model=" + shared, *folders))


if __name__ == "__main__":
    main(*sys.argv[1:])
