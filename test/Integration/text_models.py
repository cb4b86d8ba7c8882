# ===- text_models.py - Tiny models that have a tokenizer --------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Folders of models with generated weights and the tokenizers of test/Text/Inputs, and runs of the tools on them."""

import json
import os
import shutil
import signal
import subprocess

T5 = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "vocab_size": 155, "d_model": 16, "d_kv": 4, "d_ff": 20,
      "num_layers": 1, "num_decoder_layers": 1, "num_heads": 2, "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Text", "Inputs")


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)


def make_folder(folder, config, tokenizer, seed=1):
    """Makes a model folder. |tokenizer| is the name of a folder in test/Text/Inputs, the content of tokenizer.json, or None."""
    os.makedirs(folder, exist_ok=True)
    write(os.path.join(folder, "config.json"), config)
    write(os.path.join(folder, "case.json"), {"weights": {"source": "generated", "seed": seed}})
    if isinstance(tokenizer, dict):
        write(os.path.join(folder, "tokenizer.json"), tokenizer)
    elif tokenizer:
        for name in os.listdir(os.path.join(INPUTS, tokenizer)):
            if name.startswith("tokenizer"):
                shutil.copy(os.path.join(INPUTS, tokenizer, name), folder)
    if tokenizer:
        configure_tokenizer(folder)
    return folder


def configure_tokenizer(folder, **settings):
    """Adds |settings| to tokenizer_config.json. The class is the one that takes tokenizer.json whole, unless there is another."""
    path, config = os.path.join(folder, "tokenizer_config.json"), {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
    write(path, {"tokenizer_class": "PreTrainedTokenizerFast", **config, **settings})


def compile_folder(folder):
    """Compiles to FOLDER.so and returns its path; the tokenizer is FOLDER.text."""
    subprocess.run(["attune", "compile", folder, "-o", folder + ".so", "--emit=shared"], check=True)
    return folder + ".so"


def gpt2(vocab, positions, **more):
    return dict({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 24, "n_head": 2, "n_layer": 2,
                 "n_positions": positions, "vocab_size": vocab, "bos_token_id": 0, "eos_token_id": 0}, **more)


def run(*command, text=None, error=None):
    """Returns the standard output of |command|. With |error|, it must fail with one line on stderr that has this text."""
    data = text if isinstance(text, bytes) else (text or "").encode()
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # The first use of a folder is noticed.
    lines = "".join(line for line in done.stderr.decode().splitlines(True) if not line.startswith("attune: compiling "))
    if error:
        assert done.returncode == 1 and error in lines and lines.count("\n") == 1, (command, done)
        return None
    assert done.returncode == 0, (command, done)
    return done.stdout.decode()


def start(command, **options):
    """Starts |command| with the default action for SIGINT, as a shell does, even if the runner of the tests ignores it."""
    return subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **options)
