# ===- formats.py - Weights in formats by the plain path ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""formats.py FIXTURES [--all]: the phases of models with weights in formats give the results that their definitions give.

Neighboring phases have the same bits but where definitions become sums of Linalg, and these vectors."""

import json
import os
import shutil
import subprocess
import sys

PHASES = ["import", "dialect", "linalg", "tiled", "kernels", "bufferized", "vector", "target", "llvm"]
# Model, flags, and True if the case runs without --all. `bare` is a BERT without layers.
CASES = [
    ("bare", ["--weights-format=int8:32,embeddings=bf16", "--dtype=bf16"], True),
    ("seed_self_attention", ["--weights-format=int4:0:asym,query=int8:32", "--dtype=bf16"], False),
    ("bert_base", ["--weights-format=int4:32"], False),
    ("bert_base", ["--weights-format=int8:16:asym", "--cpu=x86-64-v3"], False),
    ("bert_base", ["--weights-format=int4:64:f32", "--dtype=int8"], False),
    ("bert_base", ["--weights-format=int4:0:asym,intermediate=bf16", "--dtype=bf16"], False),
    ("bert_base", ["--weights-format=f16"], False),
    ("llama_forward", ["--weights-format=int4:32:asym,lm_head=int8:32,embeddings=bf16"], False),
    ("gpt2_forward", ["--weights-format=int4:32,lm_head=int8:32"], False),  # the table of embeddings is tied to the head
]


def run(*command):
    done = subprocess.run(["attune", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.stdout + done.stderr)
    return done.stdout


def differ(a, b, *flags):
    done = subprocess.run(["attune", "diff", a, b, *flags], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def folder_of(model):
    if model != "bare":
        return f"{sys.argv[1]}/{model}"
    if not os.path.exists(model):
        shutil.copytree(f"{sys.argv[1]}/bert_minimal_config", model, copy_function=shutil.copyfile)
        with open(f"{model}/config.json", encoding="utf-8") as file:
            config = json.load(file)
        with open(f"{model}/config.json", "w", encoding="utf-8") as file:
            json.dump({**config, "num_hidden_layers": 0}, file)
    return model


def changes_sums(before, after):
    """Returns True if operations become sums of Linalg, or these become vectors, in a phase behind |before| up to |after|."""
    passed = PHASES[PHASES.index(before) + 1 : PHASES.index(after) + 1]
    return "linalg" in passed or "vector" in passed


def check_caches(model, steps, dtype, phases):
    folder = folder_of(model)
    call = [folder, "--input", f"{folder}/inputs.safetensors", f"--steps={steps}", "--outputs=logits"]
    call += [f"--cache-dtype={dtype}", "--cpu=x86-64-v3"]
    for phase in phases:
        run("run", f"--from-phase={phase}", *call, f"--output={phase}.safetensors")
    run("run", *call, "--output=run.safetensors", "--quiet")
    for before, after in zip(phases[1:], phases[2:]):
        # Sums in another order may round a key or value to a neighbor.
        loose = ["--atol=1e-2"] if changes_sums(before, after) else []
        found = differ(f"{before}.safetensors", f"{after}.safetensors", *loose)
        assert not found, (model, dtype, after, found)
    assert not differ("llvm.safetensors", "run.safetensors"), (model, dtype)
    # Keys and values in caches are rounded.
    assert differ("import.safetensors", "dialect.safetensors", "--atol=1e-4"), (model, dtype)
    print("ok:", model, dtype)


def check(model, flags):
    folder = folder_of(model)
    inputs = ["--input", f"{folder}/inputs.safetensors"]
    flags = flags if any(flag.startswith("--cpu") for flag in flags) else [*flags, "--cpu=x86-64-v3"]
    run("compile", folder, "-o", "model.so", "--emit=shared", "--dump-phases=phases", "--quiet", *flags)
    for number, phase in enumerate(PHASES, 1):
        ending = "ll" if phase == "llvm" else "mlir"
        signature = ["--signature=phases/07-vector.mlir"] if number > 7 else []
        file = f"phases/{number:02}-{phase}.{ending}"
        run("run", f"--from-phase={phase}", file, f"--weights={folder}", *inputs, *signature, f"--output={number}.safetensors")
    run("run", "model.so", *inputs, "--output=run.safetensors")
    for number in range(2, len(PHASES)):
        loose = ["--atol=2e-5"] if changes_sums(PHASES[number - 1], PHASES[number]) else []
        found = differ(f"{number}.safetensors", f"{number + 1}.safetensors", *loose)
        assert not found, (model, flags, PHASES[number], found)
    assert not differ("9.safetensors", "run.safetensors"), (model, flags)
    # Weights in a format are not those of the folder.
    assert differ("1.safetensors", "2.safetensors", "--atol=1e-6"), (model, flags)
    print("ok:", model, *flags)


def check_calibrated(model, flags, phases, rows=4, length=30):
    folder = folder_of(model)
    with open("ids.txt", "w", encoding="utf-8") as file:
        for row in range(rows):
            file.write(" ".join(str((row * 31 + k * 7) % 190) for k in range(length)) + "\n")
    call = [folder, "--input", f"{folder}/inputs.safetensors", "--cpu=x86-64-v3", *flags]
    run("run", "--from-phase=dialect", *call, "--output=plain.safetensors")
    call.append("--calibrate=ids.txt")
    for phase in phases:
        run("run", f"--from-phase={phase}", *call, f"--output={phase}.safetensors")
    run("run", *call, "--output=run.safetensors", "--quiet")
    for before, after in zip(phases, phases[1:]):
        loose = ["--atol=2e-5"] if changes_sums(before, after) else []
        found = differ(f"{before}.safetensors", f"{after}.safetensors", *loose)
        assert not found, (model, flags, after, found)
    assert not differ("llvm.safetensors", "run.safetensors"), (model, flags)
    # The calibration has chosen other integers than the packer alone.
    assert differ("plain.safetensors", "dialect.safetensors", "--atol=1e-4"), (model, flags)
    print("ok:", model, "calibrated", *flags)


everything = "--all" in sys.argv[2:]
for model, flags, is_short in CASES:
    if everything or is_short:
        check(model, flags)
# A pooler has one input for each row of a text, and calibration needs 32 inputs.
few = ["dialect", "linalg", "bufferized", "llvm"]
check_calibrated("bare", ["--weights-format=int4:32:asym,embeddings=bf16"], few, rows=40, length=6)
check_caches("llama_cache", "5,1,3", "int8", PHASES if everything else ["import", *few])
if everything:
    phases = ["dialect", "linalg", "bufferized", "vector", "llvm"]
    check_calibrated("gpt2_forward", ["--weights-format=int4:32:asym,lm_head=int8:32"], phases)
    check_calibrated("bert_base", ["--weights-format=int4:32"], phases)
    for dtype in ("bf16", "f16", "int8"):
        check_caches("gpt2_cache", "6,1,2,1,1", dtype, PHASES)
