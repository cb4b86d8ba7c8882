# ===- census.py - Random configurations of a family ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws configurations, classes and calls of a family and compares `attune check` with the reference, end to end."""

import argparse
import os
import shutil
import subprocess
import sys
import time

import numpy as np

from . import cases
from .build import Build, BuildError
from .families import FAMILIES

# Seconds that one comparison may take.
LIMIT = 300


def pick(rng, choices):
    return choices[int(rng.integers(len(choices)))]


def draw_configuration(family, rng):
    """Returns random differences from the family's configuration: sizes, then one choice for each key."""
    drawn = family.sizes(rng) if family.sizes else {}
    for key, choices in family.census.items():
        drawn.update(pick(rng, choices) if "," in key else {key: pick(rng, choices)})
    return drawn


def parts(rng, length):
    """Returns random numbers from 1 to 5, the sizes of chunks, whose sum is |length|."""
    sizes = []
    while sum(sizes) < length:
        sizes.append(int(rng.integers(1, min(5, length - sum(sizes)) + 1)))
    return sizes


def draw_call(family, architecture, config, rng, attention):
    shape = {"batch": int(rng.integers(1, 5)), "length": int(rng.integers(1, 20))}
    states = bool(rng.integers(2)) and family.states and attention == "eager"  # other attention has no probabilities
    if family.kind == "image":
        return cases.forward(batch=shape["batch"], extra=("pixel_values",), states=states)
    masks = [mask for mask in family.masks if mask != "left" or family.kind == "decoder"]
    if family.kind == "encoder-decoder" and "Encoder" not in architecture:
        target = int(rng.integers(1, 14))
        if architecture.endswith(("Generation", "MTModel")) and rng.integers(2):
            return cases.steps(*parts(rng, target), seq2seq=True, mask=pick(rng, masks), **shape)
        return cases.forward(target=target, mask=pick(rng, masks), target_mask=pick(rng, ["", "right"]), states=states, **shape)
    if family.kind == "decoder":
        if "ForSequence" in architecture:
            return cases.forward(mask=pick(rng, ["", "right"]), **shape)
        if architecture.endswith(("CausalLM", "LMHeadModel")) and rng.integers(2):
            return cases.steps(*parts(rng, shape.pop("length")), past=not family.caches or family.caches(config), **shape)
        return cases.forward(mask=pick(rng, masks), states=states, **shape)
    types = config.get("type_vocab_size", 1) > 1 and bool(rng.integers(2))
    return cases.forward(mask=pick(rng, masks), types=types, states=states, **shape)


def draw(family, seed):
    rng = np.random.default_rng([seed, len(family.name)])
    architecture = pick(rng, family.classes)
    config = draw_configuration(family, rng)
    if family.repair:
        family.repair(config)
    if any(word in architecture for word in ("ForSequence", "ForToken", "ForImage")):
        config["num_labels"] = int(rng.integers(1, 6))
    case = cases.Case(f"census_{seed}", architecture, ["drawn by the census"], cases.Call(), config)
    if family.attention:
        case.attention = family.attention(config)
    case.call = draw_call(family, architecture, family.configuration(case), rng, case.attention)
    return case


def check(attune, folder, flags):
    """Returns the verdict of `attune check`, `passes`, `differs` or `refuses`, and its last message."""
    environment = {**os.environ, "ATTUNE_CACHE_DIR": folder + "-cache"}
    try:
        run = subprocess.run([attune, "check", folder, *flags], env=environment, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return "differs", f"no answer within {LIMIT} s"
    finally:
        shutil.rmtree(folder + "-cache", ignore_errors=True)
    if run.returncode == 0:
        return "passes", ""
    wrong = [line.strip() for line in run.stdout.splitlines() if "FAIL" in line]
    if wrong or run.returncode < 0:
        return "differs", "; ".join(wrong) or f"ended by signal {-run.returncode}"
    return "refuses", run.stderr.strip().splitlines()[-1] if run.stderr.strip() else f"exit {run.returncode}"


def main():
    parser = argparse.ArgumentParser(prog="scripts/census", description=__doc__)
    parser.add_argument("--family", required=True, choices=sorted(FAMILIES), metavar="F",
                        help="the family, one of: " + " ".join(sorted(FAMILIES)))
    parser.add_argument("--seconds", type=float, default=120, metavar="N", help="how long to go on (120)")
    parser.add_argument("--runs", type=int, default=0, metavar="N", help="stop after N configurations")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the first configuration (1)")
    parser.add_argument("--attune", required=True, metavar="FILE", help="the command to judge (build/bin/attune)")
    parser.add_argument("--out", required=True, metavar="DIR", help="where folders that differ are kept (build/census)")
    parser.add_argument("--flag", action="append", default=[], metavar="FLAG",
                        help="a flag for attune check, such as --flag=--cpu=x86-64-v3; repeatable")
    parser.add_argument("--allow", action="append", default=[], metavar="TEXT", help="a refusal that says TEXT is right; repeatable")
    options = parser.parse_args()
    family, seed, end = FAMILIES[options.family], options.seed, time.monotonic() + options.seconds
    counts = {"passes": 0, "differs": 0, "refuses": 0, "allowed": 0, "unstable": 0, "illegal": 0}
    while time.monotonic() < end and (not options.runs or seed < options.seed + options.runs):
        case = draw(family, seed)
        folder = os.path.join(options.out, f"{family.name}-{seed}")
        seed += 1
        try:
            Build(family, case, seed).run(folder, thorough=False)
        except BuildError as error:
            counts["unstable"] += 1
            print(f"census: {family.name}, seed {seed - 1}: not judged: {error}", flush=True)
            continue
        except Exception as error:  # the reference refuses in many ways; what it refuses is no legal configuration
            counts["illegal"] += 1
            words = str(error).splitlines()[0] if str(error) else type(error).__name__
            print(f"census: {family.name}, seed {seed - 1}: the reference refuses: {words}", flush=True)
            continue
        verdict, words = check(options.attune, folder, options.flag)
        if verdict == "refuses" and any(text in words for text in options.allow):
            verdict = "allowed"
        counts[verdict] += 1
        if verdict in ("passes", "allowed"):
            shutil.rmtree(folder)
        else:
            print(f"census: {family.name}, seed {seed - 1}, {case.architecture} {verdict}: {words}", flush=True)
    print(f"census: {family.name}, seeds {options.seed} to {seed - 1}: " + ", ".join(f"{count} {verdict}" for verdict,
                                                                                     count in counts.items()))
    return 1 if counts["differs"] or counts["refuses"] or not counts["passes"] + counts["allowed"] else 0


if __name__ == "__main__":
    sys.exit(main())
