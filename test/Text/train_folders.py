#!/usr/bin/env python3
# ===- train_folders.py - Folders of older forms -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# train_folders.py --out=DIR [--small]: trains vocabularies by the packages `tokenizers` and `sentencepiece`, and writes a
# folder for each class of tokenizers and for settings that change it: vocab.txt, vocab.json and merges.txt, *.model,
# with tokenizer_config.json, special_tokens_map.json, added_tokens.json. DIR/NAME-saved is NAME as the reference saves it.
# ===-----------------------------------------------------------------------===#
import argparse
import io
import json
import os
import tempfile

import sentencepiece
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from train import TEXT, read_corpus

# The normalization of small models: those of the package have a quarter of a megabyte.
RULES = [("FF21", "41"), ("FF22", "42"), ("FB01", "66 69"), ("2460", "31"), ("A0", "20"), ("3000", "20"), ("A", "20"), ("D A", "20")]

ROUNDED = [
    ("▁", -3.7148051261901855),
    ("V", -7.420319080352783),
    ("I", -7.496953010559082),
    ("▁V", -8.271368026733398),
    ("II", -10.269457817077637),
    ("▁VI", -10.3983736038208),
]


class Folders:
    def __init__(self, out, corpus, size, small):
        self.out, self.corpus, self.size, self.small, self.names = out, corpus, size, small, []

    def write(self, name, files, config=None, model_type=None, **more):
        """Writes a folder: |files| by name, tokenizer_config.json, config.json with |model_type|, further JSON files."""
        folder = os.path.join(self.out, name)
        os.makedirs(folder, exist_ok=True)
        for file, content in files.items():
            with open(os.path.join(folder, file), "wb") as f:
                f.write(content if isinstance(content, bytes) else content.encode())
        values = {"tokenizer_config.json": config, "config.json": {"model_type": model_type} if model_type else None, **more}
        for file, value in values.items():
            if value is not None:
                with open(os.path.join(folder, file), "w") as f:
                    json.dump(value, f, ensure_ascii=False, indent=1)
        self.names.append(name)

    def word_piece(self, special, lower):
        tokenizer = Tokenizer(models.WordPiece(unk_token=special[0]))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.train_from_iterator(
            self.corpus, trainers.WordPieceTrainer(vocab_size=self.size, special_tokens=special, show_progress=False)
        )
        vocab = tokenizer.get_vocab()
        return {"vocab.txt": "".join(token + "\n" for token in sorted(vocab, key=vocab.get))}

    def bpe(self, special, splits, suffix=None, normalizer=None, unknown=None):
        options = {"end_of_word_suffix": suffix} if suffix else {}
        tokenizer = Tokenizer(models.BPE(**options, **({"unk_token": unknown} if unknown else {})))
        tokenizer.pre_tokenizer = splits
        if normalizer:
            tokenizer.normalizer = normalizer
        alphabet = pre_tokenizers.ByteLevel.alphabet() if suffix is None or splits.__class__.__name__ == "Sequence" else []
        trainer = trainers.BpeTrainer(
            vocab_size=self.size, special_tokens=special, show_progress=False, initial_alphabet=alphabet, **options
        )
        tokenizer.train_from_iterator(self.corpus, trainer)
        value = json.loads(tokenizer.to_str())["model"]
        merges = [m if isinstance(m, str) else " ".join(m) for m in value["merges"]]
        return {
            "vocab.json": json.dumps(value["vocab"], ensure_ascii=False),
            "merges.txt": "#version: 0.2\n" + "".join(m + "\n" for m in merges),
        }

    def sentence_piece(self, kind, **options):
        model = io.BytesIO()
        if self.small and "normalization_rule_name" not in options:
            with tempfile.NamedTemporaryFile("w", suffix=".tsv", delete=False) as rules:
                rules.write("".join(f"{source}\t{target}\n" for source, target in RULES))
            options["normalization_rule_tsv"] = rules.name
        sentences = (line for text in self.corpus for line in text.split("\n") if line.strip())
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=sentences,
            model_writer=model,
            model_type=kind,
            vocab_size=self.size,
            hard_vocab_limit=False,
            minloglevel=2,
            max_sentence_length=8192,
            input_sentence_size=20000,
            **options,
        )
        return model.getvalue()


