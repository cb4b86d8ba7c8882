# ===- generation.py - Generation with a compiled model --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# generation.py DIR: a tiny GPT-2 in DIR is compiled and run by attune-run. Beam search finds what the enumeration of
# all sequences finds; rows do not depend on others nor on the number of threads; step logits are those of the whole
# sequence; settings have their precedence; errors.

import array
import json
import math
import os
import subprocess
import sys

import models

work = sys.argv[1]
VOCAB, POSITIONS = 6, 12
folder, program = os.path.join(work, "model"), os.path.join(work, "model.so")


def path(name):
    return os.path.join(work, name + ".safetensors")


def call(command, output, tensors, *flags, error=None):
    """Returns the outputs of a command of attune-run, or None if it fails with |error| in its one line."""
    models.save(path("in"), tensors)
    if os.path.exists(path(output)):
        os.remove(path(output))
    done = subprocess.run(["attune-run", command, program, "--input", path("in"), "--output", path(output), *flags], stderr=subprocess.PIPE,
                          text=True)
    if error:
        assert done.returncode == 1 and error in done.stderr and done.stderr.count("\n") == 1, (flags, done)
        assert not os.path.exists(path(output))
        return None
    assert done.returncode == 0, (flags, done)
    return {name: (shape, list(array.array("q" if dtype == "I64" else "f", data)))
            for name, (dtype, shape, data) in models.load(path(output)).items()}


def generate(tensors, *flags, **more):
    return call("generate", "out", tensors, *flags, **more)


def ids(rows, name="input_ids"):
    return {name: ("I64", [len(rows), len(rows[0])], [i for row in rows for i in row])}


def rows_of(output, name="sequences"):
    shape, values = output[name]
    width = math.prod(shape[1:])
    return [values[i * width:(i + 1) * width] for i in range(shape[0])]


def log_probabilities(sequences):
    """Returns, for each sequence and each position, the log probabilities of all ids as the next one."""
    _, logits = call("run", "all", ids(sequences))["logits"]
    result, length = [], len(sequences[0])
    for i in range(len(sequences)):
        row = []
        for j in range(length):
            scores = logits[(i * length + j) * VOCAB:(i * length + j + 1) * VOCAB]
            total = math.log(math.fsum(math.exp(s) for s in scores))
            row.append([s - total for s in scores])
        result.append(row)
    return result


os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "config.json"), "w") as f:
    json.dump(dict(model_type="gpt2", architectures=["GPT2LMHeadModel"], n_embd=24, n_head=2, n_layer=2, n_positions=POSITIONS,
                   vocab_size=VOCAB,
                   eos_token_id=5, max_length=9), f)
with open(os.path.join(folder, "case.json"), "w") as f:
    json.dump({"weights": {"source": "generated", "seed": 3}}, f)
subprocess.run(["attune", "compile", folder, "-o", program, "--emit=shared"], check=True)

# With as many beams as there are ids, two steps lose nothing: eos (5) after one id, or any two ids.
for prompt in ([0, 1], [3, 2], [4, 4]):
    pairs = [[a, b] for a in range(5) for b in range(VOCAB)]
    scores = log_probabilities([prompt + pair[:1] for pair in pairs])
    best = [((scores[0][1][5]) / 2, prompt + [5])]
    for pair, score in zip(pairs, scores):
        total = score[1][pair[0]] + score[2][pair[1]]
        # The end-of-sequence id does not count as part of the length.
        best.append((total / (3 if pair[1] == 5 else 4), prompt + pair))
    best.sort(reverse=True)
    out = generate(ids([prompt]), "--num-beams=6", "--num-return-sequences=3", "--max-length=4")
    for i in range(3):
        got = rows_of(out)[i]
        assert got[:len(best[i][1])] == best[i][1], (prompt, got, best[:4])
        assert abs(out["sequences_scores"][1][i] - best[i][0]) < 1e-5

