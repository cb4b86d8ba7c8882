# ===- same_bits.py - One sequence, many surroundings, one result ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# same_bits.py [--model=NAME] [--few] [--padding=compute] [--FLAG=VALUE…] DIR CPU…: compiles a model of models.py for
# each CPU and each way to treat padding, or only one way, with these compile flags, and runs sequences of several
# lengths alone, eight times in a batch, and as row 1 of a batch of 8 beside longer and shorter ones, with 1, 2, 3, 4
# and 7 threads. --few has fewer lengths and threads, and only one way to treat padding on all CPUs but the first.

import os
import sys

import models
from sweep import make_model, run

# Lengths below, at and above the rows of a register tile and of a row block, and an odd one in between.
LENGTHS, PADDED, BATCH = (1, 12, 37, 131), 150, 8
THREADS = (1, 2, 3, 4, 7)
FEW_LENGTHS, FEW_THREADS = (1, 131), (1, 3)


def rows(path, batch, length):
    """Returns the values of the sequence in each output, as bytes."""
    found = {}
    for name, (_, shape, data) in models.load(path).items():
        row = len(data) // shape[0]
        token = row // shape[1] if len(shape) == 3 else row
        found[name] = data[batch * row:batch * row + (length * token if len(shape) == 3 else row)]
    return found


def surroundings(work, rng, length):
    """Yields (file, the row of the sequence) for the sequence alone, among copies of it, and among others."""
    ids = models.random_ids(rng, 101, BATCH, PADDED)
    mask = models.token_mask(rng, "right", BATCH, PADDED)
    mask[2][PADDED:2 * PADDED] = [1] * length + [0] * (PADDED - length)
    own = ids[2][PADDED:PADDED + length]
    for name, row, tensors in (
        ("alone", 0, {"input_ids": ("I64", [1, length], own)}),
        ("alike", BATCH - 1, {"input_ids": ("I64", [BATCH, length], own * BATCH)}),
        ("among", 1, {"input_ids": ids, "attention_mask": mask}),
    ):
        path = os.path.join(work, f"{name}-{length}.safetensors")
        models.save(path, tensors)
        yield path, row


def main(*arguments):
    names = [word.removeprefix("--model=") for word in arguments if word.startswith("--model=")] or ["h60a4"]
    paddings = [word.removeprefix("--padding=") for word in arguments if word.startswith("--padding=")] or ["compute", "skip"]
    flags = [word for word in arguments if word.startswith("--") and not word.startswith(("--model=", "--padding=", "--few"))]
    few = "--few" in arguments
    lengths, numbers = (FEW_LENGTHS, FEW_THREADS) if few else (LENGTHS, THREADS)
    work, *cpus = [word for word in arguments if not word.startswith("--")]
    os.makedirs(work, exist_ok=True)
    model, rng = make_model(names[0], work), models.generator("same bits")
    inputs = {length: list(surroundings(work, rng, length)) for length in lengths}
    output, seen = os.path.join(work, "out.safetensors"), {length: {} for length in lengths}
    variants = [(cpu, padding) for cpu in cpus for padding in (paddings[:1] if few and cpu != cpus[0] else paddings)]
    for cpu, padding in variants:
        shared = os.path.join(work, f"{cpu}-{padding}.so")
        run("attune", "compile", model, "-o", shared, "--emit=shared", "--cpu=" + cpu, "--padding=" + padding, *flags)
        for length in lengths:
            for threads in numbers:
                for path, row in inputs[length]:
                    run("attune-run", "run", "--model=" + shared, "--input", path, "--output", output, f"--threads={threads}")
                    seen[length][f"{cpu} {padding} {threads} threads {os.path.basename(path)}"] = rows(output, row, length)
    different = []
    for runs in seen.values():
        first, *others = runs.items()
        different += [f"{label}: {name} differs from {first[0]}"
                      for label, values in others for name in values if values[name] != first[1][name]]
        if len(runs) != 3 * len(numbers) * len(variants):
            different.append(f"expected {3 * len(numbers) * len(variants)} runs, got {len(runs)}")
    if different:
        sys.exit("\n".join(different))


if __name__ == "__main__":
    main(*sys.argv[1:])
