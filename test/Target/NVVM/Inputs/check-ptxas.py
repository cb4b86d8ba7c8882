#!/usr/bin/env python3
"""What the assembler says of kernels: no spills, no stack frames, no products that wait for each other, no more registers than a budget.

    check-ptxas.py FILE.ptx GPU [PATTERN=REGISTERS ...]

The first pattern that is found in a kernel's name gives its budget, 255 if none is. Prints a line per kernel; exit 1 names every one that fails.
"""
import re
import subprocess
import sys


def assemble(path, gpu):
    result = subprocess.run(["ptxas", "-v", "-O3", "--gpu-name=" + gpu, path, "-o", "/dev/null"], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{path}: ptxas fails for {gpu}:\n{result.stdout}{result.stderr}")
    return result.stdout + result.stderr


def main():
    path, gpu, *budgets = sys.argv[1:]
    text = assemble(path, gpu)
    failures = [line for line in text.splitlines() if re.search(r"\bC75\d\d\b|warning", line)]
    kernels = re.findall(r"Compiling entry function '(\S+)' for '\S+'(.*?Used \d+ registers[^\n]*)", text, re.S)
    if not kernels:
        sys.exit(f"{path}: expected kernels, ptxas reports none")
    for name, report in kernels:
        stack, stores, loads = (int(re.search(rf"(\d+) bytes {what}", report).group(1)) for what in ("stack frame", "spill stores", "spill loads"))
        registers = int(re.search(r"Used (\d+) registers", report).group(1))
        budget = next((int(limit) for pattern, limit in (b.rsplit("=", 1) for b in budgets) if re.search(pattern, name)), 255)
        print(f"{gpu} {name}: {registers} of {budget} registers")
        if max(stack, stores, loads) > 0:
            failures.append(f"{name}: {stack} bytes of stack, {stores} + {loads} bytes of spills, expected none")
        if registers > budget:
            failures.append(f"{name}: {registers} registers, expected at most {budget}")
    if failures:
        sys.exit("\n".join([f"{path} for {gpu}:", *failures]))
    print(f"{len(kernels)} kernels for {gpu}: within their budgets")


main()
