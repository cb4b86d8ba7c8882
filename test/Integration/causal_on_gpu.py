# ===- causal_on_gpu.py - Decoders' attention by tensor cores --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# causal_on_gpu.py [--models=NAME,…] DIR GPU:PADDING…: decoders with heads of 64 components, one key each (gpt2) or
# shared by two queries (llama), on two sequences of up to three tiles of queries, and an encoder-decoder with a bias of
# distances and heads of 128 (t5): all of them or these, in bf16 on these (emulated) GPUs, padding computed or skipped,
# against f32 on the CPU. Prints the largest error of each.

import json
import os
import sys

import models
from sweep import run

LENGTH, BATCH, VOCABULARY = 150, 2, 101
# The tolerance for bf16 is that of `attune check`: a share of the largest value.
ALLOWED = 2e-2
COMMON = dict(vocab_size=VOCABULARY, bos_token_id=1, eos_token_id=2)
CONFIGS = {
    "gpt2": dict(COMMON, architectures=["GPT2LMHeadModel"], n_embd=128, n_layer=1, n_head=2, n_inner=64, n_positions=512,
                 activation_function="gelu_new", layer_norm_epsilon=1e-5),
    "llama": dict(COMMON, architectures=["LlamaForCausalLM"], hidden_size=256, intermediate_size=64, num_hidden_layers=1,
                  num_attention_heads=4,
                  num_key_value_heads=2, max_position_embeddings=512, rms_norm_eps=1e-6, hidden_act="silu", rope_theta=1e4),
    "t5": dict(COMMON, architectures=["T5ForConditionalGeneration"], d_model=64, d_kv=128, num_heads=2, num_layers=1, d_ff=64,
               pad_token_id=0,
               decoder_start_token_id=0),
}


def make_model(kind, work):
    config, folder = os.path.join(work, kind + "-config"), os.path.join(work, kind)
    os.makedirs(config, exist_ok=True)
    with open(os.path.join(config, "config.json"), "w") as f:
        json.dump(dict(CONFIGS[kind], model_type=kind), f)
    run("attune", "init", config, "-o", folder, "--seed", "3")
    if kind == "t5":
        scale_queries(os.path.join(folder, "model.safetensors"), CONFIGS[kind]["d_kv"] ** -0.5)
    return folder


def scale_queries(path, factor):
    """Scales the queries' weights. T5 does not scale scores; without this, random weights give scores so large that rounding flips them."""
    tensors = {}
    for name, (dtype, shape, data) in models.load(path).items():
        scale = factor if name.endswith("Attention.q.weight") else 1
        tensors[name] = dtype, shape, [scale * x for x in memoryview(data).cast("f")]
    models.save(path, tensors)


def logits(tool, model, inputs, output, *flags):
    run(tool, "run", model, "--input", inputs, "--output", output, "--outputs=logits", *flags)
    return memoryview(models.load(output)["logits"][2]).cast("f")


def main(work, *gpus):
    kinds = list(CONFIGS)
    if work.startswith("--models="):
        kinds, work, gpus = work.partition("=")[2].split(","), gpus[0], gpus[1:]
    os.makedirs(work, exist_ok=True)
    rng, inputs, output = models.generator("causal"), os.path.join(work, "in.safetensors"), os.path.join(work, "out.safetensors")
    mask = models.token_mask(rng, "right", BATCH, LENGTH)
    tensors = {"input_ids": models.random_ids(rng, VOCABULARY, BATCH, LENGTH), "attention_mask": mask}
    wrong = 0
    for kind in kinds:
        model = make_model(kind, work)
        decoder = {"decoder_input_ids": models.random_ids(rng, VOCABULARY, BATCH, LENGTH)} if kind == "t5" else {}
        models.save(inputs, dict(tensors, **decoder))
        expected = logits("attune", model, inputs, output)
        places = [i * VOCABULARY + j for i, token in enumerate(mask[2]) if token or decoder for j in range(VOCABULARY)]
        largest = max(abs(expected[i]) for i in places)
        for gpu, padding in (word.split(":") for word in gpus):
            tool = "attune-emulated" if gpu.startswith("emulator") else "attune"
            found = logits(tool, model, inputs, output, "--target=cuda", "--gpu=" + gpu, "--dtype=bf16", "--padding=" + padding)
            error = max(abs(found[i] - expected[i]) for i in places) / largest
            wrong += not error <= ALLOWED
            print(f"{kind} on {gpu}, padding {padding}: error {error:.4f} of the largest value, allowed {ALLOWED}")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
