# ===- tied_embeddings.py - Tables that are read from the weights of heads -===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# tied_embeddings.py DIR CPU…: small models whose word table is also the matrix of their head, in each type of products
# and format of weights. Checks that
#
# - the input of the first layer has the table in the type of the head: for f32 and bf16 as it is computed here, for
#   formats the table itself, whose values the format represents, and for plain int8 within half a scale;
# - this is the same on every CPU and for every number of threads, and steps through the caches have the bits of one call;
# - the weights file has the table once, with the bytes of its closed form, and is smaller than that of a model with a head
#   of its own by the rows in f32.

import json
import math
import os
import shutil
import re
import struct
import sys

import models
from sweep import run

# No multiple of a panel, of a group or of a vector.
WORDS, HIDDEN, POSITIONS = 75, 88, 16
IDS = [3, 0, 74, 31, 32, 33, 63, 64, 17, 3, 65]
BASE = {
    "gpt2": {"architectures": ["GPT2LMHeadModel"], "vocab_size": WORDS, "n_embd": HIDDEN, "n_layer": 1, "n_head": 2,
             "n_positions": POSITIONS},
    "t5": {"architectures": ["T5ForConditionalGeneration"], "vocab_size": WORDS, "d_model": HIDDEN, "d_kv": 8, "d_ff": 48, "num_layers": 1,
           "num_heads": 2, "decoder_start_token_id": 0},
    "marian": {"architectures": ["MarianMTModel"], "vocab_size": WORDS, "d_model": HIDDEN, "encoder_layers": 1, "decoder_layers": 1,
               "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
               "max_position_embeddings": POSITIONS, "scale_embedding": True, "decoder_start_token_id": 0, "pad_token_id": 1,
               "eos_token_id": 2},
    "bert": {"architectures": ["BertForMaskedLM"], "vocab_size": WORDS, "hidden_size": HIDDEN, "num_hidden_layers": 1,
             "num_attention_heads": 2, "intermediate_size": 48, "max_position_embeddings": POSITIONS},
    "llama": {"architectures": ["LlamaForCausalLM"], "vocab_size": WORDS, "hidden_size": HIDDEN, "num_hidden_layers": 1,
              "num_attention_heads": 2, "intermediate_size": 48, "max_position_embeddings": POSITIONS},
    "gemma": {"architectures": ["GemmaForCausalLM"], "vocab_size": WORDS, "hidden_size": HIDDEN, "num_hidden_layers": 1,
              "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "intermediate_size": 48,
              "max_position_embeddings": POSITIONS},
}
TABLES = {"gpt2": "transformer.wte.weight", "t5": "shared.weight", "marian": "model.shared.weight",
          "bert": "bert.embeddings.word_embeddings.weight", "llama": "model.embed_tokens.weight", "gemma": "model.embed_tokens.weight"}
# The states of the first stack of encoder-decoders.
STATES = {"t5": "encoder_hidden_states", "marian": "encoder_hidden_states"}
FORMATS = ["int8:0", "int8:16:asym", "int4:32", "int4:16:f32", "int4:128:asym:f32"]


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def f16(x):
    return struct.unpack("<e", struct.pack("<e", x))[0]


