#!/usr/bin/env python3
# ===- check_fixtures.py - Compares with stored answers of the reference ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_fixtures.py COMPILE ENCODE SCRATCH FOLDER/expected.json…: compiles the tokenizer of FOLDER, encodes the texts of
# FOLDER/expected.json, and compares ids, types, masks, offsets, words and decoded texts. Exits with 1 if something
# differs. Needs the standard library alone.
# ===-----------------------------------------------------------------------===#
import json
import os
import struct
import subprocess
import sys


def main():
    compile_tool, encode_tool, scratch, *answers = sys.argv[1:]
    folders = [os.path.dirname(path) for path in answers]
    different = compared = 0
    for folder in folders:
        name = os.path.basename(folder)
        out = os.path.join(scratch, name + ".text")
        subprocess.run([compile_tool, folder, out], check=True)
        with open(os.path.join(folder, "expected.json"), encoding="utf-8") as f:
            groups = json.load(f)
        for group in groups:
            records = b""
            for answer in group["answers"]:
                text, pair = answer["text"].encode(), None if answer["pair"] is None else answer["pair"].encode()
                records += struct.pack("<II", len(text), 0xFFFFFFFF if pair is None else len(pair)) + text + (pair or b"")
            # Encodes twice: the second time short pieces are in the cache.
            options = [f"{key}={value}" for key, value in group["options"].items()]
            result = subprocess.run([encode_tool, out, *options], input=records * 2, stdout=subprocess.PIPE, check=True)
            lines = [json.loads(line) for line in result.stdout.decode().split("\n") if line]
            for answer, line in zip(group["answers"] * 2, lines, strict=True):
                compared += 1
                got = dict(line.get("encodings", [{}])[0], decoded=line.get("decoded"))
                wrong = [key for key in answer if key not in ("text", "pair") and answer[key] != got.get(key)]
                if wrong:
                    different += 1
                    print(f"{name} {options} {answer['text']!r} {answer['pair']!r}: {line.get('error', '')}")
                    for key in wrong:
                        print(f"  {key}: expected {answer[key]}, got {got.get(key)}")
    print(f"{compared} encodings of {len(folders)} tokenizers, {different} different")
    sys.exit(different > 0)


if __name__ == "__main__":
    main()
