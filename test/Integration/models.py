# ===- models.py - Small models and inputs for the sweeps ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Configurations whose sizes fit no vector, inputs whose lengths fit no tile, and the safetensors writer for them. Standard library only.

import json
import os
import random
import struct

LENGTHS = [1, 2, 3, 7, 31, 33, 64, 65, 127, 128, 129, 511]

# hidden / heads, intermediate, activation, architecture. Head sizes 12, 8, 15, 50, 11, 72: none a multiple of 16; hidden 33 is odd.
MODELS = {
    "h36a3": dict(hidden_size=36, num_attention_heads=3, intermediate_size=50, hidden_act="gelu"),
    "h40a5": dict(hidden_size=40, num_attention_heads=5, intermediate_size=112, hidden_act="gelu_new"),
    # 2101 features: xfmr-split-deep-projections makes two projections, of 1088 and 1013 features.
    "h60a4": dict(hidden_size=60, num_attention_heads=4, intermediate_size=2101, hidden_act="relu"),
    "h300a6": dict(hidden_size=300, num_attention_heads=6, intermediate_size=50, hidden_act="silu", num_hidden_layers=1),
    "h33a3": dict(hidden_size=33, num_attention_heads=3, intermediate_size=51, hidden_act="tanh",
                  architectures=["BertForTokenClassification"], id2label={str(i): f"L{i}" for i in range(3)}),
    "h72a1": dict(hidden_size=72, num_attention_heads=1, intermediate_size=17, hidden_act="gelu_pytorch_tanh",
                  architectures=["BertForMaskedLM"]),
    "h48a4qa": dict(hidden_size=48, num_attention_heads=4, intermediate_size=64, hidden_act="swish",
                    architectures=["BertForQuestionAnswering"]),
    # Heads of 64 and of 128 components, as tensor cores in warpgroups want them; panels of 300 and of 77 columns,
    # depths that are no multiple of 64.
    "h128a2": dict(hidden_size=128, num_attention_heads=2, intermediate_size=300, hidden_act="gelu"),
    "h256a2": dict(hidden_size=256, num_attention_heads=2, intermediate_size=77, hidden_act="relu"),
    "h48a4one": dict(hidden_size=48, num_attention_heads=4, intermediate_size=64, hidden_act="gelu",
                     architectures=["BertForSequenceClassification"], id2label={"0": "L0"}),
    # Ids equal to pad_token_id occur: RoBERTa counts positions over the others.
    "roberta": dict(model_type="roberta", hidden_size=60, num_attention_heads=4, intermediate_size=50, hidden_act="gelu", pad_token_id=3,
                    vocab_size=11, architectures=["RobertaModel"]),
    "robertalm": dict(model_type="roberta", hidden_size=36, num_attention_heads=3, intermediate_size=50, hidden_act="relu", pad_token_id=1,
                      vocab_size=13, architectures=["RobertaForMaskedLM"]),
    "robertacls": dict(model_type="roberta", hidden_size=36, num_attention_heads=3, intermediate_size=50, hidden_act="gelu", vocab_size=13,
                       architectures=["RobertaForSequenceClassification"], id2label={str(i): f"L{i}" for i in range(3)}),
    # Each token uses three of seven experts.
    "experts": dict(model_type="qwen3_moe", hidden_size=60, num_attention_heads=4, num_key_value_heads=2, head_dim=16, intermediate_size=50,
                    moe_intermediate_size=37, num_experts=7, num_experts_per_tok=3, norm_topk_prob=True, architectures=["Qwen3MoeModel"]),
}
# Architectures whose outputs are hidden states.
BASES = ["BertModel", "RobertaModel"]


def config(name):
    base = dict(model_type="bert", architectures=["BertModel"], vocab_size=101, max_position_embeddings=512, num_hidden_layers=2,
                type_vocab_size=3, layer_norm_eps=1e-12)
    base.update(MODELS[name])
    if base["model_type"] == "roberta":
        base["max_position_embeddings"] += base.get("pad_token_id", 1) + 1
    return base


def write_config(name, folder):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(config(name), f, indent=1)


def random_ids(rng, limit, *shape):
    """Returns (dtype, shape, values) of ids below |limit|."""
    return "I64", list(shape), [rng.randrange(limit) for _ in range(product(shape))]


def product(shape):
    n = 1
    for extent in shape:
        n *= extent
    return n


def token_mask(rng, kind, batch, length):
    """Returns a mask with 1 for tokens to compute. |kind| is 'right' or 'left' for padding after or before them, 'holes' for
    padding anywhere but at the first token, 'empty' for 'right' with an empty last row, 'ragged' for rows with all, one,
    some and no tokens."""
    rows = []
    for b in range(batch):
        visible = rng.randint(1, length) if b else length
        if kind == "left":
            row = [0] * (length - visible) + [1] * visible
        elif kind == "ragged" and b in (1, batch - 1):
            row = [int(b == 1)] + [0] * (length - 1)
        elif kind == "holes" or kind == "ragged" and b:
            row = [1] + [rng.randint(0, 1) for _ in range(length - 1)]
        else:
            row = [1] * visible + [0] * (length - visible)
        rows += row
    if kind == "empty":
        rows[-length:] = [0] * length
    return "I64", [batch, length], rows


def square_mask(rng, batch, length):
    """Returns a mask per query: random, but query 1 sees the first key alone and query 2 none at all."""
    values = []
    for _ in range(batch):
        for query in range(length):
            some = query not in (1, 2)
            values += [int(query != 2)] + [rng.randint(0, 1) if some else 0 for _ in range(length - 1)]
    return "I64", [batch, length, length], values


def float_mask(rng, shape):
    """Returns an additive mask: mostly 0, some moderate values, some as good as minus infinity; the first key stays visible."""
    values = [rng.choice([0.0, 0.0, 0.0, -1.5, 0.75, -30.0, -3.0e38]) for _ in range(product(shape))]
    values[::shape[-1]] = [0.0] * len(values[::shape[-1]])
    return "F32", list(shape), values


def as_floats(values):
    """Returns the values rounded to f32."""
    return [struct.unpack("<f", struct.pack("<f", value))[0] for value in values]


def save(path, tensors):
    """Writes |tensors|, {"name": (dtype, shape, values)}, as a safetensors file."""
    header, data = {}, []
    offset = 0
    for name, (dtype, shape, values) in tensors.items():
        packed = struct.pack(f"<{len(values)}{'q' if dtype == 'I64' else 'f'}", *values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(packed)]}
        offset += len(packed)
        data.append(packed)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def load(path):
    """Returns the inverse of save, values as bytes."""
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        header = json.loads(f.read(size))
        data = f.read()
    return {name: (e["dtype"], e["shape"], data[e["data_offsets"][0]:e["data_offsets"][1]])
            for name, e in header.items() if name != "__metadata__"}


def unpack(entry):
    """Returns the values of a loaded tensor as nested lists."""
    dtype, shape, data = entry
    values = list(struct.unpack(f"<{product(shape)}{'q' if dtype == 'I64' else 'f'}", data))
    for size in reversed(shape[1:]):
        values = [values[i:i + size] for i in range(0, len(values), size)]
    return values


def generator(*key):
    """Returns a random generator that depends on |key| alone."""
    return random.Random("/".join(map(str, key)))
