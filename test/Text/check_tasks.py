#!/usr/bin/env python3
# ===- check_tasks.py - Commands on texts give the reference's results ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_tasks.py WORK [--all] CASE…: makes the model of each case (Inputs/tasks/CASE, written by reference_tasks.py) in WORK
# and compares `attune embed`, `classify`, `fill` and `answer` with the results in case.json: texts and numbers of
# characters exactly, scores and vectors within 2e-5. The first call of a case is also made by attune-run on a shared
# object, whose output must be the same to the last byte, and in batches of one text. The object is that of
# `attune compile` for the first case, with --all for each case, and else the one that the command has kept.
# ===-----------------------------------------------------------------------===#
import json
import os
import shutil
import subprocess
import sys

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")
TOLERANCE = 2e-5


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True, encoding="utf-8").stdout


def kept_object():
    """Returns the path of the only model in the cache."""
    (entry,) = json.loads(run("attune", "cache", "list", "--json"))["entries"]
    return os.path.join(entry["folder"], entry["object"])


def arguments(call, work):
    """Returns the command and its arguments after the model; writes the texts to a file in |work| if they are read from one."""
    command = {"tokens": "classify"}.get(call["command"], call["command"])
    words = ["--json"]
    if command == "answer":
        words += ["--question=" + call["question"], "--context=" + call["context"]]
        for key, flag in (("top_k", "--top-k="), ("max_answer_len", "--max-answer-length=")):
            if key in call:
                words.append(flag + str(call[key]))
        if call.get("handle_impossible_answer"):
            words.append("--allow-none")
        return command, words
    texts = os.path.join(work, "texts")
    with open(texts, "w", encoding="utf-8") as file:
        file.write("".join(text + "\n" for text in call["texts"]))
    words.append("--file=" + texts)
    if command == "classify":
        words += ["--aggregation=" + call["aggregation"]] if "aggregation" in call else ["--top-k=100"]
        words += ["--pair=" + call["pair"]] if "pair" in call else []
    if command == "fill":
        words.append("--top-k=" + str(call["top_k"]))
    if call.get("prompt_name") is not None:
        words.append("--prompt-name=" + call["prompt_name"])
    return command, words


def compare(got, expected, where):
    """Raises an AssertionError unless both values are equal up to the tolerance of numbers that are not whole."""
    if isinstance(expected, float) or isinstance(got, float):
        assert abs(got - expected) <= TOLERANCE, (where, got, expected)
    elif isinstance(expected, dict):
        assert list(got) == list(expected), (where, list(got), list(expected))
        for key in expected:
            compare(got[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(got) == len(expected), (where, got, expected)
        for i, (x, y) in enumerate(zip(got, expected)):
            compare(x, y, f"{where}[{i}]")
    # The reference decodes words of byte-level tokens twice.
    elif not (where.endswith(".word") and isinstance(expected, str) and "\ufffd" in expected):
        assert got == expected, (where, got, expected)


def check(name, work, compiles):
    source = os.path.join(INPUTS, "tasks", name)
    with open(os.path.join(source, "case.json"), encoding="utf-8") as file:
        case = json.load(file)
    work = os.path.join(work, name)
    config, model = os.path.join(work, "config"), os.path.join(work, "model")
    shutil.copytree(source, config)
    shutil.copy(os.path.join(INPUTS, case["tokenizer"], "tokenizer.json"), os.path.join(config, case["to"]))
    os.remove(os.path.join(config, "case.json"))
    run("attune", "init", config, "-o", model, f"--seed={case['seed']}")
    os.environ["ATTUNE_CACHE_DIR"] = os.path.join(work, "cache")
    for number, call in enumerate(case["calls"]):
        command, words = arguments(call, work)
        output = run("attune", command, model, "--quiet", *words)
        compare([json.loads(line) for line in output.splitlines()], call["expected"], f"{name}: call {number}")
        if number == 0:
            shared = os.path.join(work, "model.so") if compiles else kept_object()
            if compiles:
                run("attune", "compile", model, "-o", shared, "--emit=shared", "--padding=skip")
            assert run("attune-run", command, "--model=" + shared, "--quiet", *words) == output, f"{name}: attune-run differs"
            if command != "answer":
                assert (
                    run("attune-run", command, shared, "--quiet", "--batch-size=1", "--threads=1", *words) == output
                ), f"{name}: batches differ"
    print(f"{name}: {len(case['calls'])} calls")


all_cases = "--all" in sys.argv
cases = [word for word in sys.argv[2:] if word != "--all"]
for case in cases:
    check(case, sys.argv[1], all_cases or case == cases[0])
