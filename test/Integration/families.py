# ===- families.py - What models compute, in plain Python ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# forward(config, weights, inputs) of GPT-2, Llama, BART, Marian and T5 (families_encoders.py has others), written after the reference implementation's modules and for small models only: doubles,
# lists of rows, one sequence at a time. Masks are added as the reference adds them, so rows without a visible key come out as its do.

import math

LOWEST = -3.4028234663852886e38

ACTIVATIONS = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))),
    "gelu_new": lambda x: 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + math.exp(-x)),
    "tanh": math.tanh,
    "quick_gelu": lambda x: x / (1 + math.exp(-1.702 * x)),
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "relu6": lambda x: min(max(x, 0.0), 6.0),
    "relu2": lambda x: max(x, 0.0) ** 2,
    "leaky_relu": lambda x: x if x > 0 else 0.01 * x,
    "linear": lambda x: x,
}
ACTIVATIONS["swish"] = ACTIVATIONS["silu"]
ACTIVATIONS["gelu_fast"] = ACTIVATIONS["gelu_pytorch_tanh"] = ACTIVATIONS["gelu_new"]


class Model:
    """A configuration and its weights, {"name": rows or a row}."""

    def __init__(self, config, weights):
        self.config, self.weights = config, weights

    def get(self, key, default=None):
        value = self.config.get(key)
        return default if value is None else value

    def linear(self, x, name, transposed=False):
        """x W^T + b, the bias if there is one; |transposed| weights are [in, out]."""
        weight, bias = self.weights[name + ".weight"], self.weights.get(name + ".bias")
        if transposed:
            weight = list(zip(*weight))
        return [[sum(a * b for a, b in zip(row, w)) + (bias[n] if bias else 0.0) for n, w in enumerate(weight)] for row in x]

    def norm(self, x, name, epsilon):
        """Layer norm, or RMS norm without a bias."""
        weight, bias = self.weights[name + ".weight"], self.weights.get(name + ".bias")
        return [normalise(row, weight, bias, epsilon) for row in x]

    def rows(self, name, ids, factor=1.0):
        return [[factor * v for v in self.weights[name][i]] for i in ids]


def normalise(row, weight, bias, epsilon):
    mean = sum(row) / len(row) if bias else 0.0
    scale = 1 / math.sqrt(sum((v - mean) ** 2 for v in row) / len(row) + epsilon)
    return [(v - mean) * scale * w + (bias[i] if bias else 0.0) for i, (v, w) in enumerate(zip(row, weight))]


def add(a, b):
    return [[x + y for x, y in zip(p, q)] for p, q in zip(a, b)]


def each(function, x):
    return [[function(v) for v in row] for row in x]


def split(x, heads):
    """[T, H * D] as [H, T, D]."""
    size = len(x[0]) // heads
    return [[row[h * size:(h + 1) * size] for row in x] for h in range(heads)]


def softmax(row):
    top = max(row)
    weights = [math.exp(v - top) for v in row]
    total = sum(weights)
    return [v / total for v in weights]


def attend(query, key, value, scale, masks, bias=None, head_mask=None):
    """Heads [H, T, D] over [G, S, D]; |masks| are added one after the other, a sum below what a float holds is minus infinity. Returns the joined heads and
    the probabilities [H, T, S]."""
    maps, joined = [], [[] for _ in query[0]]
    for h, rows in enumerate(query):
        g = h * len(key) // len(query)
        probabilities = []
        for i, q in enumerate(rows):
            scores = []
            for j, k in enumerate(key[g]):
                score = scale * sum(a * b for a, b in zip(q, k)) + (bias[h][i][j] if bias else 0.0)
                for mask in masks:
                    score = max(score + mask[i][j], LOWEST) if score + mask[i][j] > 1.5 * LOWEST else -math.inf
                scores.append(score)
            row = [p * (head_mask[h] if head_mask else 1.0) for p in softmax(scores)]
            probabilities.append(row)
            joined[i] += [sum(p * v[e] for p, v in zip(row, value[g])) for e in range(len(value[g][0]))]
        maps.append(probabilities)
    return joined, maps


