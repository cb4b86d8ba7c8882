#!/usr/bin/env python3
# ===- abi_version.py - The ABI changes with its version only --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the interface between compiled objects and the runtime changes with ATTUNE_ABI_VERSION only.

usage: abi_version.py INCLUDE RECORD [--record]

The interface is attune/abi.h in the folder INCLUDE and the structure attune_generation_options of attune/generate.h.
RECORD has a line `VERSION HASH` for each version; the hash is that of the declarations, without comments and white
space. With --record the line of a new version is added. A line that is there is never replaced.
"""
import hashlib
import os
import re
import sys

HOW = "python3 test/Structure/abi_version.py runtime/include runtime/abi-versions.txt --record"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def hash_interface(include):
    """Returns the version and the hash of the interface."""
    header = read(os.path.join(include, "attune", "abi.h"))
    generation = read(os.path.join(include, "attune", "generate.h"))
    options = re.search(r"typedef struct attune_generation_options \{.*?\} attune_generation_options;", generation, re.S)
    if not options:
        sys.exit("attune/generate.h: expected the structure attune_generation_options")
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", header + options.group(0), flags=re.S)
    version = re.search(r"#define ATTUNE_ABI_VERSION (\d+)u", text)
    text = text.replace(version.group(0), "")
    return version.group(1), hashlib.sha256(" ".join(re.findall(r"\w+|\S", text)).encode()).hexdigest()[:32]


def main():
    include, record = sys.argv[1:3]
    version, found = hash_interface(include)
    lines = [line.split() for line in read(record).splitlines() if line and not line.startswith("#")]
    recorded = dict(lines)
    if version not in recorded:
        if "--record" in sys.argv[3:]:
            with open(record, "a", encoding="utf-8") as file:
                file.write(f"{version} {found}\n")
            return
        sys.exit(f"ABI version {version} is not recorded: run {HOW}")
    if recorded[version] != found:
        sys.exit(f"the declarations of attune/abi.h changed, but ATTUNE_ABI_VERSION is still {version}: raise it, then record it "
                 f"with {HOW}")
    print(f"ABI version {version} is the recorded one")


main()
