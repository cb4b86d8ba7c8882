#!/usr/bin/env python3
# ===- headers.py - C headers as Markdown ----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a page in Markdown for each C header: its introduction, and each declaration with its comment.

usage: headers.py OUT HEADER…

A declaration is a macro, a type or a function at the beginning of a line; its comment stands directly above it, as `///` lines or as one
comment of C.
"""
import os
import re
import sys


class Declaration:
    """A declaration: its line, name, text, and the comment above it."""

    def __init__(self, line, text, comment):
        self.line, self.text, self.comment = line, text, comment

    @property
    def name(self):
        patterns = r"#define (\w+)", r"\}\s*(\w+);", r"typedef struct \w+ (\w+);", r"\(\*(\w+)\)", r"(\w+)\(", r"struct (\w+);", r"(\w+);"
        for pattern in patterns:
            found = re.search(pattern, self.text)
            if found:
                return found.group(1)
        return self.text.split()[0]


class Section:
    """A heading `//===--- Title ---===//` with the text and the declarations below it."""

    def __init__(self, title):
        self.title, self.text, self.declarations = title, "", []


def strip_comment(lines):
    """Returns the text of comment lines without their marks."""
    text = [re.sub(r"^\s*(///?<?|/\*+|\*/|\*)\s?", "", line) for line in lines]
    return "\n".join(re.sub(r"\s*\*/\s*$", "", line).rstrip() for line in text).strip("\n")


def ends_declaration(first, line):
    """Returns whether |line| is the last of the declaration that begins with the line |first|."""
    if first.startswith("#define"):
        return not line.endswith("\\")
    code = re.sub(r"\s*(/\*.*\*/|//.*)\s*$", "", line)
    if first.startswith("static inline"):
        return code == "}" or (line == first and code.endswith("}"))
    if re.match(r"typedef (struct|enum) \w+ \{", first):
        return code.startswith("}")
    return code.endswith(";")


def read_header(path):
    """Returns the introduction of a header and its sections."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("#ifndef"))
    head = [line for line in lines[:begin] if "===" not in line and "SPDX" not in line]
    introduction = strip_comment(head).strip()
    sections, comment, i = [Section("")], [], begin + 1
    while i < len(lines):
        line = lines[i]
        heading = re.match(r"//===--- (.*?) -+===//", line)
        if heading:
            sections.append(Section(heading.group(1)))
            comment = []
        elif line.startswith("//") and not line.startswith("///"):
            sections[-1].text += re.sub(r"^//\s?", "", line) + "\n"
        elif line.startswith("///"):
            comment.append(line)
        elif line.startswith("/*"):
            comment = [line]
            while "*/" not in lines[i]:
                i += 1
                comment.append(lines[i])
        elif line.startswith("#define ") or re.match(r"(?!extern \"C\")[a-z_0-9]+ ", line):
            if re.match(r"#define \w+$", line) or re.match(r"(static_assert|_Static_assert|#define ATTUNE_ABI_ASSERT)", line):
                comment = []
            else:
                start = i
                while not ends_declaration(lines[start], lines[i]):
                    i += 1
                declaration = Declaration(start + 1, "\n".join(lines[start : i + 1]), strip_comment(comment))
                if line.startswith("#define") and lines[start - 1].startswith("#define") and not comment:
                    declaration.comment = sections[-1].declarations[-1].comment  # macros in a row share a comment
                sections[-1].declarations.append(declaration)
                comment = []
        elif not line.startswith("#"):
            comment = []
        i += 1
    return introduction, sections


def format_page(path):
    introduction, sections = read_header(path)
    name = "attune/" + os.path.basename(path)
    text = f"# {name}\n\n{introduction}\n"
    for section in sections:
        if section.title:
            text += f"\n## {section.title}\n"
        if section.text.strip():
            text += "\n```text\n" + section.text.strip("\n") + "\n```\n"
        for declaration in section.declarations:
            text += f"\n### {declaration.name}\n\n```c\n{declaration.text}\n```\n\n{declaration.comment}\n"
    return text


def main():
    out, *headers = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    for header in headers:
        with open(os.path.join(out, os.path.basename(header).replace(".", "-") + ".md"), "w", encoding="utf-8") as file:
            file.write(format_page(header))


if __name__ == "__main__":
    main()
