# ===- linear.py - Linear layers by number of tokens -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the linear layers inside a model with so many layers, each with matrices of its own, that the matrices of a
call come from memory and not from a cache.

A time is the mean over the layers and a few calls, because single runs may find a matrix in a shared cache; of several
measurements the best counts. A time is compared with the read bandwidth of the same measurement and with the time at
all tokens of the same round, because both change within a run; of these ratios the median counts.
"""
import json
import os
import re

from support.models import run
from support.worker import median

# 1 GB of matrices at the size of BERT-base, more than any cache holds.
DEEP = 36


class LinearTimes:
    """Measurements of each linear layer, by the number of tokens."""

    def __init__(self, models, threads, layers=DEEP, dtype="f32"):
        self.models, self.threads = models, threads
        self.shared = models.object(dtype, layers=layers)
        self.element = {"f32": 4, "bf16": 2, "int8": 1}[dtype]
        self.looks, self.read, self.gflops = {}, 0.0, 0.0  # looks: (ms, read bandwidth) of each round by (tokens, in, out)

    def measure(self, tokens):
        """Measures a call with this number of tokens once more."""
        cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))[:self.threads]))
        report = json.loads(run("taskset", "-c", cpus, self.models.attune, "bench", self.shared, "--batch=1", f"--length={tokens}",
                                f"--threads={self.threads}", "--repeat=1", "--profile", "--json"))
        self.read = max(self.read, report["read_bytes_per_s"])
        self.gflops = max(self.gflops, report["peak_gflops"])
        for kernel in report["kernels"]:
            layer = re.match(r"linear_(\d+)_(\d+)", kernel["name"])
            if layer:
                key = tokens, int(layer.group(1)), int(layer.group(2))
                self.looks.setdefault(key, []).append((kernel["ms"] / kernel["calls"], report["read_bytes_per_s"]))

    def layers(self):
        """Returns the (in, out) sizes measured, smallest first."""
        return sorted({(k, n) for _, k, n in self.looks})

    def ms(self, tokens, k, n):
        """Returns the best measurement."""
        return min(ms for ms, _ in self.looks[tokens, k, n])

    def read_ms(self, k, n, read):
        """Returns the time to read a matrix at |read| bytes per second."""
        return self.element * k * n / read * 1e3

    def read_fraction(self, tokens, k, n):
        """Returns the share of the read bandwidth, if the matrix is read once."""
        return median([self.read_ms(k, n, read) / ms for ms, read in self.looks[tokens, k, n]])

    def of_bound(self, tokens, k, n, full):
        """Returns the time divided by the bound of the layer: the time to read its matrix, or its share of the time of
        |full| tokens."""
        rounds = zip(self.looks[tokens, k, n], self.looks[full, k, n])
        return median([ms / max(self.read_ms(k, n, read), tokens / full * full_ms) for (ms, read), (full_ms, _) in rounds])
