#!/usr/bin/env python3
# ===- gguf_tokenizers.py - Tokenizers of GGUF files against folders -------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# gguf_tokenizers.py write FOLDER OUT.gguf PRE [KEY:TYPE=VALUE]…: writes the metadata that a converter makes of
#   FOLDER/tokenizer.json. PRE is the name of the pre-tokenizer, "-" for none. A value "-" removes the key.
# gguf_tokenizers.py check SCRATCH FOLDER PRE …: does this for each folder, and compares encodings of the texts of
#   FOLDER/expected.json by the tokenizer of the file with the stored answers of the reference, which are of the folder.
#   What a file does not say is left out: trimmed offsets, types of the second text of BPE, padding without a token.
# Needs the standard library alone.
# ===-----------------------------------------------------------------------===#
import json
import os
import struct
import subprocess
import sys

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
SPACE = "\u2581"


def pack_string(value):
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def pack_value(kind, value):
    """Returns the bytes of the number of a type and of a value."""
    numbers = {"u32": (4, "<I"), "i32": (5, "<i"), "f32": (6, "<f"), "bool": (7, "<?")}
    if kind in numbers:
        return struct.pack("<I", numbers[kind][0]) + struct.pack(numbers[kind][1], value)
    if kind == "str":
        return struct.pack("<I", 8) + pack_string(value)
    items = [pack_value(kind[:-2], item) for item in value]
    element = pack_value(kind[:-2], value[0] if value else (0 if kind != "str[]" else ""))[:4]
    return struct.pack("<I", 9) + element + struct.pack("<Q", len(items)) + b"".join(item[4:] for item in items)


def convert(root, pre):
    """Returns the metadata of the tokenizer |root|: keys, types and values."""
    model = root["model"]
    added = {token["id"]: token for token in root["added_tokens"]}
    by_id = {number: token for token, number in model["vocab"].items()}
    by_id.update({number: token["content"] for number, token in added.items()})
    size = max(by_id) + 1
    tokens = [by_id.get(i, f"[PAD{i}]") for i in range(size)]
    types = [NORMAL if i in by_id else UNUSED for i in range(size)]
    for number, token in added.items():
        types[number] = CONTROL if token["special"] else USER_DEFINED
    keys = {}
    if model["type"] == "WordPiece":
        keys["model"] = ("str", "bert")
        for i, token in enumerate(tokens):
            if not (token.startswith("[") and token.endswith("]")) and types[i] != CONTROL:
                tokens[i] = token[2:] if token.startswith("##") else SPACE + token
        for key, token in (("cls_token_id", "[CLS]"), ("seperator_token_id", "[SEP]"), ("unknown_token_id", "[UNK]")):
            keys[key] = ("u32", model["vocab"][token])
    else:
        is_llama = pre == "-"
        keys["model"] = ("str", "llama" if is_llama else "gpt2")
        if is_llama:
            types = [BYTE if kind == NORMAL and token.startswith("<0x") and len(token) == 6 else kind for token, kind in zip(tokens, types)]
            keys["scores"] = ("f32[]", [float(-i) for i in range(size)])
            types[model["vocab"]["<unk>"]] = UNKNOWN
            keys["unknown_token_id"] = ("u32", model["vocab"]["<unk>"])
        else:
            keys["pre"] = ("str", pre)
            keys["merges"] = ("str[]", [merge if isinstance(merge, str) else " ".join(merge) for merge in model["merges"]])
        for key, token in (("bos_token_id", "<s>"), ("eos_token_id", "</s>")):
            if token in model["vocab"]:
                keys[key] = ("u32", model["vocab"][token])
        added_in_texts = "TemplateProcessing" in json.dumps(root["post_processor"])
        keys["add_bos_token"] = ("bool", added_in_texts)
        keys["add_eos_token"] = ("bool", False)
    keys["tokens"] = ("str[]", tokens)
    keys["token_type"] = ("i32[]", types)
    return {"general.architecture": ("str", "llama"), **{"tokenizer.ggml." + key: value for key, value in keys.items()}}


def write(root, path, pre, changes):
    keys = convert(root, pre)
    for change in changes:
        key, value = change.split("=", 1)
        key, kind = key.rsplit(":", 1)
        if value == "-":
            del keys[key]
            continue
        keys[key] = (kind, bytes(value, "utf-8").decode("unicode_escape").encode("latin-1") if kind == "str" else json.loads(value))
    data = b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys))
    for key, (kind, value) in keys.items():
        data += pack_string(key) + pack_value(kind, value)
    with open(path, "wb") as file:
        file.write(data)


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check(scratch, folder, pre):
    name = os.path.basename(folder)
    path, out = os.path.join(scratch, name + ".gguf"), os.path.join(scratch, name + ".text")
    root = read_json(os.path.join(folder, "tokenizer.json"))
    write(root, path, pre, [])
    is_bert = root["model"]["type"] == "WordPiece"
    left_out = {"text", "pair"} | (set() if is_bert else {"type_ids"})
    if root["post_processor"].get("trim_offsets"):
        left_out.add("offsets")
    subprocess.run(["attune-test-compile-text", path, out], check=True)
    compared = different = 0
    for group in read_json(os.path.join(folder, "expected.json")):
        if is_bert and "pad_length" in group["options"]:
            continue
        records = b""
        for answer in group["answers"]:
            text, pair = answer["text"].encode(), None if answer["pair"] is None else answer["pair"].encode()
            records += struct.pack("<II", len(text), 0xFFFFFFFF if pair is None else len(pair)) + text + (pair or b"")
        options = [f"{key}={value}" for key, value in group["options"].items()]
        result = subprocess.run(["attune-test-encode", out, *options], input=records, stdout=subprocess.PIPE, check=True)
        for answer, line in zip(group["answers"], (json.loads(line) for line in result.stdout.decode().split("\n") if line), strict=True):
            compared += 1
            got = dict(line.get("encodings", [{}])[0], decoded=line.get("decoded"))
            wrong = [key for key in answer if key not in left_out and answer[key] != got.get(key)]
            different += bool(wrong)
            for key in wrong:
                print(f"{name} {options} {answer['text']!r} {answer['pair']!r}: {key}: expected {answer[key]}, got {got.get(key)}")
    print(f"{name}: {compared} encodings, {different} different")
    return different


def main():
    if sys.argv[1] == "write":
        folder, path, pre, *changes = sys.argv[2:]
        write(read_json(os.path.join(folder, "tokenizer.json")), path, pre, changes)
        return 0
    scratch, *pairs = sys.argv[2:]
    return 1 if sum(check(scratch, folder, pre) for folder, pre in zip(pairs[::2], pairs[1::2])) else 0


if __name__ == "__main__":
    sys.exit(main())
