#!/usr/bin/env python3
# ===- text_compare.py - Compares ids and offsets on much text ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# text_compare.py --compile=BIN --worker=BIN [--text=FILE] [--mb=N] [--count=N] [--seed=N] FOLDER…: encodes |mb| megabytes
# of a text, as lines and as documents of 100,000 characters, and |count| random strings by the tokenizer.json of each
# folder, with the library `tokenizers` and with ours, and compares ids and offsets. Prints a line for each folder and the
# first differences; exits with 1 if there are any.
# ===-----------------------------------------------------------------------===#
import argparse
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

import numpy
from text_census import random_text
from tokenizers import Tokenizer

BATCH = 2000


class Ours:
    """Results of attune-bench-text for one list of texts."""

    def __init__(self, worker, compiled, texts, scratch):
        records, results = f"{scratch}/texts", f"{scratch}/results"
        with open(records, "wb") as f:
            for text in texts:
                data = text.encode()
                f.write(struct.pack("<I", len(data)) + data)
        run = subprocess.run([worker, compiled, records, "1", "offsets"], input=f"ids {results}\n", text=True, capture_output=True)
        if run.returncode:
            raise SystemExit(f"{worker} {compiled}: {run.stderr}")
        self.data, self.at = numpy.fromfile(results, numpy.int32), 0

    def next(self):
        count, begin = int(self.data[self.at]), self.at + 1
        self.at = begin + 3 * count
        return self.data[begin : begin + count], self.data[begin + count : self.at]


def encode(tokenizer, texts):
    """Returns the encodings of texts; None where the reference panics."""
    try:
        return tokenizer.encode_batch(texts)
    except KeyboardInterrupt:
        raise
    except BaseException:  # panics are no exceptions
        if len(texts) == 1:
            return [None]
        middle = len(texts) // 2
        return encode(tokenizer, texts[:middle]) + encode(tokenizer, texts[middle:])


def compare(name, tokenizer, arguments, compiled, texts, scratch):
    """Returns the numbers of tokens and of texts that differ, and prints the first of these."""
    ours = Ours(arguments.worker, compiled, texts, scratch)
    tokens = different = 0
    for begin in range(0, len(texts), BATCH):
        batch = texts[begin : begin + BATCH]
        for text, encoding in zip(batch, encode(tokenizer, batch), strict=True):
            ids, offsets = ours.next()
            if encoding is None:
                continue
            tokens += len(ids)
            expected = numpy.array(encoding.ids, numpy.int32), numpy.array(encoding.offsets, numpy.int32).reshape(-1)
            if numpy.array_equal(ids, expected[0]) and numpy.array_equal(offsets, expected[1]):
                continue
            different += 1
            if different <= 3:
                size = min(len(ids), len(expected[0]))
                same = (ids[:size] == expected[0][:size]) & (offsets[: 2 * size] == expected[1][: 2 * size]).reshape(-1, 2).all(1)
                at = int(numpy.argmin(same)) if not same.all() else size
                place = encoding.offsets[min(at, len(encoding.offsets) - 1)][0] if encoding.offsets else 0
                print(f"{name}: token {at}, near {text[max(0, place - 20) : place + 30]!r}")
                for title, a, b in (("reference", *expected), ("ours     ", ids, offsets)):
                    print(f"   {title} {a[at : at + 6].tolist()} {b[2 * at : 2 * at + 12].tolist()}", flush=True)
    return tokens, different


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compile", required=True)
    parser.add_argument("--worker", required=True)
    parser.add_argument("--text")
    parser.add_argument("--mb", type=float, default=50)
    parser.add_argument("--count", type=int, default=1000000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("folders", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    lines, documents = [], []
    if arguments.text:
        with open(arguments.text, encoding="utf-8", errors="ignore", newline="") as f:
            text = f.read(int(arguments.mb * 1e6)).encode()[: int(arguments.mb * 1e6)].decode("utf-8", "ignore")
        half = len(text) // 2
        lines = text[:half].split("\n")
        documents = [text[i : i + 100000] for i in range(half, len(text), 100000)]
    failed = 0
    for folder in arguments.folders:
        rng = random.Random(arguments.seed)
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        results = []
        with tempfile.TemporaryDirectory() as scratch:
            # The file alone: other files of the folder change the tokenizer as `transformers` does.
            os.symlink((folder / "tokenizer.json").resolve(), f"{scratch}/tokenizer.json")
            compiled = f"{scratch}/out.text"
            made = subprocess.run([arguments.compile, scratch, compiled], capture_output=True, text=True)
            if made.returncode:
                print(f"{folder.name}: refused: {made.stderr.strip()[:200]}", flush=True)
                continue
            parts = [lines, documents]
            parts += [range(i, min(i + 100000, arguments.count)) for i in range(0, arguments.count, 100000)]
            for part in parts:
                texts = [random_text(rng) for _ in part] if isinstance(part, range) else part
                if texts:
                    size = sum(len(text.encode()) for text in texts)
                    results.append((size, len(texts), *compare(folder.name, tokenizer, arguments, compiled, texts, scratch)))
        size, count, tokens, different = (sum(column) for column in zip(*results))
        print(f"{folder.name}: {size / 1e6:.1f} MB in {count} texts, {tokens} tokens: {different} texts differ", flush=True)
        failed += different > 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
