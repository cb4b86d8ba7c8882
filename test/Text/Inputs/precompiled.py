# ===- precompiled.py - A tokenizer with a map of characters ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""precompiled.py FOLDER LEVELS: writes a tokenizer.json whose normalizer maps `e` to `E`, `ef` to a word that is not in
the vocabulary, and all strings of LEVELS letters of `abcd` to `X`. As in maps of SentencePiece, strings share suffixes:
the trie has LEVELS nodes for 4 ** LEVELS strings."""

import base64
import json
import pathlib
import struct
import sys

LEAF, HAS_LEAF = 1 << 31, 1 << 8
folder, levels = pathlib.Path(sys.argv[1]), int(sys.argv[2])
units = [0] * (256 * (levels + 3))
place = {"E": 0, "XY": 2, "X": 5}


def link(base, letter, below, flags=0):
    """Adds the edge |letter| from the node at |base| to the node at |below|."""
    child = base ^ ord(letter)
    units[child] = (child ^ below) << 10 | flags | ord(letter)


root = 256
units[0] = root << 10
for level in range(levels):
    base, below = root + 256 * level, root + 256 * (level + 1)
    for letter in "abcd":
        link(base, letter, below, HAS_LEAF if level == levels - 1 else 0)
units[root + 256 * levels] = LEAF | place["X"]
end = root + 256 * (levels + 1)
link(root, "e", end, HAS_LEAF)
units[end] = LEAF | place["E"]
link(end, "f", end ^ 128, HAS_LEAF)
units[end ^ 128] = LEAF | place["XY"]
trie = struct.pack(f"<{len(units)}I", *units)
charsmap = base64.b64encode(struct.pack("<I", len(trie)) + trie + b"E\0XY\0X\0").decode()
folder.mkdir(parents=True, exist_ok=True)
tokenizer = {
    "version": "1.0",
    "added_tokens": [],
    "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap},
    "pre_tokenizer": None,
    "post_processor": None,
    "decoder": None,
    "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "E": 1, "Ef": 2, "X": 3, "abcd": 4, "z": 5}, "unk_token": "[UNK]"},
}
(folder / "tokenizer.json").write_text(json.dumps(tokenizer))
