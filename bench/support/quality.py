# ===- quality.py - Divergence and agreement of formats of weights ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a trained model by the reference and by every side, and compares their outputs.

A language model reads windows of a text. The reference is PyTorch in f32; a window goes through all sides before the next
one, so that no file of logits is kept, and an interrupt (Ctrl-C) ends a measurement with the windows that all sides have:

    window of ids ---> reference ---> log p
                  ---> attune, one object a format      ---> log q ---> KL(p || q), -log q of the next id, same best id
                  ---> llama.cpp, one process a type    ---> log q ---> ...
"""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
import torch
import transformers
from safetensors.numpy import load_file, save_file

from RealModels import checks, folders, ours, texts

HERE = pathlib.Path(__file__).resolve().parent.parent

# Flags of Attune for each label. The first three are types of products, not formats of weights.
FORMATS = {
    "f32": [],
    "bf16": ["--dtype=bf16"],
    "int8": ["--dtype=int8"],
    **{name: ["--dtype=int8", "--weights-format=" + name]
       for bits in ("int8", "int4") for group in (0, 16, 32, 64, 128) for name in (f"{bits}:{group}", f"{bits}:{group}:asym")},
    # Mixtures, of language models alone: the head has 8 bits.
    **{f"{name}/head": ["--dtype=int8", f"--weights-format={name},lm_head=int8:32"] for name in ("int4:32", "int4:32:asym")},
}
# The formats that are measured unless others are named. A + at the end stands for --calibrate.
DEFAULT = ("f32", "int8", "int8:32", "int4:16:asym", "int4:16:asym+", "int4:32:asym", "int4:32:asym+", "int4:32", "int4:32+", "int4:64",
           "int4:128")
# Types of llama.cpp. Those with M or S are mixtures.
TYPES = ("q8_0", "q6_K", "q5_K_M", "q5_1", "q5_0", "q4_K_M", "q4_K_S", "q4_1", "iq4_nl", "q4_0", "q3_K_M")
# Name of a model here, the trained model, and whether it is rewritten by rescale().
MODELS = {"smollm2-rescaled": ("smollm2", True), "smollm2": ("smollm2", False), "minilm": ("minilm", False)}
WINDOW, BATCH = 512, 2


def rescale(tensors, layers, groups):
    """Rewrites a Llama so that it computes the same function with different weights.

    Every column of a projection is multiplied by a number of its own from 0.84 to 1.19, and what it is multiplied with, the
    scale of a norm or a row of the projection before, is divided by it. No group of columns of the source then shares a
    scale: a model whose package quantized it becomes one that no format represents exactly, with weights of nearly the same
    size.
    """
    numbers = numpy.random.RandomState(0)

    def factors(count):
        return 2 ** numbers.uniform(-0.25, 0.25, count)

    def multiply(name, by):
        tensors[name] = (tensors[name] * by).astype(numpy.float32)

    def rescale_norm(norm, users):
        columns = factors(len(tensors[norm]))
        multiply(norm, 1 / columns)
        for user in users:
            multiply(user, columns)

    for layer in range(layers):
        at = f"model.layers.{layer}."
        rescale_norm(at + "input_layernorm.weight", [f"{at}self_attn.{part}_proj.weight" for part in "qkv"])
        rescale_norm(at + "post_attention_layernorm.weight", [at + "mlp.gate_proj.weight", at + "mlp.up_proj.weight"])
        rows = factors(tensors[at + "self_attn.v_proj.weight"].shape[0])
        repeat = tensors[at + "self_attn.o_proj.weight"].shape[1] // len(rows)
        multiply(at + "self_attn.v_proj.weight", 1 / rows[:, None])
        multiply(at + "self_attn.o_proj.weight", numpy.repeat(rows.reshape(groups, -1), repeat, axis=0).reshape(-1))
        rows = factors(tensors[at + "mlp.up_proj.weight"].shape[0])
        multiply(at + "mlp.up_proj.weight", 1 / rows[:, None])
        multiply(at + "mlp.down_proj.weight", rows)
    rescale_norm("model.norm.weight", ["lm_head.weight"])


def language_model(name, options):
    """Returns the folder of a model whose head is stored apart from its embedding, made the first time."""
    trained, rescaled = MODELS[name]
    source, folder = folders.folder_of(folders.MODELS[trained], options.packages), options.work / name
    if folder.is_dir():
        return folder
    partial = folder.with_name(name + ".partial")
    partial.mkdir(parents=True, exist_ok=True)
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    tensors = load_file(source / "model.safetensors")
    if config["tie_word_embeddings"]:
        tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].copy()
    if rescaled:
        rescale(tensors, config["num_hidden_layers"], config["num_key_value_heads"])
    save_file(tensors, partial / "model.safetensors")
    (partial / "config.json").write_text(json.dumps({**config, "tie_word_embeddings": False}), encoding="utf-8")
    for file in ("tokenizer.json", "tokenizer_config.json", "generation_config.json"):
        (partial / file).write_bytes((source / file).read_bytes())
    partial.rename(folder)
    return folder


def calibration(label, options):
    """Returns the flag that calibrates a format whose label ends with a plus. The texts are descriptions of manual pages."""
    if not label.endswith("+"):
        return []
    path = options.work / "calibration.txt"
    entries = texts.manual_entries(10**6)
    path.write_text("".join(description + "\n" for _, description in entries[:: max(1, len(entries) // 64)][:12]), encoding="utf-8")
    return [f"--calibrate={path}"]


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True)
    if result.returncode != 0:
        raise ours.CommandFailed(f"{' '.join(map(str, command[:3]))} …: exit status {result.returncode}: "
                                 f"{result.stderr.decode(errors='replace').strip()[-500:]}")
    return result.stdout


class Ours:
    """An object of ours in one format."""

    def __init__(self, label, folder, options, matrix_weights):
        self.label, self.maker, self.options = label, "attune", options
        name = label.removesuffix("+")
        self.object = options.work / f"{folder.name}-{re.sub('[^a-z0-9]', '-', label.replace('+', '-calibrated'))}.so"
        flags = FORMATS[name] + calibration(label, options)
        tool = pathlib.Path(options.build, "bin", "attune")
        if not self.object.exists() or self.object.stat().st_mtime < tool.stat().st_mtime:
            run(tool, "compile", folder, "-o", self.object, "--emit=shared", "--outputs=logits", *flags)
        self.tool = tool
        listed = json.loads(run(tool, "inspect", "--json", self.object.with_suffix(".weights")))
        if name in ("f32", "bf16"):
            self.bits = {"f32": 32, "bf16": 16}[name]
        else:
            sizes = [w["bytes"] for w in listed["weights"] if "quantized" in w["source"] or "row_scales" in w["source"]]
            self.bits = 8 * sum(sizes) / matrix_weights

    def logits(self, ids, scratch):
        given, made = f"{scratch}/ids.safetensors", f"{scratch}/logits.safetensors"
        save_file({"input_ids": ids.astype(numpy.int64)}, given)
        run(self.tool, "run", self.object, f"--input={given}", f"--output={made}", f"--threads={self.options.threads}")
        result = load_file(made)["logits"]
        os.remove(made)
        return result


class Peer:
    """A process of llama.cpp with weights of one type, for the ids in a file of 32-bit integers."""

    def __init__(self, label, folder, options, ids):
        self.label, self.maker = label, "llama.cpp"
        worker = options.peers / "llama-worker"
        source, path = options.work / f"{folder.name}-f32.gguf", options.work / f"{folder.name}-{label}.gguf"
        if not source.exists():
            run(options.peers / "env" / "bin" / "python", HERE / "llama" / "gguf_model.py", folder, source, "f32")
        if label != "f32" and not path.exists():
            run(worker, "quantize", source, str(path) + ".part", label, "--keep-embedding")
            os.replace(str(path) + ".part", path)
        self.bits = self.measure_bits(path)
        self.process = subprocess.Popen([worker, "logits", path, ids, f"--threads={options.threads}"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.next = 0

    @staticmethod
    def measure_bits(path):
        from gguf import GGUFReader

        matrices = [t for t in GGUFReader(path).tensors if len(t.shape) == 2 and t.name != "token_embd.weight"]
        return 8 * sum(int(t.n_bytes) for t in matrices) / sum(int(t.n_elements) for t in matrices)

    def logits(self, ids, scratch):
        result = []
        for window in ids:
            path = f"{scratch}/logits.bin"
            self.process.stdin.write(f"window {self.next} {len(window)} {path}\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
            if "error" in answer:
                raise ours.CommandFailed(f"llama-worker, {self.label}: {answer['error']}")
            self.next += len(window)
            result.append(numpy.fromfile(path, numpy.float32).reshape(len(window), -1))
            os.remove(path)
        return numpy.stack(result)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Divergence:
    """Sums over tokens, and the mean of each window."""

    def __init__(self):
        self.windows, self.surprise, self.same, self.tokens = [], 0.0, 0, 0

    def add(self, divergence, surprise, same, tokens):
        """Adds a window of measure_windows."""
        self.windows.append(divergence / tokens)
        self.surprise, self.same, self.tokens = self.surprise + surprise, self.same + same, self.tokens + tokens

    def summary(self):
        mean = float(numpy.mean(self.windows))
        error = float(numpy.std(self.windows, ddof=1) / math.sqrt(len(self.windows))) if len(self.windows) > 1 else math.nan
        return {"kl": mean, "kl_error": error, "perplexity": math.exp(self.surprise / self.tokens), "same": self.same / self.tokens}


class Expected:
    """The distributions of the reference: log probabilities [windows, tokens, ids] and the id that follows each token."""

    def __init__(self, logits, targets):
        self.logs, self.targets = torch.log_softmax(logits, -1), targets
        self.shares, self.best = self.logs.exp(), self.logs.argmax(-1)

    def measure(self, logits):
        """Returns divergence, surprise, the number of equal best ids and of tokens of each window."""
        got = torch.log_softmax(logits, -1)
        surprise = -got.gather(-1, self.targets[..., None]).sum((-1, -2), dtype=torch.float64)
        same = (got.argmax(-1) == self.best).sum(-1)
        divergence = torch.sub(self.logs, got, out=got).mul_(self.shares).sum(-1).sum(-1, dtype=torch.float64)
        return [(d.item(), s.item(), int(n), self.targets.shape[1]) for d, s, n in zip(divergence, surprise, same)]


def report_progress(text):
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def measure_language_model(name, options):
    folder = language_model(name, options)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    matrices = sum(p.numel() for n, p in model.named_parameters() if p.dim() == 2 and "embed" not in n)
    text = texts.python_reference(options.kilobytes * 1000)
    ids = numpy.array(tokenizer(text)["input_ids"])
    ids = ids[: len(ids) // (WINDOW * BATCH) * WINDOW * BATCH]
    sides = [Ours(label, folder, options, matrices) for label in options.formats.split(",") if label]
    if (options.peers / "llama-worker").exists():
        words = options.work / "ids.bin"
        ids.astype(numpy.int32).tofile(words)
        sides += [Peer(label, folder, options, words) for label in options.types.split(",") if label]
    else:
        print(f"{options.peers}: no llama-worker there (bench/llama/setup makes it); ours is measured alone", file=sys.stderr)
    found = {side: Divergence() for side in [None, *sides]}  # None is the reference
    batches = ids.reshape(-1, BATCH, WINDOW)
    done = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as scratch, torch.no_grad():
        try:
            for batch in batches:
                report_progress(f"{name}: batch {done + 1} of {len(batches)}")
                ids_of_batch = torch.from_numpy(batch)
                logits = model(ids_of_batch).logits[:, :-1]
                expected = Expected(logits, ids_of_batch[:, 1:])
                outputs = {None: expected.measure(logits)}
                for side in sides:
                    outputs[side] = expected.measure(torch.from_numpy(side.logits(batch, scratch))[:, :-1])
                # Only now, so that all sides have the same windows.
                for side, windows in outputs.items():
                    for window in windows:
                        found[side].add(*window)
                done += 1
        except KeyboardInterrupt:
            if done == 0:
                raise
    report_progress("")
    for side in sides:
        if isinstance(side, Peer):
            side.close()
    rows = [{"label": side.label, "maker": side.maker, "bits": side.bits, **found[side].summary()} for side in sides]
    tokens = f"{done * BATCH * WINDOW} of {len(ids)} tokens of {len(text) / 1000:.0f} kB in windows of {WINDOW}"
    return {"name": name, "kind": "language model", "text": tokens,
            "perplexity": found[None].summary()["perplexity"], "rows": rows}


def measure_sentences(name, options):
    """Compares embeddings with those in f32, and the pages that they find."""
    folder = folders.folder_of(folders.MODELS[MODELS[name][0]], options.packages)
    pairs = texts.manual_entries(10**6)
    sentences = [text for pair in pairs for text in pair]
    rows, reference, numbers = [], None, numpy.arange(len(pairs))
    with tempfile.TemporaryDirectory() as work:
        tool = ours.Attune(pathlib.Path(options.build, "bin", "attune"), work, options.threads)
        for label in ["f32"] + [label for label in options.formats.split(",") if label and label != "f32" and "/" not in label]:
            report_progress(f"{name}: {label}")
            vectors = tool.embed(folder, sentences, *FORMATS[label.removesuffix("+")], *calibration(label, options))
            order = checks.ranks_of_targets(vectors[0::2], vectors[1::2])
            if reference is None:
                reference, expected = vectors, order
            cosine = checks.cosines(vectors, reference)
            shared = [len(set(a) & set(b)) for a, b in zip(order[:, :10].tolist(), expected[:, :10].tolist())]
            rows.append({"label": label, "mean_cosine": float(cosine.mean()), "least_cosine": float(cosine.min()),
                         "same_first": float((order[:, 0] == expected[:, 0]).mean()), "same_ten": float(numpy.mean(shared)) / 10,
                         "found_first": float((order[:, 0] == numbers).mean())})
    report_progress("")
    return {"name": name, "kind": "sentences", "text": f"{len(pairs)} manual pages", "rows": rows}


def measure(name, options):
    return measure_sentences(name, options) if MODELS[name][0] == "minilm" else measure_language_model(name, options)


def print_table(result):
    """Prints a table in Markdown."""
    if result["kind"] == "sentences":
        print(f"\n{result['name']}, {result['text']}\n\n| format | mean cosine | smallest cosine | same first page | "
              "same among the first 10 | right page first |\n|---|---|---|---|---|---|")
        for row in result["rows"]:
            print(f"| {row['label']} | {row['mean_cosine']:.5f} | {row['least_cosine']:.5f} | {100 * row['same_first']:.1f} % | "
                  f"{100 * row['same_ten']:.1f} % | {100 * row['found_first']:.1f} % |")
    else:
        print(f"\n{result['name']}, {result['text']}, perplexity in f32 {result['perplexity']:.4f}\n\n"
              "| side | format | bits per weight | KL divergence | perplexity | same best token |\n|---|---|---|---|---|---|")
        for row in sorted(result["rows"], key=lambda row: -row["bits"]):
            change = 100 * (row["perplexity"] / result["perplexity"] - 1)
            label = row["label"].replace("+", " calibrated")
            print(f"| {row['maker']} | {label} | {row['bits']:.2f} | {row['kl']:.5f} ± {row['kl_error']:.5f} | "
                  f"{row['perplexity']:.3f} ({change:+.2f} %) | {100 * row['same']:.1f} % |")
    sys.stdout.flush()
