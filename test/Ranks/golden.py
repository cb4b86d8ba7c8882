#!/usr/bin/env python3
"""Compares golden cases on several ranks with one rank: outputs must have the same bytes.

golden.py LAUNCHER COUNTS FOLDER CASE...   LAUNCHER is `local:LIBRARY`, or the command of an mpirun, to which -n N is added;
COUNTS are numbers of ranks, 2,3,4; FOLDER is for compiled models. Flags of attune compile come from FLAGS, the environment;
its variable OUTPUTS replaces the outputs of cases that call forward. A decoder compiles faster if these are groups of layers,
like hidden_states, since it then has no entries with caches.
"""
import json
import os
import shlex
import subprocess
import sys

# Ranks share the CPUs of a test machine.
THREADS = "--threads=1"
TIMEOUT = 300


def compile_flags(case):
    """Returns the flags that make `attune compile` compute what |case| expects."""
    inputs = [f"{name}:{len(t['shape'])}:{t['dtype'].lower()}" for name, t in case["inputs"].items()]
    outputs = os.environ.get("OUTPUTS", ",".join(sorted({name.split(".")[0] for name in case["outputs"]})))
    if case["call"]["function"] != "forward":
        outputs = "logits"
    flags = ["--outputs=" + outputs]
    return flags + (["--inputs=" + ",".join(inputs)] if case["call"]["function"] == "forward" else [])


def run_flags(case):
    """Returns the command of attune-run for |case|, with its flags."""
    call = case["call"]
    if call["function"] == "generate":
        settings = [f"--set={key}={json.dumps(value)}" for key, value in call["kwargs"].items()]
        scores = ",sequences_scores" if call["kwargs"].get("num_beams", 1) > 1 else ""
        return ["generate", *settings, "--outputs=sequences" + scores]
    if call["function"] == "incremental":
        return ["run", "--steps=" + ",".join(map(str, call["steps"])), "--outputs=logits"]
    return ["run"]


def launch(launcher, count, command):
    """Runs |command| on |count| ranks."""
    if count == 1:
        words = command
    elif launcher.startswith("local:"):
        words = [sys.executable, os.path.join(os.path.dirname(__file__), "ranks.py"), launcher[len("local:"):], str(count), *command]
    else:
        words = ["timeout", "-k", "1", str(TIMEOUT), *shlex.split(launcher), "-n", str(count), *command]
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT + 10)


def check(folder, launcher, counts, path):
    with open(os.path.join(path, "case.json")) as f:
        case = json.load(f)
    name, written = os.path.basename(path), {}
    for count in [1, *counts]:
        model, output = os.path.join(folder, f"{name}.{count}.so"), os.path.join(folder, f"{name}.{count}.safetensors")
        flags = [f"--ranks={count}", *compile_flags(case), *shlex.split(os.environ.get("FLAGS", ""))]
        made = subprocess.run(["attune", "compile", path, "-o", model, "--emit=shared", *flags], capture_output=True, text=True)
        if made.returncode != 0:
            return f"{name}: {count} ranks: {made.stderr.strip()}"
        files = ["--model=" + model, "--input=" + os.path.join(path, "inputs.safetensors"), "--output=" + output]
        done = launch(launcher, count, ["attune-run", *run_flags(case), *files, THREADS])
        if done.returncode != 0:
            return f"{name}: {count} ranks: status {done.returncode}: {(done.stdout + done.stderr).strip()[-400:]}"
        with open(output, "rb") as f:
            written[count] = f.read()
        if written[count] != written[1]:
            return f"{name}: {count} ranks: other bytes than one rank"
    return None


def main():
    launcher, counts, folder, cases = sys.argv[1], [int(n) for n in sys.argv[2].split(",")], sys.argv[3], sys.argv[4:]
    os.makedirs(folder, exist_ok=True)
    problems = 0
    for case in cases:
        if problem := check(folder, launcher, counts, case):
            problems += 1
            print(problem, flush=True)
    print(f"{len(cases)} cases on {sys.argv[2]} ranks, {problems} differ")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
