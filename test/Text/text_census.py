#!/usr/bin/env python3
# ===- text_census.py - Compares tokenizers with the reference --------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# text_census.py --compile=BIN --encode=BIN [--count=N] [--seed=N] [--files=GLOB…] FOLDER…: encodes random strings and
# parts of files by the tokenizer of each folder, with the reference and with ours, and compares ids, offsets, words,
# types, masks and decoded texts; with truncation, pairs and padding for some. The reference is the package `tokenizers`
# for a folder with tokenizer.json alone, and `transformers` for others. Prints the first differences of each folder;
# exits with 1 if there are any.
# ===-----------------------------------------------------------------------===#
import argparse
import glob
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

from tokenizers import Tokenizer

ALPHABETS = [
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "0123456789²³½Ⅷ①٣४",
    " \t\n\r\u0085\u00a0\u3000\u2028\u200b\u200d\x00\x01\x0b\x1c\u1680",
    "'.,;:!?-_()[]{}<>|/\\@#$%^&*+=~`\"“”¿。、！",
    "éèêëüößñçåøæœÉÜİıſKÅǅǈŉﬁﬀẞΣςσĲ",
    "\u0300\u0301\u0308\u0316\u0323\u0327\u0345\u05b4\u0651\u093c\u3099\u20dd\ufe0f\u0903\u1d165",
    "中文字符日本語テキスト々〇ーかなカナ㐀\U00020000\U0002b820\U0002b920丽",
    "한국어가각힣각",
    "русскийтекстЙёІ ελληνικά ΆΈ עברית العربية हिन्दी ไทย",
    "🙂👍🏽👩‍👩‍👧🇩🇪🇫🇷❤️\U0001f600\U0010ffff\ue000\ufffd\uffff\u00ad\ufeff",
    "Ａｂｃ１２　ｶﾞ㍿㌀℃ﷺ…ﬃ",
]
WORDS = [
    "it's",
    "don't",
    "I'LL",
    "we'Ve",
    "the",
    "The ",
    "  ",
    "\n\n",
    "\r\n",
    " \n",
    "foo123",
    "3.14",
    "x" * 30,
    "aaaa",
    "ab" * 9,
    "<s>",
    "</s>",
    "<unk>",
    ">>deu<<",
    ">>a b<<x",
    "__bg__",
    "<extra_id_1>",
    "<pad>",
    "MKTAYIAKQR",
    "[MASK]",
    "<mask>",
    " <mask> ",
    "[CLS]",
    "##a",
    "▁",
    "▁the",
    "<0x41>",
    "<0x+1>",
    "Ġ",
    "Ċ",
    "hello",
    "world",
    "naïve",
    "Zürich",
    "http://a.b/c?d=e&f",
    "e=mc²",
    "a\u0301\u0316",
    "\u0316\u0301",
    "foo1",
    "Zz",
    "in g",
    "<|1|>",
    "<|endoftext|>",
    "getHTTPResponse",
    "HELLOworld",
    "中ABC",
    "1234567",
]


def random_text(rng):
    parts = []
    for _ in range(rng.choice([1, 1, 2, 3, 5, 8, 13, 30])):
        kind = rng.random()
        if kind < 0.35:
            parts.append(rng.choice(WORDS))
        elif kind < 0.5:
            parts.append(" ")
        elif kind < 0.6:
            c = rng.randrange(0x110000)
            parts.append(chr(c) if not 0xD800 <= c < 0xE000 else "x")
        elif kind < 0.65:
            c = rng.randrange(0x3000)
            parts.append(chr(c))
        else:
            alphabet = rng.choice(ALPHABETS)
            parts.append("".join(rng.choice(alphabet) for _ in range(rng.choice([1, 2, 3, 6]))))
    return "".join(parts)


def reference_encoding(e):
    if isinstance(e, PythonEncoding):
        return {"ids": e.ids, "attention_mask": e.attention_mask}
    return {
        "ids": e.ids,
        "type_ids": e.type_ids,
        "attention_mask": e.attention_mask,
        "special_tokens_mask": e.special_tokens_mask,
        "offsets": [x for o in e.offsets for x in o],
        "word_ids": [-1 if w is None else w for w in e.word_ids],
    }


