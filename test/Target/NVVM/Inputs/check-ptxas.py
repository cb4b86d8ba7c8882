#!/usr/bin/env python3
"""What the assembler says of kernels: no spills, no stack frames, no products that wait for each other, no more registers than a budget.

    check-ptxas.py FILE.ptx GPU [PATTERN=REGISTERS ...]

The first pattern that is found in a kernel's name gives its budget, 255 if none is. Prints a line per kernel; exit 1 names every one that fails.
"""
import re
import sys

from assembler import assemble, describe_spills


def main():
    path, gpu, *budgets = sys.argv[1:]
    kernels, failures = assemble(path, gpu)
    if not kernels:
        sys.exit(f"{path}: expected kernels, ptxas reports none")
    for kernel in kernels:
        budget = next((int(limit) for pattern, limit in (b.rsplit("=", 1) for b in budgets) if re.search(pattern, kernel.name)), 255)
        print(f"{gpu} {kernel.name}: {kernel.registers} of {budget} registers")
        if spills := describe_spills(kernel):
            failures.append(spills)
        if kernel.registers > budget:
            failures.append(f"{kernel.name}: {kernel.registers} registers, expected at most {budget}")
    if failures:
        sys.exit("\n".join([f"{path} for {gpu}:", *failures]))
    print(f"{len(kernels)} kernels for {gpu}: within their budgets")


main()
