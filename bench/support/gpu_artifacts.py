# ===- gpu_artifacts.py - The objects that bench/gpu measures --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the objects that bench/gpu measures into a folder for a machine with a GPU; lists them in artifacts.json."""
import array
import concurrent.futures
import json
import os
import random
import shutil

from support import safetensors
from support.models import ROOT, SEED, run

LINEAR = """module {{
  xfmr.weight @w : tensor<{n}x{k}xf32> = #xfmr.tensor<"w" : tensor<{n}x{k}xf32>>
  func.func @forward(%x: tensor<?x{k}xf32> {{xfmr.input = #xfmr.input<"x", [tokens, {k}]>}})
      -> (tensor<?x{n}xf32> {{xfmr.output = #xfmr.output<"y", [tokens, {n}]>}}) attributes {{xfmr.entry = #xfmr.entry<"forward">}} {{
    %w = xfmr.weight_ref @w : tensor<{n}x{k}xf32>
    %y = xfmr.linear %x, %w : tensor<?x{k}xf32>, tensor<{n}x{k}xf32>
    return %y : tensor<?x{n}xf32>
  }}
}}
"""

ATTENTION = """module {{
  func.func @forward(%q: tensor<?x?x{f}xf32> {{xfmr.input = #xfmr.input<"q", [batch, length, {f}]>}},
                     %k: tensor<?x?x{f}xf32> {{xfmr.input = #xfmr.input<"k", [batch, length, {f}]>}},
                     %v: tensor<?x?x{f}xf32> {{xfmr.input = #xfmr.input<"v", [batch, length, {f}]>}})
      -> (tensor<?x?x{f}xf32> {{xfmr.output = #xfmr.output<"y", [batch, length, {f}]>}})
      attributes {{xfmr.entry = #xfmr.entry<"forward">}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %batch = tensor.dim %q, %c0 : tensor<?x?x{f}xf32>
    %length = tensor.dim %q, %c1 : tensor<?x?x{f}xf32>
    %offsets = xfmr.sequence_offsets %batch, %length
    %q0 = tensor.collapse_shape %q [[0, 1], [2]] : tensor<?x?x{f}xf32> into tensor<?x{f}xf32>
    %k0 = tensor.collapse_shape %k [[0, 1], [2]] : tensor<?x?x{f}xf32> into tensor<?x{f}xf32>
    %v0 = tensor.collapse_shape %v [[0, 1], [2]] : tensor<?x?x{f}xf32> into tensor<?x{f}xf32>
    %q1 = xfmr.split_heads %q0, {h} : tensor<?x{f}xf32>
    %k1 = xfmr.split_heads %k0, {h} : tensor<?x{f}xf32>
    %v1 = xfmr.split_heads %v0, {h} : tensor<?x{f}xf32>
    %a = xfmr.attention %q1, %k1, %v1 offsets(%offsets, %offsets) lengths(%length, %length) {{scale = {scale!r} : f64{causal}}}
        : tensor<?x{h}x{d}xf32>, tensor<?x{h}x{d}xf32>, tensor<?x{h}x{d}xf32> -> tensor<?x{h}x{d}xf32>
    %m = xfmr.merge_heads %a : tensor<?x{h}x{d}xf32>
    %y = tensor.expand_shape %m [[0, 1], [2]] output_shape [%batch, %length, {f}] : tensor<?x{f}xf32> into tensor<?x?x{f}xf32>
    return %y : tensor<?x?x{f}xf32>
  }}
}}
"""