def run_ours(encode, text_file, records, options):
    data = b"".join(struct.pack("<II", len(t), 0xFFFFFFFF if p is None else len(p)) + t + (p or b"") for t, p in records)
    result = subprocess.run([encode, text_file, *options], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode:
        raise SystemExit(f"{encode} {text_file}: {result.returncode} {result.stderr.decode()}")
    return [json.loads(line) for line in result.stdout.decode("utf-8", "replace").split("\n") if line]


class PythonEncoding:
    """What a class in Python gives: no offsets, words and types."""

    def __init__(self, ids, padding, left):
        self.ids = [0] * padding + ids if left else ids + [0] * padding
        mask = [1] * len(ids)
        self.attention_mask = [0] * padding + mask if left else mask + [0] * padding


class PythonReference:
    """A tokenizer that the reference runs in Python, with the interface of the package `tokenizers`."""

    def __init__(self, outer):
        self.outer = outer
        self.no_truncation()
        self.no_padding()

    def no_truncation(self):
        self.truncation = {"truncation": False}

    def no_padding(self):
        self.length, self.left = 0, False

    def enable_truncation(self, max_length, stride=0, strategy="longest_first"):
        self.truncation = {"truncation": strategy, "max_length": max_length}

    def enable_padding(self, length, direction="right"):
        self.length, self.left = length, direction == "left"

    def encode(self, text, pair=None, add_special_tokens=True):
        ids = self.outer(text, pair, add_special_tokens=add_special_tokens, **self.truncation)["input_ids"]
        return PythonEncoding(ids, max(0, self.length - len(ids)), self.left)


def load_reference(folder):
    """Returns the reference's tokenizer for |folder|, and its function that decodes."""
    names = set(os.listdir(folder))
    if names <= {"tokenizer.json", "expected.json"}:
        tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        return tokenizer, lambda ids, skip_special_tokens=False: tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
    from transformers import AutoTokenizer

    outer = AutoTokenizer.from_pretrained(folder)
    return (outer._tokenizer if outer.is_fast else PythonReference(outer)), outer.decode


def compare(name, tokenizer, decode, text_file, arguments, rng, texts):
    """Returns the number of differences."""
    differences = 0
    strategies = {0: "longest_first", 1: "only_first", 2: "only_second"}
    plans = [("plain", {}, texts)]
    some = texts[: max(20, len(texts) // 20)]
    plans.append(("pairs", {}, [(a, b) for a, b in zip(some, reversed(some))]))
    for _ in range(6):
        options = {
            "max_length": rng.randrange(4, 14),
            "stride": rng.randrange(0, 3),
            "truncation": rng.randrange(3),
            "pad_length": rng.choice([0, 9]),
            "pad_left": rng.randrange(2),
            "pad_id": 0,
            "pad_type_id": 0,
        }
        plans.append((str(options), options, [(a, b) for a, b in zip(some[:60], reversed(some[:60]))]))
    plans.append(("no special tokens", {"add_special_tokens": 0}, some))
    if isinstance(tokenizer, PythonReference):
        plans.append(("skipped", {"skip_special": 1}, some))
        plans.append(("streamed", {"stream": 1}, some))
    for title, options, inputs in plans:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        special = options.get("add_special_tokens", 1) == 1
        if "max_length" in options:
            tokenizer.enable_truncation(options["max_length"], stride=options["stride"], strategy=strategies[options["truncation"]])
            if options["pad_length"]:
                tokenizer.enable_padding(length=options["pad_length"], direction="left" if options["pad_left"] else "right")
        pairs = [i if isinstance(i, tuple) else (i, None) for i in inputs]
        ours = run_ours(
            arguments.encode,
            text_file,
            [(a.encode(), None if b is None else b.encode()) for a, b in pairs],
            [f"{k}={v}" for k, v in options.items()],
        )
        bad = 0
        for (text, pair), result in zip(pairs, ours):
            try:
                e = tokenizer.encode(text, pair, add_special_tokens=special)
            except BaseException as error:  # the reference panics on some inputs
                if "error" not in result and bad < 3 and "max_length" not in options:
                    print(f"{name}: {title}: {text!r}: the reference fails: {error}")
                continue
            if "error" in result and isinstance(tokenizer, PythonReference) and "max_length" in options:
                continue  # the reference exceeds the length where special tokens or the other text leave no room
            if "error" in result:
                # The reference stops tokenizing the other text at max_length, and then takes its rest for nothing.
                if "only text to truncate" in result["error"] and options["truncation"] - 1 not in e.sequence_ids:
                    continue
                bad += 1
                if bad <= 3:
                    print(f"{name}: {title}: {text!r} {pair!r}: ours fails: {result['error']}")
                continue
            expected = reference_encoding(e)
            got = result["encodings"][0]
            # The reference's decoding of an empty list differs between decoders; there is nothing to decode.
            try:
                decoded = decode(e.ids, skip_special_tokens="skip_special" in options) if e.ids else ""
            except IndexError:  # an id that neither vocabulary nor model of the target has
                decoded = result["decoded"]
            wrong = [k for k in expected if expected[k] != got[k]] + (["decoded"] if decoded != result["decoded"] else [])
            if wrong:
                bad += 1
                if bad <= 3:
                    print(f"{name}: {title}: {text!r} {pair!r}: {wrong}")
                    for k in wrong:
                        print(
                            f"   reference {decoded if k == 'decoded' else expected[k]!r}\n"
                            f"   ours      {result['decoded'] if k == 'decoded' else got[k]!r}"
                        )
        differences += bad
    if isinstance(tokenizer, PythonReference):
        return differences + compare_ids(name, tokenizer, decode, text_file, arguments, rng, len(some))
    return differences + compare_windows(name, tokenizer, text_file, arguments, rng, some)


def random_ids(tokenizer, rng):
    size = len(tokenizer.outer)
    return [rng.randrange(size) for _ in range(rng.choice([1, 2, 3, 8, 30]))]


def compare_ids(name, tokenizer, decode, text_file, arguments, rng, count):
    """Compares the decoded texts of random ids."""
    differences = 0
    for options in ({}, {"skip_special": 1}, {"stream": 1}):
        lists = [random_ids(tokenizer, rng) for _ in range(count)]
        ours = run_ours(
            arguments.encode,
            text_file,
            [(" ".join(map(str, ids)).encode(), None) for ids in lists],
            ["ids=1"] + [f"{k}={v}" for k, v in options.items()],
        )
        for ids, result in zip(lists, ours, strict=True):
            try:
                decoded = decode(ids, skip_special_tokens="skip_special" in options)
            except (ValueError, IndexError):  # ids without a token
                continue
            if decoded != result["decoded"]:
                differences += 1
                if differences <= 3:
                    print(f"{name}: {options} ids {ids}:\n   reference {decoded!r}\n   ours      {result['decoded']!r}")
    return differences


def compare_windows(name, tokenizer, text_file, arguments, rng, texts):
    """Compares windows of single texts with those that the reference cuts from a complete encoding. Its tokenizer stops at
    max_length, so that the windows of its own encodings are not complete."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    differences = 0
    for _ in range(4):
        length, left = rng.randrange(1, 9), rng.randrange(2)
        stride = rng.randrange(length)
        ours = run_ours(
            arguments.encode,
            text_file,
            [(text.encode(), None) for text in texts],
            ["add_special_tokens=0", f"max_length={length}", f"stride={stride}", f"truncate_left={left}", "want_overflow=1"],
        )
        for text, result in zip(texts, ours):
            try:
                e = tokenizer.encode(text, add_special_tokens=False)
                e.truncate(length, stride=stride, direction="left" if left else "right")
            except BaseException:
                continue
            windows = [reference_encoding(w) for w in [e, *e.overflowing]]
            got = result.get("encodings", result)
            if len(got) != len(windows) or any(w["ids"] != g["ids"] for w, g in zip(windows, got)):
                differences += 1
                if differences <= 3:
                    print(
                        f"{name}: windows of {length}, stride {stride}, left {left}: {text!r}\n"
                        f"   reference {[w['ids'] for w in windows]}\n   ours      {got}"
                    )
    return differences


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compile", required=True)
    parser.add_argument("--encode", required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--files", action="append", default=[])
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    failed = 0
    for folder in arguments.folders:
        rng = random.Random(arguments.seed)
        texts = [random_text(rng) for _ in range(arguments.count)] + ["", " ", "a" * 3000, "ab " * 1000, "\n" * 500]
        for pattern in arguments.files:
            for path in sorted(glob.glob(pattern, recursive=True)):
                if os.path.isfile(path):
                    with open(path, encoding="utf-8", errors="ignore", newline="") as f:
                        texts.append(f.read(20000))
        try:
            tokenizer, decode = load_reference(folder)
        except Exception as error:
            print(f"{os.path.basename(folder)}: the reference fails: {error}")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            out = os.path.join(scratch, "out.text")
            made = subprocess.run([arguments.compile, folder, out], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if made.returncode:
                print(f"{folder}: {made.stdout.decode()}")
                failed += 1
                continue
            differences = compare(os.path.basename(folder), tokenizer, decode, out, arguments, rng, texts)
            print(f"{os.path.basename(folder)}: {len(texts)} texts, {differences} differences", flush=True)
            failed += differences > 0
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
