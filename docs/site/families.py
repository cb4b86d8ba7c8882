#!/usr/bin/env python3
# ===- families.py - Families of models as Markdown ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a page with the families of models: classes, golden cases, keys and what is refused.

usage: families.py ATTUNE FIXTURES PAGE

All but the golden cases is what `attune families --json` prints: the compiler runs its readers and notes what they ask for. Golden cases
are the folders below FIXTURES whose case.json names the family.
"""
import glob
import json
import os
import subprocess
import sys

HEAD = """# Families

The models that can be compiled, by the `model_type` of their `config.json`. Keys are those that the reader of a family
asks for when the file says nothing else; a key that only counts beside another may be missing. A key without a default
is required or follows from others.

"""


def read_cases(fixtures):
    """Returns the names of the golden folders of each model_type."""
    cases = {}
    for path in sorted(glob.glob(os.path.join(fixtures, "**", "case.json"), recursive=True)):
        folder = os.path.dirname(path)
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            cases.setdefault(json.load(file).get("model_type"), []).append(os.path.basename(folder))
    return cases


def cell(text):
    return text.replace("|", "\\|") or " "


def describe(family, cases):
    lines = [f"## {family['model_type']}", "", "Classes: " + ", ".join(f"`{name}`" for name in family["architectures"]) + ".", ""]
    lines += ["Golden cases: " + (", ".join(f"`{name}`" for name in cases) or "none stored") + ".", ""]
    lines += ["| key | default | values |", "|---|---|---|"]
    lines += [f"| `{key['key']}` | {cell(key['default'])} | {cell(key['values'])} |" for key in family["keys"]]
    if family["refused"]:
        lines += ["", "| refused key | reason |", "|---|---|"]
        lines += [f"| `{key['key']}` | {cell(key['reason'])} |" for key in family["refused"]]
    return "\n".join(lines) + "\n"


def main():
    attune, fixtures, page = sys.argv[1:]
    families = json.loads(subprocess.run([attune, "families", "--json"], stdout=subprocess.PIPE, text=True, check=True).stdout)
    cases = read_cases(fixtures)
    with open(page, "w", encoding="utf-8") as file:
        file.write(HEAD)
        file.write("\n".join(describe(family, cases.get(family["model_type"], [])) for family in families))


if __name__ == "__main__":
    main()