def write_word_piece(f):
    bert = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    lower, cased = f.word_piece(["[UNK]"] + bert[:1] + bert[2:], True), f.word_piece(["[UNK]"] + bert[:1] + bert[2:], False)
    f.write("bert", lower, {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512}, "bert")
    f.write("bert-plain", lower, None, "bert")
    f.write("bert-cased", cased, {"do_lower_case": False}, "bert")
    f.write("bert-accents", cased, {"do_lower_case": True, "strip_accents": False, "tokenize_chinese_chars": False}, "bert")
    f.write("bert-cleanup", lower, {"tokenizer_class": "BertTokenizerFast", "clean_up_tokenization_spaces": True}, "bert")
    f.write("bert-split", lower, {"split_special_tokens": True}, "bert")
    f.write("electra", lower, {"tokenizer_class": "ElectraTokenizer"}, "electra")
    f.write("distilbert", lower, {"tokenizer_class": "DistilBertTokenizer"}, "distilbert")
    f.write("dpr", lower, {"tokenizer_class": "DPRQuestionEncoderTokenizer"}, "dpr")
    f.write(
        "bert-added",
        lower,
        {"additional_special_tokens": ["<e1>", "[E2]"], "image_token": "<image>"},
        "bert",
        **{
            "added_tokens.json": {"newword": 60000, "<e1>": 60001, "The": 60002},
            "special_tokens_map.json": {
                "mask_token": {"content": "[MASK]", "lstrip": True, "rstrip": False, "normalized": False, "single_word": False},
                "sep_token": "[SEP]",
                "additional_special_tokens": ["<e3>"],
            },
        },
    )
    decoder = {
        "4": {"content": "[MASK]", "lstrip": True, "normalized": True, "rstrip": True, "single_word": False, "special": True},
        "50000": {"content": "foo1", "lstrip": False, "normalized": True, "rstrip": False, "single_word": True, "special": False},
        "7": {"content": "Zz", "lstrip": False, "normalized": True, "rstrip": False, "single_word": False, "special": False},
    }
    f.write("bert-decoder", lower, {"added_tokens_decoder": decoder, "extra_special_tokens": ["<x>", "hello"]}, "bert")
    f.write("bert-crlf", {"vocab.txt": lower["vocab.txt"].replace("\n", "\r\n") + "[UNK]\nhello \t\nhello"}, None, "bert")
    mpnet = f.word_piece(["[UNK]", "<s>", "<pad>", "</s>", "<mask>"], True)
    f.write("mpnet", mpnet, {"tokenizer_class": "MPNetTokenizer", "model_max_length": 384}, "mpnet")
    funnel = f.word_piece(["<unk>", "<pad>", "<cls>", "<sep>", "<mask>", "<s>", "</s>"], True)
    f.write("funnel", funnel, {"tokenizer_class": "FunnelTokenizer"}, "funnel")
    f.write("splinter", f.word_piece(["[UNK]"] + bert[:1] + bert[2:] + ["[QUESTION]"], True), {}, "splinter")


