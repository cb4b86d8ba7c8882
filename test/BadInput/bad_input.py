# ===- bad_input.py - What is refused, row by row ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# bad_input.py MODEL C_PROGRAM DIR [TABLE]: gives the tools every bad input of rows.py in DIR, made from the good MODEL,
# and runs C_PROGRAM, which does the same to the runtime. A row holds if the tool ends with status 1, says one line on
# stderr with the row's words, writes nothing to stdout and leaves no files; a row of warnings holds if the tool
# succeeds with such a line. Compares the table of messages with TABLE (README.md beside this file), or prints it.

import os
import re
import subprocess
import sys

import rows


def shorten(text, folder):
    """Returns |text| without the parts that differ between runs."""
    text = text.replace(folder + "/", "")
    text = re.sub(r"[0-9a-f]{32}", "ID", text)
    text = re.sub(r"\b[0-9a-f]{16}\b", "HASH", text)
    text = re.sub(r"0x[0-9a-f]+", "ADDRESS", text)
    text = re.sub(r"ABI version \d+, this runtime has \d+", "ABI version A, this runtime has B", text)
    # Replaces sizes of weights files and objects, which depend on the target CPU.
    if "good.weights" in text or "short.so" in text:
        text = re.sub(r"\b\d{4,}\b", "N", text)
    text = re.sub(r"/\S*/libc[^/ :]*", "libc.so", text)
    # Shortens lists, for example of families, so that additions to them do not change the table.
    text = re.sub(r"(expected one of )[^\"']*, (got|but)", r"\1…, \2", text)
    return text.replace("|", "\\|").strip()


def run_row(row, folder):
    """Returns the problem of the row ("" for none) and the message."""
    out = os.path.join(folder, "out")
    os.makedirs(out, exist_ok=True)
    done = subprocess.run(row.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
                          env={**os.environ, **row.environment})
    lines, left = done.stderr.splitlines(), os.listdir(out)
    said = lines[0] if lines else ""
    problem = ""
    if row.words not in done.stderr:
        problem = f"expected {row.words!r}"
    elif row.warning:
        if done.returncode != 0:
            problem = f"status {done.returncode}, expected 0 and a warning"
    elif done.returncode != 1:
        problem = f"status {done.returncode}"
    elif len(lines) != 1:
        problem = "more than one line"
    elif done.stdout:
        problem = "output on stdout"
    elif left:
        problem = f"left behind {left}"
    for name in left:
        os.remove(os.path.join(out, name))
    return (f"{row.title}: {problem}: {done.stderr}{done.stdout}" if problem else ""), shorten(said, folder)


def run_c(program, folder):
    """Returns the rows of the C program, which prints TITLE, tab, STATUS, tab, MESSAGE for each. Fails if a call succeeds
    that must not."""
    done = subprocess.run([program, folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    table = [line.split("\t") for line in done.stdout.splitlines()]
    complete = done.returncode == 0 and all(len(cells) == 3 for cells in table)
    problem = "" if complete else f"{program}: status {done.returncode}: {done.stdout}"
    return problem, [(title, status, shorten(message, folder)) for title, status, message in table if not problem]


def main(model, program, folder, table=None):
    problems, text = [], ["# What is refused, and with which words", "",
                          "Made by `test/BadInput/bad_input.py`, which tries each row: one line, exit status 1, nothing written. "
                          "Paths are shortened.", ""]
    unsupported = []
    for section, entries in rows.make(model, folder):
        text += [f"## {section}", "", "| input | what is said |", "|---|---|"]
        for row in entries:
            if row.unsupported:
                unsupported.append(row.title)
                text.append(f"| {row.title} |")
                continue
            problem, said = run_row(row, folder)
            problems += [problem] if problem else []
            text.append(f"| {row.title} | `{said}` |")
        text.append("")
    problem, entries = run_c(program, folder)
    problems += [problem] if problem else []
    text += ["## In C", "", "| input | status | `attune_last_error()` |", "|---|---|---|"]
    text += [f"| {title} | {status} | `{said}` |" for title, status, said in entries]
    if problems:
        sys.exit("\n".join(problems))
    if not table:
        print("\n".join(text))
        return
    with open(table) as f:
        known = f.read().splitlines()
    # A row that this machine cannot run keeps its line of the table.
    known_rows = {line.split(" | ")[0]: line for line in known if line.startswith("| ")}
    text = [known_rows.get(line[:-2], line) if line.startswith("| ") and line[2:-2] in unsupported else line for line in text]
    if text != known:
        differences = [f"-{line}" for line in known if line not in text] + [f"+{line}" for line in text if line not in known]
        sys.exit("the table is not up to date; write it again with bad_input.py MODEL C_PROGRAM DIR\n" + "\n".join(differences))
    print(f"{sum(line.startswith('| ') for line in text) - text.count('| input | what is said |') - 1} rows hold"
          + "".join(f"\nnot tried: {title}" for title in unsupported))


if __name__ == "__main__":
    main(*sys.argv[1:])
