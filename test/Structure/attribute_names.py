# ===- attribute_names.py - Attributes are accessed by typed helpers ===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""attribute_names.py ROOT: prints each line outside dialect/ that accesses an attribute by a string. The dialects declare the
attributes that passes hand each other; their helpers read and write them."""

import os
import re
import sys

root = sys.argv[1]
ACCESS = re.compile(r'\b(?:get|set|has|remove)\w*Attr\w*(?:<[^<>]*>)?\((?:[\w.]+, )?"((?:xfmr|tile|rt)\.\w+)"'
                    r'|\b(?:get|has)Attr\w*(?:<[^<>]*>)?\("([^"]*)"|\bgetAs<[^<>]*Attr>\("([^"]*)"|\bStringLiteral (k\w*Attr)\b')
files, violations = 0, 0
for room in ("compiler", "runtime"):
    for folder, _, names in sorted(os.walk(os.path.join(root, room))):
        for name in sorted(names):
            if not name.endswith((".cpp", ".h")):
                continue
            files += 1
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, root)
            with open(path, encoding="utf-8") as f:
                for number, line in enumerate(f, 1):
                    for match in ACCESS.finditer(line):
                        attribute = next(group for group in match.groups() if group is not None)
                        violations += 1
                        print("%s:%d: '%s' is not declared by a dialect" % (relative, number, attribute))
print("%d files, %d violations" % (files, violations))
sys.exit(violations != 0)
