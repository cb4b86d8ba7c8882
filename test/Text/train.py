#!/usr/bin/env python3
# ===- train.py - Tokenizers of every kind -----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# train.py --out=DIR [--small] [NAME…]: trains tokenizers with every model and step, by the package `tokenizers`, and
# writes DIR/NAME/tokenizer.json. They learn from documents of this machine; with --small from the text below, with
# small vocabularies, which makes the fixtures of this folder.
# ===-----------------------------------------------------------------------===#
import argparse
import glob
import json
import os
import random

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

TEXT = """The quick brown fox jumps over the lazy dog. It's what they'll do; we've seen it, haven't we? Tokenizers split texts.
Ünïcödé tëxt — naïve café, Zürich, 中文字符 日本語テキスト 한국어 русский текст ελληνικά עברית العربية हिन्दी 🙂👍🏽👩‍👩‍👧 ﬁ ① Ⅷ ½ 3.14159 2026-11-24
def main(argc, argv):\n\treturn [x ** 2 for x in range(10)]  # squares\n\n\nfor (int i = 0; i < n; ++i) sum += value[i] * weight[i];\r\n"""
SPECIAL = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r"\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"


def cased(upper, lower, numbers, slash):
    start = r"[^\r\n\p{L}\p{N}]?"
    return (
        f"{start}[{upper}]*[{lower}]+{CONTRACTIONS}?|{start}[{upper}]+[{lower}]*{CONTRACTIONS}?|"
        f"{numbers}| ?[^\\s\\p{{L}}\\p{{N}}]+[\\r\\n{slash}]*|"
        + TAIL
    )


PATTERNS = {
    "llama3": CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + TAIL,
    "qwen2": CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + TAIL,
    "o200k": cased(UPPER, LOWER, r"\p{N}{1,3}", "/"),
    "kimi": r"[\p{Han}]+|" + cased(UPPER + r"&&[^\p{Han}]", LOWER + r"&&[^\p{Han}]", r"\p{N}{1,3}", ""),
    "cl100k": r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "bloom": r" ?[^(\s|[.,!?…。，、।۔،])]+",
}
DEEPSEEK = [
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|" + TAIL,
]
CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


