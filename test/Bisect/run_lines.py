#!/usr/bin/env python3
# ===- run_lines.py - Runs the RUN lines of a lit test ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the RUN lines of a test outside of the test suite.

usage: run_lines.py TEST
"""
import os
import re
import subprocess
import sys

path = sys.argv[1]
lines = re.findall(r"^// RUN: (.*)$", open(path, encoding="utf-8").read(), re.M)
if not lines:
    sys.exit(f"{path}: expected RUN lines")
for line in lines:
    for name, value in (("%S", os.path.dirname(path) or "."), ("%s", path), ("%t", path + ".tmp")):
        line = line.replace(name, value)
    status = subprocess.run(line, shell=True).returncode
    if status:
        sys.exit(f"'{line}' ends with {status}")
