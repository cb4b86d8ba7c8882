# ===- families_decoders.py - GPT-2 and Llama in plain Python -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import math

from families import ACTIVATIONS, add, attend, causal, each, of_layer, record, split, visible


def gpt2_cross(model, x, layer, number, heads, memory, memory_mask, out, head_mask=None):
    normed = model.norm(x, layer + "ln_cross_attn", model.get("layer_norm_epsilon", 1e-5))
    q = split(model.linear(normed, layer + "crossattention.q_attn", True), heads)
    joined = model.linear(memory, layer + "crossattention.c_attn", True)
    hidden = len(joined[0]) // 2
    k, v = (split([row[n * hidden:(n + 1) * hidden] for row in joined], heads) for n in range(2))
    scale = len(q[0][0]) ** -0.5 if model.get("scale_attn_weights", True) else 1.0
    scale /= number + 1 if model.get("scale_attn_by_inverse_layer_idx", False) else 1
    a, maps = attend(q, k, v, scale, [visible(memory_mask or [1] * len(memory), len(x))], head_mask=head_mask)
    out.setdefault("cross_attentions", []).append(maps)
    return add(x, model.linear(a, layer + "crossattention.c_proj", True))


def gpt2(model, ids, mask, token_type_ids=None, encoder_hidden_states=None, encoder_attention_mask=None, mc_token_ids=None,
         position_ids=None,
         inputs_embeds=None, head_mask=None):
    count = len(ids or inputs_embeds)
    mask = mask or [1] * count
    kind = model.config["architectures"][0]
    heads, layers, prefix = model.config["n_head"], model.config["n_layer"], "" if kind == "GPT2Model" else "transformer."
    epsilon, act = model.get("layer_norm_epsilon", 1e-5), ACTIVATIONS[model.get("activation_function", "gelu_new")]
    out = {}
    x = add(inputs_embeds or model.rows(prefix + "wte.weight", ids), model.rows(prefix + "wpe.weight", position_ids or range(count)))
    if token_type_ids:
        x = add(x, model.rows(prefix + "wte.weight", token_type_ids))
    for i in range(layers):
        record(out, x)
        layer = f"{prefix}h.{i}."
        joined = model.linear(model.norm(x, layer + "ln_1", epsilon), layer + "attn.c_attn", True)
        hidden = len(joined[0]) // 3
        q, k, v = (split([row[n * hidden:(n + 1) * hidden] for row in joined], heads) for n in range(3))
        scale = len(q[0][0]) ** -0.5 if model.get("scale_attn_weights", True) else 1.0
        if model.get("scale_attn_by_inverse_layer_idx", False):
            scale /= i + 1
        own = of_layer(head_mask, i)
        a, maps = attend(q, k, v, scale, [causal(count), visible(mask, count)], head_mask=own)
        record(out, None, maps)
        out[f"past_key_values.{i}.0"], out[f"past_key_values.{i}.1"] = k, v
        x = add(x, model.linear(a, layer + "attn.c_proj", True))
        if encoder_hidden_states:
            x = gpt2_cross(model, x, layer, i, heads, encoder_hidden_states, encoder_attention_mask, out, own)
        inner = each(act, model.linear(model.norm(x, layer + "ln_2", epsilon), layer + "mlp.c_fc", True))
        x = add(x, model.linear(inner, layer + "mlp.c_proj", True))
    x = model.norm(x, prefix + "ln_f", epsilon)
    record(out, x)
    if not prefix:
        out["last_hidden_state"] = x
    elif "Sequence" in kind:
        last = sum(i != model.config["pad_token_id"] for i in ids) - 1
        out["logits"] = model.linear([x[last]], "score")[0]
    elif "Token" in kind:
        out["logits"] = model.linear(x, "classifier")
    elif "Question" in kind:
        out["start_logits"], out["end_logits"] = ([row[n] for row in model.linear(x, "qa_outputs")] for n in range(2))
    else:
        if "Double" in kind:
            place = count - 1 if mc_token_ids is None else mc_token_ids
            out["mc_logits"] = model.linear([x[place]], "multiple_choice_head.summary")[0][0]
        words = model.weights[prefix + "wte.weight" if model.get("tie_word_embeddings", True) else "lm_head.weight"]
        out["logits"] = [[sum(a * b for a, b in zip(row, w)) for w in words] for row in x]
    return out