def write_byte_level(f):
    end = f.bpe(["<|endoftext|>"], pre_tokenizers.ByteLevel(add_prefix_space=False))
    f.write("gpt2", end, {"tokenizer_class": "GPT2Tokenizer", "model_max_length": 1024}, "gpt2")
    f.write("gpt2-plain", end, None, "gpt2")
    f.write("gpt2-prefix", end, {"add_prefix_space": True, "add_bos_token": True, "pad_token": "<|pad|>"}, "gpt_neo")
    f.write("opt", end, {"add_bos_token": True, "bos_token": "</s>", "eos_token": "</s>", "errors": "replace"}, "opt")
    f.write("codegen", end, {"tokenizer_class": "CodeGenTokenizer"}, "codegen")
    f.write("gpt-neox", end, {"tokenizer_class": "GPTNeoXTokenizer", "add_eos_token": True}, "gpt_neox")
    f.write("qwen2", end, {"tokenizer_class": "Qwen2Tokenizer", "additional_special_tokens": ["<|im_start|>", "<|im_end|>"]}, "qwen2")
    fair = f.bpe(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], pre_tokenizers.ByteLevel(add_prefix_space=False))
    f.write("roberta", fair, {"tokenizer_class": "RobertaTokenizer"}, "roberta")
    f.write(
        "roberta-map",
        fair,
        {"trim_offsets": False, "add_prefix_space": True},
        "roberta",
        **{"special_tokens_map.json": {"mask_token": {"content": "<mask>", "lstrip": True, "normalized": False}, "eos_token": "</s>"}},
    )
    f.write("bart", fair, {"tokenizer_class": "BartTokenizerFast"}, "bart")
    f.write("blenderbot", fair, {"tokenizer_class": "BlenderbotTokenizer", "add_eos_token": True}, "blenderbot")
    deberta = f.bpe(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"], pre_tokenizers.ByteLevel(add_prefix_space=False))
    f.write("deberta", deberta, {}, "deberta")
    cohere = f.bpe(["<PAD>", "<UNK>", "<BOS_TOKEN>"], pre_tokenizers.ByteLevel(add_prefix_space=False))
    f.write("cohere", cohere, {"add_bos_token": True}, "cohere")
    clip = f.bpe(
        ["<|startoftext|>", "<|endoftext|>"],
        pre_tokenizers.Sequence([pre_tokenizers.ByteLevel(add_prefix_space=False)]),
        "</w>",
        normalizers.Lowercase(),
    )
    f.write("clip", clip, {"tokenizer_class": "CLIPTokenizer"}, "clip")
    lower = normalizers.BertNormalizer(lowercase=True)
    f.write("openai-gpt", f.bpe(["<unk>"], pre_tokenizers.BertPreTokenizer(), "</w>", lower, "<unk>"), {}, "openai-gpt")
    herbert = f.bpe(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], pre_tokenizers.BertPreTokenizer(), "</w>", None, "<unk>")
    f.write("herbert", herbert, {"tokenizer_class": "HerbertTokenizerFast"}, "herbert")


