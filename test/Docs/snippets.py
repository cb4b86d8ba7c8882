#!/usr/bin/env python3
# ===- snippets.py - Runs the fenced blocks of Markdown pages --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the fenced blocks of Markdown pages, so that all examples of the pages work.

usage: snippets.py ROOT BUILD WORK [--features=LIST] [--without-commands] PAGE…

Each page gets a folder of its own in WORK, with links to the entries of the repository ROOT and `build` for the build
folder BUILD: its commands run there as a reader types them in a clone, and their output stays there. Blocks run in the
order of the page; exported variables and the current folder carry over from one `sh` block to the next.

The info string of a block says how it is tested:

  sh      executed by `bash -euo pipefail`; must exit with 0
  mlir    parsed and verified by attune-opt; a block of operations becomes the body of a function
  text    not tested, unless a marker says so
  others  need a marker

A marker is a comment in the line before the block, `<!-- test: WORDS -->`:

  file=NAME      the block is written to NAME, which a later `sh` block must mention
  output         the block is what the `sh` block before it prints; `…` stands for any text, a line `…` for any lines
  from=PATH      the lines of the block follow each other in that file of the repository, but for indentation; a line `…` leaves lines out
  fails          an `sh` block that exits with another status than 0
  look-for       an `sh` block that takes minutes, a network or another machine: only the programs that its lines begin with must exist
  python         a block of Python that scripts/check-python runs (python/tests/test_docs.py); here it is only parsed
  python-output  what the block of Python before it prints, which the same test compares
  requires=NAME  the block runs only if NAME is among the features

