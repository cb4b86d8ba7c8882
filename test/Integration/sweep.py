# ===- sweep.py - Compiled models against the plain reference --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# sweep.py shapes MODEL PADDING DIR       one shared object: each length of models.LENGTHS, batches of 1 to 5, every kind
#                                         of token mask
# sweep.py precision MODEL DTYPE DIR      some of these lengths and batches with matrix products in DTYPE, on the
#                                         instruction sets of this machine and of others
# sweep.py cuda MODEL DTYPE GPU DIR       matrix products in DTYPE on an emulated GPU, with blocks and threads in several
#                                         orders: skinny, small and large tiles
# sweep.py packed MODEL DTYPE GPU DIR     the same with --padding=skip: sequences of all tokens, one, some and none
# sweep.py long MODEL DTYPE GPU DIR       the same with more keys than the pipeline stages of GPU hold
# sweep.py inputs MODEL DIR               masks of rank 3 and of floats, head masks, embeddings and positions as inputs,
#                                         all groups of outputs
# Each call becomes a golden case whose expected outputs attune-test-reference computes in double; `check` compares them
# within the tolerance that tool writes and explains. Uses attune, attune-emulated, attune-run and attune-test-reference
# from PATH; prints what they print when they fail.

import os
import subprocess
import sys

import models


def run(*command, **environment):
    done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"exit {done.returncode}: {' '.join(command)}\n{done.stdout}")
    return done.stdout


def make_model(name, work):
    folder = os.path.join(work, "model")
    models.write_config(name, os.path.join(work, "config"))
    run("attune", "init", os.path.join(work, "config"), "-o", folder, "--seed", "11")
    return folder


def make_case(model, folder, tensors, *flags):
    os.makedirs(folder, exist_ok=True)
    inputs = os.path.join(folder, "inputs.safetensors")
    models.save(inputs, tensors)
    run("attune-test-reference", model, inputs, os.path.join(folder, "expected.safetensors"),
        "--case=" + os.path.join(folder, "case.json"), *flags)
    return folder


def shape_cases(name, padding):
    """Yields (batch, length, mask): each length at least once, with a batch that rotates from model to model to cover more pairs."""
    # Under `skip` a masked first token leaves nothing to pool and an empty row nothing to attend to: only `compute` defines those.
    kinds = ["none", "right", "holes"] + (["left", "empty"] if padding == "compute" else [])
    shift = list(models.MODELS).index(name)
    for i, length in enumerate(models.LENGTHS):
        yield 1 + (i + shift) % 5, length, kinds[(i * 3 + shift) % len(kinds)]
    yield 5, 33, kinds[-1]
    yield 3, 17, "right"


def sweep_shapes(name, padding, work):
    model, limit = make_model(name, work), models.config(name)["vocab_size"]
    cases = []
    for batch, length, kind in shape_cases(name, padding):
        rng = models.generator(name, batch, length, kind)
        tensors = {"input_ids": models.random_ids(rng, limit, batch, length)}
        if kind != "none":
            tensors["attention_mask"] = models.token_mask(rng, kind, batch, length)
        if length % 3 == 0:
            tensors["token_type_ids"] = models.random_ids(rng, 3, batch, length)
        base = models.config(name)["architectures"][0] in models.BASES
        flags = ["--padding=" + padding, "--outputs=" + ("last_hidden_state,pooler_output" if base else "logits,start_logits,end_logits")]
        cases.append(make_case(model, os.path.join(work, f"b{batch}-s{length}-{kind}"), tensors, *flags))
    shared = os.path.join(work, "model.so")
    run("attune", "compile", model, "-o", shared, "--emit=shared", "--padding=" + padding)
    for threads in (1, 3):
        print(run("attune-run", "check", "--model=" + shared, f"--threads={threads}", *cases))


def make_cases(name, work, shapes, *flags):
    """Returns the model and a case for each (batch, length, mask)."""
    model, limit = make_model(name, work), models.config(name)["vocab_size"]
    outputs = "last_hidden_state" if models.config(name)["architectures"] == ["BertModel"] else "logits"
    cases = []
    for batch, length, kind in shapes:
        rng = models.generator(name, batch, length, kind)
        tensors = {"input_ids": models.random_ids(rng, limit, batch, length)}
        if kind != "none":
            tensors["attention_mask"] = models.token_mask(rng, kind, batch, length)
        cases.append(make_case(model, os.path.join(work, f"b{batch}-s{length}-{kind}"), tensors, "--outputs=" + outputs, *flags))
    return model, cases


def sweep_packed(name, dtype, gpu, work):
    sweep_cuda(name, dtype, gpu, work, "skip", ((2, 3, "none"), (4, 5, "ragged"), (5, 70, "ragged")))


