# ===- generation.py - Generations ------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of bench/generate: generations, and the calls that they are compared with."""
import argparse
import os

from support import options as common, safetensors
from support.compare import compare
from support.models import Models, Unavailable

BEAMS = 4
SOURCE = 21
PROMPT = 16


class GenerationModels(Models):
    """Model folders and objects for generation."""

    def wanted(self, layers):
        return self.config

    def flags(self):
        return ["--outputs=logits"]

    def prompts(self, rows, length):
        """Writes a file of |rows| different sequences, whose ids are neither padding nor end ids."""
        path = os.path.join(self.work, f"ids-{self.config['model_type']}-{rows}x{length}.safetensors")
        values = [(i * 7919 + 13) % (self.config["vocab_size"] - 3) + 2 for i in range(rows * length)]
        safetensors.save_integers(path, {"input_ids": ([rows, length], values)})
        return path


def beams(models, options):
    def command(rows, count):
        return [models.worker, "ours-generate", "--model=" + models.object(), "--input=" + models.prompts(rows, SOURCE), f"--beams={count}",
                f"--new-tokens={options.tokens}"]

    return (f"{BEAMS} beams", command(1, BEAMS)), [(f"{BEAMS} rows greedily", command(BEAMS, 1))]


def greedy(models, options):
    files = ["--model=" + models.object(), f"--new-tokens={options.tokens}"]
    own = [models.worker, "ours-generate", "--input=" + models.prompts(1, PROMPT)] + files
    steps = [models.worker, "ours-step", "--input=" + models.prompts(1, PROMPT + 1)] + files
    return ("greedily", own), [("its calls alone", steps)]


ROWS = {"beams": (beams, "marian_synth"), "greedy": (greedy, "gpt2_synth")}


def measure(name, threads, options):
    """Returns the figures of row |name|."""
    if name not in ROWS:
        raise Unavailable(f"expected one of {', '.join(ROWS)}")
    sides, config = ROWS[name]
    own = argparse.Namespace(**{**vars(options), "config": options.config or common.fixture(config), "outputs": False})
    models = common.models(own, GenerationModels)
    return compare(models.worker, threads, *sides(models, own), own)
