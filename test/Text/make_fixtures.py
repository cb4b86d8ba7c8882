#!/usr/bin/env python3
# ===- make_fixtures.py - Fixtures of tokenizers with the reference's answers -===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# make_fixtures.py FOLDER…: writes FOLDER/expected.json: texts, options, and what the package `tokenizers` makes of them,
# or `transformers` where FOLDER has more than tokenizer.json. The tokenizers are those of `train.py --small` and
# `train_folders.py --small`. check_fixtures.py compares.
# ===-----------------------------------------------------------------------===#
import itertools
import json
import os
import random
import sys

from text_census import PythonReference, load_reference, random_ids, reference_encoding

TEXTS = [
    "",
    " ",
    "Hello world",
    "It's what they'LL do, isn't it?",
    "  two  spaces ",
    "line\n\n next\r\n\tend \n",
    "naïve café ＡＢＣ ﬁ ①½",
    "a\u0301\u0316 e\u0316\u0301 İ ẞ Σς",
    "中文字符 日本語カタカナ 한국어 가각",
    "🙂👍🏽👩‍👩‍👧 \U0010ffff\u200d\ufffd",
    "1234567 3.14 ٣४Ⅷ",
    "getHTTPResponse HELLOworld 中ABC",
    "<s>x</s> <unk>[MASK] <mask> y##a▁b",
    "<0x41><0x+1>",
    "abc ab a Zz  in g foo9 <|8|>é",
    "a" * 40,
    "ab " * 12,
    "\u00a0\u3000\u2028x\x00\x01y\u00ad",
    "русский ελληνικά עברית العربية हिन्दी",
    "e=mc² $5 x_y (z) “q”",
]
MORE = [">>deu<< Hello world", ">>a b<<x >>deu<<", "<pad> x </s></s>", "__bg__ abc __fr__", "MKTAYIAK<mask> QRx", "a<extra_id_1> b"]
MORE += ["VIII", "x VIII VIIII", "VIIIVIII xVIII IIII III", "IIIII VIII IIIIV" * 3]
PAIRS = [("Hello world", "It's a dog"), ("a b c d e f g h", "i j k"), ("", "x"), ("one two three four", "five six seven eight nine")]
TRUNCATIONS = [
    dict(max_length=7, stride=0, truncation=0),
    dict(max_length=8, stride=1, truncation=2),
    dict(max_length=9, stride=0, truncation=1, pad_length=12, pad_left=1, pad_id=0),
]
STRATEGIES = ["longest_first", "only_first", "only_second"]


def answer(tokenizer, decode, text, pair, special=True, skip=False):
    e = tokenizer.encode(text, pair, add_special_tokens=special)
    decoded = decode(e.ids, skip_special_tokens=skip) if e.ids else ""
    return {"text": text, "pair": pair, **reference_encoding(e), "decoded": decoded}


def keeps_tokens(tokenizer, options, text, pair):
    """Returns true if truncation leaves tokens of the text. A class in Python gives longer encodings instead of errors."""
    kept, tokenizer.truncation = tokenizer.truncation, {"truncation": False}
    excess = sum(tokenizer.encode(text, pair).attention_mask) - options["max_length"]
    sizes = [sum(tokenizer.encode(t, add_special_tokens=False).attention_mask) for t in (text, pair) if t is not None]
    tokenizer.truncation = kept
    size = sum(sizes) if options["truncation"] == 0 else sizes[min(options["truncation"], len(sizes)) - 1]
    return size > excess + options["stride"]


def main():
    for folder in sys.argv[1:]:
        tokenizer, decode = load_reference(folder)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        groups = [
            {"options": {}, "answers": [answer(tokenizer, decode, a, b) for a, b in [(t, None) for t in TEXTS] + PAIRS]},
            {"options": {"add_special_tokens": 0}, "answers": [answer(tokenizer, decode, a, b, False) for a, b in PAIRS]},
        ]
        if isinstance(tokenizer, PythonReference):
            for options, skip in (({"skip_special": 1}, True), ({"stream": 1}, False), ({"skip_special": 1, "stream": 1}, True)):
                groups.append({"options": options, "answers": [answer(tokenizer, decode, t, None, True, skip) for t in TEXTS + MORE]})
            rng = random.Random(1)
            lists = [random_ids(tokenizer, rng) for _ in range(12)]
            # All orders of two added tokens and two others, one of which a further token may continue.
            others = random_ids(tokenizer, random.Random(5)) * 2
            others.sort(key=lambda id: tokenizer.outer.convert_ids_to_tokens(id).endswith("@@"))
            pool = sorted(tokenizer.outer.added_tokens_decoder)[-2:] + [others[0], others[-1]]
            lists += map(list, itertools.product(pool, repeat=3))
            answers = [{"text": " ".join(map(str, ids)), "pair": None, "decoded": decode(ids)} for ids in lists]
            groups.append({"options": {"ids": 1}, "answers": answers})
            groups.append({"options": {"ids": 1, "stream": 1}, "answers": answers})
        for options in TRUNCATIONS:
            tokenizer.enable_truncation(options["max_length"], stride=options["stride"], strategy=STRATEGIES[options["truncation"]])
            if "pad_length" in options:
                tokenizer.enable_padding(length=options["pad_length"], direction="left")
            answers = []
            for a, b in PAIRS[:1] + PAIRS[3:]:
                try:
                    made = answer(tokenizer, decode, a, b)
                    if not isinstance(tokenizer, PythonReference) or keeps_tokens(tokenizer, options, a, b):
                        answers.append(made)
                except Exception:
                    pass  # the text to truncate is too short
            groups.append({"options": options, "answers": answers})
        with open(os.path.join(folder, "expected.json"), "w", encoding="utf-8") as f:
            json.dump(groups, f, separators=(",", ":"))
            f.write("\n")


if __name__ == "__main__":
    main()
