#!/usr/bin/env python3
# ===- prose.py - Checks the language of the tree --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks words, line lengths, links and descriptions.

usage: prose.py ROOT [--record]

  word         a word that docs/glossary.md replaces, in a comment, a description or a page
  relative     a comment that begins with What, Whether, Who, Whose or Those instead of a noun or a verb
  long         a line of more than 140 columns; exempt are rows of tables in Markdown and expectations of FileCheck, which
               cannot be broken
  link         a relative link in Markdown that leads nowhere
  declaration  a declaration in runtime/include without a comment
  description  an operation or a pass without a description, or an operation without an example in it
  untested     an operation or a pass that no test names

prose-counts.txt beside this file has the number of findings of the first three kinds and of the last that a file may still have. They may only
fall: --record writes the present numbers, unless one of the kinds has more in all. Prints a line for each finding beyond the numbers; exits with
1 if there is one.
"""
import fnmatch
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
RECORD = "test/Structure/prose-counts.txt"
RATCHETED = ("word", "relative", "long", "untested")
SUFFIXES = (".md", ".h", ".hpp", ".c", ".cpp", ".td", ".py", ".test", ".cmake", "CMakeLists.txt")
# Data, pages that list the words, and this script.
LEFT_OUT = ("docs/glossary.md", "test/Structure/prose.py", "test/Structure/prose.test", "CHANGELOG.md")
INPUTS = "test/Structure/Inputs/"
# Words that are wrong in every meaning that this tree has for them, and the word instead.
WORDS = {
    r"codes": "quantized values, low-precision operands",
    r"(?:turn|turned|turning) panels?|panels turn": "packed panels",
    r"artefacts?": "artifact",
    r"verbs?": "command",
    r"strateg(?:y|ies)": "schedule",
    r"whoever|whichever one": "caller, user, pass",
    r"gives? on|giving on|gives? (?:it|them) on": "forward",
    r"(?:told|tell|tells|telling) apart": "distinguish",
    r"pairs of (?:a|the) block": "persistent tile scheduler",
    r"key stages?": "pipeline stages",
    r"chains? of kernels|chain kernels?": "row blocking across kernels",
    r"copies of boxes|boxes of": "TMA tiles, TMA loads",
    r"affair": "responsibility; say who does it",
    r"quantis\w+": "quantize",
    r"unquantised|dequantis\w+": "dequantize",
}


def read_ignored(root):
    """Returns the patterns of .gitignore: for paths from the root where they begin with a slash, else for names."""
    path = os.path.join(root, ".gitignore")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [line.strip().rstrip("/") for line in file if line.strip() and not line.startswith("#")]


def is_ignored(path, patterns):
    """Returns true if one of |patterns| matches |path|, a file or a folder whose parents none matches."""
    for pattern in patterns:
        if not pattern.startswith("/"):
            matches = fnmatch.fnmatch(os.path.basename(path), pattern)
        else:  # a wildcard of .gitignore matches no slash
            matches = path.count("/") == pattern.count("/") - 1 and fnmatch.fnmatch("/" + path, pattern)
        if matches:
            return True
    return False


def walk_files(root):
    """Yields the files of a tree without git, but for those that .gitignore names: builds, the demo, packages."""
    patterns = read_ignored(root)
    for folder, folders, names in os.walk(root):
        relative = [os.path.relpath(os.path.join(folder, name), root) for name in folders]
        folders[:] = [os.path.basename(f) for f in relative if not is_ignored(f, patterns)]
        files = (os.path.relpath(os.path.join(folder, name), root) for name in names)
        yield from (f for f in files if not is_ignored(f, patterns))


def list_files(root):
    """Returns the text files of the tree, from git where there is a checkout; an archive of the sources has none."""
    done = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    top = subprocess.run(["git", "-C", root, "rev-parse", "--show-toplevel"], capture_output=True, text=True).stdout.strip()
    if done.returncode == 0 and os.path.realpath(top) == os.path.realpath(root):
        files = done.stdout.splitlines()
    else:
        files = walk_files(root)
    return sorted(f for f in files if f.endswith(SUFFIXES) and not f.startswith(INPUTS) and os.path.exists(os.path.join(root, f)))


def read_prose(path, lines):
    """Returns (line number, text) of comments, descriptions and pages."""
    if path.endswith((".md", ".td")):
        return list(enumerate(lines, 1))
    mark = "#" if path.endswith((".py", ".cmake", "CMakeLists.txt", ".test")) else "//"
    found, in_comment = [], False
    for number, line in enumerate(lines, 1):
        at = line.find(mark)
        if mark == "//" and ("/*" in line or in_comment):
            found.append((number, line))
            in_comment = "*/" not in line[line.rfind("/*") :] if "/*" in line else "*/" not in line
        elif at >= 0:
            found.append((number, line[at:]))
    return found


def check_words(path, lines):
    pattern = re.compile(r"\b(?:" + "|".join(f"({words})" for words in WORDS) + r")\b", re.I)
    for number, text in read_prose(path, lines):
        for found in pattern.finditer(re.sub(r"`[^`]*`", "", text)):
            instead = list(WORDS.values())[found.lastindex - 1]
            yield "word", number, f"'{found.group(0)}': write {instead}"


def check_openings(path, lines):
    if path.endswith((".h", ".hpp", ".c", ".cpp", ".td")):
        for number, line in enumerate(lines, 1):
            opening = re.match(r"\s*///?<? +(What|Whether|Who|Whose|Those)\b", line)
            if opening and not (number > 1 and re.match(r"\s*//", lines[number - 2])):
                yield "relative", number, f"a comment begins with '{opening.group(1)}': name the thing, or say what the function does"


def check_lengths(path, lines):
    unbroken = {".md": r"\s*\|", ".test": r"(?:# )?(?!RUN|DEFINE)[A-Z][A-Z0-9-]*: "}.get(os.path.splitext(path)[1])
    for number, line in enumerate(lines, 1):
        if len(line) > 140 and not (unbroken and re.match(unbroken, line)):
            yield "long", number, f"{len(line)} columns, expected at most 140"


def check_links(root, path, lines):
    if not path.endswith(".md"):
        return
    text = re.sub(r"^ *```.*?^ *```", lambda block: "\n" * block.group(0).count("\n"), "\n".join(lines), flags=re.S | re.M)
    text = re.sub(r"`[^`\n]*`", "", text)
    for found in re.finditer(r"\]\(([^)\s]+)\)", text):
        target = found.group(1).split("#")[0]
        number = text.count("\n", 0, found.start()) + 1
        if target and not re.match(r"[a-z]+:", target) and not os.path.exists(os.path.join(root, os.path.dirname(path), target)):
            yield "link", number, f"{target} does not exist"


def check_declarations(root, path):
    if not (path.startswith("runtime/include/") and path.endswith(".h")):
        return
    sys.path.insert(0, os.path.join(HERE, "..", "..", "docs", "site"))
    import headers

    for section in headers.read_header(os.path.join(root, path))[1]:
        for declaration in section.declarations:
            if not declaration.comment:
                yield "declaration", declaration.line, f"{declaration.name} has no comment"


def check_definitions(path, text, tests):
    """Checks the operations and passes that a .td file defines."""
    for found in re.finditer(r"^def (\w+)(.*?)(?=^def |\Z)", text, re.S | re.M):
        name, body = found.groups()
        number = text.count("\n", 0, found.start()) + 1
        operation = re.match(r"[^{]*?(\w+)_Op<\"(\w+)\"", body)
        declared = re.match(r"[^{]*?\bPass<\"([\w-]+)\"", body)
        if not operation and not declared:
            continue
        if "let description" not in body:
            yield "description", number, f"{name} has no description"
        if operation and "```mlir" not in body:
            yield "description", number, f"{name} has no example"
        word = f"{operation.group(1).lower()}.{operation.group(2)}" if operation else declared.group(1)
        if not re.search(re.escape(word) + r"(?![\w-])", tests):
            yield "untested", number, f"no test names {word}"


def find_all(root):
    """Returns (kind, path, line, message) of all findings."""
    files = list_files(root)
    texts = {}
    for path in files:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            texts[path] = file.read()
    tests = ""
    for folder, _, names in os.walk(os.path.join(root, "test")):
        for name in names:
            if name.endswith((".mlir", ".test", ".py")) and name != "prose.py":
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    tests += file.read()
    findings = []
    for path in files:
        lines = texts[path].splitlines()
        checks = [check_links(root, path, lines)]
        if path not in LEFT_OUT:
            checks += [check_words(path, lines), check_openings(path, lines), check_lengths(path, lines), check_declarations(root, path)]
        if path.endswith(".td") and "/Inputs/" not in path:
            checks.append(check_definitions(path, texts[path], tests))
        findings += [(kind, path, number, message) for check in checks for kind, number, message in check]
    return files, findings


def read_record(root):
    """Returns the recorded numbers by (kind, path)."""
    path = os.path.join(root, RECORD)
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        lines = [line.split(maxsplit=2) for line in file.read().splitlines() if line and not line.startswith("#")]
    return {(kind, name): int(count) for kind, count, name in lines}


def write_record(root, counts, recorded):
    for kind in RATCHETED:
        before, now = (sum(count for (k, _), count in numbers.items() if k == kind) for numbers in (recorded, counts))
        if recorded and now > before:
            sys.exit(f"{now} findings of the kind '{kind}', {before} are recorded: mend the new ones first")
    with open(os.path.join(root, RECORD), "w", encoding="utf-8") as file:
        file.write("# Findings of prose.py that a file may still have: kind, number, file. They may only fall; --record writes the present ones.\n")
        for (kind, path), count in sorted(counts.items()):
            file.write(f"{kind} {count} {path}\n")


def main():
    root = os.path.abspath(sys.argv[1])
    files, findings = find_all(root)
    recorded = read_record(root)
    counts = {}
    for kind, path, _, _ in findings:
        if kind in RATCHETED:
            counts[kind, path] = counts.get((kind, path), 0) + 1
    if "--record" in sys.argv[2:]:
        write_record(root, counts, recorded)
        recorded = counts
    failures = 0
    for kind, path, number, message in findings:
        if counts.get((kind, path), 1) > recorded.get((kind, path), 0):
            print(f"{path}:{number}: {kind}: {message}")
            failures += 1
    allowed = sum(recorded.values())
    print(f"{len(files)} files, {allowed} recorded findings, {failures} failures")
    sys.exit(1 if failures else 0)


main()
