# ===- cache.py - A cache folder under test --------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the tests of the compile cache: a model, a cache folder, commands on them, and the number of failures."""

import fcntl
import glob
import json
import os
import shutil
import struct
import subprocess
import sys

ATTUNE = "attune"
MAKING, USING = 0, 1


class Cache:
    """A cache folder in the scratch folder |folder|, empty at first, and a copy of |model|."""

    def __init__(self, model, folder):
        self.folder = os.path.abspath(folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.path = os.path.join(self.folder, "cache")
        self.model = os.path.join(self.folder, "model")
        shutil.copytree(model, self.model)
        self.environment = dict(os.environ, ATTUNE_CACHE_DIR=self.path)
        self.environment.pop("ATTUNE_CACHE_SIZE", None)
        self.failures = 0

    def check(self, condition, text):
        if not condition:
            self.failures += 1
            print("FAIL:", text)

    def command(self, *words, environment=None):
        """Runs attune; returns (exit status, stdout, lines of stderr)."""
        done = subprocess.run([ATTUNE, *words], capture_output=True, text=True, env={**self.environment, **(environment or {})},
                              timeout=300)
        return done.returncode, done.stdout, done.stderr.splitlines()

    def output(self, *flags):
        """Runs the model on its own inputs. Returns the bytes of the output file and the lines on stderr."""
        path = os.path.join(self.folder, "out.safetensors")
        if os.path.exists(path):
            os.remove(path)
        status, out, lines = self.command("run", self.model, "--input", os.path.join(self.model, "inputs.safetensors"), "--output", path,
                                          *flags)
        self.check(status == 0, f"run {flags}: status {status}: {lines}")
        if status:
            return b"", lines
        with open(path, "rb") as f:
            return f.read(), lines

    def entries(self):
        """Returns the folders of all entries, sorted."""
        return sorted(glob.glob(os.path.join(self.path, "[0-9a-f]" * 32)))

    def entry(self):
        entries = self.entries()
        self.check(len(entries) == 1, f"expected one entry, got {entries}")
        return entries[0]

    def file(self, suffix, entry=None):
        """Returns the file of an entry (the only one) with this suffix."""
        return glob.glob(os.path.join(entry or self.entry(), "*" + suffix))[0]

    def list(self):
        status, out, lines = self.command("cache", "list", "--json")
        self.check(status == 0 and not lines, f"cache list: status {status}: {lines}")
        return json.loads(out)

    def finish(self):
        if self.failures:
            sys.exit(1)
        print("ok")


def lock(entry, byte, exclusive):
    """Takes a lock of an entry as a process does (an open file's, which the kernel releases when it is closed); returns the open file."""
    file = open(os.path.join(entry, "lock"), "r+b")
    # struct flock: type, whence, start, length, process.
    fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK if exclusive else fcntl.F_RDLCK, os.SEEK_SET, byte, 1, 0))  # F_OFD_SETLK
    return file


def is_compiling(line):
    return line.startswith("attune: compiling '") and "(kept in '" in line


def is_warning(line, words):
    return line.startswith("attune: warning: damaged cache: ") and words in line and line.endswith("is compiled again")


def patch(path, offset, change=lambda byte: byte ^ 1):
    """Changes the byte at |offset| (from the end if negative)."""
    with open(path, "r+b") as f:
        f.seek(offset, os.SEEK_END if offset < 0 else os.SEEK_SET)
        byte = f.read(1)[0]
        f.seek(-1, os.SEEK_CUR)
        f.write(bytes([change(byte)]))


def read_safetensors(path):
    """Returns the header and the data of a safetensors file."""
    with open(path, "rb") as f:
        data = f.read()
    (size,) = struct.unpack_from("<Q", data)
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def write_safetensors(path, tensors):
    """Writes |tensors|, name to (dtype, shape, bytes)."""
    header, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)