# For each set: projections (tokens, features, outputs), formats of weights for products of 16 bits, of these and
# of models that decode, attentions (batch, heads, length, head size, causal), models (fixture, changes of its
# configuration, (batch, length) of each call) and models that decode one token (fixture, changes, (batch, tokens in the
# caches) of each call). Shapes are those of real models, or large ones.
SETS = {
    "full": {
        "linear": [([1, 16, 64, 128, 1024, 8192], 8192, 8192), ([1, 128, 16384], 768, 3072), ([1, 128, 16384], 3072, 768)],
        "formats": ["int4:32", "int8:32", "int4:128"],
        "attention": [([(1, 8192), (16, 512)], 16, 128, False), ([(1, 8192)], 16, 128, True), ([(16, 512)], 12, 64, False)],
        "models": [("bert_base_synth", {}, [(1, 128), (8, 128), (128, 128), (1, 512), (8, 512), (128, 512)]),
                   ("bert_base_synth", {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096},
                    [(1, 128), (8, 128), (128, 128), (1, 512), (8, 512), (128, 512)]),
                   ("gpt2_synth", {}, [(1, 128), (8, 512), (8, 1)])],
        "cases": ["bert_base", "bert_minimal_config", "distilbert_base", "gpt2_forward", "llama_forward", "vit_base"],
    },
    # No number of rows, columns or components is a multiple of a tile's.
    "odd": {"linear": [([1, 17, 100, 1000], 784, 8248)], "formats": ["int4:16:asym", "int8:16", "int4:32", "int8:0:f32", "int8:32:asym"],
            "attention": [([(3, 333)], 5, 72, False), ([(3, 333)], 5, 72, True), ([(2, 77)], 3, 20, True)], "models": [], "cases": []},
    # Mixtures of experts: 8 experts, of which each token chooses 2.
    "experts": {"linear": [], "formats": [], "attention": [],
                "models": [("families/mixtral_window",
                            {"vocab_size": 32000, "hidden_size": 1024, "intermediate_size": 3584, "num_hidden_layers": 4,
                             "num_attention_heads": 16, "num_key_value_heads": 8, "num_local_experts": 8,
                             "max_position_embeddings": 4096, "sliding_window": None},
                            [(1, 1), (1, 128), (8, 512)])], "cases": []},
    # One token, with others in the caches, of the shape of TinyLlama 1.1B.
    "decode": {"linear": [], "formats": ["int4:32", "int8:32"], "attention": [], "models": [], "cases": [],
               "decode": [("llama_forward", {"vocab_size": 32000, "hidden_size": 2048, "intermediate_size": 5632, "num_hidden_layers": 22,
                                             "num_attention_heads": 32, "num_key_value_heads": 4, "max_position_embeddings": 2048},
                           [(1, 128), (1, 1900), (16, 128)])]},
    "small": {"linear": [([1, 70], 48, 136), ([3], 1104, 40)], "formats": ["int4:16:asym"],
              "attention": [([(2, 70)], 2, 16, False), ([(1, 70)], 2, 16, True)], "models": [("bert_minimal_config", {}, [(2, 5)])],
              "cases": ["distilbert_base"], "decode": [("llama_forward", {}, [(2, 8)])]},
}
# The rows of "small" that compile fastest.
SETS["tiny"] = {**SETS["small"], "attention": SETS["small"]["attention"][1:], "models": [], "cases": [], "decode": []}