class Trainer:
    def __init__(self, out, corpus, scale, names):
        self.out, self.corpus, self.scale, self.names = out, corpus, scale, names

    def wants(self, name):
        return not self.names or name in self.names

    def save(self, name, tokenizer):
        os.makedirs(f"{self.out}/{name}", exist_ok=True)
        value = json.loads(tokenizer.to_str())
        with open(f"{self.out}/{name}/tokenizer.json", "w", encoding="utf-8") as f:
            json.dump(value, f, ensure_ascii=False, separators=(",", ":"))
            f.write("\n")

    def bpe(
        self, name, pre, norm=None, dec=None, post=None, special=("<unk>", "<s>", "</s>"), size=2000, alphabet=True, edit=None, **model
    ):
        if not self.wants(name):
            return
        tokenizer = Tokenizer(models.BPE(**model))
        tokenizer.pre_tokenizer = pre
        if norm:
            tokenizer.normalizer = norm
        if dec:
            tokenizer.decoder = dec
        affixes = {k: model[k] for k in ("end_of_word_suffix", "continuing_subword_prefix") if model.get(k)}
        letters = pre_tokenizers.ByteLevel.alphabet() if alphabet else []
        trainer = trainers.BpeTrainer(
            vocab_size=self.scale(size, 400 if alphabet else 200),
            special_tokens=list(special),
            show_progress=False,
            initial_alphabet=letters,
            **affixes,
        )
        tokenizer.train_from_iterator(self.corpus, trainer)
        if post:
            tokenizer.post_processor = post
        if edit:
            edit(tokenizer)
        self.save(name, tokenizer)

    def fallback_bpe(self, name, norm, pre, dec):
        """Trains a BPE tokenizer as SentencePiece makes it: unknown characters become tokens of their bytes."""
        if not self.wants(name):
            return
        special = ["<unk>", "<s>", "</s>"]
        trained = Tokenizer(models.BPE(unk_token="<unk>"))
        trained.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.BpeTrainer(
            vocab_size=self.scale(1500, 420),
            special_tokens=special + [f"<0x{i:02X}>" for i in range(256)],
            show_progress=False,
            limit_alphabet=self.scale(80, 40),
        )
        trained.train_from_iterator(self.corpus, trainer)
        value = json.loads(trained.to_str())
        value["model"].update(byte_fallback=True, fuse_unk=True)
        value["added_tokens"] = [
            dict(id=i, content=c, single_word=False, lstrip=False, rstrip=False, normalized=False, special=True)
            for i, c in enumerate(special)
        ]
        value["pre_tokenizer"] = None
        tokenizer = Tokenizer.from_str(json.dumps(value))
        if norm:
            tokenizer.normalizer = norm
        if pre:
            tokenizer.pre_tokenizer = pre
        tokenizer.decoder = dec
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
        self.save(name, tokenizer)

    def wordpiece(self, name, norm, pre, bert=False, size=2500, edit=None, **model):
        if not self.wants(name):
            return
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", **model))
        tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder = norm, pre, decoders.WordPiece()
        tokenizer.train_from_iterator(
            self.corpus, trainers.WordPieceTrainer(vocab_size=self.scale(size, 300), special_tokens=SPECIAL, show_progress=False)
        )
        tokenizer.post_processor = (
            processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
            if bert
            else processors.TemplateProcessing(
                single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
            )
        )
        if edit:
            edit(tokenizer)
        self.save(name, tokenizer)

    def unigram(self, name, norm, pre, dec, **model):
        if not self.wants(name):
            return
        tokenizer = Tokenizer(models.Unigram())
        if norm:
            tokenizer.normalizer = norm
        tokenizer.pre_tokenizer, tokenizer.decoder = pre, dec
        tokenizer.train_from_iterator(
            self.corpus,
            trainers.UnigramTrainer(
                vocab_size=self.scale(1500, 260), special_tokens=["<pad>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False
            ),
        )
        if model:
            value = json.loads(tokenizer.to_str())
            value["model"].update(model)
            if model.get("byte_fallback"):
                value["model"]["vocab"] += [[f"<0x{i:02X}>", -20.0] for i in range(256)]
            tokenizer = Tokenizer.from_str(json.dumps(value))
        tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
        self.save(name, tokenizer)

    def wordlevel(self, name, pre, dec=None):
        if not self.wants(name):
            return
        tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre
        tokenizer.train_from_iterator(
            self.corpus, trainers.WordLevelTrainer(vocab_size=self.scale(3000, 150), special_tokens=SPECIAL, show_progress=False)
        )
        if dec:
            tokenizer.decoder = dec
        self.save(name, tokenizer)


def add_all_flags(tokenizer):
    contents = ["a", "ab", "abc", "The", "in g", " x", "Zz", "é"]
    for k in range(32):
        content = contents[k % 10] if k % 10 < 8 else f"<|{k}|>" if k % 10 == 8 else f"foo{k}"
        tokenizer.add_tokens(
            [
                AddedToken(
                    content, single_word=bool(k & 1), lstrip=bool(k & 2), rstrip=bool(k & 4), normalized=bool(k & 8), special=bool(k & 16)
                )
            ]
        )


def train_all(t):
    split = lambda pattern, behavior="isolated", invert=False: pre_tokenizers.Split(Regex(pattern), behavior, invert)
    sequence, byte_level, metaspace = pre_tokenizers.Sequence, pre_tokenizers.ByteLevel, pre_tokenizers.Metaspace
    bytes_only = byte_level(add_prefix_space=False, use_regex=False)
    for name, pattern in PATTERNS.items():
        t.bpe(
            name,
            sequence([split(pattern), bytes_only]),
            dec=decoders.ByteLevel(),
            post=processors.Sequence(
                [
                    processors.ByteLevel(trim_offsets=False),
                    processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B:1", special_tokens=[("<s>", 1)]),
                ]
            ),
            **({"ignore_merges": True} if name == "llama3" else {}),
        )
    t.bpe("deepseek", sequence([split(d) for d in DEEPSEEK] + [bytes_only]), dec=decoders.ByteLevel())
    t.bpe(
        "gpt2",
        byte_level(add_prefix_space=False),
        dec=decoders.ByteLevel(),
        special=("<|endoftext|>",),
        post=processors.ByteLevel(trim_offsets=True),
    )
    t.bpe(
        "roberta",
        byte_level(add_prefix_space=True),
        dec=decoders.ByteLevel(),
        special=("<s>", "<pad>", "</s>", "<unk>"),
        post=processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=True),
        edit=lambda r: r.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)]),
    )
    t.bpe(
        "falcon",
        sequence(
            [
                pre_tokenizers.Punctuation("contiguous"),
                byte_level(add_prefix_space=False),
                pre_tokenizers.Digits(),
                split("[0-9][0-9][0-9]"),
            ]
        ),
        dec=decoders.ByteLevel(),
    )
    t.bpe(
        "starcoder",
        sequence([pre_tokenizers.Digits(individual_digits=True), byte_level(add_prefix_space=False)]),
        dec=decoders.ByteLevel(),
    )
    t.bpe(
        "clip",
        sequence([split(CLIP, "removed", True), byte_level(add_prefix_space=False)]),
        dec=decoders.ByteLevel(),
        unk_token="<unk>",
        norm=normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]),
        end_of_word_suffix="</w>",
    )
    t.bpe(
        "openai_gpt",
        pre_tokenizers.BertPreTokenizer(),
        norm=normalizers.BertNormalizer(),
        dec=decoders.BPEDecoder("</w>"),
        alphabet=False,
        unk_token="<unk>",
        end_of_word_suffix="</w>",
    )
    t.bpe(
        "bpe_prefix",
        pre_tokenizers.Whitespace(),
        norm=normalizers.NFKC(),
        alphabet=False,
        unk_token="<unk>",
        continuing_subword_prefix="##",
        fuse_unk=True,
        dec=decoders.WordPiece(),
    )
    t.bpe("bpe_nounk", pre_tokenizers.Whitespace(), alphabet=False)
    t.bpe("modernbert", byte_level(add_prefix_space=False), norm=normalizers.NFC(), dec=decoders.ByteLevel())
    fused = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    t.fallback_bpe(
        "llama2",
        normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
        None,
        decoders.Sequence(fused + [decoders.Strip(" ", 1, 0)]),
    )
    t.fallback_bpe(
        "llama_first",
        normalizers.NFC(),
        metaspace(prepend_scheme="first", split=False),
        decoders.Sequence(fused + [decoders.Strip(" ", 1, 0)]),
    )
    t.fallback_bpe("gemma", normalizers.Replace(" ", "▁"), pre_tokenizers.Split(" ", "merged_with_previous"), decoders.Sequence(fused))
    bert, split_bert = normalizers.BertNormalizer, pre_tokenizers.BertPreTokenizer()
    t.wordpiece("bert_uncased", bert(), split_bert)
    t.wordpiece("bert_cased", bert(lowercase=False), split_bert, bert=True)
    t.wordpiece("bert_accents", bert(strip_accents=False), split_bert)
    t.wordpiece(
        "wp_sequence",
        normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()]),
        sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)]),
        max_input_chars_per_word=12,
    )
    t.wordpiece(
        "wp_nmt",
        normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.NFD()]),
        sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("merged_with_previous")]),
    )
    t.wordpiece(
        "wp_scripts",
        normalizers.NFC(),
        sequence([pre_tokenizers.UnicodeScripts(), pre_tokenizers.WhitespaceSplit(), pre_tokenizers.FixedLength(4)]),
    )
    t.wordpiece(
        "wp_delimiter",
        normalizers.Lowercase(),
        sequence([pre_tokenizers.CharDelimiterSplit("e"), pre_tokenizers.Punctuation("merged_with_next"), pre_tokenizers.Digits()]),
    )
    t.wordpiece("added", normalizers.Lowercase(), pre_tokenizers.Whitespace(), edit=add_all_flags)
    t.unigram("t5", normalizers.NFKC(), sequence([pre_tokenizers.WhitespaceSplit(), metaspace()]), decoders.Metaspace())
    t.unigram(
        "unigram_bytes",
        None,
        metaspace(prepend_scheme="first"),
        decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()]),
        byte_fallback=True,
    )
    t.unigram(
        "unigram_whole",
        normalizers.Replace(Regex(" {2,}"), " "),
        metaspace(prepend_scheme="never", split=False),
        decoders.Metaspace(prepend_scheme="never"),
    )
    t.wordlevel("wordlevel", pre_tokenizers.Whitespace())
    t.wordlevel("characters", pre_tokenizers.Split("", "isolated"), decoders.CTC(pad_token="[PAD]", word_delimiter_token="e"))


def read_corpus(limit):
    files = [f for f in glob.glob("/usr/share/doc/**/*", recursive=True) if os.path.isfile(f) and not f.endswith((".gz", ".png"))]
    random.Random(1).shuffle(files)
    corpus, size = [TEXT] * 50, 0
    for path in files:
        with open(path, encoding="utf-8", errors="ignore") as f:
            corpus.append(f.read(20000))
        size += len(corpus[-1])
        if size > limit:
            break
    return corpus


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    corpus = [TEXT] if arguments.small else read_corpus(1500000)
    scale = (lambda size, small: small) if arguments.small else (lambda size, small: size)
    train_all(Trainer(arguments.out, corpus, scale, arguments.names))


if __name__ == "__main__":
    main()
