#!/usr/bin/env python3
# ===- score.py - How many errors the bisector finds ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# score.py CASE PASS,… ERROR,…: makes each error after each pass (attune-test-bisect in PATH) and prints a
# table: whether the bisector names the pass, and seconds. Errors that have no place or no effect on results are counted
# apart. Exits with 1 if a pass is named wrongly.
# ===-----------------------------------------------------------------------===#
import collections
import subprocess
import sys
import time

Outcome = collections.namedtuple("Outcome", "kind text seconds")


def bisect(case, name, error):
    begin = time.monotonic()
    done = subprocess.run(["attune-test-bisect", case, name, error], capture_output=True, text=True, errors="replace")
    seconds = time.monotonic() - begin
    text = done.stdout.strip()
    if text in ("no place for the error", "no wrong numbers"):
        return Outcome(text, "", seconds)
    if done.returncode != 1:
        return Outcome("failed", (done.stderr.strip().splitlines() or [str(done.returncode)])[-1], seconds)
    passes = [word for before, word in zip(text.split(), text.split()[1:]) if before == "pass"]
    known = name.split("@")[0]  # a seed in LLVM names a function behind its pass
    kind = "right" if passes == [known] else "among several" if known in passes else "wrong"
    return Outcome(kind, text, seconds)


def main():
    case, passes, errors = sys.argv[1:4]
    counts, worst = collections.Counter(), 0.0
    for name in passes.split(","):
        for error in errors.split(","):
            outcome = bisect(case, name, error)
            counts[outcome.kind] += 1
            if outcome.kind not in ("no place for the error", "no wrong numbers"):
                worst = max(worst, outcome.seconds)
                print(f"{name:34} {error:11} {outcome.kind:14} {outcome.seconds:5.1f} s  {outcome.text}", flush=True)
    for kind, count in sorted(counts.items()):
        print(f"{count:4} {kind}")
    print(f"slowest: {worst:.0f} s")
    return 1 if counts["wrong"] or counts["failed"] else 0


sys.exit(main())
