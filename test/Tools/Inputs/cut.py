# ===- cut.py - Shared objects that are cut short --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cut.py ATTUNE_RUN OBJECT DIR: gives the tool OBJECT cut at many lengths; FAIL for each that is not refused in one line."""

import os
import subprocess
import sys

tool, whole, folder = sys.argv[1:4]
with open(whole, "rb") as f:
    data = f.read()
size = len(data)
path = os.path.join(folder, "cut.so")
lengths = sorted({0, 1, 3, 4, 16, 63, 64, 65, 120, 4095, 4096, 4097, size // 4, size // 2, 3 * size // 4, size - 64, size - 1})
for length in lengths:
    with open(path, "wb") as f:
        f.write(data[:length])
    done = subprocess.run([tool, "inspect", path], capture_output=True, text=True)
    # A file shorter than a header is not recognized as an ELF file.
    words = f"got {length}: it is cut short" if length >= 64 else "got a file of another kind" if length else "got an empty file"
    if done.returncode != 1 or done.stdout or done.stderr.count("\n") != 1 or words not in done.stderr:
        print(f"FAIL: {length} of {size} bytes: status {done.returncode}: {done.stderr}")
# A table that lies elsewhere: the offsets of the program and the section headers, the numbers of their entries.
for offset, value in ((32, b"\xff" * 8), (40, b"\xf0" + b"\xff" * 7), (56, b"\xff\xff"), (60, b"\xff\xff")):
    with open(path, "wb") as f:
        f.write(data[:offset] + value + data[offset + len(value) :])
    done = subprocess.run([tool, "inspect", path], capture_output=True, text=True)
    if done.returncode != 1 or done.stderr.count("\n") != 1 or "it is cut short" not in done.stderr:
        print(f"FAIL: {value} at {offset}: status {done.returncode}: {done.stderr}")
print(f"cut at {len(lengths)} lengths")
