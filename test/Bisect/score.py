#!/usr/bin/env python3
# ===- score.py - How often attune bisect finds an error -------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attune-test-bisect with each of its errors and prints a Markdown table of what the verdicts get right.

usage: score.py TOOL FIXTURES [SEED…]

Exits with 1 if less than 90 % of the passes or less than 75 % of the places are right.
"""
import re
import subprocess
import sys
import time


def main():
    tool, fixtures, *wanted = sys.argv[1:]
    listing = subprocess.run([tool, "--list"], capture_output=True, text=True, check=True).stdout
    passes = places = rated = total = 0
    print("| error | pass | right pass | right place | seconds |")
    print("|---|---|---|---|---|")
    for line in listing.splitlines():
        name, what, phase, blamed, place, model, harmless = line.split("\t")
        if wanted and name not in wanted:
            continue
        begin = time.monotonic()
        command = [tool, name, f"{fixtures}/{model}", "--no-test", "--cpu=x86-64-v3"] + (["--quick"] if harmless == "1" else [])
        result = subprocess.run(command, capture_output=True, text=True)
        seconds = time.monotonic() - begin
        text = result.stdout + result.stderr
        total += 1
        if harmless == "1":
            right = result.returncode == 0
            shown = "nobody is blamed" if right else "blames"
            passes += right
        else:
            right = f"The pass '{blamed}' of the phase '{phase}'" in text
            passes += right
            shown = "yes" if right else "no"
        found = re.search(r"Function: (@.*?)\. Inputs", text)
        if place and harmless != "1":
            rated += 1
            placed = bool(found and re.search(place, found.group(1)))
            places += placed
            where = "yes" if placed else "no"
        else:
            where = ""
        print(f"| {what} | `{blamed}` | {shown} | {where} | {seconds:.0f} |", flush=True)
        if not right or where == "no":
            print(f"{name}: {text.strip()}", file=sys.stderr, flush=True)
    print(f"\n{passes} of {total} passes and {places} of {rated} places are right")
    return 0 if passes >= 0.9 * total and places >= 0.75 * rated else 1


if __name__ == "__main__":
    sys.exit(main())
