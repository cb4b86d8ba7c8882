# ===- cache_types.py - Caches of bf16, f16 and int8 ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cache_types.py [--threads=N] [--types=TYPE,…] [--all-visible] CASE WORK CPU…: compiles the model of CASE, a golden
# case of a model that continues sequences, with each type of caches (bf16,f16,int8) and for each CPU, and feeds the
# tokens of its inputs through the caches. Checks that
#
# - keys and values of the first layer are those of the f32 model, rounded here as `xfmr.kv_cache_update` says;
# - one call, chunks and single tokens give the same bits, on every CPU;
# - results are off those of the f32 model, but less than a bound for each type.
#
# --all-visible leaves out the mask of CASE: a hidden token whose window has no visible key attends to all keys of a call,
# so its own results depend on the chunks.

import json
import os
import struct
import sys

import models
from sweep import run

# Bounds of the largest error relative to the largest magnitude of an output. Rounding a key or a value is off by 2^-8
# (bf16), 2^-11 (f16) and 1/254 of the largest component (int8); layers add some of these up.
ALLOWED = {"bf16": 0.03, "f16": 0.004, "int8": 0.05}


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def round_vector(values, kind):
    """Returns |values|, one key or value, as a cache of the type |kind| keeps them: rounded, for i8 with a scale."""
    if kind == "bf16":
        bits = (struct.unpack("<I", struct.pack("<f", x))[0] for x in values)
        return [struct.unpack("<f", struct.pack("<I", (b + 0x7FFF + (b >> 16 & 1)) & 0xFFFF0000))[0] for b in bits]
    if kind == "f16":
        return [struct.unpack("<e", struct.pack("<e", x))[0] for x in values]
    most = max(map(abs, values))
    scale, inverse = (f32(most / 127), f32(127 / most)) if most >= 2.0**-119 else (0.0, 0.0)
    return [f32(round(f32(x * inverse)) * scale) for x in values]


def floats(entry):
    _, shape, data = entry
    return struct.unpack(f"<{models.product(shape)}f", data)


def steps_of(case):
    """Returns the length of the decoder's ids in the inputs of the golden case |case|."""
    shapes = {name: shape for name, (_, shape, _) in models.load(os.path.join(case, "inputs.safetensors")).items()}
    return shapes.get("decoder_input_ids", shapes["input_ids"])[1]


def feed(case, shared, inputs, output, chunks, threads):
    run("attune-run", "run", "--model=" + shared, "--input", inputs, "--output", output, "--outputs=logits,past_key_values",
        "--steps=" + ",".join(map(str, chunks)), f"--threads={threads}")
    return models.load(output)


def main(*arguments):
    threads = next((int(word[10:]) for word in arguments if word.startswith("--threads=")), 1)
    types = next((word[8:] for word in arguments if word.startswith("--types=")), "bf16,f16,int8").split(",")
    case, work, *cpus = [word for word in arguments if not word.startswith("--")]
    os.makedirs(work, exist_ok=True)
    inputs, output = os.path.join(case, "inputs.safetensors"), os.path.join(work, "out.safetensors")
    if "--all-visible" in arguments:
        shown = {name: entry for name, entry in models.load(inputs).items() if name != "attention_mask"}
        inputs = os.path.join(work, "inputs.safetensors")
        models.save(inputs, {name: (dtype, shape, struct.unpack(f"<{models.product(shape)}q", data)) for name, (dtype, shape, data) in
                             shown.items()})
    tokens, plain, bytes_per_token = steps_of(case), {}, {}
    divisions = [[tokens], [1] * tokens, [2, tokens - 2], [tokens - 1, 1]]
    for kind in ("f32", *types):
        same = None
        for cpu in cpus:
            shared = os.path.join(work, f"{kind}-{cpu}.so")
            run("attune", "compile", case, "-o", shared, "--emit=shared", "--cpu=" + cpu, "--cache-dtype=" + kind)
            for chunks in divisions:
                got = feed(case, shared, inputs, output, chunks, threads)
                assert same is None or got == same, f"{kind}: {cpu} with chunks {chunks} differs"
                same = got
        report = json.loads(run("attune", "inspect", os.path.join(work, f"{kind}-{cpus[0]}.so"), "--json"))
        bytes_per_token[kind] = sum(cache["bytes_per_token"] for cache in report["caches"] if cache["kind"] != "mask")
        dtypes = {cache["dtype"] for cache in report["caches"] if cache["kind"] != "mask"}
        assert dtypes == {kind.replace("int8", "i8")}, dtypes
        if kind == "f32":
            plain = same
            continue
        for name in (name for name in same if name.startswith("past_key_values.0.")):
            size = same[name][1][3]
            wide, kept = floats(plain[name]), floats(same[name])
            for first in range(0, len(wide), size):
                want = round_vector(wide[first:first + size], kind)
                assert list(kept[first:first + size]) == want, f"{kind} {name}: {kept[first:first + size]} instead of {want}"
        wide, got = floats(plain["logits"]), floats(same["logits"])
        error = max(abs(a - b) for a, b in zip(wide, got)) / max(map(abs, wide))
        assert 0 < error <= ALLOWED[kind], f"{kind}: the logits are off by {error}"
        print(f"{kind}: the same bits, logits off by {error:.4f}, {bytes_per_token[kind] / bytes_per_token['f32']:.3f} of the memory")


if __name__ == "__main__":
    main(*sys.argv[1:])
