#!/usr/bin/env python3
# ===- unicode_tables.py - Character tables of chat templates --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes UnicodeTables.inc: the classes and case mappings of characters in Python's string methods
(Python 3.11, Unicode 14).

usage: unicode_tables.py > UnicodeTables.inc
"""

import sys
import unicodedata

CHARACTERS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def is_cased(c):
    s = chr(c)
    return s.islower() or s.isupper() or unicodedata.category(s) == "Lt"


def is_ignorable(c):
    """Returns true for a character that may be between a letter and a final sigma."""
    return ("A" + chr(c) + "\u03a3").lower()[-1] == "\u03c2" and ("1" + chr(c) + "\u03a3").lower()[-1] != "\u03c2"


def print_runs(name, members):
    """Prints |members| as an array of Run: the first character, the count, the distance of neighbors."""
    runs = []
    for c in members:
        if runs and runs[-1][1] == 1 and c - runs[-1][0] in (1, 2):
            runs[-1][1:] = [2, c - runs[-1][0]]
        elif runs and runs[-1][1] > 1 and c == runs[-1][0] + runs[-1][1] * runs[-1][2]:
            runs[-1][1] += 1
        else:
            runs.append([c, 1, 1])
    print(f"static constexpr Run {name}[] = {{")
    print_rows(["{0x%x, %d, %d}" % tuple(run) for run in runs])
    print("};")


def print_rows(cells):
    row = "   "
    for cell in cells:
        if len(row) + len(cell) > 135:
            print(row)
            row = "   "
        row += " " + cell + ","
    print(row)


def print_mapping(name, convert):
    """Prints runs of characters with the same distance to their image, and the images of several characters."""
    single, several = [], []
    for c in CHARACTERS:
        image = convert(chr(c))
        if image == chr(c):
            continue
        if len(image) > 1:
            several.append([c] + [ord(i) for i in image] + [0] * (3 - len(image)))
            continue
        delta = ord(image) - c
        last = single[-1] if single else None
        if last and last[3] == delta and last[1] == 1 and c - last[0] in (1, 2):
            last[1:3] = [2, c - last[0]]
        elif last and last[3] == delta and last[1] > 1 and c == last[0] + last[1] * last[2]:
            last[1] += 1
        else:
            single.append([c, 1, 1, delta])
    print(f"static constexpr Shift {name}Shifts[] = {{")
    print_rows(["{{0x%x, %d, %d}, %d}" % tuple(row) for row in single])
    print("};")
    print(f"static constexpr Several {name}Several[] = {{")
    print_rows(["{0x%x, {0x%x, 0x%x, 0x%x}}" % tuple(row) for row in several])
    print("};")


def title(s):
    """Maps to title case, which str.title does to a first letter."""
    return s.title()


print("// Made by unicode_tables.py with Unicode " + unicodedata.unidata_version + "; not to be edited.")
print_runs("unprintable", [c for c in CHARACTERS if not chr(c).isprintable()])
print_runs("upperCase", [c for c in CHARACTERS if chr(c).isupper()])
print_runs("lowerCase", [c for c in CHARACTERS if chr(c).islower()])
print_runs("titleCase", [c for c in CHARACTERS if unicodedata.category(chr(c)) == "Lt"])
print_runs("caseIgnorable", [c for c in CHARACTERS if is_ignorable(c)])
print_runs("digits", [c for c in CHARACTERS if chr(c).isdigit()])
print_runs("decimals", [c for c in CHARACTERS if chr(c).isdecimal()])
print_runs("numeric", [c for c in CHARACTERS if chr(c).isnumeric()])
print_runs("alphabetic", [c for c in CHARACTERS if chr(c).isalpha()])
print_mapping("lower", str.lower)
print_mapping("upper", str.upper)
print_mapping("title", title)
if sys.version_info[:2] != (3, 11):
    sys.exit("unicode_tables.py: expected Python 3.11, whose Unicode version the documentation names")
