# ===- families_plain.py - ViT, and models over vectors, in plain Python ----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import math

from families import ACTIVATIONS, HEADS, add, attend, causal, each, of_layer, project, record, split

# ---------------------------------------------------------------- ViT

def pair(value):
    return value if isinstance(value, list) else [value, value]


def patches(model, image, path):
    """Returns rows of patches, each a sum over the kernel, without pixels that do not fill a patch."""
    kernel, bias = model.weights[path + ".weight"], model.weights[path + ".bias"]
    (height, width), (down, right) = pair(model.config["image_size"]), pair(model.config["patch_size"])

    def value(n, y, x):
        return bias[n] + sum(kernel[n][c][i][j] * image[c][y + i][x + j] for c in range(len(image)) for i in range(down)
                             for j in range(right))

    return [[value(n, y, x) for n in range(len(kernel))]
            for y in range(0, height - down + 1, down) for x in range(0, width - right + 1, right)]


def vit(model, ids=None, mask=None, pixel_values=None, head_mask=None):
    config, kind, out = model.config, model.config["architectures"][0], {}
    prefix = "" if kind == "ViTModel" else "vit."
    epsilon, act = model.get("layer_norm_eps", 1e-12), ACTIVATIONS[model.get("hidden_act", "gelu")]
    x = [model.weights[prefix + "embeddings.cls_token"][0][0]] + patches(model, pixel_values,
                                                                         prefix + "embeddings.patch_embeddings.projection")
    x = add(x, model.weights[prefix + "embeddings.position_embeddings"][0])
    for i in range(config["num_hidden_layers"]):
        record(out, x)
        layer = f"{prefix}encoder.layer.{i}."
        n = model.norm(x, layer + "layernorm_before", epsilon)
        q, k, v = project(model, n, n, [layer + f"attention.attention.{part}" for part in HEADS], config["num_attention_heads"])
        a, maps = attend(q, k, v, len(q[0][0]) ** -0.5, [], head_mask=of_layer(head_mask, i))
        record(out, None, maps)
        x = add(x, model.linear(a, layer + "attention.output.dense"))
        inner = each(act, model.linear(model.norm(x, layer + "layernorm_after", epsilon), layer + "intermediate.dense"))
        x = add(x, model.linear(inner, layer + "output.dense"))
    record(out, x)
    x = model.norm(x, prefix + "layernorm", epsilon)
    if prefix:
        out["logits"] = model.linear(x[:1], "classifier")[0]
    else:
        act = ACTIVATIONS[model.get("pooler_act", "tanh")]
        out["last_hidden_state"], out["pooler_output"] = x, each(act, model.linear(x[:1], "pooler.dense"))[0]
    return out


# ---------------------------------------------------------------- Attentions, and the Transformer, over feature vectors


def multi_head_attention(model, ids=None, mask=None, query=None, key=None, value=None):
    heads = model.config["n_heads"]
    q, k, v = (split(model.linear(x, name), heads) for x, name in ((query, "w_q"), (key, "w_k"), (value, "w_v")))
    joined = [[] for _ in query]
    for h in range(heads):
        # [heads or 1, queries or 1, keys], as arrays broadcast.
        rows = mask[h if len(mask) > 1 else 0] if mask else [[1] * len(key)]
        hidden = [[0.0 if m else -1e10 for m in rows[i if len(rows) > 1 else 0]] for i in range(len(query))]
        a, _ = attend(q[h:h + 1], k[h:h + 1], v[h:h + 1], len(q[0][0]) ** -0.5, [hidden])
        joined = [row + part for row, part in zip(joined, a)]
    return {"output": model.linear(joined, "fc")}


def self_attention(model, ids=None, mask=None, hidden_states=None):
    q, k, v = project(model, hidden_states, hidden_states, HEADS, model.config["num_attention_heads"])
    rows = mask[0] if mask else [[0.0] * len(hidden_states)]
    a, _ = attend(q, k, v, len(q[0][0]) ** -0.5, [[rows[i if len(rows) > 1 else 0] for i in range(len(hidden_states))]])
    return {"context_layer": a}


def wave(model, place, column):
    if model.config["position_encoding"] == "listing":
        return math.cos(1) if column % 2 else -math.sin(1)
    angle = place / 10000 ** (column // 2 * 2 / model.config["dim_model"])
    return math.cos(angle) if column % 2 else math.sin(angle)


def residual(model, skip, result, path):
    return model.norm(add(skip, result), path + ".norm", model.get("layer_norm_eps", 1e-5))


def transformer_attention(model, path, query, key, value, skip, masks):
    size, joined = model.config["dim_model"] // model.config["num_heads"], [[] for _ in query]
    for h in range(model.config["num_heads"]):
        q, k, v = ([model.linear(x, f"{path}.sublayer.heads.{h}.{part}")] for x, part in zip((query, key, value), "qkv"))
        a, _ = attend(q, k, v, size ** -0.5, masks)
        joined = [row + part for row, part in zip(joined, a)]
    return residual(model, skip, model.linear(joined, path + ".sublayer.linear"), path)


def transformer_ffn(model, path, x):
    inner = each(ACTIVATIONS["relu"], model.linear(x, path + ".feed_forward.sublayer.0"))
    return residual(model, x, model.linear(inner, path + ".feed_forward.sublayer.2"), path + ".feed_forward")


def transformer(model, ids=None, mask=None, src=None, tgt=None):
    src, tgt = ([[v + wave(model, place, column) for column, v in enumerate(row)] for place, row in enumerate(x)] for x in (src, tgt))
    for i in range(model.config["num_encoder_layers"]):
        path = f"encoder.layers.{i}"
        src = transformer_ffn(model, path, transformer_attention(model, path + ".attention", src, src, src, src, []))
    listed = model.config["cross_attention"] == "listing"
    for i in range(model.config["num_decoder_layers"]):
        path = f"decoder.layers.{i}"
        tgt = transformer_attention(model, path + ".attention_1", tgt, tgt, tgt, tgt,
                                    [causal(len(tgt))] if model.get("causal", False) else [])
        cross = (src, src, tgt) if listed else (tgt, src, src)
        tgt = transformer_ffn(model, path, transformer_attention(model, path + ".attention_2", *cross, tgt, []))
    logits = model.linear(tgt, "decoder.linear")
    peaks = [[math.exp(v - max(row)) for v in row] for row in logits]
    return {"memory": src, "logits": logits, "output": [[v / sum(row) for v in row] for row in peaks]}


FAMILIES = {"multi_head_attention": multi_head_attention, "self_attention": self_attention, "transformer": transformer, "vit": vit}
