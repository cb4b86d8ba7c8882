# ===- families.py - Golden cases by the plain path ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""families.py CASE...: what importers make of golden cases, run by the plain path, has the results of the reference
within the case's tolerances.

Cases of generation are left out: the plain path runs calls of the model."""

import json
import os
import subprocess
import sys


def run(*command):
    done = subprocess.run(["attune", *command], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def check(folder):
    with open(f"{folder}/case.json") as f:
        case = json.load(f)
    call = case["call"]
    if call["function"] == "generate":
        return None
    # The plain path does not return caches.
    flags = ["--outputs=" + ",".join(name for name in case["outputs"] if not name.startswith("past_key_values"))]
    settings = [f"--adapter={folder}/{path}" for path in case["weights"].get("adapters", [])]
    if "steps" in call:
        settings.append("--steps=" + ",".join(map(str, call["steps"])))
    name = os.path.basename(folder)
    inputs, output = f"--input={folder}/inputs.safetensors", f"--output={name}.safetensors"
    found = run("run", "--from-phase=import", folder, inputs, output, *flags, *settings)
    return found or run("diff", f"{name}.safetensors", f"{folder}/expected.safetensors", f"--case={folder}/case.json", *flags)


passed = failed = 0
for folder in sys.argv[1:]:
    result = check(folder)
    if result:
        print(f"{os.path.basename(folder)}:\n{result}")
        failed += 1
    elif result is not None:
        passed += 1
print(f"{passed} cases pass, {failed} fail")
sys.exit(failed != 0 or passed == 0)
