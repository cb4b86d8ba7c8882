#!/usr/bin/env python3
# ===- source_index.py - Checks the tables of the page on architecture -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that docs/architecture.md leads to the sources of every operation, pass and command.

usage: source_index.py ROOT

A row of the table of topics begins with `Xfmr/IR/NormOps` and lists the operations that dialect/Xfmr/IR/NormOps.td
defines. A row of the table of passes begins with a folder and lists the passes of its Passes.td. Every path in backticks
that begins with a top-level folder must exist; it may have wildcards. A file name alone in the last column of the table
of topics must be the name of one file.

Prints one line for each difference and exits with 1 if there is one.
"""
import glob
import os
import re
import sys

FOLDERS = ("compiler/", "dialect/", "runtime/", "test/")
OPERATION = re.compile(r'^def \w+Op ?: ?\w+<\s*"(\w+)"', re.M)
COMMAND = re.compile(r'^ +\{"(\w+)", "', re.M)
PASS = re.compile(r'Pass<"([\w-]+)"')


def table_rows(page, column):
    """Yields the cells of each row of the table whose first column has the title |column|."""
    found = re.search(r"^\| " + column + r" \|[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)*)", page, re.M)
    if not found:
        sys.exit(f"docs/architecture.md: expected a table with the first column '{column}'")
    for line in found.group(1).splitlines():
        yield [cell.strip() for cell in line.strip("|").split("|")]


def read_index(page, column, pattern):
    """Returns the names in backticks of each row's second cell, by the first name of its first cell."""
    rows = table_rows(page, column)
    return {re.findall(pattern, cells[0])[0]: set(re.findall(r"`([\w-]+)`", cells[1])) for cells in rows}


def compare(errors, place, listed, defined):
    """Adds the differences of the names |listed| for |place| and |defined| there to |errors|."""
    page = "docs/architecture.md"
    errors += [f"{page}: {place} defines '{name}', which its row lacks" for name in sorted(defined - listed)]
    errors += [f"{page}: the row of {place} lists '{name}', which it does not define" for name in sorted(listed - defined)]


def main(root):
    with open(os.path.join(root, "docs/architecture.md")) as file:
        page = file.read()
    paths = (path for top in FOLDERS for path in glob.glob(os.path.join(root, top, "**/*.*"), recursive=True))
    files = [os.path.relpath(path, root) for path in paths]
    errors, count = [], 0

    topics = read_index(page, "topic", r"`([\w/]+)`")
    passes = read_index(page, "folder", r"`([\w/]+)`")
    for path in sorted(files):
        with_text = path.endswith(".td") and path.startswith(("dialect/", "compiler/"))
        text = open(os.path.join(root, path)).read() if with_text else ""
        operations = set(OPERATION.findall(text))
        if operations and path.startswith("dialect/"):
            count += len(operations)
            compare(errors, path, topics.pop(path[len("dialect/"):-len(".td")], set()), operations)
        names = set(PASS.findall(text))
        if names and path.endswith("/Passes.td"):
            count += len(names)
            compare(errors, path, passes.pop(os.path.dirname(path), set()), names)
    errors += [f"docs/architecture.md: the row of '{name}' has no such file" for name in [*topics, *passes]]

    with open(os.path.join(root, "compiler/Tools/attune.cpp")) as file:
        commands = set(COMMAND.findall(file.read()))
    count += len(commands)
    compare(errors, "compiler/Tools/attune.cpp", {re.findall(r"`(\w+)`", cells[0])[0] for cells in table_rows(page, "command")}, commands)

    names = {os.path.basename(path) for path in files}
    for path in re.findall(r"`((?:" + "|".join(FOLDERS) + r")[\w./*-]+)`", page):
        if not glob.glob(os.path.join(root, path)):
            errors.append(f"docs/architecture.md: '{path}' does not exist")
    for cells in table_rows(page, "topic"):
        for name in re.findall(r"`(\w+\.cpp)`", cells[2]):
            if name not in names:
                errors.append(f"docs/architecture.md: no file has the name '{name}'")

    print("\n".join(errors + [f"{count} operations, passes and commands, {len(errors)} differences"]))
    return 1 if errors else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
