# ===- help.py - Print all help and measure it -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""help.py TOOL...: prints the help of every command of each tool, and the names of its flags; fails where help does not
fit 80 columns and 50 lines, and where a flag is in neither of --help and --help=all."""

import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


failures = []
for tool in sys.argv[1:]:
    commands = re.findall(r"^  ([a-z]+)  ", run(tool, "--help"), re.MULTILINE)
    if len(commands) < 7:
        failures.append("%s --help lists %s only" % (tool, ", ".join(commands)))
    for name in [*commands, None]:
        command = [tool] + ([name] if name else []) + ["--help"]
        text = run(*command)
        print(text)
        lines = text.splitlines()
        if len(lines) > 50:
            failures.append("%s has %d lines" % (" ".join(command), len(lines)))
        failures += ["%s has a line of %d columns: %s" % (" ".join(command), len(line), line) for line in lines if len(line) > 80]
        if not name:
            continue
        everything = run(tool, name, "--help=all")
        completed = set(re.search(r"flags='([^']*)'", run(tool, name, "--help=bash")).group(1).replace("=", "").split())
        missing = [flag for flag in sorted(completed - {"--help", "--quiet", "--version"})
                   if not re.search(r"^  %s[ =\n]" % flag, everything, re.MULTILINE) or not re.search(r"(?<= )%s(?=[ =\n])" % flag, text)]
        failures += ["%s: %s is not in --help and --help=all" % (" ".join(command), flag) for flag in missing]
for failure in failures:
    print("help.py: " + failure, file=sys.stderr)
sys.exit(1 if failures else 0)
