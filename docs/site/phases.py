#!/usr/bin/env python3
# ===- phases.py - Phases and their passes as Markdown ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a page with the passes of each phase, in their order, for a CPU and for a GPU.

usage: phases.py ATTUNE_OPT PAGE

The lists are what attune-opt runs: it is asked to print after each pass of a phase, on a module with one declaration.
"""
import re
import subprocess
import sys

TARGETS = {
    "CPU": "",
    "GPU": 'attributes {rt.target = #rt.target<"cuda", {archs = ["sm_80", "sm_90a"], precision = "bf16"}>} ',
}


def list_phases(attune_opt):
    """Returns the phases that are made of passes, from the pipelines `attune-to-PHASE` in the help."""
    text = subprocess.run([attune_opt, "--help"], capture_output=True, text=True, check=True).stdout
    return re.findall(r"^ +--attune-to-(\w+) ", text, re.M)


def list_passes(attune_opt, phase, attributes):
    """Returns the flags of the passes of |phase| in their order."""
    module = f"module {attributes}{{ func.func private @declaration() }}"
    command = [attune_opt, "-", f"--attune-run-phase=phase={phase}", "--mlir-print-ir-after-all", "-o", "/dev/null"]
    done = subprocess.run(command, input=module, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    passes = re.findall(r"IR Dump After \w+ \(([\w-]+)\)", done.stderr)
    return [name for name in passes if name != "attune-run-phase"]


def main():
    attune_opt, page = sys.argv[1:]
    phases = list_phases(attune_opt)
    order = ["dialect", "linalg", "tiled", "kernels", "bufferized", "vector", "target"]
    if sorted(phases) != sorted(order):
        sys.exit(f"expected the pipelines {order}, got {phases}")
    text = "# Phases and passes\n\nThe phases `import`, `llvm` and `object` are not made of passes. "
    text += "A pass that applies to other types or options only is not in these lists.\n"
    for phase in order:
        text += f"\n## {phase}\n\n"
        columns = [list_passes(attune_opt, phase, attributes) for attributes in TARGETS.values()]
        if columns[0] == columns[1]:
            columns = columns[:1]
            text += "| CPU and GPU |\n|---|\n"
        else:
            text += "| CPU | GPU |\n|---|---|\n"
        for i in range(max(map(len, columns))):
            text += "|" + "|".join(f" `{column[i]}` " if i < len(column) else " " for column in columns) + "|\n"
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
