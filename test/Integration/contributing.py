# ===- contributing.py - The commands of CONTRIBUTING.md work --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# contributing.py ROOT BUILD MODEL DIR: runs the indented commands of ROOT/CONTRIBUTING.md, in their order, in DIR, with MODEL for the word MODEL. Commands whose
# comment says "as root" or "minutes" are only looked for. Commands on scripts and tests run in ROOT; lit lists the tests instead of running them, as they may
# be running now. A command that prints IR has to print some.

import os
import re
import shutil
import subprocess
import sys

root, build, model, work = sys.argv[1:]
with open(os.path.join(root, "CONTRIBUTING.md"), encoding="utf-8") as f:
    lines = [line.strip() for line in f if re.match(r"    [a-z]", line)]


def fail(line, why):
    sys.exit(f"CONTRIBUTING.md: {line}\n{why}")


def run(line):
    folder = root if line.startswith(("scripts/", "lit ")) else work
    command = line.replace("MODEL", model).replace(" build/", f" {build}/")
    if line.startswith("lit "):
        command += " --show-tests"
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
    printed = done.stdout + done.stderr
    if done.returncode != 0:
        fail(line, f"exit {done.returncode}\n{printed[-3000:]}")
    if "--mlir-print-ir" in line and "IR Dump After" not in done.stderr:
        fail(line, "prints no IR")
    if "--dump-pass-pipeline" in line and "builtin.module(" not in done.stderr:
        fail(line, "prints no pipeline")
    if line.startswith("lit ") and not re.search(r"::", printed):
        fail(line, "finds no test")


counted = {"run": 0, "looked for": 0}
for line in lines:
    command, _, comment = line.partition("  #")
    command = command.strip()
    if re.search(r"as root|minutes", comment):
        program = command.split()[0]
        path = os.path.join(root, program)
        if not (os.access(path, os.X_OK) if "/" in program else shutil.which(program)):
            fail(line, f"there is no program '{program}'")
        counted["looked for"] += 1
    else:
        run(command)
        counted["run"] += 1
if counted["run"] < 10 or counted["looked for"] < 9:
    sys.exit(f"CONTRIBUTING.md shows fewer commands than expected: {counted}")
before, after = (sum(1 for _ in open(os.path.join(work, name), encoding="utf-8")) for name in ("stages/03-linalg.mlir", "small.mlir"))
if after * 10 > before:
    sys.exit(f"attune-reduce took {before} lines to {after}")
