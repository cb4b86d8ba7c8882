# ===- weight_patterns.py - Formats of weights by their names --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# weight_patterns.py DIR CPU…: small models with weights in several formats. Checks that
#
# - weights of bf16 and f16 give the bits of f32 products with weights that are rounded here, on every CPU, for every number
#   of threads and in steps, in projections and in tables of embeddings, with heads that are tied or not;
# - each matrix of a model of several formats has the bytes that it has in a model of its format alone, and layers the bits;
# - layers of one format share a function; a tied table has the format of the head; bf16 takes half of the bytes of f32;
# - a weight beyond f16 is an error that names its tensor.

import os
import re
import subprocess
import sys

import models
import tied_embeddings
from sweep import run
from tied_embeddings import HIDDEN, WORDS, Model, bf16, f16

LAYERS = 3
for config, key in (("gpt2", "n_layer"), ("llama", "num_hidden_layers"), ("bert", "num_hidden_layers"), ("t5", "num_layers")):
    tied_embeddings.BASE[config][key] = LAYERS
ROUND = {"bf16": bf16, "f16": f16}


def is_table(name):
    """Returns true for the tables of which ids choose rows, and for that of relative positions."""
    return any(part in name for part in ("wte", "wpe", "embed_tokens", "shared", "embeddings", "relative_attention_bias"))


def rounded(model, work, round_to):
    """Returns a copy of |model| with other matrices: round_to(name) returns the function that rounds one, or None."""
    copy = object.__new__(Model)
    copy.family, copy.folder, copy.compiled = model.family, os.path.join(work, "rounded"), {}
    os.makedirs(copy.folder, exist_ok=True)
    with open(os.path.join(model.folder, "config.json")) as file, open(os.path.join(copy.folder, "config.json"), "w") as to:
        to.write(file.read())
    copy.tensors = {}
    for name, (dtype, shape, values) in model.tensors.items():
        function = round_to(name) if len(shape) == 2 else None
        copy.tensors[name] = (dtype, shape, list(map(function, values)) if function else values)
    assert copy.tensors != model.tensors
    models.save(os.path.join(copy.folder, "model.safetensors"), copy.tensors)
    return copy


def outputs(model, *flags, **how):
    return {group: model.call(group, *flags, **how) for group in ("logits", tied_embeddings.STATES.get(model.family, "hidden_states"))}


def check_floats(work, cpus):
    for family, tied, format in (("gpt2", True, "f16"), ("gpt2", False, "bf16"), ("llama", False, "f16"), ("bert", True, "bf16"),
                                 ("t5", False, "bf16")):
        model = Model(family, work, tied=tied)
        # Tables have the other type, but for a tied one, which has that of the head.
        other = "f16" if format == "bf16" else "bf16"

        def round_to(name):
            if not is_table(name) or (tied and name == tied_embeddings.TABLES[family]):
                return ROUND[format]
            return ROUND[other] if "bias" not in name else None

        want = outputs(rounded(model, work, round_to), "--cpu=" + cpus[0])
        assert want != outputs(model, "--cpu=" + cpus[0])
        for cpu in cpus:
            flags = ("--cpu=" + cpu, f"--weights-format={format},embeddings={other}")
            for threads in (1, 3):
                assert outputs(model, *flags, threads=threads) == want, (family, tied, format, cpu, threads)
            if family in ("gpt2", "llama"):
                assert model.call("logits", *flags, steps="1,4,1,5") == want["logits"], (family, tied, format, cpu)


def stored(model, *flags):
    """Returns the weights of the file as {source: (layout, bytes)}."""
    path = model.compile(*flags)[:-3] + ".weights"
    text = run("attune", "inspect", path)
    with open(path, "rb") as file:
        content = file.read()
    found = {}
    for line in text.splitlines():
        if match := re.match(r"  \S+ .*\]\s+(\S+)\s+offset (\d+)\s+bytes (\d+)\s+(.*)", line):
            begin = 4096 + int(match[2])
            found[match[4]] = (match[1], content[begin:begin + int(match[3])])
    assert len(found) > 10
    return found


def format_of(layout):
    return layout.split(":", 2)[2] if layout.count(":") > 1 else layout


