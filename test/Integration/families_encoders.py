# ===- families_encoders.py - BERT, RoBERTa, DistilBERT in plain Python ------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import math

from families import ACTIVATIONS, HEADS, add, attend, both, causal, each, of_layer, project, record, visible

# ---------------------------------------------------------------- BERT, RoBERTa, DistilBERT

def distance_scores(model, q, k, name, scale):
    """Returns the terms of scores for `relative_key` and `relative_key_query`."""
    table, kind = model.weights[name + ".self.distance_embedding.weight"], model.config["position_embedding_type"]
    middle = len(table) // 2

    def score(a, b, i, j):
        vector = table[i - j + middle]
        return scale * sum((x + (y if kind == "relative_key_query" else 0.0)) * v for x, y, v in zip(a, b, vector))

    return [[[score(a, b, i, j) for j, b in enumerate(keys)] for i, a in enumerate(queries)] for queries, keys in zip(q, k)]


def bert_attention(model, x, memory, name, masks, head_mask, own):
    heads = model.config["num_attention_heads"]
    q, k, v = project(model, x, memory, [f"{name}.self.{part}" for part in HEADS], heads)
    scale = len(q[0][0]) ** -0.5
    relative = own and model.get("position_embedding_type", "absolute") != "absolute"
    a, maps = attend(q, k, v, scale, masks, distance_scores(model, q, k, name, scale) if relative else None, head_mask)
    x = model.norm(add(model.linear(a, name + ".output.dense"), x), name + ".output.LayerNorm", model.get("layer_norm_eps", 1e-12))
    return x, maps, k, v


def bert_embeddings(model, ids, vectors, types, places, prefix):
    prefix += "embeddings."
    count = len(ids or vectors)
    x = vectors or model.rows(prefix + "word_embeddings.weight", ids)
    if prefix + "token_type_embeddings.weight" in model.weights:
        x = add(x, model.rows(prefix + "token_type_embeddings.weight", types or [0] * count))
    if model.config["model_type"] == "roberta" and not places:
        pad, seen, places = model.get("pad_token_id", 1), 0, []
        for i in ids or [pad + 1] * count:
            seen += i != pad
            places.append(pad + seen if i != pad else pad)
    if model.get("position_embedding_type", "absolute") == "absolute":
        x = add(x, model.rows(prefix + "position_embeddings.weight", places or range(count)))
    return model.norm(x, prefix + "LayerNorm", model.get("layer_norm_eps", 1e-12))


def mask_rows(mask, queries):
    """Returns a mask of keys, or of queries by keys."""
    return [visible(row, 1)[0] for row in mask] if isinstance(mask[0], list) else visible(mask, queries)


def bert(model, ids=None, mask=None, token_type_ids=None, position_ids=None, inputs_embeds=None, head_mask=None, encoder_hidden_states=None,
         encoder_attention_mask=None):
    config, kind, out = model.config, model.config["architectures"][0], {}
    prefix = "" if kind.endswith("Model") and kind != "BertLMHeadModel" else config["model_type"] + "."
    count = len(ids or inputs_embeds)
    mask = mask or [1] * count
    act, epsilon = ACTIVATIONS[model.get("hidden_act", "gelu")], model.get("layer_norm_eps", 1e-12)
    x = bert_embeddings(model, ids, inputs_embeds, token_type_ids, position_ids, prefix)
    masks = [mask_rows(mask, count)]
    if model.get("is_decoder", False) and not isinstance(mask[0], list):
        masks = [both(causal(count), masks[0])]
    for i in range(config["num_hidden_layers"]):
        record(out, x)
        layer, own = f"{prefix}encoder.layer.{i}.", of_layer(head_mask, i)
        x, maps, k, v = bert_attention(model, x, x, layer + "attention", masks, own, True)
        record(out, None, maps)
        parts = [k, v]
        if encoder_hidden_states:
            seen = [mask_rows(encoder_attention_mask or [1] * len(encoder_hidden_states), count)]
            x, maps, k, v = bert_attention(model, x, encoder_hidden_states, layer + "crossattention", seen, own, False)
            out.setdefault("cross_attentions", []).append(maps)
            parts += [k, v]
        if model.get("is_decoder", False):
            out.update({f"past_key_values.{i}.{part}": value for part, value in enumerate(parts)})
        inner = each(act, model.linear(x, layer + "intermediate.dense"))
        x = model.norm(add(model.linear(inner, layer + "output.dense"), x), layer + "output.LayerNorm", epsilon)
    record(out, x)
    bert_head(model, kind, prefix, x, out, act, epsilon)
    return out


