# ===- families_t5.py - T5 in plain Python ------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import math

from families import ACTIVATIONS, add, attend, both, causal, each, of_layer, record, split, visible


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


def t5_stack(model, side, ids, mask, out, memory=None, memory_mask=None, head_mask=None, cross_head_mask=None, vectors=None):
    epsilon, n, decoder = model.get("layer_norm_epsilon", 1e-6), len(ids or vectors), memory is not None
    kind = model.get("feed_forward_proj", "relu")
    act = ACTIVATIONS[model.get("dense_act_fn", {"gated-gelu": "gelu_new"}.get(kind, kind.replace("gated-", "")))]
    base = "transformer." if "transformer.shared.weight" in model.weights else ""
    table = model.weights[base + side + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
    number = [[bucket(j - i, not decoder, len(table), model.get("relative_attention_max_distance", 128)) for j in range(n)]
              for i in range(n)]
    bias = [[[table[b][h] for b in row] for row in number] for h in range(model.config["num_heads"])]
    if isinstance(mask[0], list):
        masks = [[visible(row, 1)[0] for row in mask]]
    else:
        masks = [both(causal(n), visible(mask, n)) if decoder else visible(mask, n)]
    prefix = side + "_" if "decoder" in out else ""
    x = vectors or model.rows(base + "shared.weight", ids)
    for i in range(model.get("num_decoder_layers", model.config["num_layers"]) if decoder else model.config["num_layers"]):
        record(out, x, prefix=prefix)
        layer = f"{base}{side}.block.{i}.layer."
        normed = model.norm(x, layer + "0.layer_norm", epsilon)
        a, maps, k, v = t5_attention(model, normed, normed, layer + "0.SelfAttention", masks, bias, of_layer(head_mask, i))
        record(out, None, maps, prefix)
        x = add(x, a)
        last = 1
        if decoder:
            a, maps, ck, cv = t5_attention(model, model.norm(x, layer + "1.layer_norm", epsilon), memory, layer + "1.EncDecAttention",
                                           [visible(memory_mask, n)], None, of_layer(cross_head_mask, i))
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


def t5(model, ids, mask, decoder_input_ids=None, decoder_attention_mask=None, head_mask=None, decoder_head_mask=None,
       cross_attn_head_mask=None,
       inputs_embeds=None, decoder_inputs_embeds=None, encoder_outputs=None):
    kind, mask = model.config["architectures"][0], mask or [1] * len(ids or inputs_embeds or encoder_outputs)
    alone = kind in ("T5EncoderModel", "T5ForTokenClassification")
    out = {} if alone else {"decoder": True}
    memory = encoder_outputs or t5_stack(model, "encoder", ids, mask, out, head_mask=head_mask, vectors=inputs_embeds)
    if alone:
        name, result = ("last_hidden_state", memory) if "Model" in kind else ("logits", model.linear(memory, "classifier"))
        out[name] = result
        return out
    out["encoder_last_hidden_state"] = memory
    if not decoder_input_ids and not decoder_inputs_embeds:
        decoder_input_ids = [model.config["decoder_start_token_id"]] + ids[:-1]
    # In models of equal depth, the reference uses the encoder's head mask for the decoder, too.
    if not decoder_head_mask and model.get("num_decoder_layers", model.config["num_layers"]) == model.config["num_layers"]:
        decoder_head_mask = head_mask
    target = decoder_attention_mask or [1] * len(decoder_input_ids or decoder_inputs_embeds)
    x = t5_stack(model, "decoder", decoder_input_ids, target, out, memory, mask, decoder_head_mask, cross_attn_head_mask,
                 decoder_inputs_embeds)
    del out["decoder"]
    if kind == "T5Model":
        out["last_hidden_state"] = x
    elif "Sequence" in kind:
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


FAMILIES = {"t5": t5}