A block without a language is an error, and so is indented code, which no marker could reach. With --without-commands, `sh` blocks and their
output are skipped, but for those to look for. Prints one line for each failure and one with the number of blocks; exits with 1 if a block
fails.
"""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Dialect"))
import examples  # noqa: E402

ROOT_ENTRIES_LEFT_OUT = {"build", "demo", ".git"}
# Languages of code blocks that another test reads, test/Structure/include_graph.py.
READ_ELSEWHERE = {"rooms", "arrows", "exceptions", "cycles"}

# The output of a block that did not run.
SKIPPED = object()


class Block:
    """A fenced block: its line in the page, language, marker, indentation and lines."""

    def __init__(self, line, language, marker, indent):
        self.line, self.language, self.marker, self.indent, self.lines = line, language, marker, indent, []

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)


class Failure(Exception):
    """A block that does not hold; the message says why."""


def read_marker(text, line):
    """Returns the words of a marker as a dictionary."""
    words = {}
    for word in text.split():
        name, _, value = word.partition("=")
        if name not in ("file", "output", "from", "fails", "look-for", "requires", "python", "python-output"):
            raise Failure(f"line {line}: unknown marker '{word}'")
        words[name] = value or True
    return words


def read_blocks(text):
    """Returns the fenced blocks of a page."""
    blocks, block, fence, marker, in_list, previous = [], None, "", {}, False, ""
    for number, line in enumerate(text.splitlines(), 1):
        if block is not None:
            if line.strip() == fence:
                blocks.append(block)
                block = None
            else:
                block.lines.append(line[block.indent :] if not line[: block.indent].strip() else line)
            continue
        found = re.match(r"( *)(```+)(\S*)", line)
        if found:
            fence = found.group(2)
            block = Block(number, found.group(3), marker, len(found.group(1)))
            marker = {}
            if not block.language:
                raise Failure(f"line {number}: the block has no language")
            continue
        if marker:
            raise Failure(f"line {number}: expected a block after the marker")
        if line.strip() and not line.startswith(" "):
            in_list = False
        if re.match(r" *([-*]|\d+\.) ", line):
            in_list = True
        elif line.startswith("    ") and not previous.strip() and not in_list:
            raise Failure(f"line {number}: expected a fenced block, got indented code")
        found = re.match(r" *<!-- test: (.*?) -->$", line)
        marker = read_marker(found.group(1), number) if found else {}
        previous = line
    if block is not None:
        raise Failure(f"line {block.line}: the block does not end")
    return blocks


def match_output(expected, printed):
    """Returns the first line of |expected| that |printed| lacks at that position, or None."""
    pattern = []
    for line in expected:
        if line.strip() == "…":
            pattern.append(r"(?:.*\n)*?")
        else:
            pattern.append(".*?".join(map(re.escape, line.rstrip().split("…"))) + r" *\n")
    for count in range(1, len(pattern) + 1):
        if not re.match("".join(pattern[:count]) + ("\\Z" if count == len(pattern) else ""), printed):
            return expected[count - 1]
    return None


class Page:
    """A page, its folder, and the state that its blocks pass on to later ones."""

    def __init__(self, root, build, work, name, features, commands):
        self.root, self.build, self.name, self.features, self.commands = root, build, name, features, commands
        self.folder = os.path.join(work, name.replace("/", "-").removesuffix(".md"))
        self.state = self.folder + ".state"
        self.printed = None
        self.counts = {}

    def prepare(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        for entry in os.listdir(self.root):
            if entry not in ROOT_ENTRIES_LEFT_OUT:
                os.symlink(os.path.join(self.root, entry), os.path.join(self.folder, entry))
        os.symlink(self.build, os.path.join(self.folder, "build"))
        with open(self.state, "w", encoding="utf-8") as state:
            state.write(f"cd {quote(self.folder)}\n")

    def run(self):
        with open(os.path.join(self.root, self.name), encoding="utf-8") as file:
            text = file.read()
        blocks = read_blocks(text)
        self.prepare()
        for index, block in enumerate(blocks):
            try:
                self.run_block(block, blocks[index + 1 :])
            except Failure as failure:
                raise Failure(f"line {block.line}: {failure}") from None
        return len(blocks)

    def run_block(self, block, later):
        marker = block.marker
        is_command = block.language == "sh" and not marker.keys() & {"file", "from", "look-for"}
        if (marker.get("requires", "") and marker["requires"] not in self.features) or (is_command and not self.commands):
            self.count("skipped")
            self.printed = SKIPPED
        elif "file" in marker:
            self.write_file(block, later)
        elif "output" in marker:
            self.check_output(block)
        elif "from" in marker:
            self.check_quote(block)
        elif "python" in marker:
            self.parse_python(block)
        elif "python-output" in marker:
            self.count("text")
        elif block.language == "sh":
            if "look-for" in marker:
                self.look_for(block)
            else:
                self.execute(block)
        elif block.language == "mlir":
            self.parse(block)
        elif block.language == "text" or block.language in READ_ELSEWHERE:
            self.count("text")
        else:
            raise Failure(f"a block of '{block.language}' needs a marker that says how it is tested")

    def count(self, kind):
        self.counts[kind] = self.counts.get(kind, 0) + 1

    def write_file(self, block, later):
        name = block.marker["file"]
        if not any(b.language == "sh" and os.path.basename(name) in b.text for b in later):
            raise Failure(f"no later command mentions {name}")
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(block.text)
        self.count("file")

    def execute(self, block):
        script = f". {quote(self.state)}\n{block.text}\n{{ export -p; printf 'cd %q\\n' \"$PWD\"; }} > {quote(self.state)}.new\n"
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if "fails" in block.marker:
            if done.returncode == 0:
                raise Failure("exits with 0, expected a failure")
        elif done.returncode != 0:
            raise Failure(f"exit {done.returncode}\n{block.text}{done.stdout[-2000:]}{done.stderr[-2000:]}")
        else:
            os.replace(self.state + ".new", self.state)
        self.printed = done.stdout + (done.stderr if "fails" in block.marker else "")
        self.count("sh")

    def check_output(self, block):
        if self.printed is SKIPPED:
            self.count("skipped")
            return
        if self.printed is None:
            raise Failure("no command comes before this output")
        missing = match_output(block.lines, self.printed)
        if missing is not None:
            raise Failure(f"expected the line '{missing}' in what was printed:\n{self.printed[-3000:]}")
        self.count("output")

    def check_quote(self, block):
        path = os.path.join(self.root, block.marker["from"])
        if not os.path.exists(path):
            raise Failure(f"there is no file {block.marker['from']}")
        with open(path, encoding="utf-8") as file:
            source = [line.strip() for line in file]
        parts, part = [], []
        for line in block.lines + ["…"]:
            if line.strip() == "…":
                parts, part = parts + [part], []
            elif line.strip():
                part.append(line.strip())
        source = [line for line in source if line]
        at = 0
        for part in parts:
            places = [i for i in range(at, len(source)) if source[i : i + len(part)] == part]
            if not places:
                raise Failure(f"{block.marker['from']} does not have these lines:\n" + "\n".join(part))
            at = places[0] + len(part)
        self.count("quote")

    def look_for(self, block):
        for line in block.lines:
            words = line.split("#")[0].split()
            if not words or line.startswith(" "):
                continue
            program = words[0]
            path = os.path.join(self.folder, program)
            if not (os.access(path, os.X_OK) if "/" in program else shutil.which(program)):
                raise Failure(f"there is no program '{program}'")
        self.count("looked for")

    def parse_python(self, block):
        try:
            compile(block.text, self.name, "exec")
        except SyntaxError as error:
            raise Failure(f"Python does not parse it: {error}") from None
        self.count("python")

    def parse(self, block):
        example = examples.Example(f"line {block.line}", block.text)
        examples.parseAll([example])
        if example.error:
            raise Failure(f"{example.error}\n{example.module()}")
        self.count("mlir")


def quote(path):
    return "'" + path.replace("'", "'\\''") + "'"


def main():
    features, commands = set(), True
    arguments = []
    for word in sys.argv[1:]:
        if word.startswith("--features="):
            features = set(word.partition("=")[2].split(","))
        elif word == "--without-commands":
            commands = False
        else:
            arguments.append(word)
    root, build, work, *names = (os.path.abspath(a) if i < 3 else a for i, a in enumerate(arguments))
    total, counts, failures = 0, {}, 0
    for name in names:
        page = Page(root, build, work, name, features, commands)
        try:
            total += page.run()
        except Failure as failure:
            print(f"{name}: {failure}")
            failures += 1
        for kind, count in page.counts.items():
            counts[kind] = counts.get(kind, 0) + count
    print(f"{total} blocks: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) + f"; {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
