# ===- linear.py - Linear layers by number of tokens -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the linear layers inside a model whose matrices are read from memory: one with many layers, each with matrices of its own.

A time is the mean over the layers and a few calls, because single runs may find a matrix in a shared cache; of several looks the best counts.
"""
import json
import os
import re

from support.models import run

# 1 GB of matrices at BERT-base's size, more than a cache keeps.
DEEP = 36


class LinearTimes:
    """Times of each linear layer, by the number of tokens, and the read bandwidth seen meanwhile."""

    def __init__(self, models, threads, layers=DEEP, dtype="f32"):
        self.models, self.threads = models, threads
        self.shared = models.object(dtype, layers=layers)
        self.element = {"f32": 4, "bf16": 2, "int8": 1}[dtype]
        self.ms, self.read, self.gflops = {}, 0.0, 0.0

    def measure(self, tokens):
        """One more look at a call with this many tokens."""
        cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:self.threads]))
        report = json.loads(run("taskset", "-c", cpus, self.models.attune, "bench", self.shared, "--batch=1", f"--length={tokens}",
                                f"--threads={self.threads}", "--repeat=1", "--profile", "--json"))
        self.read = max(self.read, report["read_bytes_per_s"])
        self.gflops = max(self.gflops, report["peak_gflops"])
        for kernel in report["kernels"]:
            layer = re.match(r"linear_(\d+)_(\d+)", kernel["name"])
            if layer:
                key = tokens, int(layer.group(1)), int(layer.group(2))
                ms = kernel["ms"] / kernel["calls"]
                self.ms[key] = min(ms, self.ms.get(key, ms))

    def layers(self):
        """The (in, out) sizes seen, smallest first."""
        return sorted({(k, n) for _, k, n in self.ms})

    def bytes(self, k, n):
        return self.element * k * n

    def read_fraction(self, tokens, k, n):
        """Of the read bandwidth, if the matrix is read once."""
        return self.bytes(k, n) / (self.ms[tokens, k, n] / 1e3) / self.read

    def bound_ms(self, tokens, k, n, full):
        """What a layer need not exceed: the time to read its matrix, or its share of the time of |full| tokens."""
        return max(self.bytes(k, n) / self.read * 1e3, tokens / full * self.ms[full, k, n])
