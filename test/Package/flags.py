# ===- flags.py - Help, manual page and completion list the same flags ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""flags.py TOOL…: ends with 1 and names the flag if --help lists one that --help=man, --help=bash or --help=markdown does not."""

import re
import subprocess
import sys


def ask(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


for tool in sys.argv[1:]:
    page, completion = ask(tool, "--help=man").replace("\\-", "-"), ask(tool, "--help=bash")
    markdown = ask(tool, "--help=markdown")
    verbs = re.findall(r"^  ([a-z]+) {2,}", ask(tool, "--help"), re.M)
    assert len(verbs) > 5, verbs
    for verb in verbs:
        section = re.search(r"\.SS %s %s\b(.*?)(?=\.SS|\.SH)" % (tool, verb), page, re.S)
        case = re.search(r"^  %s\)\n    flags='(.*?)'" % verb, completion, re.M)
        reference = re.search(r"^## %s %s$(.*?)(?=^## |\Z)" % (tool, verb), markdown, re.S | re.M)
        assert section and case and reference, (tool, verb)
        for flag in re.findall(r"^  (--?[a-z-]+)", ask(tool, verb, "--help"), re.M):
            assert "\\fB%s\\fR" % flag in section.group(1), (tool, verb, flag, "manual")
            assert flag in case.group(1).replace("=", "").split(), (tool, verb, flag, "completion")
            assert re.search(r"^\| `%s[ =`]" % flag, reference.group(1), re.M), (tool, verb, flag, "markdown")
