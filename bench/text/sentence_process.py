# ===- sentence_process.py - Processes that embed sentences --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sides of `sentences` and of `bench/python` that load a model once and answer many calls, and the table of both."""

import os
import pathlib
import statistics
import subprocess

import numpy

HERE = pathlib.Path(__file__).resolve().parent


class Peer:
    """A process of sentence_peers.py under |python|, on |cpus|, which embeds the lines of |path| by |folder|."""

    def __init__(self, python, name, folder, path, cpus):
        self.name, self.note, self.times, self.made = name, "", [], f"{path}.{name.replace(':', '-')}.npy"
        environment = {**os.environ, "OMP_NUM_THREADS": str(len(cpus)), "RAYON_NUM_THREADS": str(len(cpus)), "TQDM_DISABLE": "1",
                       "TOKENIZERS_PARALLELISM": str(len(cpus) > 1).lower()}
        command = [str(python), str(HERE / "sentence_peers.py"), name, str(folder), str(path), str(len(cpus))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env=environment, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        answer = self.process.stdout.readline().strip()
        self.ready = answer == "ready"
        if not self.ready:
            self.note = answer or "the process died"

    def embed(self, vectors=False):
        """Embeds all lines; returns the seconds, and the vectors if they are wanted."""
        self.process.stdin.write(f"vectors {self.made}\n" if vectors else "go\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline()), numpy.load(self.made) if vectors else None

    def close(self):
        self.process.kill()
        self.process.wait()


def smallest_cosine(vectors, reference):
    """Returns the least cosine of two rows of the same number, in double."""
    a, b = vectors.astype(numpy.float64), reference.astype(numpy.float64)
    return ((a * b).sum(1) / numpy.linalg.norm(a, axis=1) / numpy.linalg.norm(b, axis=1)).min()


def print_report(sides, sentences, cpus):
    """Ends all sides and prints their seconds; the first side is the one that others are compared with."""
    print(f"{len(sentences)} sentences of {min(map(len, sentences))} to {max(map(len, sentences))} characters, {len(cpus)} CPUs\n")
    print("| side | seconds best | seconds median | attune f32 is faster by, best / median | note |\n|---|---|---|---|---|")
    ours = sides[0].times
    for side in sides:
        side.close()
        cells = ["", "", ""]
        if side.times and ours:
            cells = [f"{min(side.times):.3f}", f"{statistics.median(side.times):.3f}",
                     f"{min(side.times) / min(ours):.2f} / {statistics.median(side.times) / statistics.median(ours):.2f}"]
        print(f"| {side.name} | {' | '.join(cells)} | {side.note} |")
