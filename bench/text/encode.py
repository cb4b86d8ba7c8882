#!/usr/bin/env python3
# ===- encode.py - Encoding rates of tokenizers -------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# encode.py --compile=BIN --encode=BIN --text=FILE [--mb=N] FOLDER…: encodes N MB (4) of a text with the tokenizer.json
# of each folder, by the package `tokenizers` and by ours, on one thread, as one document and as lines. Compares the
# ids first. Prints MB/s: ours cold (first call) and warm (best of five), without and with offsets, and the reference's
# best of three.
# ===-----------------------------------------------------------------------===#
import argparse
import json
import os
import struct
import subprocess
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
from tokenizers import Tokenizer  # noqa: E402


def run(encode, file, data, *options):
    result = subprocess.run([encode, file, *options], input=data, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in result.stdout.decode("utf-8", "replace").split("\n") if line]


def rate(count, call):
    best = 1e9
    for _ in range(3):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return count / best / 1e6


def main():
    parser = argparse.ArgumentParser()
    for name in ("compile", "encode", "text"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--mb", type=float, default=4)
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    with open(arguments.text, encoding="utf-8", errors="ignore", newline="") as f:
        text = f.read(int(arguments.mb * 1e6))
    data = text.encode()
    lines = [text[i : i + 10000] for i in range(0, len(text), 10000)]
    print("tokenizer      bytes/token  ours cold  ours warm  with offsets  reference (10 kB)  ratio warm/reference")
    for folder in arguments.folders:
        tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        with tempfile.TemporaryDirectory() as scratch:
            out = os.path.join(scratch, "out.text")
            subprocess.run([arguments.compile, folder, out], check=True)
            records = b"".join(struct.pack("<II", len(b), 0xFFFFFFFF) + b for b in (line.encode() for line in lines))
            ours = run(arguments.encode, out, records, "ids_only=1")
            same = all(e.ids == o["encodings"][0]["ids"] for e, o in zip(tokenizer.encode_batch(lines), ours))
            ids = [r["mb_per_s"] for r in run(arguments.encode, out, data, "ids_only=1", "repeat=6")]
            offsets = [r["mb_per_s"] for r in run(arguments.encode, out, data, "repeat=6")]
            tokens = run(arguments.encode, out, data, "ids_only=1", "repeat=1")[0]["tokens"]
        reference = rate(len(data), lambda: [tokenizer.encode(line) for line in lines])
        print(
            f"{os.path.basename(folder):14} {len(data) / tokens:8.2f}     {ids[0]:8.1f}   {max(ids):8.1f}   {max(offsets):8.1f}     "
            f"{reference:8.2f}         {max(ids) / reference:6.1f}  {'' if same else 'IDS DIFFER'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
