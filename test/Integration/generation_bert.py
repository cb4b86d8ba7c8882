# ===- generation_bert.py - Decoders whose positions count padding ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# generation_bert.py DIR [FAMILY...]: BERT and RoBERTa, or those of the families, as decoders continue prompts that are
# padded on the left. The reference library numbers their tokens with the padding: ids and scores must be those of whole
# sequences, run with its positions; and sequences without padding the same in steps.

import json
import os
import subprocess
import sys

import beam_reference
import models

work = sys.argv[1]
COMMON = dict(vocab_size=13, hidden_size=12, num_hidden_layers=2, num_attention_heads=3, intermediate_size=10, max_position_embeddings=20,
              type_vocab_size=2,
              is_decoder=True, eos_token_id=2, pad_token_id=1)
PAD, END = 1, 2
PROMPTS = [[3, 9, 6, 12], [PAD, PAD, 8, 4]]
MASKS = [[1, 1, 1, 1], [0, 0, 1, 1]]


def path(name):
    return os.path.join(work, name)


def attune(*arguments):
    subprocess.run(list(arguments), check=True)


def matrix(rows):
    return "I64", [len(rows), len(rows[0])], sum(rows, [])


def positions(family, length, row):
    """Returns the positions of all tokens. RoBERTa skips padding in the call with the prompt, and counts it in the calls after it."""
    if family == "bert":
        return list(range(length))
    first, seen = [], 0
    for i in PROMPTS[row]:
        seen += i != PAD
        first.append(PAD + seen if i != PAD else PAD)
    return (first + [PAD + 1 + at for at in range(len(first), length)])[:length]


ARCHITECTURES = {"bert": "BertLMHeadModel", "roberta": "RobertaForCausalLM"}
for family in sys.argv[2:] or ARCHITECTURES:
    folder, whole, program = path(family), path(family + "-whole.so"), path(family + ".so")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(dict(COMMON, model_type=family, architectures=[ARCHITECTURES[family]]), f)
    attune("attune", "init", folder, "-o", folder, "--seed", "5")
    attune("attune", "compile", folder, "-o", whole, "--emit=shared", "--inputs=input_ids,attention_mask,position_ids")
    attune("attune", "compile", folder, "-o", program, "--emit=shared", "--outputs=logits")
    known = {}

    def logits_of(row, ids):
        if (row, *ids) not in known:
            mask = MASKS[row] + [1] * (len(ids) - len(MASKS[row]))
            models.save(path("whole"), {"input_ids": matrix([ids]), "attention_mask": matrix([mask]),
                                        "position_ids": matrix([positions(family, len(ids), row)])})
            attune("attune-run", "run", whole, "--input", path("whole"), "--output", path("logits"), "--outputs=logits")
            known[row, *ids] = models.unpack(models.load(path("logits"))["logits"])[0][-1]
        return known[row, *ids]

    models.save(path("in"), {"input_ids": matrix(PROMPTS), "attention_mask": matrix(MASKS)})
    for settings in (dict(max_length=9, min_length=8), dict(max_length=8, num_beams=2, num_return_sequences=2)):
        flags = [f"--set={name}={value}" for name, value in settings.items()]
        attune("attune-run", "generate", program, "--input", path("in"), "--output", path("out"), *flags)
        expected, scores = beam_reference.generate(logits_of, PROMPTS, dict(settings, eos_token_id=END, pad_token_id=PAD))
        out = models.load(path("out"))
        assert models.unpack(out["sequences"]) == expected, (family, settings, models.unpack(out["sequences"]), expected)
        if "num_beams" in settings:
            assert max(abs(a - b) for a, b in zip(models.unpack(out["sequences_scores"]), scores)) < 1e-4

    models.save(path("in"), {"input_ids": matrix([[3, 9, 6, 12, 5, 7, 8]])})
    attune("attune-run", "run", program, "--input", path("in"), "--output", path("all"), "--outputs=logits")
    attune("attune-run", "run", program, "--input", path("in"), "--output", path("steps"), "--outputs=logits", "--steps=3,1,1,2")
    attune("attune-run", "diff", path("all"), path("steps"), "--atol=0", "--rtol=0")
