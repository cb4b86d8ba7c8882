"""Runs NVIDIA's assembler and reads its report on kernels."""
import collections
import re
import subprocess
import sys

# Bytes of the stack, of spills (stores and loads), and registers of a thread.
Usage = collections.namedtuple("Usage", "name stack stores loads registers")


def assemble(path, gpu):
    """Assembles the kernels of |path| for |gpu|. Returns a Usage for each, and the warnings; exits with a message if the
    assembler fails."""
    result = subprocess.run(["ptxas", "-v", "-O3", "--gpu-name=" + gpu, path, "-o", "/dev/null"], capture_output=True, text=True)
    text = result.stdout + result.stderr
    if result.returncode:
        sys.exit(f"{path}: ptxas fails for {gpu}:\n{text}")
    usages = []
    for name, report in re.findall(r"Compiling entry function '(\S+)' for '\S+'(.*?Used \d+ registers[^\n]*)", text, re.S):
        numbers = [int(re.search(rf"(\d+) bytes {what}", report).group(1)) for what in ("stack frame", "spill stores", "spill loads")]
        usages.append(Usage(name, *numbers, int(re.search(r"Used (\d+) registers", report).group(1))))
    # C75xx: products of warpgroups that wait for each other.
    return usages, [line for line in text.splitlines() if re.search(r"\bC75\d\d\b|warning", line)]


def describe_spills(usage, most=0):
    """Returns a message if a kernel has more than |most| bytes of stack, stores or loads of spills, else nothing."""
    if max(usage.stack, usage.stores, usage.loads) <= most:
        return None
    expected = f"at most {most}" if most else "none"
    return f"{usage.name}: {usage.stack} bytes of stack, {usage.stores} + {usage.loads} bytes of spills, expected {expected}"
