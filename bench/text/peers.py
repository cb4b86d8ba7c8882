# ===- peers.py - Other tokenizers --------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""peers.py NAME FOLDER TEXTS THREADS encode|offsets|decode: the process of another tokenizer that `tokenizers` times.

Takes the commands of Worker.c. Each library is called by its fastest interface for a list of strings.
"""

import array
import json
import os
import pathlib
import struct
import sys
import time


def read_records(path):
    data, at, texts = pathlib.Path(path).read_bytes(), 0, []
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at)
        texts.append(data[at + 4 : at + 4 + size].decode())
        at += 4 + size
    return texts


def split(flat, sizes):
    """Returns the lists of |sizes| ids of an array of all ids."""
    lists, at = [], 0
    for size in sizes:
        lists.append(flat[at : at + int(size)])
        at += int(size)
    return lists


class HuggingFace:
    """The library `tokenizers`. Its ids are the expected ones for all others."""

    def __init__(self, folder):
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def encode(self, texts):
        return self.tokenizer.encode_batch_fast(texts)

    def encode_offsets(self, texts):
        return self.tokenizer.encode_batch(texts)

    def ids(self, result):
        return [encoding.ids for encoding in result]

    def decode(self, lists):
        return self.tokenizer.decode_batch(lists)


class Gigatoken:
    def __init__(self, folder):
        import gigatoken

        self.tokenizer = gigatoken.Tokenizer(f"{folder}/tokenizer.json")

    def encode(self, texts):
        return self.tokenizer.encode_batch(texts)

    def ids(self, result):
        return [list(map(int, row)) for row in result]

    def decode(self, lists):
        return [self.tokenizer.decode(ids) for ids in lists]


class Tokie:
    def __init__(self, folder):
        import tokie

        self.tokenizer = tokie.Tokenizer.from_json(f"{folder}/tokenizer.json")
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def encode(self, texts):
        return self.tokenizer.encode_batch_flat(texts)

    def ids(self, result):
        return split(result[0].tolist(), result[1])

    def decode(self, lists):
        return self.tokenizer.decode_batch(lists)


class FastTokens:
    def __init__(self, folder):
        import fastokens

        self.tokenizer = fastokens.Tokenizer.from_file(f"{folder}/tokenizer.json")

    def encode(self, texts):
        return self.tokenizer.encode_batch_flat(texts)

    def ids(self, result):
        flat, ends = array.array("i", result[0]), array.array("q", result[1])
        return split(flat.tolist(), [b - a for a, b in zip(ends, ends[1:])])

    def decode(self, lists):
        return self.tokenizer.decode_batch(lists)


class Kitoken:
    def __init__(self, folder):
        import kitoken

        value = json.loads(pathlib.Path(folder, "tokenizer.json").read_text(encoding="utf-8"))
        value["padding"] = value["truncation"] = None
        self.tokenizer = kitoken.Kitoken.from_tokenizers(json.dumps(value).encode())

    def encode(self, texts):
        return self.tokenizer.encode_all(texts, True)

    def ids(self, result):
        return result

    def decode(self, lists):
        return self.tokenizer.decode_all(lists)


class Flash:
    """flash-tokenizer, for BERT's vocabularies."""

    def __init__(self, folder):
        if not os.path.exists(f"{folder}/vocab.txt"):
            raise ValueError("no vocab.txt")
        from flash_tokenizer import BertTokenizerFlash

        self.tokenizer = BertTokenizerFlash(f"{folder}/vocab.txt", do_lower_case=True, model_max_length=1 << 30)

    def encode(self, texts):
        return [self.tokenizer(text, max_length=1 << 30, padding="longest").input_ids[0] for text in texts]

    def ids(self, result):
        return [list(map(int, row)) for row in result]

    def decode(self, lists):
        raise ValueError("no decoder")


