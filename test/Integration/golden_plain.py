# ===- golden_plain.py - Golden cases by the plain path -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# golden_plain.py DIR CASE...: runs calls of golden cases by the plain path, which compiles nothing, and compares each
# output within the case's tolerance. For cases that differ from compiled ones only in what importers read. DIR gets the
# outputs.

import json
import os
import subprocess
import sys

work, cases = sys.argv[1], sys.argv[2:]
assert cases
os.makedirs(work, exist_ok=True)
for case in cases:
    with open(os.path.join(case, "case.json")) as f:
        outputs = ",".join(json.load(f)["outputs"])
    target = os.path.join(work, os.path.basename(case) + ".safetensors")
    source, expected, bounds = (os.path.join(case, name) for name in ("inputs.safetensors", "expected.safetensors", "case.json"))
    call = [case, "--input=" + source, "--output=" + target, "--outputs=" + outputs]
    subprocess.run(["attune", "run", "--from-phase=import", *call], check=True)
    subprocess.run(["attune", "diff", target, expected, "--case=" + bounds], check=True)
