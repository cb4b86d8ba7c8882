# ===- tokenizers_of.py - tokenizer.json for models that come without -------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a tokenizer.json from the vocabulary of a package whose own code makes the tokens."""

import json

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors

# The tokens of the SMILES notation, as the packages rxnfp and rxnmapper split it.
SMILES = (
    r"\%\([0-9]{3}\)|\[[^\]]+\]|Br?|Cl?|N|O|S|P|F|I|b|c|n|o|s|p|\||\(|\)|\.|=|#|-|\+|\\|\/|:|~|@|\?|>>?|\*|\$|\%[0-9]{2}|[0-9]"
)


def smiles(vocabulary):
    """Returns the tokenizer of reactions in SMILES: one token for each match, the rest of the text is dropped."""
    ids = {token: i for i, token in enumerate(vocabulary)}
    tokenizer = Tokenizer(models.WordLevel(ids, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(SMILES), behavior="removed", invert=True)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])],
    )
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return tokenizer


def smollm(tokens, kinds, merges):
    """Returns the tokenizer that GGUF calls `smollm`: single digits, then byte-level BPE. |kinds| are GGUF's token types."""
    ids = {token: i for i, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(ids, [tuple(merge.split(" ")) for merge in merges]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    control = 3
    tokenizer.add_special_tokens([AddedToken(t, normalized=False) for t, kind in zip(tokens, kinds) if kind == control])
    return tokenizer


def save(tokenizer, folder, **config):
    """Writes tokenizer.json and tokenizer_config.json."""
    tokenizer.save(str(folder / "tokenizer.json"))
    with open(folder / "tokenizer_config.json", "w", encoding="utf-8") as f:
        json.dump({"tokenizer_class": "PreTrainedTokenizerFast", **config}, f, indent=1, ensure_ascii=False)
