# ===- damaged.py - Shared objects with bytes that changed ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""damaged.py TOOL OBJECT COPY: changes bytes of a compiled model at many places, and gives each copy to the tool; FAIL for
one that is not refused in one line. Bytes of the seal itself do no harm."""

import random
import subprocess
import sys

tool, whole, copy = sys.argv[1:4]
with open(whole, "rb") as f:
    data = f.read()
SEAL = 24


def inspect(content):
    with open(copy, "wb") as f:
        f.write(content)
    return subprocess.run([tool, "inspect", copy], capture_output=True, text=True)


numbers = random.Random(5)
places = [*range(0, 64, 3), *(numbers.randrange(64, len(data) - SEAL) for _ in range(60)), len(data) - SEAL - 1]
for place in places:
    done = inspect(data[:place] + bytes([data[place] ^ 1 << numbers.randrange(8)]) + data[place + 1 :])
    if done.returncode != 1 or done.stdout or done.stderr.count("\n") != 1:
        print(f"FAIL: byte {place} of {len(data)}: status {done.returncode}: {done.stderr}")
    elif place >= 64 and "the file is damaged" not in done.stderr:
        print(f"FAIL: byte {place} of {len(data)}: {done.stderr}")
zeros = inspect(data[: len(data) // 2] + bytes(4096) + data[len(data) // 2 + 4096 :])
if zeros.returncode != 1 or "the file is damaged" not in zeros.stderr:
    print(f"FAIL: zeros: status {zeros.returncode}: {zeros.stderr}")
# Files that a tool wrote again have no seal behind their last section.
for title, content in (("without a seal", data[:-SEAL]), ("a seal with another magic", data[:-SEAL] + b"x" * SEAL),
                       ("more bytes", data + b"x")):
    done = inspect(content)
    if done.returncode != 0 or done.stderr:
        print(f"FAIL: {title}: status {done.returncode}: {done.stderr}")
print(f"damaged at {len(places)} places")
