# ===- sweep_encoders.py - BERT's kin, ViT and attentions against plain Python -===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# sweep_encoders.py DIR: models that have neither caches nor steps, with odd sizes and generated weights, compared by
# `attune check` with what families_*.py compute; files in which only another name of a shared table is left, masks that
# are broadcast, choices, uneven images.

import json
import os
import sys

import models
from sweep import run
from sweep_families import expect, expect_pruned, load_weights, write_case

BERT = dict(model_type="bert", vocab_size=19, max_position_embeddings=12, hidden_size=20, num_attention_heads=4, num_hidden_layers=2,
            intermediate_size=23,
            type_vocab_size=3)
DISTILBERT = dict(model_type="distilbert", vocab_size=19, max_position_embeddings=12, dim=18, n_heads=3, n_layers=1, hidden_dim=23)
VIT = dict(model_type="vit", hidden_size=18, num_attention_heads=2, num_hidden_layers=2, intermediate_size=17)
TRANSFORMER = dict(model_type="transformer", architectures=["Transformer"], dim_model=13, num_heads=3, num_encoder_layers=1,
                   num_decoder_layers=2,
                   dim_feedforward=9, position_encoding="sinusoidal", cross_attention="listing", causal=True)

# Configuration; inputs: a limit of ids, "mask", or a range of values, then the shape; heads to remove.
CASES = {
    "decoder": (dict(BERT, architectures=["BertLMHeadModel"], is_decoder=True, add_cross_attention=True,
                     position_embedding_type="relative_key_query"),
                {"input_ids": (19, 2, 7), "attention_mask": ("mask", 2, 7), "head_mask": ((0, 1), 2, 4),
                 "encoder_hidden_states": ((-1, 1), 2, 5, 20),
                 "encoder_attention_mask": ("mask", 2, 5)}),
    "bert-choice": (dict(BERT, architectures=["BertForMultipleChoice"], hidden_act="quick_gelu"),
                    {"input_ids": (19, 2, 3, 7), "attention_mask": ("mask", 2, 3, 7), "token_type_ids": (3, 2, 3, 7)}),
    "bert-pretraining": (dict(BERT, architectures=["BertForPreTraining"], hidden_act="relu2"),
                         {"input_ids": (19, 2, 7), "attention_mask": ("mask", 2, 7, 7), "position_ids": (12, 1, 7)}),
    "roberta-choice": (dict(BERT, model_type="roberta", architectures=["RobertaForMultipleChoice"], pad_token_id=3,
                            hidden_act="leaky_relu"),
                       {"input_ids": (19, 3, 2, 7)}, {"0": [1], "1": [0, 3, 2]}),
    "distilbert-choice": (dict(DISTILBERT, architectures=["DistilBertForMultipleChoice"], activation="sigmoid"),
                          {"input_ids": (19, 1, 4, 7), "attention_mask": ("mask", 1, 4, 7)}, {"0": [0, 2]}),
    "distilbert-words": (dict(DISTILBERT, architectures=["DistilBertForMaskedLM"], activation="relu6"),
                         {"input_ids": (19, 2, 7), "attention_mask": ("mask", 2, 7), "head_mask": ((0, 1), 1, 3)}),
    "vit": (dict(VIT, architectures=["ViTModel"], image_size=[11, 14], patch_size=[3, 5], num_channels=2, pooler_act="relu",
                 pooler_output_size=5),
            {"pixel_values": ((-1, 1), 2, 2, 11, 14), "head_mask": ((0, 1), 2, 2)}),
    "vit-classes": (dict(VIT, architectures=["ViTForImageClassification"], image_size=9, patch_size=4, num_channels=1, qkv_bias=False,
                         num_labels=3),
                    {"pixel_values": ((-1, 1), 1, 1, 9, 9)}, {"1": [0]}),
    "pairs": (dict(model_type="multi_head_attention", architectures=["MultiHeadAttention"], hid_dim=15, n_heads=3),
              {"query": ((-1, 1), 4, 4, 15), "key": ((-1, 1), 4, 7, 15), "value": ((-1, 1), 4, 7, 15), "mask": ("mask", 4, 7)}),
    "heads": (dict(model_type="multi_head_attention", architectures=["MultiHeadAttention"], hid_dim=15, n_heads=3),
              {"query": ((-1, 1), 2, 3, 15), "key": ((-1, 1), 2, 7, 15), "value": ((-1, 1), 2, 7, 15), "mask": ("mask", 3, 1, 7)}),
    "added": (dict(model_type="self_attention", architectures=["SelfAttention"], hidden_size=14, num_attention_heads=2),
              {"hidden_states": ((-1, 1), 3, 3, 14), "attention_mask": ((-3, 3), 3, 3)}),
    "transformer": (TRANSFORMER, {"src": ((-1, 1), 2, 5, 13), "tgt": ((-1, 1), 2, 5, 13)}),
}


def make_input(rng, kind, *shape):
    count = models.product(shape)
    if kind == "mask":
        return "I64", list(shape), [int(rng.random() < 0.7) for _ in range(count)]
    if isinstance(kind, int):
        return models.random_ids(rng, kind, *shape)
    return "F32", list(shape), models.as_floats(rng.uniform(*kind) for _ in range(count))


def whole_masks(tensors):
    """Returns |tensors|; masks with only the last of the dimensions [batch, heads, queries, keys] get the others, of size 1."""
    whole = {}
    for name, (dtype, shape, values) in tensors.items():
        missing = 4 - len(shape) if name == "mask" or (name == "attention_mask" and "hidden_states" in tensors) else 0
        whole[name] = dtype, [1] * missing + shape, values
    return whole


def main(work):
    folders = []
    for number, (name, (config, shapes, *pruned)) in enumerate(CASES.items()):
        folder = os.path.join(work, name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "config.json"), "w") as f:
            json.dump(config, f)
        run("attune", "init", folder, "-o", folder, "--seed", str(number + 3))
        tensors = {name: make_input(models.generator(name, number), *shape) for name, shape in shapes.items()}
        weights, call = load_weights(folder), {"function": "forward", "kwargs": {}, **({"prune_heads": pruned[0]} if pruned else {})}
        expected = expect_pruned(config, weights, tensors, *pruned) if pruned else expect(config, weights, whole_masks(tensors))
        write_case(folder, tensors, expected, call)
        folders.append(folder)
    print(run("attune", "check", *folders))


if __name__ == "__main__":
    main(*sys.argv[1:])
