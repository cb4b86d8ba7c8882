# ===- readme.py - The documents keep their promises -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# readme.py ROOT MODEL DIR: runs in DIR the README's `build/bin/attune` commands on MODEL; checks that every path of the tree that README.md and
# CONTRIBUTING.md name is there.

import os
import re
import subprocess
import sys

import models

root, model, work = sys.argv[1:]


def read(name):
    with open(os.path.join(root, name), encoding="utf-8") as f:
        return f.read()


def run(line):
    done = subprocess.run(line, shell=True, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"exit {done.returncode}: {line}\n{done.stdout[-3000:]}")


def commands(text, pattern):
    """The indented lines that match |pattern|, without their comments."""
    return [re.sub(r"\s{2,}#.*", "", line.strip()) for line in text.splitlines() if re.match(r"    " + pattern, line)]


models.save(os.path.join(work, "in.safetensors"), {"input_ids": ("I64", [2, 9], list(range(1, 19)))})
os.symlink(model, os.path.join(work, "model"))

readme, contributing = read("README.md"), read("CONTRIBUTING.md")
for name, text in (("README.md", readme), ("CONTRIBUTING.md", contributing)):
    named = re.findall(r"\]\(([\w./-]+)\)", text) + re.findall(r"`([\w.-]+/[\w./-]*)`", text)
    for path in named:
        if not path.startswith(("build/", "stages/")) and "NNN" not in path and not os.path.exists(os.path.join(root, path)):
            sys.exit(f"{name} names {path}, which does not exist")

shown = commands(readme, r"build/bin/attune ")
if len(shown) < 3:
    sys.exit("README.md shows fewer commands than expected")
for line in shown:
    run(line.replace("build/bin/", "").replace("path/to/folder", "model").replace("--length=128", "--length=16 --repeat=2").replace("7592", "92"))
