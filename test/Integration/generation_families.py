# ===- generation_families.py - Generation of all families, in plain Python --===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# generation_families.py FAMILY DIR [--few]: a tiny model of FAMILY generates under many settings; beam_reference.py
# over families_*.py must give the same ids and scores. --few leaves out the settings of the model's own file, for which
# it is compiled again.

import json
import os
import subprocess
import sys

import beam_reference
import families
import models
from sweep_configs import BART, GPT2, LLAMA, T5
from sweep_families import FORWARD, load_weights

SIZES = {"gpt2": dict(GPT2, vocab_size=13, n_positions=14, n_embd=12, n_head=3, n_layer=1),
         "llama": dict(LLAMA, vocab_size=13, max_position_embeddings=14, hidden_size=12, num_attention_heads=2, num_key_value_heads=1,
                       num_hidden_layers=1,
                       intermediate_size=9),
         "bart": dict(BART, vocab_size=13, d_model=12, decoder_layers=1, decoder_attention_heads=2, encoder_ffn_dim=9, decoder_ffn_dim=9),
         "t5": dict(T5, vocab_size=13, d_model=12, d_kv=5, d_ff=9, num_layers=1)}
PAD, END, START = 0, 2, 1

# Beyond the end, padding and start ids.
SETTINGS = [
    dict(max_length=9),
    dict(max_length=9, num_beams=3, num_return_sequences=3),
    dict(max_length=10, num_beams=4, num_return_sequences=2, length_penalty=2.0, no_repeat_ngram_size=2),
    dict(max_length=10, num_beams=2, length_penalty=-0.5, early_stopping=True, min_length=7),
    dict(max_length=8, num_beams=3, num_return_sequences=3, forced_eos_token_id=END, repetition_penalty=1.7,
         bad_words_ids=[[5], [7, 3], [END]]),
    dict(max_length=7, num_beams=5, num_return_sequences=5, length_penalty=0.0, forced_bos_token_id=4, early_stopping=True),
    dict(max_length=6, repetition_penalty=0.6, no_repeat_ngram_size=1, forced_eos_token_id=3),
    dict(max_length=9, num_beams=3, num_return_sequences=2, suppress_tokens=[6, 9], begin_suppress_tokens=[4, 7], renormalize_logits=True),
    dict(max_length=9, num_beams=2, begin_suppress_tokens=[3, 5, 8, 10, 11], encoder_repetition_penalty=1.9, forced_bos_token_id=7),
    dict(max_length=9, num_beams=2, encoder_repetition_penalty=0.4, early_stopping="never", no_repeat_ngram_size=1, length_penalty=0.5),
]
# The settings of a model's own file. Each number that only sampling reads is wrong, and the errors come in this order.
COMPILED = dict(max_length=9, num_beams=2, num_return_sequences=2, suppress_tokens=[6, 9], begin_suppress_tokens=[4, 7, 3],
                renormalize_logits=True,
                encoder_repetition_penalty=0.4)
WRONG = dict(typical_p=2.0, min_p=3.0, epsilon_cutoff=4.0, eta_cutoff=5.0)
SOURCE_SETTINGS = [dict(max_length=9, num_beams=3, encoder_no_repeat_ngram_size=1), dict(max_length=9, encoder_no_repeat_ngram_size=2)]


def check(program, path, flags, expected, scores, what):
    """Generates and compares ids and, of beams, scores."""
    subprocess.run(["attune-run", "generate", program, "--input", path[0], "--output", path[1], *flags], check=True)
    out = models.load(path[1])
    got = models.unpack(out["sequences"])
    assert got == expected, (what, got, expected, scores)
    if scores[0] is not None:
        found = models.unpack(out["sequences_scores"])
        assert max(abs(a - b) for a, b in zip(found, scores)) < 1e-4, (what, found, scores)


def compile_model(folder, program):
    subprocess.run(["attune", "compile", folder, "-o", program, "--emit=shared", "--outputs=logits"], check=True)


def main(family, work, *flags):
    few = "--few" in flags
    config, two = dict(SIZES[family], eos_token_id=END, pad_token_id=PAD), family in ("bart", "t5")
    if two:
        config["decoder_start_token_id"] = START
    folder, program = os.path.join(work, family), os.path.join(work, family + ".so")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(config, f)
    subprocess.run(["attune", "init", folder, "-o", folder, "--seed", "11"], check=True)
    compile_model(folder, program)
    model, forward = families.Model(config, load_weights(folder)), FORWARD[family]

    # The second prompt is padded on its left, the second source on its right.
    ids = [[3, 9, 6, 12], [PAD, PAD, 8, 4]] if not two else [[3, 9, 6, 12, 7], [8, 4, 11, PAD, PAD]]
    mask = [[int(i != PAD) for i in row] for row in ids]
    known = {}

    def logits_of(row, sequence):
        if (row, *sequence) not in known:
            if two:
                out = forward(model, ids[row], mask[row], decoder_input_ids=sequence)
            else:
                visible = sequence[sum(m == 0 for m in mask[row]):]
                out = forward(model, visible, [1] * len(visible))
            known[row, *sequence] = out["logits"][-1]
        return known[row, *sequence]

    path = os.path.join(work, "in.safetensors"), os.path.join(work, "out.safetensors")
    for given in (True, False):  # padding is also found by its id
        tensors = {"input_ids": ("I64", [2, len(ids[0])], sum(ids, []))}
        if given:
            tensors["attention_mask"] = "I64", [2, len(ids[0])], sum(mask, [])
        models.save(path[0], tensors)
        for settings in SETTINGS + (SOURCE_SETTINGS if two else []) if given else SETTINGS[:2]:
            prompts = [[START]] * 2 if two else ids
            own = dict(eos_token_id=END, pad_token_id=PAD, **({"forced_eos_token_id": END} if family == "bart" else {}))
            paddings = None if two else [row.count(0) for row in mask]
            expected, scores = beam_reference.generate(logits_of, prompts, {**own, **settings}, ids if two else None, paddings)
            flags = [f"--set={name}={json.dumps(value)}" for name, value in settings.items()]
            check(program, path, flags, expected, scores, (family, settings))
    if few:
        return
    with open(os.path.join(folder, "generation_config.json"), "w") as f:
        json.dump({**COMPILED, **WRONG}, f)
    compile_model(folder, program)
    check(program, path, [], *beam_reference.generate(logits_of, prompts, {**own, **COMPILED}, ids if two else None), (family, "compiled"))
    flags = ["--set=do_sample=true", "--set=num_beams=1"]
    for name, value in WRONG.items():
        done = subprocess.run(["attune-run", "generate", program, "--input", path[0], "--output", path[1], *flags],
                              stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1 and f"{name} is {value:g}" in done.stderr, (name, done)
        flags.append(f"--set={name}={1 if name == 'typical_p' else 0}")


if __name__ == "__main__":
    main(*sys.argv[1:])