def write_unigram(f):
    fair = f.sentence_piece("unigram")
    f.write("xlm-roberta", {"sentencepiece.bpe.model": fair}, {"tokenizer_class": "XLMRobertaTokenizer"}, "xlm-roberta")
    f.write("camembert", {"sentencepiece.bpe.model": fair}, None, "camembert")
    f.write("barthez", {"sentencepiece.bpe.model": fair}, {"tokenizer_class": "BarthezTokenizer"}, "mbart")
    f.write("mbart", {"sentencepiece.bpe.model": fair}, {"src_lang": "de_DE", "tgt_lang": "fr_XX"}, "mbart")
    f.write("mbart50", {"sentencepiece.bpe.model": fair}, {"tokenizer_class": "MBart50Tokenizer", "src_lang": "fr_XX"}, "mbart")
    f.write("unigram-model", {"tokenizer.model": fair}, {"tokenizer_class": "PreTrainedTokenizerFast"}, "stablelm")
    t5 = f.sentence_piece("unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    f.write("t5", {"spiece.model": t5}, {"tokenizer_class": "T5Tokenizer"}, "t5")
    f.write("t5-ids", {"spiece.model": t5}, {"extra_ids": 3, "additional_special_tokens": ["<extra_id_0>", "<x>"]}, "t5")
    f.write("pegasus", {"spiece.model": t5}, {"offset": 7}, "pegasus")
    albert = f.sentence_piece(
        "unigram", pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, control_symbols=["[CLS]", "[SEP]"], user_defined_symbols=["[MASK]", "(", ")"]
    )
    f.write("albert", {"spiece.model": albert}, {"tokenizer_class": "AlbertTokenizer"}, "albert")
    f.write("albert-cased", {"spiece.model": albert}, {"do_lower_case": False, "keep_accents": True}, "albert")
    f.write("rembert", {"sentencepiece.model": albert}, None, "rembert")
    f.write("big-bird", {"spiece.model": albert}, None, "big_bird")
    deberta = f.sentence_piece(
        "unigram", pad_id=0, pad_piece="[PAD]", bos_id=1, bos_piece="[CLS]", eos_id=2, eos_piece="[SEP]", unk_id=3, unk_piece="[UNK]"
    )
    f.write("deberta-v2", {"spm.model": deberta}, {"tokenizer_class": "DebertaV2Tokenizer"}, "deberta-v2")
    f.write("deberta-v3", {"spm.model": deberta}, {"do_lower_case": True, "split_by_punct": True, "vocab_type": "spm"}, "deberta-v2")
    xlnet = f.sentence_piece("unigram", control_symbols=["<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"])
    f.write("xlnet", {"spiece.model": xlnet}, None, "xlnet")


def write_character_bpe(f):
    llama = f.sentence_piece(
        "bpe", byte_fallback=True, split_digits=True, normalization_rule_name="identity", remove_extra_whitespaces=False
    )
    f.write("llama", {"tokenizer.model": llama}, {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True}, "llama")
    legacy = {"tokenizer_class": "LlamaTokenizer", "legacy": True, "add_eos_token": True}
    f.write("llama-legacy", {"tokenizer.model": llama}, legacy, "llama")
    f.write("llama-no-prefix", {"tokenizer.model": llama}, {"tokenizer_class": "LlamaTokenizer", "add_prefix_space": False}, "llama")
    f.write("code-llama", {"tokenizer.model": llama}, {"tokenizer_class": "CodeLlamaTokenizer"}, "llama")
    f.write("mistral", {"tokenizer.model": llama}, {"tokenizer_class": "LlamaTokenizer", "add_bos_token": True}, "mistral")
    gemma = f.sentence_piece(
        "bpe",
        byte_fallback=True,
        pad_id=0,
        eos_id=1,
        bos_id=2,
        unk_id=3,
        eos_piece="<eos>",
        bos_piece="<bos>",
        user_defined_symbols=["\n", "\n\n", "<mask>"],
    )
    f.write("gemma", {"tokenizer.model": gemma}, {"tokenizer_class": "GemmaTokenizer", "add_bos_token": True}, "gemma")
    plain = f.sentence_piece("bpe", user_defined_symbols=["<sep>"])
    f.write("nllb", {"sentencepiece.bpe.model": plain}, {"tokenizer_class": "NllbTokenizer", "src_lang": "deu_Latn"}, "m2m_100")
    f.write("nllb-legacy", {"sentencepiece.bpe.model": plain}, {"tokenizer_class": "NllbTokenizer", "legacy_behaviour": True}, "m2m_100")
    f.write("reformer", {"spiece.model": plain}, None, "reformer")
    f.write("bpe-model", {"tokenizer.model": plain}, None, "stablelm")


def write_python(f):
    """Writes the folders of tokenizer classes that the reference runs in Python."""
    import sentencepiece as sp
    from sentencepiece import sentencepiece_model_pb2

    def pieces_of(model):
        processor = sp.SentencePieceProcessor(model_proto=model)
        return [processor.IdToPiece(i) for i in range(processor.GetPieceSize())]

    def vocabulary(tokens):
        return json.dumps({token: id for id, token in enumerate(dict.fromkeys(tokens))}, ensure_ascii=False)

    source = f.sentence_piece("unigram")
    target = f.sentence_piece("bpe", character_coverage=0.98)
    # Every ninth piece is missing from the vocabulary.
    shared = [piece for i, piece in enumerate(pieces_of(source)[3:] + pieces_of(target)[3:]) if i % 9]
    codes = [">>deu<<", ">>fra<<", ">>zho_Hans<<", "((", "→→"]
    files = {"source.spm": source, "target.spm": target, "vocab.json": vocabulary(["</s>", "<unk>"] + shared + codes + ["<pad>"])}
    f.write("marian", files, {"source_lang": "eng", "target_lang": "deu"}, "marian")
    f.write(
        "marian-settings",
        {**files, "source.spm": target, "target.spm": source},
        {
            "tokenizer_class": "MarianTokenizer",
            "clean_up_tokenization_spaces": True,
            "extra_special_tokens": ["<x>", "▁the"],
            "truncation_side": "left",
        },
        "marian",
        **{"added_tokens.json": {"foo1": 9000, "Zz": 17}},
    )
    separate = {"target_vocab.json": vocabulary(["</s>", "<unk>"] + pieces_of(target)[40:] + ["<pad>"])}
    f.write("marian-separate", {**files, **separate}, {"separate_vocabs": True, "target_vocab_file": "target_vocab.json"}, "marian")
    fallback = f.sentence_piece("unigram", byte_fallback=True, remove_extra_whitespaces=False, add_dummy_prefix=False)
    tokens = ["</s>", "<unk>"] + [p for i, p in enumerate(pieces_of(fallback)[3:]) if i % 9] + ["<pad>"]
    f.write("marian-bytes", {"source.spm": fallback, "target.spm": fallback, "vocab.json": vocabulary(tokens)}, {}, "marian")
    suffix = f.sentence_piece("unigram", treat_whitespace_as_suffix=True, unk_surface="?", user_defined_symbols=[])
    f.write(
        "marian-suffix",
        {"source.spm": suffix, "target.spm": suffix, "vocab.json": vocabulary(["</s>", "<unk>"] + pieces_of(suffix)[3:] + ["<pad>"])},
        {"unk_token": "<unk>", "pad_token": "</s>"},
        "marian",
    )
    # Scores whose sums tie once they are rounded to 32 bits.
    model = sentencepiece_model_pb2.ModelProto()
    model.trainer_spec.model_type = 1
    for piece, score, kind in [("<unk>", 0, 2)] + [(piece, score, 1) for piece, score in ROUNDED]:
        model.pieces.add(piece=piece, score=score, type=kind)
    rounded = model.SerializeToString()
    f.write(
        "marian-rounding",
        {"source.spm": rounded, "target.spm": rounded, "vocab.json": vocabulary(["</s>", "<unk>"] + [p for p, _ in ROUNDED] + ["<pad>"])},
        {},
        "marian",
    )
    bpe = f.sentence_piece("bpe")
    fair = {
        "sentencepiece.bpe.model": bpe,
        "vocab.json": vocabulary(["<s>", "<pad>", "</s>", "<unk>"] + [p for i, p in enumerate(pieces_of(bpe)[3:]) if i % 11]),
    }
    languages = ["af", "am", "ar", "ast", "az", "ba", "be", "bg"]
    f.write(
        "m2m100",
        fair,
        {"src_lang": "fr", "tgt_lang": "de", "additional_special_tokens": [f"__{code}__" for code in languages]},
        "m2m_100",
    )
    f.write("m2m100-plain", fair, {"tokenizer_class": "M2M100Tokenizer"}, "m2m_100")
    f.write("m2m100-wmt21", fair, {"tokenizer_class": "M2M100Tokenizer", "language_codes": "wmt21", "src_lang": "de"}, "m2m_100")
    unigram = {"sentencepiece.bpe.model": source, "vocab.json": vocabulary(["<s>", "<pad>", "</s>", "<unk>"] + shared)}
    f.write("m2m100-unigram", unigram, {"bos_token": None, "mask_token": "<mask>", "num_madeup_words": 2}, "m2m_100")

    pieces = {"spiece.model": f.sentence_piece("bpe")}
    f.write("bert-generation", pieces, {"bos_token": "<s>", "extra_special_tokens": ["<x>"]}, "bert-generation")
    unigram = {"spiece.model": source}
    f.write("bert-generation-unigram", unigram, {"tokenizer_class": "BertGenerationTokenizer", "sep_token": "▁the"}, "bert-generation")
    listed = "".join(f"{piece} 7\n" for i, piece in enumerate(pieces_of(source)[3:]) if i % 9)
    f.write(
        "bartpho", {"sentencepiece.bpe.model": source, "dict.txt": listed}, {"tokenizer_class": "BartphoTokenizer"}, "mbart"
    )

    # Tokens that end with "@@", and merges that end with "</w>". Every ninth token is missing from the vocabulary.
    def continued(split, normalizer=None):
        trained = f.bpe([], split, "</w>", normalizer)
        strings = sorted(piece for piece in json.loads(trained["vocab.json"]) if piece.split() == [piece])
        tokens = [piece[:-4] if piece.endswith("</w>") else piece + "@@" for piece in strings]
        merges = [line for line in trained["merges.txt"].split("\n")[1:-1] if line.split() == line.split(" ")]
        return [token for i, token in enumerate(tokens) if i % 9], merges

    tokens, merges = continued(pre_tokenizers.WhitespaceSplit())
    counted = "".join(f"{line} {9000 - i}\n" for i, line in enumerate(merges))
    words = {"vocab.txt": "".join(f"{token} {9000 - i}\n" for i, token in enumerate(tokens)), "bpe.codes": counted}
    more = {"added_tokens.json": {"\n": 9000, "@@": 9001}}
    f.write("phobert", words, {"tokenizer_class": "PhobertTokenizer"}, "roberta", **more)
    f.write(
        "bertweet",
        words,
        {"tokenizer_class": "BertweetTokenizer", "clean_up_tokenization_spaces": True, "extra_special_tokens": ["<x>"]},
        "roberta",
        **{"added_tokens.json": {"foo1": 9000, "a@@": 9001}},
    )
    split = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])
    tokens, merges = continued(split, normalizers.Lowercase())
    special = ["__null__", "__start__", "__end__", "__unk__", "__newln__"]
    files = {"vocab.json": vocabulary(special + tokens), "merges.txt": "\n".join(["#version: 0.2", *merges, "left over"])}
    f.write("blenderbot-small", files, {}, "blenderbot-small")

    residues = "<cls> <pad> <eos> <unk> L A G V S E R T I D P K Q N F Y M H W C X B U Z O . - <null_1> <mask>".split()
    esm = {"vocab.txt": "\n".join(residues)}
    f.write("esm", esm, {"tokenizer_class": "EsmTokenizer", "model_max_length": 1024}, "esm")
    f.write("esm-cleanup", esm, {"clean_up_tokenization_spaces": True, "split_special_tokens": True}, "esm")
    lines = "\n".join(residues).replace("\n", "\r\n") + "\n\n  ab \x1cLA\nL\nabc\n"
    mask = {"content": "<mask>", "lstrip": True, "rstrip": True, "normalized": False, "single_word": False, "special": True}
    f.write("esm-lines", {"vocab.txt": lines}, {"added_tokens_decoder": {"32": mask}, "extra_special_tokens": ["<s>"]}, "esm")

    f.write("byt5", {}, {"tokenizer_class": "ByT5Tokenizer", "extra_ids": 125}, "t5")
    f.write("byt5-config", {}, None, "t5", **{"config.json": {"model_type": "t5", "tokenizer_class": "ByT5Tokenizer"}})
    flags = {"lstrip": False, "rstrip": False, "normalized": True, "single_word": False, "special": True}
    eos = {"__type": "AddedToken", "content": "</s>", **flags}
    f.write(
        "byt5-settings",
        {},
        {
            "tokenizer_class": "ByT5Tokenizer",
            "extra_ids": 3,
            "additional_special_tokens": [],
            "eos_token": eos,
            "clean_up_tokenization_spaces": True,
            "added_tokens_decoder": {"259": {**eos, "content": "naïve"}, "300": {**eos, "content": "<mask>", "lstrip": True}},
        },
        "t5",
    )


def save_again(f):
    from transformers import AutoTokenizer

    for name in list(f.names):
        if name == "bertweet":  # the reference saves its merges without the numbers that it needs to read them
            continue
        try:
            tokenizer = AutoTokenizer.from_pretrained(os.path.join(f.out, name))
        except Exception as error:  # the reference cannot read all of its own forms
            print(f"{name}: {error}")
            continue
        folder = os.path.join(f.out, name + "-saved")
        tokenizer.save_pretrained(folder)
        config = os.path.join(f.out, name, "config.json")
        if os.path.exists(config):
            with open(config) as source, open(os.path.join(folder, "config.json"), "w") as target:
                target.write(source.read())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    corpus = [TEXT] * 4 if arguments.small else read_corpus(6_000_000)
    f = Folders(arguments.out, corpus, 400 if arguments.small else 8000, arguments.small)
    for make in (write_word_piece, write_byte_level, write_unigram, write_character_bpe, write_python):
        if arguments.only in make.__name__:
            make(f)
    save_again(f)


if __name__ == "__main__":
    main()
