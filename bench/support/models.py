# ===- models.py - Model folders, objects and inputs of benchmarks ---------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes model folders and compiled objects once and keeps them in a work folder."""
import json
import os
import shutil
import subprocess
import sys

from support import safetensors

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEED = "71"


class Unavailable(Exception):
    """The reason why a row cannot be measured here."""


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode != 0:
        raise Unavailable(done.stderr.strip().split("\n")[-1] or f"{command[0]}: exit status {done.returncode}")
    return done.stdout


class Models:
    """Model folders and objects under |work|, made with the tools of |build| from the configuration in |config|."""

    def __init__(self, build, work, config, cpu="native"):
        self.attune = os.path.join(build, "bin", "attune")
        self.worker = os.path.join(build, "bin", "attune-bench-worker")
        for tool in (self.attune, self.worker):
            if not os.path.exists(tool):
                sys.exit(f"bench: error: {tool}: not there; build it, or name the build tree with --build")
        self.source, self.work, self.cpu = config, work, cpu
        with open(os.path.join(config, "config.json")) as f:
            self.config = json.load(f)

    def wanted(self, layers):
        """Returns the configuration of a model folder."""
        return dict(self.config, num_hidden_layers=layers or self.config["num_hidden_layers"])

    def flags(self):
        """Returns flags for the compiler that depend on the kind of model."""
        return ["--outputs=last_hidden_state"]

    def folder(self, layers=None):
        """Makes a model folder with generated weights; |layers| replaces the number of layers of the configuration."""
        wanted = self.wanted(layers)
        path = os.path.join(self.work, self.config["model_type"] + ("" if layers is None else f"-{layers}-layers"))
        try:
            with open(os.path.join(path, "config.json")) as f:
                if json.load(f) == wanted and os.path.exists(os.path.join(path, "model.safetensors")):
                    return path
        except OSError:
            pass
        shutil.rmtree(path, ignore_errors=True)
        source = path + "-config"
        os.makedirs(source, exist_ok=True)
        with open(os.path.join(source, "config.json"), "w") as f:
            json.dump(wanted, f)
        run(self.attune, "init", source, "-o", path, "--seed", SEED)
        return path

    def compile(self, model, name, flags, tools=()):
        """Compiles |model| to the shared object |name|, again if the compiler, one of |tools| or the weights are newer."""
        shared = os.path.join(self.work, name + ".so")
        newest = max(map(os.path.getmtime, [self.attune, os.path.join(model, "model.safetensors"), *tools]))
        if not os.path.exists(shared) or os.path.getmtime(shared) < newest:
            run(self.attune, "compile", model, "-o", shared, "--emit=shared", "--cpu=" + self.cpu, *flags)
        return shared

    def object(self, dtype="f32", padding="compute", layers=None, kernels="mlir"):
        """Compiles a shared object."""
        model = self.folder(layers)
        name = f"{os.path.basename(model)}-{self.cpu}-{dtype}-{padding}" + ("" if kernels == "mlir" else "-" + kernels)
        generator = os.path.join(os.path.dirname(self.attune), "attune-halide-gen")
        flags = self.flags()
        flags += ["--dtype=" + dtype] if dtype != "f32" else []
        flags += ["--padding=" + padding] if padding != "compute" else []
        flags += ["--kernels=" + kernels] if kernels != "mlir" else []
        return self.compile(model, name, flags, [generator] * (kernels != "mlir" and os.path.exists(generator)))

    def ids(self, count):
        """Returns |count| ids of one sequence."""
        return [(i * 7919 + 13) % self.config["vocab_size"] for i in range(count)]

    def prompt(self, count):
        """Writes a file with the |count| ids of one sequence."""
        path = os.path.join(self.work, f"{self.config['model_type']}-prompt-{count}.safetensors")
        safetensors.save_integers(path, {"input_ids": ([1, count], self.ids(count))})
        return path

    def input(self, lengths, padded):
        """Writes a file of inputs: sequences of |lengths|, each padded to |padded| tokens."""
        name = f"input-{len(lengths)}x{padded}-{sum(lengths)}.safetensors"
        ids, mask = [], []
        for row, length in enumerate(lengths):
            ids += [((row * padded + i) * 7919 + 13) % self.config["vocab_size"] for i in range(padded)]
            mask += [1] * length + [0] * (padded - length)
        shape = [len(lengths), padded]
        path = os.path.join(self.work, name)
        safetensors.save_integers(path, {"input_ids": (shape, ids), "attention_mask": (shape, mask),
                                         "token_type_ids": (shape, [0] * len(ids))})
        return path

    def flops(self, lengths):
        """Returns the operations of the encoder on sequences of these lengths: its matrix products and the two products
        of attention."""
        c = self.config
        h, f = c["hidden_size"], c["intermediate_size"]
        return c["num_hidden_layers"] * sum(8 * n * h * h + 4 * n * h * f + 4 * n * n * h for n in lengths)

    def linear_bytes(self, element=4):
        """Returns the bytes of the encoder's matrices, each of which a call reads at least once."""
        c = self.config
        return c["num_hidden_layers"] * element * (4 * c["hidden_size"] ** 2 + 2 * c["hidden_size"] * c["intermediate_size"])