def check_patterns(work, cpu):
    llama = Model("llama", work, tied=False)
    for dtype in ("f32", "int8", "bf16"):
        flags = ("--cpu=" + cpu, "--dtype=" + dtype)
        mixed = stored(llama, *flags, "--weights-format=int4:32,lm_head=int8:32,layers.1=int8:64:asym,layers.[01].mlp.*_proj=int8:0")
        alone = {}
        for format in ("int4:32", "int8:32", "int8:64:asym", "int8:0"):
            alone.update({source: entry for source, entry in stored(llama, *flags, "--weights-format=" + format).items()})
        seen = {}
        for source, entry in mixed.items():
            assert alone[source] == entry, (dtype, source)
            if entry[0].startswith("panels:"):
                name = re.search(r'tensor<"(?:model\.)?([^"]*)\.weight"', source)[1]
                seen[re.sub(r"(mlp|self_attn)\..*", r"\1", name)] = format_of(entry[0])
        assert seen == {"layers.0.self_attn": "int4:32", "layers.0.mlp": "int8:0", "layers.1.self_attn": "int8:64:asym",
                        "layers.1.mlp": "int8:0", "layers.2.self_attn": "int4:32", "layers.2.mlp": "int4:32", "lm_head": "int8:32"}, seen

    # Projections of one input are not joined if their formats differ.
    parts = stored(llama, "--cpu=" + cpu, "--weights-format=int4:32,self_attn.[qk]_proj=int8:16")
    seen = {re.search(r'self_attn\.(\w*)', source)[1]: format_of(layout) for source, (layout, _) in parts.items() if "self_attn" in source}
    assert seen == {"q_proj": "int8:16", "k_proj": "int8:16", "v_proj": "int4:32", "o_proj": "int4:32"}, seen


def check_layers(work, cpu):
    """Checks the bits of layers of two formats, written in two ways, and the number of functions."""
    gpt2 = Model("gpt2", work, tied=False)
    for dtype in ("f32", "int8"):
        flags = ("--cpu=" + cpu, "--dtype=" + dtype)
        first = "--weights-format=int4:32,h.0=int8:32"
        states, uniform = (gpt2.call("hidden_states", *flags, format) for format in (first, "--weights-format=int8:32"))
        assert states["hidden_states.1"] == uniform["hidden_states.1"] and states["hidden_states.2"] != uniform["hidden_states.2"], dtype
        other = "--weights-format=int8:32,transformer.h.[1-9]=int4:32,lm_head=int4:32"
        assert gpt2.call("logits", *flags, first) == gpt2.call("logits", *flags, other), dtype
        dialect = ("attune", "compile", gpt2.folder, "-o", "-", "--compile-to=dialect", *flags)
        count, whole = (run(*dialect, format).count("func.func private @") for format in (first, "--weights-format=int4:32"))
        assert count == 2 * whole > 0, (count, whole)

    # A tied table has the format of the head, by either of its names, and is stored once.
    tied = Model("gpt2", work)
    for pattern in ("lm_head", "transformer.wte"):
        flags = ("--cpu=" + cpu, f"--weights-format=int4:32,{pattern}=int8:32,embeddings=bf16")
        own, _ = tied.stored(*flags)
        assert [layout.split(":", 2)[2] for _, layout in own] == ["int8:32"], own
        positions = [entry for source, entry in stored(tied, *flags).items() if "wpe" in source]
        assert [len(data) for _, data in positions] == [2 * HIDDEN * tied_embeddings.POSITIONS], positions


def check_sizes(work, cpu):
    model = Model("llama", work, tied=False)
    full, half = (stored(model, "--cpu=" + cpu, "--weights-format=" + format) for format in ("native", "bf16"))

    def panels(found):
        return sum(len(data) for layout, data in found.values() if layout.startswith("panels:"))

    assert panels(full) == 2 * panels(half) > 0
    # A table is stored in 2 bytes, too.
    tables = stored(model, "--cpu=" + cpu, "--weights-format=embeddings=f16")
    rows = [len(data) for source, (_, data) in tables.items() if "embed_tokens" in source]
    assert rows == [2 * WORDS * HIDDEN], rows


def check_errors(work, cpu):
    model = Model("llama", work, tied=False)

    def fail(expected, *flags):
        done = subprocess.run(["attune", "compile", model.folder, "-o", os.path.join(work, "x.o"), "--cpu=" + cpu, *flags],
                              capture_output=True, text=True)
        assert done.returncode == 1 and expected in done.stderr, (expected, done.stderr)

    name = "model.layers.1.mlp.up_proj.weight"
    model.tensors[name][2][7] = 65520.0
    model.tensors[tied_embeddings.TABLES["llama"]][2][3] = -7e4
    models.save(os.path.join(model.folder, "model.safetensors"), model.tensors)
    fail(f"tensor '{name}' has weights beyond the range of f16", "--weights-format=f16")
    fail(f"tensor '{tied_embeddings.TABLES['llama']}' has weights beyond the range of f16", "--weights-format=embeddings=f16")
    fail("'layers.9' matches no weight of a projection, expected parts of a name such as 'model.layers.0.",
         "--weights-format=layers.9=bf16")
    run("attune", "compile", model.folder, "-o", os.path.join(work, "x.o"), "--cpu=" + cpu, "--weights-format=bf16,embeddings=bf16")
    # The largest number that is rounded to a finite one.
    model.tensors[name][2][7] = 65519.0
    models.save(os.path.join(model.folder, "model.safetensors"), model.tensors)
    run("attune", "compile", model.folder, "-o", os.path.join(work, "x.o"), "--cpu=" + cpu, "--weights-format=f16")


def main(work, *cpus):
    check_floats(work, cpus)
    check_patterns(work, cpus[0])
    check_layers(work, cpus[0])
    check_sizes(work, cpus[0])
    check_errors(work, cpus[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
