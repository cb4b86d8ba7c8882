# ===- families_bart.py - BART and Marian in plain Python ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import math

from families import ACTIVATIONS, add, attend, causal, each, of_layer, record, split, visible


def bart_attention(model, x, memory, name, heads, masks, head_mask=None):
    q, k, v = (split(model.linear(source, f"{name}.{m}_proj"), heads) for source, m in ((x, "q"), (memory, "k"), (memory, "v")))
    a, maps = attend(q, k, v, len(q[0][0]) ** -0.5, masks, head_mask=head_mask)
    return model.linear(a, name + ".out_proj"), maps, k, v


def sines(places, width):
    """Returns Marian's encoding of each position in |places|: sines, then cosines, one less than sines if |width| is
    odd."""
    half = (width + 1) // 2
    angles = [[p / 10000 ** (2 * (n if n < half else n - half) / width) for n in range(width)] for p in places]
    return [[math.sin(a) if n < half else math.cos(a) for n, a in enumerate(row)] for row in angles]


def bart_embeddings(model, base, ids, vectors):
    factor = math.sqrt(model.config["d_model"]) if model.get("scale_embedding", False) else 1.0
    prefix = "model." if base.startswith("model.") else ""
    table = next(name for name in (prefix + "shared.weight", base + "embed_tokens.weight") if name in model.weights)
    words, count = vectors or model.rows(table, ids, factor), len(vectors or ids)
    if model.config["model_type"] == "marian":
        return add(words, sines(range(count), model.config["d_model"]))
    return model.norm(add(words, model.rows(base + "embed_positions.weight", range(2, count + 2))), base + "layernorm_embedding", 1e-5)


def bart_stack(model, side, ids, mask, out, memory=None, memory_mask=None, head_mask=None, cross_head_mask=None, prefix=None, vectors=None):
    heads, act, n = model.config[side + "_attention_heads"], ACTIVATIONS[model.get("activation_function", "gelu")], len(ids or vectors)
    base = ("" if model.config["architectures"][0] in ("BartModel", "MarianModel") else "model.") + side + "."
    prefix, mask = side + "_" if prefix is None else prefix, mask or [1] * n
    x = bart_embeddings(model, base, ids, vectors)
    for i in range(model.config[side + "_layers"]):
        record(out, x, prefix=prefix)
        layer = f"{base}layers.{i}."
        masks = [visible(mask, n)] if side == "encoder" else [causal(n), visible(mask, n)]
        a, maps, k, v = bart_attention(model, x, x, layer + "self_attn", heads, masks, of_layer(head_mask, i))
        record(out, None, maps, prefix)
        x = model.norm(add(x, a), layer + "self_attn_layer_norm", 1e-5)
        if side == "decoder":
            out[f"past_key_values.{i}.0"], out[f"past_key_values.{i}.1"] = k, v
        if memory is not None:
            seen = [visible(memory_mask or [1] * len(memory), n)]
            a, maps, ck, cv = bart_attention(model, x, memory, layer + "encoder_attn", heads, seen, of_layer(cross_head_mask, i))
            out.setdefault("cross_attentions", []).append(maps)
            out[f"past_key_values.{i}.2"], out[f"past_key_values.{i}.3"] = ck, cv
            x = model.norm(add(x, a), layer + "encoder_attn_layer_norm", 1e-5)
        inner = each(act, model.linear(x, layer + "fc1"))
        x = model.norm(add(x, model.linear(inner, layer + "fc2")), layer + "final_layer_norm", 1e-5)
    record(out, x, prefix=prefix)
    return x


def bart_scores(model, x, bias):
    tied = model.get("tie_word_embeddings", True)
    names = ("model.shared.weight", "model.decoder.embed_tokens.weight") if tied else ("lm_head.weight",)
    words = model.weights[next(name for name in names if name in model.weights)]
    return [[sum(a * b for a, b in zip(row, w)) + bias[n] for n, w in enumerate(words)] for row in x]


def bart_causal(model, ids, mask=None, encoder_hidden_states=None, encoder_attention_mask=None, head_mask=None, cross_attn_head_mask=None,
                inputs_embeds=None):
    out = {}
    x = bart_stack(model, "decoder", ids, mask, out, encoder_hidden_states, encoder_attention_mask, head_mask, cross_attn_head_mask,
                   prefix="",
                   vectors=inputs_embeds)
    out["logits"] = bart_scores(model, x, [0.0] * model.config["vocab_size"])
    return out


def bart(model, ids, mask, decoder_input_ids=None, decoder_attention_mask=None, head_mask=None, decoder_head_mask=None,
         cross_attn_head_mask=None,
         inputs_embeds=None, decoder_inputs_embeds=None, encoder_outputs=None, **rest):
    kind, out = model.config["architectures"][0], {}
    if "Causal" in kind:
        return bart_causal(model, ids, mask, head_mask=head_mask, cross_attn_head_mask=cross_attn_head_mask, inputs_embeds=inputs_embeds,
                           **rest)
    mask = mask or [1] * len(ids or inputs_embeds or encoder_outputs)
    memory = encoder_outputs or bart_stack(model, "encoder", ids, mask, out, head_mask=head_mask, vectors=inputs_embeds)
    out["encoder_last_hidden_state"] = memory
    if not decoder_input_ids and not decoder_inputs_embeds:
        decoder_input_ids = [model.get("decoder_start_token_id", 2)] + ids[:-1]
    x = bart_stack(model, "decoder", decoder_input_ids, decoder_attention_mask, out, memory, mask, decoder_head_mask, cross_attn_head_mask,
                   vectors=decoder_inputs_embeds)
    if kind in ("BartModel", "MarianModel"):
        out["last_hidden_state"] = x
        return out
    if "Question" in kind:
        out["start_logits"], out["end_logits"] = ([row[n] for row in model.linear(x, "qa_outputs")] for n in range(2))
        return out
    if "Sequence" in kind:
        last = max(i for i, one in enumerate(ids) if one == model.config["eos_token_id"])
        inner = each(math.tanh, model.linear([x[last]], "classification_head.dense"))
        out["logits"] = model.linear(inner, "classification_head.out_proj")[0]
        return out
    out["logits"] = bart_scores(model, x, model.weights.get("final_logits_bias", [[0.0] * model.config["vocab_size"]])[0])
    return out


FAMILIES = {"bart": bart, "marian": bart}
