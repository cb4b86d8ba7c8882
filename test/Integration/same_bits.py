# ===- same_bits.py - One sequence, many surroundings, one result ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# same_bits.py [--FLAG=VALUE…] DIR CPU…: compiles a model for each CPU, with these compile flags, and runs one sequence alone and as row 1 of a padded batch of 4,
# with 1, 2 and 3 threads.

import os
import sys

import models
from sweep import make_model, run

LENGTH, PADDED = 37, 83


def rows(path, batch):
    """The values of the sequence in each output, as bytes."""
    found = {}
    for name, (_, shape, data) in models.load(path).items():
        row = len(data) // shape[0]
        token = row // shape[1] if len(shape) == 3 else row
        found[name] = data[batch * row:batch * row + (LENGTH * token if len(shape) == 3 else row)]
    return found


def main(*arguments):
    flags = [word for word in arguments if word.startswith("--")]
    work, *cpus = [word for word in arguments if not word.startswith("--")]
    os.makedirs(work, exist_ok=True)
    model, rng = make_model("h60a4", work), models.generator("same bits")
    ids = models.random_ids(rng, 101, 4, PADDED)
    mask = models.token_mask(rng, "right", 4, PADDED)
    mask[2][PADDED:2 * PADDED] = [1] * LENGTH + [0] * (PADDED - LENGTH)
    alone, among = os.path.join(work, "alone.safetensors"), os.path.join(work, "among.safetensors")
    models.save(alone, {"input_ids": ("I64", [1, LENGTH], ids[2][PADDED:PADDED + LENGTH])})
    models.save(among, {"input_ids": ids, "attention_mask": mask})

    seen = {}
    for cpu in cpus:
        for padding in ("compute", "skip"):
            shared, output = os.path.join(work, f"{cpu}-{padding}.so"), os.path.join(work, "out.safetensors")
            run("attune", "compile", model, "-o", shared, "--emit=shared", "--cpu=" + cpu, "--padding=" + padding, *flags)
            for threads in (1, 2, 3):
                for inputs, row in ((alone, 0), (among, 1)):
                    run("attune-run", "run", "--model=" + shared, "--input", inputs, "--output", output, f"--threads={threads}")
                    seen[f"{cpu} {padding} {threads} threads {os.path.basename(inputs)}"] = rows(output, row)
    first, *others = seen.items()
    different = [f"{label}: {name} differs from {first[0]}" for label, values in others for name in values
                 if values[name] != first[1][name]]
    if different or len(seen) != 12 * len(cpus):
        sys.exit("\n".join(different))


if __name__ == "__main__":
    main(*sys.argv[1:])