# Each row alone, beside others, padded, with more threads: the same bits. Noise of sampling belongs to the number of a
# row; the length that beams are scored by counts padding, as in the reference library, so scores of different padding
# are compared without it.
prompts, masks = [[0, 0, 1], [0, 2, 3], [4, 1, 1]], [[0, 0, 1], [0, 1, 1], [1, 1, 1]]
batch = dict(ids(prompts), **ids(masks, "attention_mask"))
for flags in ([], ["--num-beams=3", "--length-penalty=0"], ["--sample", "--seed=7", "--temperature=1.5"]):
    outputs = [] if "--num-beams=3" in flags else ["--outputs=sequences,step_logits"]
    flags = flags + ["--max-new-tokens=6", "--set", "pad_token_id=0"] + outputs
    whole = generate(batch, *flags, "--threads=1")
    for threads in (2, 3):
        assert generate(batch, *flags, f"--threads={threads}") == whole
    for row in range(3):
        if "--sample" in flags:
            others = [[2, 2, 2] if i != row else prompts[i] for i in range(3)]
            beside = generate(dict(ids(others), **ids(masks, "attention_mask")), *flags)
            assert rows_of(beside)[row][:len(rows_of(whole)[row])] == rows_of(whole)[row][:len(rows_of(beside)[row])]
            continue
        visible = sum(masks[row])
        single = generate(ids([prompts[row][-visible:]]), *flags)
        got, expected = rows_of(whole)[row][3 - visible:], rows_of(single)[0]
        assert got[:len(expected)] == expected and not any(got[len(expected):]), (flags, got, expected)
        for name in set(whole) - {"sequences"}:
            a, b = rows_of(whole, name)[row], rows_of(single, name)[0]
            assert a[:len(b)] == b and not any(a[len(b):]), (flags, name)

# Step logits are the logits of one call with the whole sequence.
out = generate(ids([[1, 4]]), "--max-length=8", "--set=eos_token_id=null", "--set=no_repeat_ngram_size=2",
               "--outputs=step_logits,sequences", "--set=min_length=8")
sequence = rows_of(out)[0]
_, logits = call("run", "all", ids([sequence[:-1]]))["logits"]
assert out["step_logits"][0] == [1, 6, VOCAB]
assert max(abs(a - b) for a, b in zip(out["step_logits"][1], logits[VOCAB:])) < 1e-4

# config.json says 9; generation_config.json, which comes with the compiler, has been tested with it; flags go before both.
assert generate(ids([[1, 4]]), "--set=min_length=9")["sequences"][0] == [1, 9]
assert generate(ids([[1, 4]]), "--min-length=5", "--max-length=5")["sequences"][0] == [1, 5]
assert generate(ids([[1, 4]]), "--set=min_new_tokens=2", "--max-new-tokens=2")["sequences"][0] == [1, 4]
# Bad words and a penalty take effect; both beams give different results.
plain = rows_of(generate(ids([[1, 4]]), "--min-length=9"))[0]
assert plain[2] not in rows_of(generate(ids([[1, 4]]), f"--set=bad_words_ids=[[{plain[2]}]]"))[0][2:]
two = rows_of(generate(ids([[1, 4]]), "--num-beams=2", "--num-return-sequences=2", "--early-stopping", "--length-penalty=-1"))
assert two[0] != two[1]
# The prompt may fill the model's positions: one id more is chosen.
full = [[1, 2, 3, 4] * 3]
assert generate(ids(full), "--max-new-tokens=1")["sequences"][0] == [1, POSITIONS + 1]

# A model without a language-model head is an error.
headless = os.path.join(work, "headless")
os.makedirs(headless)
with open(os.path.join(folder, "config.json")) as f, open(os.path.join(headless, "config.json"), "w") as g:
    json.dump(dict(json.load(f), architectures=["GPT2Model"]), g)
with open(os.path.join(headless, "case.json"), "w") as f:
    json.dump({"weights": {"source": "generated", "seed": 3}}, f)