def frequencies(model, size):
    scaling = model.get("rope_scaling", {})
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    for i in range(size // 2):
        f = model.get("rope_theta", 10000.0) ** (-2 * i / size)
        if kind == "linear":
            f /= scaling["factor"]
        elif kind == "llama3":
            low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
            length = scaling["original_max_position_embeddings"] * f / (2 * math.pi)
            if length < low:
                f /= scaling["factor"]
            elif length <= high:
                smooth = (length - low) / (high - low)
                f = (1 - smooth) * f / scaling["factor"] + smooth * f
        yield f


def rotate(heads, angles):
    half = len(angles[0])
    turned = []
    for rows in heads:
        turned.append([[a * math.cos(t) - b * math.sin(t) for a, b, t in zip(r, r[half:], angle)]
                       + [b * math.cos(t) + a * math.sin(t) for a, b, t in zip(r, r[half:], angle)] for r, angle in zip(rows, angles)])
    return turned


def llama(model, ids, mask, position_ids=None, inputs_embeds=None):
    count, kind = len(ids or inputs_embeds), model.config["architectures"][0]
    mask = mask or [1] * count
    prefix = {"LlamaModel": "", "LlamaForQuestionAnswering": "transformer."}.get(kind, "model.")
    heads, epsilon = model.config["num_attention_heads"], model.get("rms_norm_eps", 1e-6)
    size = model.get("head_dim", model.config["hidden_size"] // heads)
    act = ACTIVATIONS[model.get("hidden_act", "silu")]
    angles = [[p * f for f in frequencies(model, size)] for p in position_ids or range(count)]
    out = {}
    x = inputs_embeds or model.rows(prefix + "embed_tokens.weight", ids)
    for i in range(model.config["num_hidden_layers"]):
        record(out, x)
        layer = f"{prefix}layers.{i}."
        n = model.norm(x, layer + "input_layernorm", epsilon)
        kv = model.get("num_key_value_heads", heads)
        q = rotate(split(model.linear(n, layer + "self_attn.q_proj"), heads), angles)
        k = rotate(split(model.linear(n, layer + "self_attn.k_proj"), kv), angles)
        v = split(model.linear(n, layer + "self_attn.v_proj"), kv)
        a, maps = attend(q, k, v, size ** -0.5, [causal(count), visible(mask, count)])
        record(out, None, maps)
        out[f"past_key_values.{i}.0"], out[f"past_key_values.{i}.1"] = k, v
        x = add(x, model.linear(a, layer + "self_attn.o_proj"))
        n = model.norm(x, layer + "post_attention_layernorm", epsilon)
        gate, up = each(act, model.linear(n, layer + "mlp.gate_proj")), model.linear(n, layer + "mlp.up_proj")
        x = add(x, model.linear([[g * u for g, u in zip(p, r)] for p, r in zip(gate, up)], layer + "mlp.down_proj"))
    x = model.norm(x, prefix + "norm", epsilon)
    record(out, x)
    if not prefix:
        out["last_hidden_state"] = x
    elif "Question" in kind:
        out["start_logits"], out["end_logits"] = ([row[n] for row in model.linear(x, "qa_outputs")] for n in range(2))
    elif "Sequence" in kind:
        out["logits"] = model.linear([x[sum(i != model.config["pad_token_id"] for i in ids) - 1]], "score")[0]
    elif "Token" in kind:
        out["logits"] = model.linear(x, "score")
    else:
        head = model.weights[prefix + "embed_tokens.weight" if model.get("tie_word_embeddings", False) else "lm_head.weight"]
        out["logits"] = [[sum(a * b for a, b in zip(row, w)) for w in head] for row in x]
    return out


FAMILIES = {"gpt2": gpt2, "llama": llama}
