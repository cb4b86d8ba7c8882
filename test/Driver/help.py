# ===- help.py - Print all help and measure it -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""help.py ATTUNE: prints the help of every command; FAIL where it does not fit 80 columns and 50 lines."""

import subprocess
import sys

for name in ("compile", "run", "generate", "chat", "tokenize", "check", "bench", "diff", "inspect", "cache", "families", "init", None):
    command = [sys.argv[1]] + ([name] if name else []) + ["--help"]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    lines = text.splitlines()
    print(text)
    if len(lines) > 50:
        print("FAIL: %s has %d lines" % (name, len(lines)))
    for line in lines:
        if len(line) > 80:
            print("FAIL: %s has a line of %d columns: %s" % (name, len(line), line))
