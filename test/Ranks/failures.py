#!/usr/bin/env python3
"""Failures of one rank: one line of error, all ranks end soon, and no output is written.

failures.py LIBRARY FIXTURES FOLDER
"""
import os
import re
import shutil
import subprocess
import sys
import time

import ranks

library, fixtures, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
case = os.path.join(fixtures, "bert_base")
problems = []


def compile_model(name, *flags):
    path = os.path.join(folder, name + ".so")
    subprocess.run(["attune", "compile", case, "-o", path, "--emit=shared", *flags], check=True)
    return path


def command(model, output, *flags, ids="5,17,3"):
    return ["attune-run", "run", "--model=" + model, "--ids=" + ids, "--output=" + output, "--threads=1", *flags]


def expect(what, pattern, commands, environments=None, seconds=5):
    """Runs |commands|, one for each rank, and checks that they end with exactly one line on standard error."""
    output = next((word[len("--output="):] for word in commands[0] if word.startswith("--output=")), "")
    start = time.monotonic()
    results = ranks.run(library, len(commands), commands, environments=environments)
    took = time.monotonic() - start
    lines = [line for _, _, err in results for line in err.splitlines()]
    if len(lines) != 1 or not re.search(pattern, lines[0]):
        problems.append(f"{what}: expected one line with '{pattern}', got {lines}")
    if any(status == 0 for status, _, _ in results):
        problems.append(f"{what}: expected all ranks to fail, got {[status for status, _, _ in results]}")
    if took > seconds:
        problems.append(f"{what}: took {took:.1f} s")
    if output and os.path.exists(output):
        problems.append(f"{what}: wrote {output}")


two, alone = compile_model("two", "--ranks=2"), compile_model("alone")
other = compile_model("other", "--ranks=2", "--name=two", "--limit=length=20")
output = os.path.join(folder, "out.safetensors")
base = command(two, output)

expect("missing weights", r"rank 1: .*no weights file", [base, [*base, "--weights=" + fixtures]])
wrong = os.path.join(folder, "two.rank0.weights")
expect("weights of another rank", r"rank 1: .*has the weights of rank 0 of 2, .* needs those of rank 1",
       [base, [*base, "--weights=" + wrong]])
cut = os.path.join(folder, "cut.weights")
shutil.copy(os.path.join(folder, "two.rank1.weights"), cut)
os.truncate(cut, os.path.getsize(cut) - 100)
expect("truncated weights", r"rank 1: .*truncated", [base, [*base, "--weights=" + cut]])
expect("missing object", r"rank 1: .*nowhere\.so", [base, command(os.path.join(folder, "nowhere.so"), output)])
expect("another build", r"rank 0 has build [0-9a-f]{32} of model 'two', rank 1 has [0-9a-f]{32}", [base, command(other, output)])
expect("other inputs", r"rank [01] calls 'forward' with other inputs", [base, command(two, output, ids="5,17,4")])
expect("invalid inputs of one rank", r"rank 1.*expected 0 to 202", [base, command(two, output, ids="5,17,900")])
expect("too many ranks", r"is divided among 2 ranks, but 3 were started", [base, base, base])
expect("not divided", r"is not divided, but 2 ranks were started; attune compile --ranks=2 divides it",
       [command(alone, output)] * 2)
nowhere = command(two, os.path.join(folder, "no-folder", "out.safetensors"))
expect("output that cannot be written", r"no-folder", [nowhere, nowhere])
expect("a wrong flag", r"--threads", [[*base, "--threads=0"]] * 2)
# The second rank never comes; it ends itself, later than the first.
expect("a rank that stalls", r"rank 0 of 2: .*rank 1 has not answered for 0\.5 seconds", [base, ["sh", "-c", "sleep 3; exit 1"]],
       {0: {"ATTUNE_RANKS_TIMEOUT": "0.5"}})

single = subprocess.run(base, capture_output=True, text=True)
if single.returncode != 1 or "the model is divided among 2 ranks, expected mpirun -n 2 attune-run" not in single.stderr:
    problems.append(f"without ranks: {single.stderr}")
inspected = subprocess.run(["attune-run", "inspect", "--model=" + two], capture_output=True, text=True)
if inspected.returncode != 0 or "gather_bytes" not in inspected.stdout:
    problems.append(f"inspect: {inspected.stdout[-200:]}{inspected.stderr}")
refused = subprocess.run(["attune", "compile", case, "-o", os.path.join(folder, "gpu.o"), "--ranks=2", "--target=cuda"],
                         capture_output=True, text=True)
if refused.returncode != 1 or "--ranks: not implemented for --target=cuda" not in refused.stderr:
    problems.append(f"cuda: {refused.stderr}")
# Two ranks that are right write the output.
if any(status != 0 for status, _, _ in ranks.run(library, 2, [base, base])) or not os.path.exists(output):
    problems.append("two ranks without a failure: expected an output")
print("\n".join(problems + [f"{len(problems)} problems"]))
sys.exit(1 if problems else 0)
