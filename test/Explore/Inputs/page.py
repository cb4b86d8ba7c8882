#!/usr/bin/env python3
# ===- page.py - The content of the page of attune explore -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""page.py PAGE: reads the page of `attune explore` as its script does and prints facts about it."""
import base64
import json
import re
import sys
import zlib

page = open(sys.argv[1], encoding="utf-8").read()


def unpack(blob):
    data = base64.b64decode(blob[1:], validate=True)
    return zlib.decompress(data) if blob[0] == "z" else data


core_text = re.search(r'<script type="application/octet-stream" id="core">([^<]*)</script>', page).group(1)
blobs_text = re.search(r'<script type="application/json" id="blobs">([^<]*)</script>', page).group(1)
core, blobs = json.loads(unpack(core_text)), json.loads(blobs_text)
rest = page.replace(core_text, "").replace(blobs_text, "")
print("title:", core["title"])
addresses = [a for a in re.findall(r"\w+://[^'\"\s)]+", rest) if a != "http://www.w3.org/2000/svg"]
print("page without data:", "no 'hostile'," if "hostile" not in rest else "'hostile',", "no address" if not addresses else addresses)
print("kernels with modules:", "all" if core["kernels"] and all(k["paths"] for k in core["kernels"]) else "not all")
print("phases:", *dict.fromkeys(change["phase"] for change in core["changes"]))
for change in core["changes"]:
    for side in ("before", "after"):
        assert change[side] < 0 or unpack(blobs[change[side]]), change
seconds = {}
for run in core["times"]:
    seconds[run["pass"]] = seconds.get(run["pass"], 0) + run["seconds"]
print("bufferization takes as long as its pass:", seconds["attune-bufferize"] >= seconds["one-shot-bufferize"])
line, known, total = 0, 0, 0
for row in unpack(blobs[core["assembly"]]).decode().split("\n"):
    place = re.match(r"\s*\.loc\s+\d+\s+(\d+)", row)
    if re.match(r"\w[\w.$]*:", row):
        line = 0
    if place:
        line = int(place.group(1))
    elif re.match(r"\t[a-z]", row):
        total += 1
        known += line > 0
print("instructions with a line:", 100 * known // total, "%")
print("lines with a module:", sum(core["linePaths"][i] != "" for i in core["lines"]))
print("bounds:", *sorted({k["bound"] for k in core["kernels"] if "bound" in k}))
