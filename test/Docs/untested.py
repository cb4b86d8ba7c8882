# ===- untested.py - Every page is run by a test ----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""untested.py ROOT: ends with 1 and names the pages of docs/ that neither tutorials.test nor pages.test beside this file runs."""
import glob
import os
import sys

root = sys.argv[1]
tests = ""
for name in ("tutorials.test", "pages.test"):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as file:
        tests += file.read()
pages = [os.path.relpath(path, root) for path in glob.glob(os.path.join(root, "docs", "*.md"))]
missing = [page for page in sorted(pages) if page not in tests.split()]
if missing or not pages:
    sys.exit("no test runs " + ", ".join(missing))
