#!/usr/bin/env python3
"""A rank that is killed, under mpirun: the others end within 5 seconds, and no output is written.

mpi_failures.py MPIRUN FIXTURES FOLDER
"""
import os
import shlex
import subprocess
import sys
import time

mpirun, fixtures, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
model, output = os.path.join(folder, "two.so"), os.path.join(folder, "out.safetensors")
subprocess.run(["attune", "compile", os.path.join(fixtures, "bert_base"), "-o", model, "--emit=shared", "--ranks=2"], check=True)
run = f"attune-run run --model={shlex.quote(model)} --ids=5,17,3 --output={shlex.quote(output)} --threads=1"
rank = '"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"'
problems = []


def expect(what, script, text, environment):
    """Runs |script| as both ranks; `run` is the command. The limit for one rank is longer than that of this test."""
    start = time.monotonic()
    words = ["timeout", "-k", "1", "60", *shlex.split(mpirun), "-n", "2", "sh", "-c", script]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=dict(os.environ, **environment))
    took = time.monotonic() - start
    if done.returncode == 0 or took > 10 or os.path.exists(output):
        problems.append(f"{what}: status {done.returncode} after {took:.1f} s, output {os.path.exists(output)}")
    if text and text not in done.stderr + done.stdout:
        problems.append(f"{what}: expected '{text}', got {(done.stderr + done.stdout)[-600:]}")


# The second rank joins, reads its model and is killed while the first waits.
killed = f"{run} & sleep 0; kill -9 $!; kill -9 $$"
expect("killed", f"if [ {rank} = 1 ]; then {killed}; else exec {run}; fi", "", {"ATTUNE_RANKS_TIMEOUT": "60"})
missing = f"exec {run} --weights={shlex.quote(fixtures)}"
expect("missing weights", f"if [ {rank} = 1 ]; then {missing}; else exec {run}; fi", "rank 1: ", {})
expect("wrong limit", f"exec {run}", "ATTUNE_RANKS_TIMEOUT: expected seconds", {"ATTUNE_RANKS_TIMEOUT": "x"})
expect("wrong flag", f"exec {run} --threads=0", "--threads", {})
print("\n".join(problems + [f"{len(problems)} problems"]))
sys.exit(1 if problems else 0)