def words_head(model, x, dense, norm, bias, words, act, epsilon):
    x = model.norm(each(act, model.linear(x, dense)), norm, epsilon)
    return [[sum(a * b for a, b in zip(row, w)) + model.weights[bias][n] for n, w in enumerate(model.weights[words])] for row in x]


def bert_head(model, kind, prefix, x, out, act, epsilon):
    words = prefix + "embeddings.word_embeddings.weight"

    def pooled():
        return each(math.tanh, model.linear(x[:1], prefix + "pooler.dense"))

    if not prefix:
        out["last_hidden_state"], out["pooler_output"] = x, pooled()[0]
    elif kind in ("BertForMaskedLM", "BertLMHeadModel", "BertForPreTraining"):
        scores = words_head(model, x, "cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias",
                            words, act, epsilon)
        out["prediction_logits" if "PreTraining" in kind else "logits"] = scores
    elif kind.endswith("LM"):
        out["logits"] = words_head(model, x, "lm_head.dense", "lm_head.layer_norm", "lm_head.bias", words, ACTIVATIONS["gelu"], epsilon)
    elif kind == "RobertaForSequenceClassification":
        out["logits"] = model.linear(each(math.tanh, model.linear(x[:1], "classifier.dense")), "classifier.out_proj")[0]
    elif "Sequence" in kind:
        out["logits"] = model.linear(pooled(), "classifier")[0]
    elif "Choice" in kind:
        out["logits"] = model.linear(pooled(), "classifier")[0][0]
    elif "Token" in kind:
        out["logits"] = model.linear(x, "classifier")
    elif "Question" in kind:
        both_scores = model.linear(x, "qa_outputs")
        out["start_logits"], out["end_logits"] = ([row[n] for row in both_scores] for n in range(2))
    if kind in ("BertForPreTraining", "BertForNextSentencePrediction"):
        out["seq_relationship_logits" if "PreTraining" in kind else "logits"] = model.linear(pooled(), "cls.seq_relationship")[0]


def distilbert(model, ids=None, mask=None, inputs_embeds=None, head_mask=None):
    config, kind, out = model.config, model.config["architectures"][0], {}
    prefix = "" if kind == "DistilBertModel" else "distilbert."
    count = len(ids or inputs_embeds)
    act = ACTIVATIONS[model.get("activation", "gelu")]
    x = bert_embeddings(model, ids, inputs_embeds, None, None, prefix)
    masks = [visible(mask or [1] * count, count)]
    for i in range(config["n_layers"]):
        record(out, x)
        layer = f"{prefix}transformer.layer.{i}."
        q, k, v = project(model, x, x, [layer + f"attention.{part}_lin" for part in "qkv"], config["n_heads"])
        a, maps = attend(q, k, v, len(q[0][0]) ** -0.5, masks, head_mask=of_layer(head_mask, i))
        record(out, None, maps)
        x = model.norm(add(model.linear(a, layer + "attention.out_lin"), x), layer + "sa_layer_norm", 1e-12)
        inner = each(act, model.linear(x, layer + "ffn.lin1"))
        x = model.norm(add(model.linear(inner, layer + "ffn.lin2"), x), layer + "output_layer_norm", 1e-12)
    record(out, x)
    if not prefix:
        out["last_hidden_state"] = x
    elif "LM" in kind:
        out["logits"] = words_head(model, x, "vocab_transform", "vocab_layer_norm", "vocab_projector.bias",
                                   prefix + "embeddings.word_embeddings.weight", act,
                                   1e-12)
    elif "Sequence" in kind or "Choice" in kind:
        scores = model.linear(each(ACTIVATIONS["relu"], model.linear(x[:1], "pre_classifier")), "classifier")[0]
        out["logits"] = scores[0] if "Choice" in kind else scores
    elif "Token" in kind:
        out["logits"] = model.linear(x, "classifier")
    elif "Question" in kind:
        out["start_logits"], out["end_logits"] = ([row[n] for row in model.linear(x, "qa_outputs")] for n in range(2))
    return out


FAMILIES = {"bert": bert, "distilbert": distilbert, "roberta": bert}