def visible(mask, queries):
    return [[0.0 if m else LOWEST for m in mask] for _ in range(queries)]


def causal(length):
    return [[0.0 if j <= i else LOWEST for j in range(length)] for i in range(length)]


def both(*masks):
    """One mask that hides what any of |masks| does."""
    return [[min(values) for values in zip(*rows)] for rows in zip(*masks)]


def record(out, state, attention=None, prefix=""):
    """Appends hidden states and probabilities to their groups."""
    if state is not None:
        out.setdefault(prefix + "hidden_states", []).append(state)
    if attention is not None:
        out.setdefault(prefix + "attentions", []).append(attention)


# ---------------------------------------------------------------- GPT-2

def gpt2_cross(model, x, layer, number, heads, memory, memory_mask, out):
    normed = model.norm(x, layer + "ln_cross_attn", model.get("layer_norm_epsilon", 1e-5))
    q = split(model.linear(normed, layer + "crossattention.q_attn", True), heads)
    joined = model.linear(memory, layer + "crossattention.c_attn", True)
    hidden = len(joined[0]) // 2
    k, v = (split([row[n * hidden:(n + 1) * hidden] for row in joined], heads) for n in range(2))
    scale = len(q[0][0]) ** -0.5 / (number + 1 if model.get("scale_attn_by_inverse_layer_idx", False) else 1)
    a, maps = attend(q, k, v, scale, [visible(memory_mask, len(x))])
    out.setdefault("cross_attentions", []).append(maps)
    return add(x, model.linear(a, layer + "crossattention.c_proj", True))


def gpt2(model, ids, mask, token_type_ids=None, encoder_hidden_states=None, encoder_attention_mask=None, mc_token_ids=None):
    mask = mask or [1] * len(ids)
    heads, layers, prefix = model.config["n_head"], model.config["n_layer"], "transformer."
    epsilon, act = model.get("layer_norm_epsilon", 1e-5), ACTIVATIONS[model.get("activation_function", "gelu_new")]
    out = {}
    x = add(model.rows(prefix + "wte.weight", ids), model.rows(prefix + "wpe.weight", range(len(ids))))
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
        a, maps = attend(q, k, v, scale, [causal(len(ids)), visible(mask, len(ids))])
        record(out, None, maps)
        out[f"past_key_values.{i}.0"], out[f"past_key_values.{i}.1"] = k, v
        x = add(x, model.linear(a, layer + "attn.c_proj", True))
        if encoder_hidden_states:
            x = gpt2_cross(model, x, layer, i, heads, encoder_hidden_states, encoder_attention_mask, out)
        inner = each(act, model.linear(model.norm(x, layer + "ln_2", epsilon), layer + "mlp.c_fc", True))
        x = add(x, model.linear(inner, layer + "mlp.c_proj", True))
    x = model.norm(x, prefix + "ln_f", epsilon)
    record(out, x)
    kind = model.config["architectures"][0]
    if "Sequence" in kind:
        last = sum(i != model.config["pad_token_id"] for i in ids) - 1
        out["logits"] = model.linear([x[last]], "score")[0]
    elif "Question" in kind:
        out["start_logits"], out["end_logits"] = ([row[n] for row in model.linear(x, "qa_outputs")] for n in range(2))
    else:
        if "Double" in kind:
            place = len(ids) - 1 if mc_token_ids is None else mc_token_ids
            out["mc_logits"] = model.linear([x[place]], "multiple_choice_head.summary")[0][0]
        out["logits"] = [[sum(a * b for a, b in zip(row, w)) for w in model.weights[prefix + "wte.weight"]] for row in x]
    return out


# ---------------------------------------------------------------- Llama

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


