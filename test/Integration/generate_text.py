# ===- generate_text.py - The command generate on texts ----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""generate_text.py DIR [--all]: texts are what ids decode to, with stop strings, beams, languages and lines; pipes and
signals. --all compares both tools, too, and tries a start token that is a language."""

import json
import os
import pty
import signal
import subprocess
import sys

from text_models import T5, compile_folder, gpt2, make_folder, run, start

work, every = sys.argv[1], sys.argv[2:] == ["--all"]
os.chdir(work)
PROMPT = "The quick brown fox"


def rows(output):
    return [json.loads(line) for line in output.splitlines()]


def encode(model, text):
    return run("attune-run", "tokenize", model[:-3] + ".text", text).split()


def decode(model, ids):
    return run("attune-run", "tokenize", model[:-3] + ".text", "--decode", " ".join(map(str, ids)), "--no-special-tokens")[:-1]


def test_decoder():
    make_folder("gpt", gpt2(400, 20000, n_embd=16), "gpt2", seed=5)
    model = compile_folder("gpt")
    flags = ["--max-new-tokens=24", "--repetition-penalty=1.2", "--presence-penalty=0.1", "--frequency-penalty=0.1", "--min-new-tokens=24"]
    generate = lambda *more, **options: run("attune-run", "generate", model, *more, **options)
    result = rows(generate("--prompt", PROMPT, *flags, "--json"))
    assert len(result) == 1 and len(result[0]["ids"]) == 24 and result[0]["finish"] == "length", result
    text, ids = result[0]["text"], result[0]["ids"]
    # Prompt and result are one text.
    prompt = encode(model, PROMPT)
    assert PROMPT + text == decode(model, prompt + ids) and "\n" not in text, (text, ids)
    # The same ids as from ids, and the penalties matter.
    printed = generate("--ids=" + ",".join(prompt), *flags, "--print")
    assert ", ".join(map(str, ids[:3])) in " ".join(printed.split()).replace(" ,", ","), (printed, ids)
    assert rows(generate("--prompt", PROMPT, "--max-new-tokens=24", "--min-new-tokens=24", "--json"))[0]["ids"] != ids
    # From a file, from standard input, by both tools; the line break at the end of a file is no part of the prompt.
    with open("prompt.txt", "w") as file:
        file.write(PROMPT + "\n")
    assert generate("--prompt", PROMPT, *flags) == text + "\n"
    assert generate("--file=prompt.txt", *flags) == text + "\n"
    assert generate("-", *flags, text=PROMPT) == text + "\n"
    assert run("attune-run", "generate", "--model", model, "-", *flags, text=PROMPT) == text + "\n"
    if every:
        assert run("attune", "generate", "gpt", "--prompt", PROMPT, *flags) == text + "\n"
    # Stop strings of several characters, wherever tokens begin.
    for begin in range(0, len(text) - 3, 3):
        stop = text[begin:begin + 3]
        got = rows(generate("--prompt", PROMPT, *flags, "--stop=never there", "--stop", stop, "--json"))[0]
        assert got["text"] == text[:text.index(stop)] and got["finish"] == "stop", (got, stop)
    # Several results, sampled and by beams; several prompts.
    sampling = ["--sample", "--seed=7", "--num-return-sequences=3", "--max-new-tokens=8", "--json"]
    sampled = rows(generate("--prompt", PROMPT, *sampling))
    assert len(sampled) == 3 and sampled[0]["ids"] != sampled[1]["ids"]
    assert sampled == rows(generate("--prompt", PROMPT, *sampling, "--threads=1"))
    beams = rows(generate("--prompt", PROMPT, "--num-beams=3", "--num-return-sequences=2", "--max-new-tokens=8", "--json"))
    assert len(beams) == 2 and beams[0]["score"] > beams[1]["score"]
    assert all(PROMPT + beam["text"] == decode(model, prompt + beam["ids"]) for beam in beams)
    two = rows(generate("--prompt", PROMPT, "--prompt=It's", *flags, "--json"))
    assert [one["input"] for one in two] == [0, 1] and two[0]["text"] == text
    # Without a length there are 256 new tokens.
    assert len(rows(generate("--prompt", PROMPT, "--set=eos_token_id=[]", "--json"))[0]["ids"]) == 256
    # Numbers go to standard error.
    done = subprocess.run(["attune-run", "generate", model, "--prompt", PROMPT, *flags, "--verbose"], capture_output=True, text=True)
    assert done.stdout == text + "\n" and "24 new ones" in done.stderr and done.stderr.count("\n") == 1, done
    for more, error in ((["--prompt=a", "--ids=1"], "got both"), (["--prompt=a", "--output=x"], "got both"),
                        (["--prompt=a", "-"], "expected one of --prompt, --file and -"),
                        ([], "expected a text, --prompt=T, --file=F or -, or ids"),
                        (["--ids=1", "--stop=a"], "--stop: expected a text to generate from"),
                        (["--prompt=a", "--stop="], "'stop_strings.0': expected a text of at least one character"),
                        (["--prompt=a", "--stop=x", "--num-beams=2"], "stop_strings with num_beams = 2"),
                        (["--prompt=a", "--target-lang=fr_XX"], "no encoder-decoder"), (["--file=missing"], "missing"),
                        (["--prompt=a", "--max-length=9", "--max-new-tokens=2"], "got both")):
        generate(*more, error=error)
    generate("-", text=b"\xff", error="expected UTF-8")
    os.rename("gpt.text", "kept")
    generate("--prompt=a", error="gpt.text")
    os.rename("kept", "gpt.text")


def test_processes():
    """Pieces come while the model works; a closed pipe and Ctrl-C end the command."""
    endless = ["attune-run", "generate", "gpt.so", "--prompt", PROMPT, "--set=eos_token_id=[]", "--max-new-tokens=19000", "--sample"]
    process = start(endless, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert os.read(process.stdout.fileno(), 1)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT and errors == b"attune-run: interrupted by SIGINT\n", (process.returncode, errors)
    output.decode()  # complete characters only
    process = start(endless, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert os.read(process.stdout.fileno(), 1)
    process.stdout.close()
    assert process.wait(timeout=60) == -signal.SIGPIPE and process.stderr.read() == b""
    process.stderr.close()
    # A terminal gets no escape sequences of a model, a pipe does. The first id of a prompt of one is forced to be that of the byte.
    with open("gpt/tokenizer.json", encoding="utf-8") as file:
        escape = json.load(file)["model"]["vocab"]["\u011b"]
    command = ["attune-run", "generate", "gpt.so", "--prompt=a", "--max-new-tokens=1", f"--forced-bos={escape}"]
    assert run(*command) == "\x1b\n"
    primary, secondary = pty.openpty()
    subprocess.run(command, stdout=secondary, check=True)
    os.close(secondary)
    shown = b""
    while not shown.endswith(b"\n"):
        shown += os.read(primary, 100)
    assert shown.decode() == "\ufffd\r\n", shown
    os.close(primary)


def test_translator():
    # Each line is a source, in batches; a line without text stays one.
    make_folder("t5", T5, "t5", seed=3)
    lines = ["the quick brown fox", "jumps", "", "over the lazy dog", "x y z", "", "", "na\u00efve"] + ["the dog"] * 9
    text = "\n".join(lines) + "\n"
    results = run("attune", "generate", "t5", "-", "--max-new-tokens=7", text=text).split("\n")
    assert len(results) == len(lines) + 1 and results[2] == results[5] == results[6] == results[-1] == "", results
    singles = [run("attune", "generate", "t5", "--prompt", line, "--max-new-tokens=7")[:-1] if line else "" for line in lines[:8]]
    assert singles == results[:8] and len(set(singles)) > 3, (singles, results)
    # Languages: the tokenizer's is replaced, the target's is forced.
    words = ["<s>", "<pad>", "</s>", "<unk>", "en_XX", "fr_XX", "de_DE", "__it__", ">>es<<"] + [f"w{i}" for i in range(92)]
    added = [{"id": i, "content": words[i], "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
             for i in range(9)]
    special = lambda name: {"SpecialToken": {"id": name, "type_id": 0}}
    sequence = lambda name: {"Sequence": {"id": name, "type_id": 0}}
    tokenizer = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
                 "pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": None,
                 "post_processor": {"type": "TemplateProcessing", "single": [special("en_XX"), sequence("A"), special("</s>")],
                                    "pair": [sequence("A"), sequence("B")],
                                    "special_tokens": {word: {"id": word, "ids": [words.index(word)], "tokens": [word]}
                                                       for word in ("en_XX", "</s>")}},
                 "model": {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(words)}, "unk_token": "<unk>"}}
    config = {"model_type": "mbart", "architectures": ["MBartForConditionalGeneration"], "vocab_size": 101, "d_model": 24,
              "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 20,
              "decoder_ffn_dim": 20, "max_position_embeddings": 40, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2,
              "decoder_start_token_id": 2}
    make_folder("mbart", config, tokenizer)
    translate = lambda *flags, **more: run("attune", "generate", "mbart", "--prompt=w1 w2", "--max-new-tokens=6", "--json", *flags, **more)
    by_ids = lambda ids, bos: ids_of("mbart", ids, "--max-new-tokens=6", f"--forced-bos={bos}")[1:]
    for flags, ids, bos in ((["--target-lang=fr_XX"], "4,10,11,2", 5), (["--source-lang=de_DE", "--target-lang=it"], "6,10,11,2", 7)):
        got = rows(translate(*flags))[0]["ids"]
        assert got == by_ids(ids, bos)[:len(got)] and got[0] == bos, (flags, got)
    plain = by_ids("8,4,10,11,2", 9)
    assert rows(translate("--target-lang=es", "--set=forced_bos_token_id=9"))[0]["ids"] == plain[:6]
    translate("--target-lang=xx_XX", error="the tokenizer has no target language 'xx_XX'")
    translate("--source-lang=</s>", error="the tokenizer has no source language '</s>'")
    run("attune", "generate", "t5", "--prompt=a", "--source-lang=fr_XX", error="the tokenizer has no source language 'fr_XX'")
    if not every:
        return
    # A start token that is a language is replaced.
    make_folder("mbart25", {**config, "decoder_start_token_id": 4}, tokenizer)
    run_ids = run("attune", "generate", "mbart25", "--prompt=w1", "--max-new-tokens=4", "--target-lang=fr_XX", "--json")
    assert [5] + rows(run_ids)[0]["ids"] == ids_of("mbart25", "4,10,2", "--max-new-tokens=4", "--set=decoder_start_token_id=5")


def ids_of(model, ids, *flags):
    """Returns the sequence that the command generate makes from |ids|."""
    printed = run("attune", "generate", model, f"--ids={ids}", *flags)
    return [int(i) for i in printed.split("[[")[1].split("]]")[0].split(",")]


def test_errors():
    make_folder("bare", gpt2(400, 20), None)
    run("attune", "generate", "bare", "--prompt=a", error="expected a model with a tokenizer")
    make_folder("stops", gpt2(400, 20, stop_strings=["x"]), "gpt2")
    run("attune", "generate", "stops", "--ids=1,2", error="stop_strings has 1 texts, expected none where only ids are known")
    run("attune", "generate", "stops", "--ids=1,2", "--set=stop_strings=[]")
    run("attune", "generate", "stops", "--prompt=a")
    run("env", "ATTUNE_THREADS=2", "attune", "generate", "stops", "--prompt=a")
    run("env", "ATTUNE_THREADS=0", "attune", "generate", "stops", "--prompt=a",
        error="ATTUNE_THREADS: expected an integer in 1..1024, got '0'")
    make_folder("wrong", gpt2(400, 20, stop_strings=[3]), "gpt2")
    run("attune", "generate", "wrong", "--prompt=a",
        error="'stop_strings.0': expected a text of at least one character, without NUL, got 3")
    make_folder("encoder", {"model_type": "bert", "architectures": ["BertModel"], "vocab_size": 300, "hidden_size": 16,
                            "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 16}, "bert_uncased")
    run("attune", "generate", "encoder", "--prompt=a", error="BertModel")


test_decoder()
test_processes()
test_translator()
test_errors()
print("generate from texts: ok")
