#!/usr/bin/env python3
# ===- check_errors.py - Errors in tokenizer.json -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# check_errors.py COMPILE SCRATCH BPE.json WORDPIECE.json: changes a valid file in one place, compiles it, and compares
# the error, if there is to be one.
# ===-----------------------------------------------------------------------===#
import copy
import json
import os
import subprocess
import sys


def split(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


BPE = [
    ("model.type", "Neural", "'model.type': expected BPE, Unigram, WordLevel or WordPiece, got \"Neural\""),
    ("model.vocab", [], "'model.vocab': expected an object of tokens and ids, got []"),
    ("model.vocab.a", -1, "'model.vocab.a': expected an integer in 0..268435455, got -1"),
    ("model.vocab.a", 99999999, "'model.vocab.a': expected an id of at most"),
    ("model.merges", [["a", "zz"]], "'model.merges[0]': expected tokens of the vocabulary, got \"zz\""),
    ("model.merges", ["ab"], '\'model.merges[0]\': expected "left right" or [left, right], got "ab"'),
    ("model.dropout", 0.1, "'model.dropout': expected null or 0: an encoding is not random, got 0.1"),
    ("normalizer", {"type": "Magic"}, "'normalizer.type': expected a normalizer (BertNormalizer, ByteLevel,"),
    (
        "normalizer",
        {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "X"}]},
        "'normalizer.normalizers[1].type': expected a normalizer",
    ),
    ("normalizer", {"type": "Precompiled", "precompiled_charsmap": "AAA!"}, "'normalizer.precompiled_charsmap': expected base64"),
    ("normalizer", {"type": "Precompiled", "precompiled_charsmap": "AAAA"}, "expected a size, a trie and strings, got 3 bytes"),
    ("normalizer", {"type": "Replace", "content": "x"}, '\'normalizer.pattern\': expected {"String": …} or {"Regex": …}, got null'),
    ("normalizer", {"type": "BertNormalizer", "lowercase": 1}, "'normalizer.lowercase': expected"),
    ("pre_tokenizer", {"type": "Magic"}, "'pre_tokenizer.type': expected a pre-tokenizer (BertPreTokenizer,"),
    ("pre_tokenizer", {"type": "Split", "pattern": " ", "behavior": "Maybe"}, "'pre_tokenizer.behavior': expected Removed, Isolated,"),
    ("pre_tokenizer", {"type": "FixedLength", "length": 0}, "'pre_tokenizer.length': expected"),
    ("pre_tokenizer", {"type": "CharDelimiterSplit", "delimiter": "ab"}, "'pre_tokenizer.delimiter': expected one character"),
    (
        "pre_tokenizer",
        {"type": "Metaspace", "prepend_scheme": "maybe"},
        "'pre_tokenizer.prepend_scheme': expected always, first or never",
    ),
    ("pre_tokenizer", split(r"(a)\1"), "'pre_tokenizer.pattern': unsupported regular expression: a back-reference at character 5"),
    ("pre_tokenizer", split(r"(?=ab)c"), "look-ahead at more than one character"),
    ("pre_tokenizer", split(r"(?<!ab)c"), "look-behind at more than one character"),
    ("pre_tokenizer", split(r"(ab)++"), "a possessive repeat of more than one character class"),
    ("pre_tokenizer", split(r"(?>ab|c)d"), "an atomic group of more than one character class"),
    ("pre_tokenizer", split(r"\p{Klingon}"), "the unknown property 'Klingon'"),
    ("pre_tokenizer", split(r"\p{L"), "a property without '}'"),
    ("pre_tokenizer", split(r"(a"), "a group without ')'"),
    ("pre_tokenizer", split(r"a(?#b"), "a comment without ')'"),
    ("pre_tokenizer", split(r"(?<name"), "the name of a group without its end"),
    ("pre_tokenizer", split(r"a)"), "an unmatched ')'"),
    ("pre_tokenizer", split(r"[a"), "a set without ']'"),
    ("pre_tokenizer", split(r"*a"), "a repeat of nothing"),
    ("pre_tokenizer", split(r"a{1001}"), "more than 1000 repeats"),
    ("pre_tokenizer", split(r"a{1,99999999999}"), "more than 1000 repeats"),
    ("pre_tokenizer", split(r"(?:a{1000}){1000}"), "its repeats make more than 20000 states"),
    ("pre_tokenizer", split(r"(?i)ss"), "case-insensitive letters that one other character also matches"),
    ("pre_tokenizer", split("a" + "*" * 9), "more than 8 repeats of one another at character 11"),
    ("pre_tokenizer", split("(" * 300 + ")" * 300), "groups nested deeper than 200"),
    (
        "pre_tokenizer",
        {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel", "use_regex": False}] * 4},
        "'pre_tokenizer': expected at most three ByteLevel, or six Metaspace, got more",
    ),
    ("post_processor", {"type": "Magic"}, "'post_processor.type': expected a post-processor (BertProcessing,"),
    ("post_processor", {"type": "BertProcessing", "sep": ["a"], "cls": ["b", 1]}, "'post_processor.sep': expected [token, id], got"),
    (
        "post_processor",
        {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "X", "type_id": 0}}], "pair": [], "special_tokens": {}},
        "'post_processor.single[0]': expected a token of 'special_tokens', got \"X\"",
    ),
    (
        "post_processor",
        {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "B", "type_id": 0}}], "pair": [], "special_tokens": {}},
        "'post_processor.single': expected each text at most once",
    ),
    (
        "post_processor",
        {"type": "BertProcessing", "sep": ["a", 100000], "cls": ["b", 1]},
        "'post_processor': expected the id of a token, got 100000",
    ),
    ("decoder", {"type": "Magic"}, "'decoder.type': expected a decoder (BPEDecoder,"),
    ("decoder", {"type": "Strip", "start": 1, "stop": 0}, "'decoder.content': expected a character, got null"),
    ("added_tokens", [{"id": 1}], "'added_tokens[0].content': expected a string, got null"),
    ("added_tokens", {}, "'added_tokens': expected a list, got {}"),
    ("padding", {"pad_id": -1}, "'padding.pad_id': expected"),
    ("model", None, "'model': expected an object, got null"),
]
WORDPIECE = [
    ("model.max_input_chars_per_word", -1, "'model.max_input_chars_per_word': expected"),
    ("model.continuing_subword_prefix", "#" * 65, "'model.continuing_subword_prefix': expected at most 64 bytes"),
    (
        "added_tokens",
        [{"content": "\u0301", "normalized": True, "special": False}],
        "'added_tokens': expected a token that its normalizer does not make empty",
    ),
    (
        "added_tokens",
        [{"content": "a" * 5000, "normalized": True, "special": False}],
        "'added_tokens': expected tokens of at most 4096 bytes, got 5000",
    ),
]
# Unusual files that compile without an error.
ODD_BPE = [
    ("pre_tokenizer", split("(?:" * 100 + "){1000}" * 100), None),
    ("pre_tokenizer", split("(?i)" + "[^a]" * 100), None),
]
ODD_WORDPIECE = [("model.vocab." + "a" * 1000000, 5, None)]


def main():
    compile_tool, scratch, *files = sys.argv[1:]
    wrong = count = 0
    for path, cases in zip(files, (BPE + ODD_BPE, WORDPIECE + ODD_WORDPIECE)):
        with open(path, encoding="utf-8") as f:
            valid = json.load(f)
        for key, value, expected in cases:
            changed = copy.deepcopy(valid)
            place = changed
            *parents, last = key.split(".")
            for parent in parents:
                place = place[parent]
            place[last] = value
            with open(os.path.join(scratch, "tokenizer.json"), "w", encoding="utf-8") as f:
                json.dump(changed, f)
            result = subprocess.run(
                [compile_tool, scratch, os.path.join(scratch, "out.text")], stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            lines = result.stderr.decode().splitlines()
            count += 1
            if expected is None:
                passed = result.returncode == 0 and not lines
            else:
                passed = result.returncode == 1 and len(lines) == 1 and expected in lines[0] and "tokenizer.json: " in lines[0]
            if not passed:
                wrong += 1
                print(f"{key[:80]} = {value!r}: expected {expected}\n  got {result.returncode}: {lines}")
    print(f"{count} files as expected" if not wrong else f"{wrong} of {count} files differ")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