class Tiktoken:
    """tiktoken on the vocabulary of a byte-level BPE whose ids are in the order of its merges."""

    GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"

    def __init__(self, folder):
        import tiktoken
        from tokenizers import pre_tokenizers

        value = json.loads(pathlib.Path(folder, "tokenizer.json").read_text(encoding="utf-8"))
        if value["model"]["type"] != "BPE" or (value["pre_tokenizer"] or {}).get("type") != "ByteLevel":
            raise ValueError("only for byte-level BPE with the pattern of GPT-2")
        special = {token["content"]: token["id"] for token in value["added_tokens"]}
        printable = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or 174 <= b <= 255]
        letters = {chr(b): b for b in printable}
        letters.update({chr(256 + i): b for i, b in enumerate(b for b in range(256) if b not in printable)})
        assert set(letters) == set(pre_tokenizers.ByteLevel.alphabet())
        ranks = {bytes(letters[c] for c in token): i for token, i in value["model"]["vocab"].items() if token not in special}
        self.tokenizer = tiktoken.Encoding("bench", pat_str=self.GPT2, mergeable_ranks=ranks, special_tokens=special)

    def encode(self, texts):
        return self.tokenizer.encode_ordinary_batch(texts, num_threads=int(os.environ["RAYON_NUM_THREADS"]))

    def ids(self, result):
        return result

    def decode(self, lists):
        return self.tokenizer.decode_batch(lists)


class SentencePiece:
    """The library `sentencepiece` on a model made of a Unigram tokenizer.json."""

    def __init__(self, folder):
        import base64

        import sentencepiece
        from sentencepiece import sentencepiece_model_pb2 as form

        value = json.loads(pathlib.Path(folder, "tokenizer.json").read_text(encoding="utf-8"))
        if value["model"]["type"] != "Unigram":
            raise ValueError("only for Unigram")
        model = form.ModelProto()
        kinds = {"<unk>": 2, "<pad>": 3, "<s>": 3, "</s>": 3}
        for piece, score in value["model"]["vocab"]:
            kind = 4 if piece.startswith("<extra_id_") else kinds.get(piece, 1)
            model.pieces.add(piece=piece, score=score, type=kind)
        model.trainer_spec.model_type = 1
        model.trainer_spec.unk_id = value["model"]["unk_id"]
        normalizer = value.get("normalizer") or {}
        for step in normalizer.get("normalizers", [normalizer]):
            if step.get("type") == "Precompiled":
                model.normalizer_spec.precompiled_charsmap = base64.b64decode(step["precompiled_charsmap"])
        for flag in ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"):
            setattr(model.normalizer_spec, flag, True)
        self.tokenizer = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
        self.end = [1] if value["post_processor"] else []

    def encode(self, texts):
        return self.tokenizer.encode(texts, out_type=int, num_threads=int(os.environ["RAYON_NUM_THREADS"]))

    def ids(self, result):
        return [ids + self.end for ids in result]

    def decode(self, lists):
        return self.tokenizer.decode(lists, num_threads=int(os.environ["RAYON_NUM_THREADS"]))


PEERS = {
    "tokenizers": HuggingFace,
    "sentencepiece": SentencePiece,
    "gigatoken": Gigatoken,
    "tokie": Tokie,
    "fastokens": FastTokens,
    "tiktoken": Tiktoken,
    "kitoken": Kitoken,
    "flash-tokenizer": Flash,
}


def write_ids(path, lists):
    with open(path, "wb") as f:
        for ids in lists:
            f.write(struct.pack("<I", len(ids)) + array.array("i", ids).tobytes())
    return sum(map(len, lists))


def main():
    name, folder, texts, _, mode = sys.argv[1:]
    sys.stdout.flush()
    answers, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr
    texts = read_records(texts)
    try:
        peer = PEERS[name](folder)
        if mode == "offsets":
            peer.encode = peer.encode_offsets
        if mode == "decode":
            lists = peer.ids(peer.encode(texts))
            peer.decode(lists[:1])
        else:
            peer.encode(texts[:1])
    except BaseException as error:  # extensions of Rust raise panics, which are no exceptions
        print("error: " + " ".join(str(error).split())[:160], file=answers, flush=True)
        return
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        command = line.split()
        begin = time.perf_counter()
        if command[0] == "go":
            peer.decode(lists) if mode == "decode" else peer.encode(texts)
            answer = f"{time.perf_counter() - begin:.9f}"
        elif command[0] == "open":
            PEERS[name](folder)
            answer = f"{time.perf_counter() - begin:.9f}"
        else:
            answer = write_ids(command[1], peer.ids(peer.encode(texts)))
        print(answer, file=answers, flush=True)


if __name__ == "__main__":
    main()
