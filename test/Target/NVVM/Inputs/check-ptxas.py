#!/usr/bin/env python3
"""Checks the assembler's report on kernels: no spills, no stack frames, no products that wait for each other, registers
within a budget.

    check-ptxas.py FILE.ptx GPU [PATTERN=REGISTERS[+SPILLS] ...]

The first pattern found in a kernel's name gives its budget, registers and bytes of spills; the default is 255+0.
Prints a line for each kernel; exits with 1 and the name of each that fails.
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
        limit = next((limit for pattern, limit in (b.rsplit("=", 1) for b in budgets) if re.search(pattern, kernel.name)), "255")
        budget, most = (int(number) for number in (limit + "+0").split("+")[:2])
        print(f"{gpu} {kernel.name}: {kernel.registers} of {budget} registers")
        if spills := describe_spills(kernel, most):
            failures.append(spills)
        if kernel.registers > budget:
            failures.append(f"{kernel.name}: {kernel.registers} registers, expected at most {budget}")
    if failures:
        sys.exit("\n".join([f"{path} for {gpu}:", *failures]))
    print(f"{len(kernels)} kernels for {gpu}: within their budgets")


main()
