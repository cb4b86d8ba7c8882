# ===- versions.py - Older golden cases by the pinned reference -------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m GoldenBuilder.versions CASE_DIR...: compares the reference with golden folders, as `attune check` does.

Prints a row of a table for each folder: its name, the verdict, and the worst output. Full-size cases compare the samples
that they store.
"""

import argparse
import json
import os
import sys
import tempfile

import numpy as np
import torch

from . import reference, weights

RETIRED = {"head_mask", "decoder_head_mask", "cross_attn_head_mask"}


def samples(value, size):
    """Returns some elements of a full-size output: the first, the last, and some at equal distances."""
    flat = value.reshape(-1)
    return {"head": flat[:64], "tail": flat[-64:], "strided": flat[::max(1, size // 256)][:256]}


def worst(got, expected, entry):
    """Returns the largest error in units of the tolerance; infinite for another shape or another id."""
    if got.shape != expected.shape:
        return float("inf")
    if expected.dtype == np.int64:
        return 0.0 if np.array_equal(got, expected) else float("inf")
    error = np.abs(got.astype(np.float64) - expected)
    return float((error / (entry["atol"] + entry["rtol"] * np.abs(expected))).max()) if error.size else 0.0


def arguments(folder, case, scratch):
    if "generated_inputs" in case:
        path = os.path.join(scratch, "inputs.safetensors")
        weights.gen_weights.write_inputs(case, path)
        return weights.gen_weights.load(path)
    return weights.gen_weights.load(os.path.join(folder, "inputs.safetensors"))


def run(folder, case, scratch):
    """Returns the outputs of the reference in f64, and its messages about the file."""
    for name in os.listdir(folder):
        if name.endswith(".json") or name == "model.safetensors":
            os.symlink(os.path.join(os.path.abspath(folder), name), os.path.join(scratch, name))
    if case["weights"]["source"] == "generated":
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            weights.gen_weights.write_model(json.load(file), os.path.join(scratch, "model.safetensors"), case["weights"]["seed"])
    model, problems = reference.load(scratch, case["architecture"], torch.float64)
    if case["call"].get("prune_heads"):
        raise ValueError("has no head pruning")
    inputs = arguments(folder, case, scratch)
    retired = RETIRED & set(inputs)
    if retired:
        raise ValueError(f"has no input {', '.join(sorted(retired))}")
    outputs = reference.call(model, torch.float64, inputs, {"kwargs": {}, **case["call"]})
    return {name: value.numpy() for name, value in outputs.items()}, problems


def compare(folder, scratch):
    """Returns (verdict, text) of one folder."""
    with open(os.path.join(folder, "case.json"), encoding="utf-8") as file:
        case = json.load(file)
    if not hasattr(reference.transformers, case["architecture"]):
        return "no such class", ""
    try:
        outputs, problems = run(folder, case, scratch)
    except Exception as error:  # the reference refuses in many ways
        return "refused", str(error).splitlines()[0]
    expected = weights.gen_weights.load(os.path.join(folder, "expected.safetensors"))
    largest, text = 0.0, "; ".join(f"{kind.replace('_', ' ')}: {len(names)}, such as {names[0]}" for kind, names in problems.items())
    for name, entry in case["outputs"].items():
        got = outputs.get(name)
        if got is None:
            return "differs", f"no output {name}"
        pairs = {name: got} if name in expected else {f"{name}.{part}": value for part, value in samples(got, got.size).items()}
        for sample, value in pairs.items():
            ratio = worst(value, expected[sample], entry)
            if ratio > 1 and ratio > largest:
                text = f"{name} by {ratio:.0f} tolerances" if np.isfinite(ratio) else f"{name} in its ids or shape"
            largest = max(largest, ratio)
    return ("differs" if largest > 1 else "equal"), text if largest > 1 or problems else f"within {largest:.2f} tolerances"


def main():
    parser = argparse.ArgumentParser(prog="python -m GoldenBuilder.versions", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="CASE_DIR")
    for folder in parser.parse_args().folders:
        with tempfile.TemporaryDirectory() as scratch:
            verdict, text = compare(folder, scratch)
        print(f"| {os.path.basename(os.path.normpath(folder))} | {verdict} | {text} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