done = subprocess.run(["attune", "generate", headless, "--ids=1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
no_head = "'GPT2Model' has no language-model head, whose output 'logits' generation needs; its outputs: last_hidden_state"
assert done.returncode == 1 and no_head in done.stderr, done

# At temperatures so low that logits divided by them overflow, sampling chooses the best ids, whatever the seed.
greedy = generate(ids([[1, 4]]))
for temperature in ("1e-30", "1e-300", "5e-324"):
    assert generate(ids([[1, 4]]), "--sample", f"--temperature={temperature}", "--seed=5", "--top-k=3",
                    "--top-p=0.9") == greedy, temperature


def warnings(*flags):
    """Returns the messages of generate beside a result."""
    return subprocess.run(["attune-run", "generate", program, "--ids=1,4", "--output", path("out"), *flags], stderr=subprocess.PIPE,
                          text=True, check=True).stderr


# A warning names settings that the search does not use.
unsampled = "attune-run: warning: %s: no effect without --sample\n"
unbeamed = "attune-run: warning: %s: no effect without --num-beams of at least 2\n"
assert warnings("--temperature=0.5") == unsampled % "--temperature"
assert warnings("--top-k=3", "--top-p=0.5", "--seed=1", "--set=eta_cutoff=0.1") == unsampled % "--top-k, --top-p, --seed, --set eta_cutoff"
assert warnings("--temperature=0.5", "--num-beams=2") == unsampled % "--temperature"
assert warnings("--length-penalty=2", "--early-stopping") == unbeamed % "--length-penalty, --early-stopping"
assert warnings("--sample", "--temperature=0.5", "--seed=1") == warnings("--set=do_sample=true", "--top-p=0.5") == ""
assert warnings("--num-beams=2", "--length-penalty=2") == warnings("--max-new-tokens=1") == ""

# Prompts from flags, the shorter ones padded and masked, give the results of the same prompts from a file.
flags = subprocess.run(["attune-run", "generate", program, "--ids=4", "--ids=0,2,3", "--max-new-tokens=3"], stdout=subprocess.PIPE,
                       text=True, check=True).stdout
file = rows_of(generate(dict(ids([[0, 0, 4], [0, 2, 3]]), **ids([[0, 0, 1], [1, 1, 1]], "attention_mask")), "--max-new-tokens=3"))
assert flags.splitlines() == ["sequences I64 [2, 6]", f"[{file[0]},", f" {file[1]}]"], (flags, file)

# `attune generate` compiles a folder first.
good = ids([[1, 4]])
whole = generate(good, "--num-beams=2")
subprocess.run(["attune", "generate", folder, "--input", path("in"), "--output", path("folder"), "--num-beams", "2"], check=True)
subprocess.run(["attune", "diff", path("out"), path("folder")], check=True)
generate(ids(full), "--max-new-tokens=2", error="max_length is 14, at most 13 expected after these prompts: the model has 12 positions")
generate(good, "--max-length=1", error="max_length is 1, expected more than the 2 ids of the prompt")
generate(good, "--num-beams=7", error="num_beams is 7, expected at most the vocabulary's 6")
generate(good, "--num-return-sequences=2", error="num_return_sequences is 2, expected at most num_beams = 1")
generate(good, "--sample", "--num-beams=2", error="do_sample with num_beams = 2 is not supported")
generate(good, "--sample", "--temperature=0", error="temperature is 0, a positive number expected")
generate(good, "--max-length=5", "--max-new-tokens=3", error="expected one of --max-length and --max-new-tokens, got both")
generate(good, "--max-length=0", error="--max-length: expected an integer of at least 1, got 0")
generate(good, "--set=eos_token_id=9", error="eos_token_ids has 9, expected ids below the vocabulary's 6")
generate(good, "--set=beams=2", error="--set: unknown setting 'beams'; known are max_length, ")
generate(good, "--set=num_beams=many", error="--set: 'num_beams': expected an integer of at least 1, got \"many\"")
generate(good, "--set=penalty_alpha=0.5", error="--set: 'penalty_alpha': 0.5 is not implemented in this version")
generate(good, "--outputs=logits", error="--outputs: expected sequences, sequences_scores or step_logits, got 'logits'")
generate(good, "--outputs=sequences_scores",
         error="--outputs: 'sequences_scores' are those of beams, expected num_beams of at least 2, got 1")
generate(good, "--outputs=step_logits", "--num-beams=2", error="step logits with num_beams = 2 are not supported")
generate(ids([[1, 6]]), error="an id of the prompts is 6, expected an id below the vocabulary's 6")
generate(dict(good, **ids([[1, 0]], "attention_mask")),
         error="row 0 of input 'attention_mask' ends with 0, expected prompts that are padded on the left")
generate(ids([[1, 1]], "attention_mask"), error="input 'input_ids' is missing")
generate(ids([[1, 1]], "ids"), error="generates without an input 'ids'; 'input_ids' is what it begins with")