class Preparation:
    def __init__(self, attune, folder, gpu, dtypes, jobs):
        self.attune, self.folder, self.gpu, self.dtypes, self.rows = attune, folder, gpu, dtypes, []
        self.compilations = concurrent.futures.ThreadPoolExecutor(jobs)
        os.makedirs(folder, exist_ok=True)

    def compile(self, source, name, dtype, *flags):
        path = os.path.join(self.folder, f"{name}-{dtype}.so")
        run(self.attune, "compile", source, "-o", path, "--emit=shared", "--target=cuda", "--dtype=" + dtype,
            *([f"--gpu={self.gpu}"] if self.gpu else []), *flags)
        return os.path.basename(path)

    def add(self, name, source, *flags, dtypes=None, **row):
        for dtype in self.dtypes if dtypes is None else dtypes:
            compiled = self.compilations.submit(self.compile, source, name, dtype, *flags)
            self.rows.append({"name": name, "dtype": dtype, "object": compiled, **row})

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    def linear(self, tokens, k, n, formats):
        name, some = f"linear-{k}-{n}", random.Random(k * n)
        source, most = self.write(name + ".mlir", LINEAR.format(k=k, n=n)), min(n * k, 1000003)

        def add(name, values, *flags, **more):
            weights = os.path.join(self.folder, name + ".safetensors")
            # Rows repeat with a period that differs from all tile sizes.
            data = (values * (n * k // len(values) + 1))[:n * k]
            safetensors.save(weights, {"w": ("F32", [n, k], data.tobytes())})
            self.add(name, source, "--weights=" + weights, *flags, kind="linear", tokens=tokens, k=k, n=n,
                     weights=os.path.basename(weights), **more)

        add(name, array.array("f", [some.uniform(-1, 1) / k**0.5 for _ in range(most)]))
        # Every format keeps small integers times a power of two.
        small = array.array("f", [some.randrange(8) * 2.0**(-3 - k.bit_length() // 2) for _ in range(most)])
        for form in formats:
            add(name + "-" + form.replace(":", "-"), small, "--weights-format=" + form, dtypes=[d for d in self.dtypes if d != "f32"])

    def attention(self, calls, heads, size, causal):
        name = f"attention-{heads}-{size}" + ("-causal" if causal else "")
        text = ATTENTION.format(h=heads, d=size, f=heads * size, scale=float(size) ** -0.5, causal=", causal" if causal else "")
        self.add(name, self.write(name + ".mlir", text), kind="attention", calls=calls, heads=heads, size=size, causal=causal)

    def model(self, fixture, changes, calls):
        name, folder, config = self.initialize(fixture, changes)
        output = "last_hidden_state" if config["model_type"] == "bert" else "logits"
        self.add(name, folder, "--outputs=" + output, kind="model", calls=calls, model_type=config["model_type"], folder=name,
                 output=output, config=config)

    def decode(self, fixture, changes, calls, formats):
        name, folder, _ = self.initialize(fixture, changes)
        for form in ["native", *formats]:
            self.add(f"{name}-decode-{form.replace(':', '-')}", folder, *([] if form == "native" else ["--weights-format=" + form]),
                     dtypes=[d for d in self.dtypes if form == "native" or d != "f32"], kind="decode", calls=calls)

    def initialize(self, fixture, changes):
        """Makes a folder of a model with random weights and the configuration of |fixture| with |changes|. Returns the
        model's name, the folder and the configuration."""
        with open(os.path.join(ROOT, "test", "fixtures", fixture, "config.json")) as f:
            config = {**json.load(f), **changes}
        name = f"{config['model_type']}-{config.get('hidden_size', config.get('n_embd'))}"
        source, folder = os.path.join(self.folder, name + "-config"), os.path.join(self.folder, name)
        os.makedirs(source, exist_ok=True)
        with open(os.path.join(source, "config.json"), "w") as f:
            json.dump(config, f)
        run(self.attune, "init", source, "-o", folder, "--seed", SEED)
        return name, folder, config

    def case(self, name):
        source = os.path.join(ROOT, "test", "fixtures", name)
        shutil.copytree(source, os.path.join(self.folder, "cases", name), dirs_exist_ok=True)
        with open(os.path.join(source, "case.json")) as f:
            case = json.load(f)
        # The model must compute the outputs that the case compares; members of groups have numbers behind their names.
        outputs = list(dict.fromkeys(output.split(".")[0] for output in case["outputs"])) if case["call"]["function"] == "forward" else []
        self.add("case-" + name, source, *(["--outputs=" + ",".join(outputs)] if outputs else []), kind="case", case=name)


def prepare(attune, folder, which, gpu, dtypes, jobs):
    """Compiles all objects of the set |which| for each of |dtypes|, |jobs| at a time."""
    preparation = Preparation(attune, folder, gpu, dtypes, jobs)
    for kind, one in (("cases", lambda case: preparation.case(case)),
                      ("linear", lambda row: preparation.linear(*row, SETS[which]["formats"])),
                      ("attention", lambda row: preparation.attention(*row)), ("models", lambda row: preparation.model(*row)),
                      ("decode", lambda row: preparation.decode(*row, SETS[which]["formats"]))):
        for row in SETS[which].get(kind, []):
            one(row)
    try:
        rows = [dict(row, object=row["object"].result()) for row in preparation.rows]
    finally:
        preparation.compilations.shutdown(cancel_futures=True)
    with open(os.path.join(folder, "artifacts.json"), "w") as f:
        json.dump(rows, f, indent=1)
    return len(rows)