def bf16(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


def represented(rng, format):
    """Returns a table that |format| represents: in each group all extreme integers occur."""
    kind, size, *rest = format.split(":")
    most, size, narrow = 1 << int(kind[3:]) - 1, int(size) or HIDDEN, f32 if rest == ["f32"] else f16
    table = []
    for _ in range(WORDS):
        for begin in range(0, HIDDEN, size):
            count = min(size, HIDDEN - begin)
            scale, low = narrow(rng.uniform(1e-3, 4e-3)), 0.0
            if "asym" in rest:
                low, integers = narrow(rng.uniform(-0.3, 0.1)), [0, 2 * most - 1] + [rng.randrange(2 * most) for _ in range(count - 2)]
            else:
                integers = [-most] + [rng.randrange(-most, most) for _ in range(count - 1)]
            rng.shuffle(integers)
            table += [f32(scale * q + low) for q in integers]
    return table


class Model:
    """A model folder of |family| with the word table |table|, or with random weights if it is None."""

    def __init__(self, family, work, table=None, tied=True):
        self.folder, self.family, self.compiled = os.path.join(work, family + ("" if tied else "-untied")), family, {}
        os.makedirs(os.path.join(work, "config"), exist_ok=True)
        with open(os.path.join(work, "config", "config.json"), "w") as f:
            json.dump({"model_type": family, **BASE[family], "tie_word_embeddings": tied}, f)
        # init replaces only weights that it generated, and these are changed below.
        shutil.rmtree(self.folder, ignore_errors=True)
        run("attune", "init", os.path.join(work, "config"), "-o", self.folder, "--seed=5")
        file = os.path.join(self.folder, "model.safetensors")
        self.tensors = {name: (dtype, shape, list(struct.unpack(f"<{models.product(shape)}{'f' if dtype == 'F32' else 'q'}", data)))
                        for name, (dtype, shape, data) in models.load(file).items()}
        assert self.tensors[TABLES[family]][1] == [WORDS, HIDDEN]
        if table:
            self.tensors[TABLES[family]] = ("F32", [WORDS, HIDDEN], table)
            models.save(file, self.tensors)

    def table(self):
        return self.tensors[TABLES[self.family]][2]

    def compile(self, *flags):
        """Returns the object of this model with |flags|; its weights file is beside it."""
        if flags not in self.compiled:
            self.compiled[flags] = f"{self.folder}.{len(self.compiled)}.so"
            run("attune", "compile", self.folder, "-o", self.compiled[flags], "--emit=shared",
                "--outputs=logits," + STATES.get(self.family, "hidden_states"), *flags)
        return self.compiled[flags]

    def call(self, output, *flags, threads=2, steps=None):
        """Returns |output| of a call with IDS, by name."""
        shared, file, inputs = self.compile(*flags), self.folder + ".out", self.folder + ".in"
        tensors = {"input_ids": ("I64", [1, len(IDS)], IDS)}
        if self.family in STATES:
            tensors["decoder_input_ids"] = ("I64", [1, 2], [0, 5])
        models.save(inputs, tensors)
        run("attune-run", "run", "--model=" + shared, "--input", inputs, "--output", file, "--outputs=" + output, f"--threads={threads}",
            *([f"--steps={steps}"] if steps else []))
        return {name: floats(entry) for name, entry in models.load(file).items()}

    def first_states(self, *flags, threads=2):
        """Returns the input of the first layer."""
        group = STATES.get(self.family, "hidden_states")
        return self.call(group, *flags, threads=threads)[group + ".0"]

    def stored(self, *flags):
        """Returns (bytes, layout) of the weights that the table is the source of, and the bytes of all weights."""
        own, total = [], 0
        for line in run("attune", "inspect", self.compile(*flags)[:-3] + ".weights").splitlines():
            if match := re.match(r"  \S+ .*\]\s+(\S+)\s+offset \d+\s+bytes (\d+)\s+(.*)", line):
                total += int(match[2])
                own += [(int(match[2]), match[1])] if f'"{TABLES[self.family]}"' in match[3] else []
        return own, total


def floats(entry):
    return list(struct.unpack(f"<{models.product(entry[1])}f", entry[2]))


def check_gpt2(model, expected, cpus, label, *flags):
    """Checks that the first states are |expected|, a table, plus positions, on all |cpus|; and the steps of each."""
    positions, want = model.tensors["transformer.wpe.weight"][2], []
    for t, token in enumerate(IDS):
        want += [f32(a + b) for a, b in zip(expected[token * HIDDEN:(token + 1) * HIDDEN], positions[t * HIDDEN:(t + 1) * HIDDEN])]
    for cpu in cpus:
        for threads in (1, 3):
            got = model.first_states(*flags, "--cpu=" + cpu, threads=threads)
            wrong = [i for i, pair in enumerate(zip(got, want)) if pair[0] != pair[1]]
            assert not wrong, f"{label} on {cpu}: {len(wrong)} of {len(want)} differ, the first at {divmod(wrong[0], HIDDEN)}"
        whole, steps = (model.call("logits", *flags, "--cpu=" + cpu, steps=steps) for steps in (None, "1,4,1,5"))
        assert whole == steps, f"{label} on {cpu}: logits of steps differ"


def check_int8(model, cpus):
    """Checks int8 with a scale per row: each element is a multiple of the scale, the nearest one."""
    table, positions, states = model.table(), model.tensors["transformer.wpe.weight"][2], set()
    for cpu in cpus:
        got = model.first_states("--dtype=int8", "--weights-format=native", "--cpu=" + cpu)
        states.add(tuple(got))
        for t, token in enumerate(IDS):
            row = table[token * HIDDEN:(token + 1) * HIDDEN]
            scale = max(map(abs, row)) / 127
            for k, w in enumerate(row):
                value = got[t * HIDDEN + k] - positions[t * HIDDEN + k]
                assert abs(value - round(w / scale) * scale) < 1e-3 * scale or abs(abs(value - w) - scale / 2) < 1e-3 * scale, (t, k)
    assert len(states) == 1, "int8: CPUs differ"


def panel_bytes(layout, dtype):
    """Returns the bytes of the table in panels of |layout|."""
    _, width, *format = layout.split(":")
    rows = -(-WORDS // int(width.split("x")[0])) * int(width.split("x")[0])
    if not format:
        group = int(width.split("x")[1]) if "x" in width else 1
        return rows * -(-HIDDEN // group) * group * {"f32": 4, "bf16": 2, "int8": 1}[dtype]
    size = int(format[1]) or -(-HIDDEN // 32) * 32
    head = (4 if "f32" in format else 2) * (2 if "asym" in format else 1)
    return rows * -(-HIDDEN // size) * (head + size * int(format[0][3:]) // 8)


def check_sizes(work, cpu):
    tied, untied = Model("gpt2", work), Model("gpt2", work, tied=False)
    for flags in (["--dtype=f32"], ["--dtype=bf16"], ["--dtype=int8", "--weights-format=native"],
                  *(["--dtype=int8", "--weights-format=" + format] for format in FORMATS[-2:])):
        own, total = tied.stored("--cpu=" + cpu, *flags)
        panels = [entry for entry in own if entry[1] != "rows"]
        assert [size for size, _ in panels] == [panel_bytes(layout, flags[0][8:]) for _, layout in panels[:1]], (flags, own)
        # Vectors of plain int8: scales and, for some CPUs, sums of rows.
        assert all(size == 4 * WORDS for size, layout in own if layout == "rows"), (flags, own)
        difference = untied.stored("--cpu=" + cpu, *flags)[1] - total
        assert difference == 4 * WORDS * HIDDEN, (flags, difference)


def check_families(work, cpus):
    """Checks that the first states are those of an f32 model with a rounded table."""
    for family in BASE:
        model = Model(family, work)
        table = model.table()
        # The head of T5 multiplies the table by a factor, and its embedding divides by it.
        factor = 1 / math.sqrt(HIDDEN) if family == "t5" else 1.0
        rounded = [f32(bf16(f32(w * factor)) * (1 / factor)) for w in table]
        assert rounded != table
        got = [model.first_states("--dtype=bf16", "--cpu=" + cpu) for cpu in cpus]
        own, _ = model.stored("--dtype=bf16", "--cpu=" + cpus[0])
        assert len(own) == 1 and own[0][0] == panel_bytes(own[0][1], "bf16"), (family, own)
        plain = Model(family, work, rounded)
        assert all(states == plain.first_states("--cpu=" + cpus[0]) for states in got), family
        # In f32 the table of T5 is stored twice, others once.
        own, _ = plain.stored("--cpu=" + cpus[0])
        assert len(own) == (2 if family == "t5" else 1), (family, own)


def main(work, *cpus):
    rng = models.generator("tied")
    model = Model("gpt2", work)
    table = model.table()
    check_gpt2(model, table, cpus, "f32")
    check_gpt2(model, list(map(bf16, table)), cpus, "bf16", "--dtype=bf16")
    check_int8(model, cpus)
    for format in FORMATS:
        table = represented(rng, format)
        gpt2 = Model("gpt2", work, table)
        check_gpt2(gpt2, table, cpus, format, "--dtype=int8", "--weights-format=" + format)
        if format == FORMATS[0]:
            for dtype in ("f32", "bf16"):
                check_gpt2(gpt2, table, cpus, dtype + "-" + format, "--dtype=" + dtype, "--weights-format=" + format)
    check_sizes(work, cpus[0])
    check_families(work, cpus)


if __name__ == "__main__":
    main(*sys.argv[1:])