def llama(model, ids, mask, position_ids=None):
    mask = mask or [1] * len(ids)
    heads, prefix, epsilon = model.config["num_attention_heads"], "model.", model.get("rms_norm_eps", 1e-6)
    size = model.get("head_dim", model.config["hidden_size"] // heads)
    act = ACTIVATIONS[model.get("hidden_act", "silu")]
    angles = [[p * f for f in frequencies(model, size)] for p in position_ids or range(len(ids))]
    out = {}
    x = model.rows(prefix + "embed_tokens.weight", ids)
    for i in range(model.config["num_hidden_layers"]):
        record(out, x)
        layer = f"{prefix}layers.{i}."
        n = model.norm(x, layer + "input_layernorm", epsilon)
        kv = model.get("num_key_value_heads", heads)
        q = rotate(split(model.linear(n, layer + "self_attn.q_proj"), heads), angles)
        k = rotate(split(model.linear(n, layer + "self_attn.k_proj"), kv), angles)
        v = split(model.linear(n, layer + "self_attn.v_proj"), kv)
        a, maps = attend(q, k, v, size ** -0.5, [causal(len(ids)), visible(mask, len(ids))])
        record(out, None, maps)
        out[f"past_key_values.{i}.0"], out[f"past_key_values.{i}.1"] = k, v
        x = add(x, model.linear(a, layer + "self_attn.o_proj"))
        n = model.norm(x, layer + "post_attention_layernorm", epsilon)
        gate, up = each(act, model.linear(n, layer + "mlp.gate_proj")), model.linear(n, layer + "mlp.up_proj")
        x = add(x, model.linear([[g * u for g, u in zip(p, r)] for p, r in zip(gate, up)], layer + "mlp.down_proj"))
    x = model.norm(x, prefix + "norm", epsilon)
    record(out, x)
    head = model.weights.get("lm_head.weight") or model.weights[prefix + "embed_tokens.weight"]
    out["logits"] = [[sum(a * b for a, b in zip(row, w)) for w in head] for row in x]
    return out


# ---------------------------------------------------------------- BART

def bart_attention(model, x, memory, name, heads, masks, head_mask=None):
    q, k, v = (split(model.linear(source, f"{name}.{m}_proj"), heads) for source, m in ((x, "q"), (memory, "k"), (memory, "v")))
    a, maps = attend(q, k, v, len(q[0][0]) ** -0.5, masks, head_mask=head_mask)
    return model.linear(a, name + ".out_proj"), maps, k, v


def sines(places, width):
    """Marian's positions: sines, then cosines, whose number is the smaller one of an odd width."""
    half = (width + 1) // 2
    angles = [[p / 10000 ** (2 * (n if n < half else n - half) / width) for n in range(width)] for p in places]
    return [[math.sin(a) if n < half else math.cos(a) for n, a in enumerate(row)] for row in angles]


def bart_embeddings(model, base, ids):
    factor = math.sqrt(model.config["d_model"]) if model.get("scale_embedding", False) else 1.0
    table = next(name for name in ("model.shared.weight", base + "embed_tokens.weight") if name in model.weights)
    words = model.rows(table, ids, factor)
    if model.config["model_type"] == "marian":
        return add(words, sines(range(len(ids)), model.config["d_model"]))
    return model.norm(add(words, model.rows(base + "embed_positions.weight", range(2, len(ids) + 2))), base + "layernorm_embedding", 1e-5)


def bart_stack(model, side, ids, mask, out, memory=None, memory_mask=None, head_mask=None, cross_head_mask=None, prefix=None):
    heads, act, n = model.config[side + "_attention_heads"], ACTIVATIONS[model.get("activation_function", "gelu")], len(ids)
    base, prefix, mask = "model." + side + ".", side + "_" if prefix is None else prefix, mask or [1] * n
    x = bart_embeddings(model, base, ids)
    for i in range(model.config[side + "_layers"]):
        record(out, x, prefix=prefix)
        layer = f"{base}layers.{i}."
        masks = [visible(mask, n)] if side == "encoder" else [causal(n), visible(mask, n)]
        own = head_mask[i] if head_mask else None
        a, maps, k, v = bart_attention(model, x, x, layer + "self_attn", heads, masks, own)
        record(out, None, maps, prefix)
        x = model.norm(add(x, a), layer + "self_attn_layer_norm", 1e-5)
        if side == "decoder":
            out[f"past_key_values.{i}.0"], out[f"past_key_values.{i}.1"] = k, v
        if memory is not None:
            cross = cross_head_mask[i] if cross_head_mask else None
            a, maps, ck, cv = bart_attention(model, x, memory, layer + "encoder_attn", heads, [visible(memory_mask or [1] * len(memory), n)], cross)
            out.setdefault("cross_attentions", []).append(maps)
            out[f"past_key_values.{i}.2"], out[f"past_key_values.{i}.3"] = ck, cv
            x = model.norm(add(x, a), layer + "encoder_attn_layer_norm", 1e-5)
        inner = each(act, model.linear(x, layer + "fc1"))
        x = model.norm(add(x, model.linear(inner, layer + "fc2")), layer + "final_layer_norm", 1e-5)
    record(out, x, prefix=prefix)
    return x


def bart_scores(model, x, bias):
    names = ("lm_head.weight", "model.shared.weight", "model.decoder.embed_tokens.weight")
    words = model.weights[next(name for name in names if name in model.weights)]
    return [[sum(a * b for a, b in zip(row, w)) + bias[n] for n, w in enumerate(words)] for row in x]


def bart_causal(model, ids, mask=None, encoder_hidden_states=None, encoder_attention_mask=None, head_mask=None, cross_attn_head_mask=None):
    out = {}
    x = bart_stack(model, "decoder", ids, mask, out, encoder_hidden_states, encoder_attention_mask, head_mask, cross_attn_head_mask, prefix="")
    out["logits"] = bart_scores(model, x, [0.0] * model.config["vocab_size"])
    return out


def bart(model, ids, mask, decoder_input_ids=None, decoder_attention_mask=None, head_mask=None, decoder_head_mask=None, cross_attn_head_mask=None, **rest):
    if "Causal" in model.config["architectures"][0]:
        return bart_causal(model, ids, mask, head_mask=head_mask, cross_attn_head_mask=cross_attn_head_mask, **rest)
    out = {}
    mask = mask or [1] * len(ids)
    memory = bart_stack(model, "encoder", ids, mask, out, head_mask=head_mask)
    out["encoder_last_hidden_state"] = memory
    decoder_input_ids = decoder_input_ids or [model.config["decoder_start_token_id"]] + ids[:-1]
    target = decoder_attention_mask or [1] * len(decoder_input_ids)
    x = bart_stack(model, "decoder", decoder_input_ids, target, out, memory, mask, decoder_head_mask, cross_attn_head_mask)
    if "Sequence" in model.config["architectures"][0]:
        last = max(i for i, one in enumerate(ids) if one == model.config["eos_token_id"])
        inner = each(math.tanh, model.linear([x[last]], "classification_head.dense"))
        out["logits"] = model.linear(inner, "classification_head.out_proj")[0]
        return out
    out["logits"] = bart_scores(model, x, model.weights["final_logits_bias"][0])
    return out


# ---------------------------------------------------------------- T5

def bucket(distance, bidirectional, buckets, most):
    first = 0
    if bidirectional:
        buckets //= 2
        first = buckets if distance > 0 else 0
        distance = abs(distance)
    else:
        distance = max(-distance, 0)
    exact = buckets // 2
    if distance < exact:
        return first + distance
    far = exact + int(math.log(distance / exact) / math.log(most / exact) * (buckets - exact))
    return first + min(far, buckets - 1)


def t5_attention(model, x, memory, name, masks, bias=None, head_mask=None):
    heads = model.config["num_heads"]
    q, k, v = (split(model.linear(source, f"{name}.{m}"), heads) for source, m in ((x, "q"), (memory, "k"), (memory, "v")))
    a, maps = attend(q, k, v, 1.0, masks, bias, head_mask)
    return model.linear(a, name + ".o"), maps, k, v


def t5_stack(model, side, ids, mask, out, memory=None, memory_mask=None, head_mask=None):
    epsilon, n, decoder = model.get("layer_norm_epsilon", 1e-6), len(ids), memory is not None
    kind = model.get("feed_forward_proj", "relu")
    act = ACTIVATIONS[model.get("dense_act_fn", {"gated-gelu": "gelu_new"}.get(kind, kind.replace("gated-", "")))]
    base = "transformer." if "transformer.shared.weight" in model.weights else ""
    table = model.weights[base + side + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
    number = [[bucket(j - i, not decoder, len(table), model.get("relative_attention_max_distance", 128)) for j in range(n)] for i in range(n)]
    bias = [[[table[b][h] for b in row] for row in number] for h in range(model.config["num_heads"])]
    masks = [[visible(row, 1)[0] for row in mask] if isinstance(mask[0], list) else both(causal(n), visible(mask, n)) if decoder else visible(mask, n)]
    prefix = side + "_" if "decoder" in out else ""
    x = model.rows(base + "shared.weight", ids)
    for i in range(model.get("num_decoder_layers", model.config["num_layers"]) if decoder else model.config["num_layers"]):
        record(out, x, prefix=prefix)
        layer = f"{base}{side}.block.{i}.layer."
        normed = model.norm(x, layer + "0.layer_norm", epsilon)
        a, maps, k, v = t5_attention(model, normed, normed, layer + "0.SelfAttention", masks, bias, head_mask[i] if head_mask else None)
        record(out, None, maps, prefix)
        x = add(x, a)
        last = 1
        if decoder:
            a, maps, ck, cv = t5_attention(model, model.norm(x, layer + "1.layer_norm", epsilon), memory, layer + "1.EncDecAttention",
                                           [visible(memory_mask, n)])
            out.setdefault("cross_attentions", []).append(maps)
            for part, value in enumerate((k, v, ck, cv)):
                out[f"past_key_values.{i}.{part}"] = value
            x = add(x, a)
            last = 2
        normed, ffn = model.norm(x, f"{layer}{last}.layer_norm", epsilon), f"{layer}{last}.DenseReluDense."
        if model.get("is_gated_act", kind.startswith("gated-")):
            inner = [[g * u for g, u in zip(p, q)]
                     for p, q in zip(each(act, model.linear(normed, ffn + "wi_0")), model.linear(normed, ffn + "wi_1"))]
        else:
            inner = each(act, model.linear(normed, ffn + "wi"))
        x = add(x, model.linear(inner, ffn + "wo"))
    x = model.norm(x, base + side + ".final_layer_norm", epsilon)
    record(out, x, prefix=prefix)
    return x


def t5(model, ids, mask, decoder_input_ids=None, decoder_attention_mask=None, head_mask=None, decoder_head_mask=None):
    kind, mask = model.config["architectures"][0], mask or [1] * len(ids)
    alone = kind in ("T5EncoderModel", "T5ForTokenClassification")
    out = {} if alone else {"decoder": True}
    memory = t5_stack(model, "encoder", ids, mask, out, head_mask=head_mask)
    if alone:
        name, result = ("last_hidden_state", memory) if "Model" in kind else ("logits", model.linear(memory, "classifier"))
        out[name] = result
        return out
    out["encoder_last_hidden_state"] = memory
    if not decoder_input_ids:
        decoder_input_ids = [model.config["decoder_start_token_id"]] + ids[:-1]
    # An encoder's head mask is the decoder's, too, in models of equal depth.
    if not decoder_head_mask and model.get("num_decoder_layers", model.config["num_layers"]) == model.config["num_layers"]:
        decoder_head_mask = head_mask
    x = t5_stack(model, "decoder", decoder_input_ids, decoder_attention_mask or [1] * len(decoder_input_ids), out, memory, mask, decoder_head_mask)
    del out["decoder"]
    if "Sequence" in kind:
        last = max(i for i, one in enumerate(ids) if one == model.config["eos_token_id"])
        inner = each(math.tanh, model.linear([x[last]], "classification_head.dense"))
        out["logits"] = model.linear(inner, "classification_head.out_proj")[0]
    elif "Question" in kind:
        out["start_logits"], out["end_logits"] = ([row[n] for row in model.linear(x, "qa_outputs")] for n in range(2))
    else:
        tied = model.get("tie_word_embeddings", True)
        head, factor = model.weights["shared.weight" if tied else "lm_head.weight"], model.config["d_model"] ** -0.5 if tied else 1.0
        out["logits"] = [[factor * sum(a * b for a, b in zip(row, w)) for w in head] for row in x]
    return out


FAMILIES = {"bart": bart, "gpt2": gpt2, "llama": llama, "marian": bart, "t5": t5}
