#!/usr/bin/env python3
"""Checks every kernel of many models: the rules of wgmma (wgmma.py) and, if there is an assembler, that no kernel spills
(assembler.py).

    model-kernels.py WORK [--dtypes=bf16,f16,f32] [--paddings=compute,skip] [--gpus=sm_80,sm_90a] [--assemble=yes|no] MODEL ...

MODEL is a folder as `attune compile` takes it. Each is compiled once for all GPUs. Of models with the same config.json one
is compiled, since weights do not change code. Larger models with generated weights keep two layers, since all layers share
their kernels. Equal kernels of several models are assembled once. Prints a summary for each GPU; exits with 1 and the name of
each kernel that fails, with one model that has it.
"""
import json
import os
import re
import shutil
import subprocess
import sys

import assembler
import wgmma

LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "num_encoder_layers",
          "num_decoder_layers")
# Models with more layers than this one are shortened; others may have lists with an entry for each layer.
MOST_LAYERS = 4
# The compiler runs this as its assembler: it keeps the PTX of every GPU, and its output is never loaded.
KEEP = """#!/bin/sh
cp "$3" "$ATTUNE_KEEP.${1#--gpu-name=}.ptx" && echo none > "$5"
"""


def shorten(model, work):
    """Returns |model|, or a copy with two layers in |work| if it has many and its weights are generated."""
    with open(os.path.join(model, "config.json")) as f:
        config = json.load(f)
    case = os.path.join(model, "case.json")
    if not os.path.exists(case):
        return model
    with open(case) as f:
        if json.load(f).get("weights", {}).get("source") != "generated":
            return model
    copy = os.path.join(work, os.path.basename(model))
    shutil.copytree(model, copy, dirs_exist_ok=True)
    for key in LAYERS:
        if isinstance(config.get(key), int) and config[key] > MOST_LAYERS:
            config[key] = 2
    with open(os.path.join(copy, "config.json"), "w") as f:
        json.dump(config, f)
    return copy


def compile_model(model, dtype, padding, gpus, work):
    """Returns the PTX of |model| by GPU; nothing if it has an input that packed batches cannot have, or no GPU runs it."""
    keep, stem = os.path.join(work, "keep"), os.path.join(work, "kernels")
    with open(keep, "w") as f:
        f.write(KEEP)
    os.chmod(keep, 0o755)
    command = ["attune", "compile", model, "--target=cuda", "--gpu=" + ",".join(gpus), "--dtype=" + dtype, "--padding=" + padding,
               "--emit=ptx", "-o", stem + ".ptx"]
    result = subprocess.run(command, env=dict(os.environ, ATTUNE_PTXAS=keep, ATTUNE_KEEP=stem), capture_output=True, text=True)
    if result.returncode and any(text in result.stderr for text in ("when padding is skipped", "not implemented for this target")):
        print(f"{model}: not for --padding={padding}: {result.stderr.strip()}")
        return {}
    if result.returncode:
        sys.exit(" ".join(command) + ":\n" + result.stdout + result.stderr)
    texts = {}
    for gpu in gpus:
        with open(f"{stem}.{gpu}.ptx") as f:
            texts[gpu] = f.read()
    return texts


class Image:
    """The distinct kernels for one GPU."""

    def __init__(self, gpu):
        self.gpu, self.head, self.total, self.products = gpu, None, 0, 0
        self.kernels, self.origins = {}, {}  # text without names to text; name to model

    def add(self, text, origin):
        first = text.index(".visible .entry")
        # The name of the first kernel is in a comment.
        head = re.sub(r"//[^\n]*", "", text[:first])
        if head != (self.head or head):
            sys.exit(f"{origin}: expected what stands before kernels to be the same in all models, got:\n{head}")
        self.head = head
        for kernel in re.split(r"^(?=\.visible \.entry)", text[first:], flags=re.M)[1:]:
            self.total += 1
            name = re.match(r"\.visible \.entry ([\w$]+)", kernel).group(1)
            kernel = re.sub(r"//[^\n]*", "", kernel)
            key = re.sub(r"\$L__BB\d+_", "$L__BB_", re.sub(rf"\b{re.escape(name)}(?=\b|_param_)", "K", kernel))
            if key not in self.kernels:
                unique = f"k{len(self.kernels)}_{name}"
                self.kernels[key] = re.sub(rf"\b{re.escape(name)}(?=\b|_param_)", unique, kernel)
                self.origins[unique] = origin

    def write(self, path):
        with open(path, "w") as f:
            f.write(self.head + "".join(self.kernels.values()))

    def check(self, path, assembles):
        """Returns the problems of the kernels; |path| is scratch."""
        self.write(path)
        problems, self.products = wgmma.check(self.head + "".join(self.kernels.values()))
        failures = [f"{self.origins[p.kernel]}: {p.kernel}: {path}:{p.line}: {p.text}" for p in problems]
        if assembles:
            usages, warnings = assembler.assemble(path, self.gpu)
            if len(usages) != len(self.kernels):
                failures.append(f"ptxas reports {len(usages)} kernels, expected {len(self.kernels)}")
            failures += warnings
            failures += [f"{self.origins[u.name]}: {spills}" for u in usages if (spills := assembler.describe_spills(u))]
        return failures


def main():
    flags = {"dtypes": "bf16,f16,f32", "paddings": "compute", "gpus": "sm_80,sm_90a", "assemble": "yes"}
    words = []
    for word in sys.argv[1:]:
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            if name not in flags or not value:
                sys.exit(f"expected one of --{'=, --'.join(flags)}=, got '{word}'")
            flags[name] = value
        else:
            words.append(word)
    work, *models = words
    os.makedirs(work, exist_ok=True)
    images = [Image(gpu) for gpu in flags["gpus"].split(",")]
    configs = set()
    for model in models:
        short = shorten(model.rstrip("/"), work)
        with open(os.path.join(short, "config.json")) as f:
            config = json.dumps(json.load(f), sort_keys=True)
        if config in configs:
            continue
        configs.add(config)
        for dtype in flags["dtypes"].split(","):
            for padding in flags["paddings"].split(","):
                texts = compile_model(short, dtype, padding, [image.gpu for image in images], work)
                for image in images if texts else []:
                    image.add(texts[image.gpu], f"{os.path.basename(short)} {dtype} {padding}")
    failures = []
    assembles = flags["assemble"] == "yes" and shutil.which("ptxas") is not None
    assembled = "assembled" if assembles else "not assembled"
    for image in images:
        found = image.check(os.path.join(work, f"all.{image.gpu}.ptx"), assembles)
        failures += [f"{image.gpu}: {text}" for text in found]
        print(f"{image.gpu}: {image.total} kernels of {len(models)} models, {len(image.kernels)} distinct, {assembled}, "
              f"{image.products} products, {len(found)} problems")
    for name in ("kernels.weights", "kernels.h"):
        if os.path.exists(os.path.join(work, name)):
            os.remove(os.path.join(work, name))
    if failures:
        sys.exit("\n".join(failures))


main()