def sweep_long(name, dtype, gpu, work):
    sweep_cuda(name, dtype, gpu, work, "skip", ((1, 450, "none"), (3, 200, "ragged")), ("lazy,random=3", "random=4"))


def sweep_cuda(name, dtype, gpu, work, padding="compute", shapes=((1, 1, "none"), (2, 17, "right"), (2, 70, "holes")),
               orders=("", "random=1", "lazy,random=2")):
    model, cases = make_cases(name, work, shapes, "--padding=" + padding)
    shared = os.path.join(work, "model.so")
    run("attune-emulated", "compile", model, "-o", shared, "--emit=shared", "--target=cuda", "--gpu=" + gpu, "--dtype=" + dtype,
        "--padding=" + padding)
    for case, order in zip(cases, orders):
        print(run("attune-run", "check", "--model=" + shared, "--dtype=" + dtype, case, ATTUNE_FAKE_CUDA=order))


def sweep_precision(name, dtype, work):
    model, cases = make_cases(name, work, ((1, 1, "none"), (2, 17, "right"), (1, 33, "none"), (2, 129, "holes")))
    with open("/proc/cpuinfo") as info:
        flags = set(next(line for line in info if line.startswith("flags")).split())
    needs = {"native": set(), "x86-64-v3": set(), "x86-64-v4": {"avx512vl"}, "alderlake": {"avx_vnni"},
             "cooperlake": {"avx512_bf16", "avx512_vnni"}}
    for cpu in (cpu for cpu, needed in needs.items() if needed <= flags):
        shared = os.path.join(work, cpu + ".so")
        run("attune", "compile", model, "-o", shared, "--emit=shared", "--cpu=" + cpu, "--dtype=" + dtype)
        print(run("attune-run", "check", "--model=" + shared, "--dtype=" + dtype, *cases))


def input_cases(name, rng):
    """Yields (name, tensors) for the kinds of input besides ids and token masks."""
    config = models.config(name)
    layers, heads, hidden = config["num_hidden_layers"], config["num_attention_heads"], config["hidden_size"]
    for batch, length in ((2, 5), (3, 65), (1, 130)):
        ids = models.random_ids(rng, config["vocab_size"], batch, length)
        embeddings = "F32", [batch, length, hidden], [rng.uniform(-1, 1) for _ in range(batch * length * hidden)]
        yield "mask3d", {"input_ids": ids, "attention_mask": models.square_mask(rng, batch, length)}
        yield "float2d", {"input_ids": ids, "attention_mask": models.float_mask(rng, (batch, length))}
        yield "float3d", {"input_ids": ids, "attention_mask": models.float_mask(rng, (batch, length, length))}
        yield "heads1d", {"input_ids": ids, "head_mask": ("F32", [heads], [rng.choice([0.0, 1.0, 0.5]) for _ in range(heads)])}
        yield "heads2d", {"input_ids": ids, "attention_mask": models.token_mask(rng, "right", batch, length),
                          "head_mask": ("F32", [layers, heads], [rng.choice([0.0, 1.0, 0.25]) for _ in range(layers * heads)])}
        yield "embeds", {"inputs_embeds": embeddings, "position_ids": models.random_ids(rng, 512, batch, length),
                         "token_type_ids": models.random_ids(rng, 3, batch, length)}


def declare(tensors):
    """Returns the list of inputs with rank and type, as --inputs takes it."""
    return ",".join(f"{name}:{len(shape)}:{'i64' if dtype == 'I64' else 'f32'}" for name, (dtype, shape, _) in tensors.items())


def sweep_inputs(name, work):
    model = make_model(name, work)
    cases = {}
    for i, (kind, tensors) in enumerate(input_cases(name, models.generator(name))):
        for padding in ("compute", "skip") if kind == "heads2d" else ("compute",):
            folder = make_case(model, os.path.join(work, f"{i}-{kind}-{padding}"), tensors, "--padding=" + padding)
            cases.setdefault((kind, padding, declare(tensors)), []).append(folder)
    for (kind, padding, inputs), folders in cases.items():
        shared = os.path.join(work, f"{kind}-{padding}.so")
        run("attune", "compile", model, "-o", shared, "--emit=shared", "--padding=" + padding, "--inputs=" + inputs,
            "--outputs=last_hidden_state,pooler_output,hidden_states,attentions")
        print(run("attune-run", "check", "--model=" + shared, *folders))


if __name__ == "__main__":
    os.makedirs(sys.argv[-1], exist_ok=True)
    {"shapes": sweep_shapes, "precision": sweep_precision, "cuda": sweep_cuda, "packed": sweep_packed, "long": sweep_long,
     "inputs": sweep_inputs}[sys.argv[1]](*sys.argv[2:])
