# ===- old.py - The families whose golden cases are of transformers 4 -------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Families for the census, and cases that version 4 could not compute.

Keys and inputs that transformers 5 ignores or lacks (relative positions of BERT, head masks, pruned heads) are not drawn.
"""

from ..cases import Case, Family, forward
from .common import BART, BERT, GPT, ROBERTA, bart_sizes, bert_sizes, gpt_sizes
from .decoders import OLD_MASKS

ACTS = ["gelu", "relu", "gelu_new", "silu"]


def distilbert_sizes(rng):
    sizes = bert_sizes(rng)
    return {"dim": sizes["hidden_size"], "n_heads": sizes["num_attention_heads"], "n_layers": sizes["num_hidden_layers"],
            "hidden_dim": sizes["intermediate_size"],
            "vocab_size": sizes["vocab_size"]}


def vit_sizes(rng):
    patch = int(rng.integers(2, 6))
    sizes = {key: value for key, value in bert_sizes(rng).items() if key not in ("vocab_size", "max_position_embeddings")}
    return {**sizes, "patch_size": patch, "image_size": patch * int(rng.integers(1, 5)), "num_channels": int(rng.integers(1, 4))}


def marian_sizes(rng):
    sizes = bart_sizes(rng)
    last = sizes["vocab_size"] - 1
    return {**sizes, "decoder_vocab_size": last + 1, "pad_token_id": last, "decoder_start_token_id": last, "bad_words_ids": [[last]]}


MARIAN = {**BART, "activation_function": "swish", "bos_token_id": 0, "eos_token_id": 0, "forced_eos_token_id": 0, "pad_token_id": 100,
          "decoder_start_token_id": 100,
          "decoder_vocab_size": 101, "scale_embedding": True, "share_encoder_decoder_embeddings": True, "static_position_embeddings": True}

FAMILIES = [
    Family("bert", {"model_type": "bert", **BERT}, [], {"hidden_act": ACTS, "type_vocab_size": [1, 2, 3], "layer_norm_eps": [1e-12, 1e-3]},
           ("BertModel", "BertForMaskedLM", "BertForSequenceClassification", "BertForTokenClassification", "BertForQuestionAnswering",
            "BertForPreTraining",
            "BertForNextSentencePrediction"), bert_sizes, "encoder"),
    Family("roberta", {"model_type": "roberta", **ROBERTA}, [], {"hidden_act": ACTS, "type_vocab_size": [1, 2]},
           ("RobertaModel", "RobertaForMaskedLM", "RobertaForSequenceClassification", "RobertaForTokenClassification",
            "RobertaForQuestionAnswering"), bert_sizes,
           "encoder"),
    Family("distilbert", {"model_type": "distilbert", "vocab_size": 101, "dim": 36, "n_heads": 3, "n_layers": 2, "hidden_dim": 53,
                          "max_position_embeddings": 41,
                          "activation": "gelu", "pad_token_id": 0, "sinusoidal_pos_embds": False}, [], {"activation": ["gelu", "relu"]},
           ("DistilBertModel", "DistilBertForMaskedLM", "DistilBertForSequenceClassification", "DistilBertForTokenClassification",
            "DistilBertForQuestionAnswering"), distilbert_sizes, "encoder"),
    Family("vit", {"model_type": "vit", **{key: value for key, value in BERT.items() if key not in ("vocab_size", "max_position_embeddings",
                                                                                                    "type_vocab_size", "pad_token_id")},
                   "image_size": 12, "patch_size": 4, "num_channels": 3, "qkv_bias": True}, [],
           {"hidden_act": ACTS, "qkv_bias": [True, False]},
           ("ViTModel", "ViTForImageClassification"), vit_sizes, "image"),
    Family("gpt2", {"model_type": "gpt2", **GPT, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "pad_token_id": 0},
           [Case("adapter", "GPT2LMHeadModel", ["a LoRA adapter of matrices stored as [in, out], square ones among them; all biases"],
                 forward(mask="right"),
                 adapter={"r": 4, "lora_alpha": 3, "target_modules": ["c_attn", "c_proj"], "fan_in_fan_out": True, "bias": "all"})],
           {"activation_function": ["gelu_new", "gelu", "relu"], "scale_attn_by_inverse_layer_idx": [True, False],
            "scale_attn_weights": [True, False],
            "n_inner": [None, 41]},
           ("GPT2LMHeadModel", "GPT2LMHeadModel", "GPT2Model", "GPT2ForSequenceClassification", "GPT2ForTokenClassification",
            "GPT2ForQuestionAnswering"), gpt_sizes,
           "decoder", masks=OLD_MASKS),
    Family("bart", {"model_type": "bart", **BART, "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2,
                    "forced_eos_token_id": 2}, [],
           {"scale_embedding": [True, False], "activation_function": ["gelu", "relu", "silu"]},
           ("BartForConditionalGeneration", "BartModel"), bart_sizes,
           "encoder-decoder"),
    Family("marian", {"model_type": "marian", **MARIAN}, [],
           {"scale_embedding": [True, False], "activation_function": ["swish", "gelu", "relu"]},
           ("MarianMTModel", "MarianModel"), marian_sizes, "encoder-decoder", constant=(r"embed_positions\.weight$",)),
]
