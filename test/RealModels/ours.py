# ===- ours.py - The commands of attune --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls the command-line tool on tensors and texts."""

import json
import pathlib
import subprocess
import tempfile

import numpy
from safetensors.numpy import load_file, save_file


class CommandFailed(Exception):
    """The error that a command failed; the message has the command and its error."""


class Attune:
    """The tool |binary|, whose files go to |work|."""

    def __init__(self, binary, work, threads):
        self.binary, self.work, self.threads = str(binary), pathlib.Path(work), threads

    def command(self, *arguments, text=None):
        """Runs a command and returns its standard output."""
        result = subprocess.run([self.binary, *map(str, arguments)], input=text, capture_output=True)
        if result.returncode != 0:
            error = result.stderr.decode(errors="replace").strip()
            raise CommandFailed(f"attune {' '.join(map(str, arguments[:2]))} …: exit status {result.returncode}: {error}")
        return result.stdout

    def tensors(self, command, folder, inputs, *flags):
        """Runs a command that reads and writes tensors."""
        with tempfile.TemporaryDirectory(dir=self.work) as scratch:
            given, made = f"{scratch}/inputs.safetensors", f"{scratch}/outputs.safetensors"
            save_file({name: numpy.ascontiguousarray(array) for name, array in inputs.items()}, given)
            self.command(command, folder, f"--input={given}", f"--output={made}", f"--threads={self.threads}", *flags)
            return load_file(made)

    def run(self, folder, inputs, outputs, dtype="f32"):
        return self.tensors("run", folder, inputs, f"--outputs={','.join(outputs)}", f"--dtype={dtype}")

    def generate(self, folder, inputs, new_tokens, dtype="f32"):
        return self.tensors("generate", folder, inputs, f"--max-new-tokens={new_tokens}", f"--dtype={dtype}")["sequences"]

    def tokenize(self, folder, lines):
        """Returns the ids of texts that have no line breaks."""
        out = self.command("tokenize", folder, "--json", "-", text="\n".join(lines).encode())
        return [json.loads(line)["ids"] for line in out.decode().split("\n") if line]

    def embed(self, folder, lines, *compile_flags):
        """Returns the embeddings of texts that have no line breaks."""
        with tempfile.TemporaryDirectory(dir=self.work) as scratch:
            made = f"{scratch}/embeddings.npy"
            flags = (f"--output={made}", f"--threads={self.threads}", *compile_flags, "--quiet")
            self.command("embed", folder, "-", *flags, text="\n".join(lines).encode())
            return numpy.load(made)
