#!/usr/bin/env python3
# ===- check_masks.py - Bit masks and the cache of pieces ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_masks.py COMPILE ENCODE SCRATCH TOKENIZER [--all]: splits texts by the expressions that bit masks split by, and by the
# same expressions in parentheses, which the compiler does not recognize, so that automata split by them. Then encodes
# more words than the cache has entries, with and without offsets, and compares with the results of calls from a cold
# cache. Pieces of zero bytes, as free entries have, must decode to themselves. --all tries more texts, and fills the
# cache with offsets, too. Exits with 1 if something differs. Needs the standard library alone.
# ===-----------------------------------------------------------------------===#
import itertools
import json
import pathlib
import random
import struct
import subprocess
import sys

CONTRACTIONS = "'s|'t|'re|'ve|'m|'ll|'d"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
PATTERNS = {
    "gpt2": CONTRACTIONS + r"| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama3": f"(?i:{CONTRACTIONS})" + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + REST,
    "qwen2": f"(?i:{CONTRACTIONS})" + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + REST,
}
# A letter, letters of contractions, the long s, digits, white space, other characters, of one to four bytes.
SHORT = ["a", "s", " ", "\n", "\t", "'", "1", ".", "é", "—", "\u00a0", "ſ", "२"]
LONG = [*SHORT, "r", "e", "L", "l", "D", "'ll", "'S", "\r\n", "  ", "   \n", "\u093e", "\u3000", "中", "🙂", "𝟗"]
LONG += ["\x00", "\x7f", "12345", "word", " word"]


def encode(tool, compiled, texts, *flags):
    records = b"".join(struct.pack("<II", len(data), 0xFFFFFFFF) + data for data in (text.encode() for text in texts))
    return subprocess.run([tool, compiled, *flags], input=records, stdout=subprocess.PIPE, check=True).stdout.split(b"\n")[:-1]


def main():
    compile_tool, encode_tool, scratch, tokenizer = sys.argv[1:5]
    all_cases = sys.argv[5:] == ["--all"]
    value = json.loads(pathlib.Path(tokenizer).read_text(encoding="utf-8"))
    rng = random.Random(1)
    texts = ["".join(parts) for length in range(1, 5 if all_cases else 4) for parts in itertools.product(SHORT, repeat=length)]
    # Each kind of part comes to each place of a window of 64 bytes.
    for _ in range(4000 if all_cases else 1000):
        common = rng.sample(LONG, 4)
        texts.append("".join(rng.choice(common if rng.random() < 0.7 else LONG) for _ in range(rng.randrange(20, 150))))
    failed = 0
    for name, pattern in PATTERNS.items():
        results = []
        for form in (pattern, f"(?:{pattern})"):
            value["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
                {"type": "Split", "pattern": {"Regex": form}, "behavior": "Isolated", "invert": False},
                {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}]}
            folder = pathlib.Path(scratch, f"{name}{len(results)}")
            folder.mkdir()
            (folder / "tokenizer.json").write_text(json.dumps(value), encoding="utf-8")
            subprocess.run([compile_tool, folder, f"{folder}.text"], check=True)
            results.append(encode(encode_tool, f"{folder}.text", texts))
        wrong = [text for text, a, b in zip(texts, *results, strict=True) if a != b]
        for text in wrong[:3]:
            print(f"{name}: {text!r}")
        failed += len(wrong)
        print(f"{name}: {len(wrong)} texts differ")
    words = sorted({"".join(rng.choices("abcdefgh", k=rng.choice((6, 8, 9, 20)))) for _ in range(150000)})
    for flags in (), ("ids_only=1",):
        parts = [" ".join(words[i::10]) for i in range(10 if flags or all_cases else 3)]
        warm = encode(encode_tool, f"{folder}.text", parts * 2, *flags)
        cold = [encode(encode_tool, f"{folder}.text", [part], *flags)[0] for part in parts]
        different = sum(a != b for a, b in zip(warm, cold * 2, strict=True))
        print(f"cache: {len(words) > 140000} {different} texts differ")
        failed += different
    zeros = ["\x00" * count for count in range(1, 40)]
    lines = encode(encode_tool, f"{folder}.text", zeros, "skip_special=1")
    different = sum(json.loads(line)["decoded"] != text for line, text in zip(lines, zeros, strict=True))
    print(f"zeros: {different} texts differ")
    sys.exit(failed + different > 0)


if __name__ == "__main__":
    main()
