# ===- embed_server.py - What examples/embed answers -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# embed_server.py PROGRAM MODEL DIR: sentences of all lengths, with mistakes among them. Answers are those of the model
# for each sentence alone, in order, and the same text for every number of sessions, threads and sentences per batch.

import array
import math
import os
import subprocess
import sys

import models

program, model, work = sys.argv[1:]
rng = models.generator("embed")
VOCABULARY, LONGEST, COUNT = 203, 40, 300
sentences = [[rng.randrange(VOCABULARY) for _ in range(rng.randint(1, LONGEST))] for _ in range(COUNT)]
lines = [" ".join(map(str, s)) for s in sentences]
mistakes = {17: ("7 203 1", f"error: id 203, expected 0 to {VOCABULARY - 1}"), 18: ("-1", f"error: id -1, expected 0 to {VOCABULARY - 1}"),
            40: ("", "error: no tokens"), 41: ("1 two 3", "error: expected ids, got 'two 3'"),
            299: ("1 " * 41, "error: more than 40 tokens")}
for index, (line, _) in mistakes.items():
    lines[index] = line


def serve(*arguments):
    done = subprocess.run([program, *arguments], input="\n".join(lines) + "\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    answers = done.stdout.splitlines()
    if done.returncode != 0 or len(answers) != COUNT:
        sys.exit(f"{arguments}: status {done.returncode}, {len(answers)} answers: {done.stderr}")
    return answers


answers = serve("1", "1", "1")
for index, (_, expected) in mistakes.items():
    if answers[index] != expected:
        sys.exit(f"sentence {index}: expected '{expected}', got '{answers[index]}'")
for arguments in (("3", "2", "8"), ("2", "1", "256"), ("8", "1", "3")):
    other = serve(*arguments)
    different = [i for i in range(COUNT) if other[i] != answers[i]]
    if different:
        sys.exit(f"{arguments}: sentence {different[0]}: {other[different[0]]} and alone {answers[different[0]]}")

inputs, outputs = os.path.join(work, "in.safetensors"), os.path.join(work, "out.safetensors")
for index in (0, 1, 298):
    models.save(inputs, {"input_ids": ("I64", [1, len(sentences[index])], sentences[index])})
    subprocess.run(["attune-test-reference", model, inputs, outputs], check=True)
    hidden = array.array("f", models.load(outputs)["last_hidden_state"][2])
    size = len(hidden) // len(sentences[index])
    mean = [sum(hidden[j::size]) / len(sentences[index]) for j in range(size)]
    norm = math.sqrt(sum(x * x for x in mean))
    # Components of a unit vector; hidden states agree within 5.3e-5 of values around 1.
    worst = max(abs(float(a) - b / norm) for a, b in zip(answers[index].split(), mean))
    if worst > 1e-5:
        sys.exit(f"sentence {index}: error {worst}")
print(f"{COUNT} sentences")
