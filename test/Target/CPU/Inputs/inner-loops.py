# ===- inner-loops.py - What the innermost loops of an assembly file hold ---===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Usage: inner-loops.py FILE.s [PATTERN]
# With a pattern, looks at instructions that match it instead of FMAs.
# Prints one line for each innermost loop with FMAs, in order: the function, the numbers of FMAs and of scalar ones among them, the
# widest register of an FMA, and the numbers of stores to the stack ("spill"), loads from it ("reload"), calls and prefetches.
# A loop is a backward jump to a label of its function; innermost ones have no other loop inside.

import re
import sys

LABEL = re.compile(r'^(\.L[\w$.]+|"[^"]+"|[A-Za-z_][\w$.]*):')
JUMP = re.compile(r"j\w+\s+(\.L[\w$.]+)$")
FMA = re.compile(r"vfn?m(add|sub)")


def functions(path):
    """Yields (name, instructions, position of each label) of every function."""
    name, code, labels = None, [], {}
    with open(path) as lines:
        for line in lines:
            label = LABEL.match(line)
            if label and label[1].startswith(".L"):
                labels[label[1]] = len(code)
            elif label:
                if code:
                    yield name, code, labels
                name, code, labels = label[1], [], {}
            else:
                text = line.split("#")[0].strip()
                if text and not text.startswith("."):
                    code.append(text)
    if code:
        yield name, code, labels


def inner_loops(code, labels):
    jumps = ((labels.get(m[1]), end) for end, text in enumerate(code) if (m := JUMP.match(text)))
    loops = {(begin, end) for begin, end in jumps if begin is not None and begin <= end}
    for begin, end in sorted(loops):
        if not any(other != (begin, end) and begin <= other[0] and other[1] <= end for other in loops):
            yield code[begin : end + 1]


def count(loop, pattern):
    return sum(bool(re.search(pattern, text)) for text in loop)


def main():
    pattern = re.compile(sys.argv[2]) if len(sys.argv) > 2 else FMA
    for name, code, labels in functions(sys.argv[1]):
        for loop in inner_loops(code, labels):
            fmas = [text for text in loop if pattern.match(text)]
            if fmas:
                width = next((r for r in ("zmm", "ymm", "xmm") if count(fmas, "%" + r)), "none")
                print(f"{name}: fma {len(fmas)} scalar {count(fmas, r'^vf[a-z0-9]+s[sd]')} {width} "
                      f"spill {count(loop, r'%rsp[^()]*[)]$')} reload {count(loop, r'%rsp[^()]*[)],')} "
                      f"call {count(loop, r'^call')} prefetch {count(loop, r'^prefetch')}")


if __name__ == "__main__":
    main()
