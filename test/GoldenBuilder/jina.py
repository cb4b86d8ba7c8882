# ===- jina.py - BERT with ALiBi, which the reference library lacks ----------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Jina's BERT as modules of torch.

The models jina-embeddings-v2 have `model_type: "bert"` and come with code of their own. These modules compute what it
computes and have its names of tensors, so that a file of such a model fits them:

    attention    BERT's, whose score of query i and key j has -slope[head] * |i - j| added (ALiBi in both directions);
                 there are no position embeddings
    feed-forward y = norm(x + wo(act(a) * b)), [a, b] = gated_layers(x) without bias; `feed_forward_type` is "geglu"
                 (exact GELU), "reglu" (ReLU) or "original" (BERT's)
    second form  "qk-post-norm" in `auto_map`: norms of all features of queries and keys; with a the result of BERT's
                 attention for x, r = norm_1(x + a) and y = norm_2(r + down(b * act(c))), [b, c] = up_gated_layer(r)
"""

import math

import torch
from torch import nn
from transformers import BertConfig, PreTrainedModel
from transformers.activations import ACT2FN
from transformers.modeling_outputs import (BaseModelOutputWithPooling, MaskedLMOutput, QuestionAnsweringModelOutput,
                                           SequenceClassifierOutput, TokenClassifierOutput)

GATES = {"geglu": nn.functional.gelu, "reglu": nn.functional.relu}


def slopes(heads):
    """Returns one slope for each head: a geometric sequence for a power of two, else that of the next smaller one and every
    second slope of the next larger one."""
    power = 2 ** math.floor(math.log2(heads))
    values = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    return values + [2 ** (-4 * (head + 1) / power) for head in range(0, 2 * (heads - power), 2)]


def norms_queries(config):
    """Returns true if the configuration names the second form."""
    return any("qk-post-norm" in name for name in (getattr(config, "auto_map", None) or {}).values())


class Embeddings(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, ids, types):
        return self.LayerNorm(self.word_embeddings(ids) + self.token_type_embeddings(torch.zeros_like(ids) if types is None else types))


class SelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.heads = config.num_attention_heads
        self.query, self.key, self.value = (nn.Linear(config.hidden_size, config.hidden_size) for _ in range(3))
        if norms_queries(config):
            self.layer_norm_q, self.layer_norm_k = (nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps) for _ in range(2))

    def split(self, x):
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def forward(self, x, bias):
        q, k = self.query(x), self.key(x)
        if hasattr(self, "layer_norm_q"):
            q, k = self.layer_norm_q(q), self.layer_norm_k(k)
        q, k, v = self.split(q), self.split(k), self.split(self.value(x))
        probabilities = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1]) + bias).softmax(-1)
        return (probabilities @ v).transpose(1, 2).flatten(2), probabilities


class ResidualOutput(nn.Module):
    def __init__(self, config, features):
        super().__init__()
        self.dense = nn.Linear(features, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, x, residual):
        return self.LayerNorm(self.dense(x) + residual)


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self, self.output = SelfAttention(config), ResidualOutput(config, config.hidden_size)

    def forward(self, x, bias):
        joined, probabilities = self.self(x, bias)
        return self.output(joined, x), probabilities


class Intermediate(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)
        self.activation = ACT2FN[config.hidden_act]

    def forward(self, x):
        return self.activation(self.dense(x))


class GatedMlp(nn.Module):
    """A gated feed-forward network. The gate is the first half of the features of its first projection. The result is
    the norm of its output plus the input."""

    def __init__(self, config):
        super().__init__()
        self.activation = GATES[config.feed_forward_type]
        self.gated_layers = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.wo = nn.Linear(config.intermediate_size, config.hidden_size)
        self.layernorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, x):
        gate, up = self.gated_layers(x).chunk(2, -1)
        return self.layernorm(x + self.wo(self.activation(gate) * up))


class UpGatedMlp(nn.Module):
    """A gated feed-forward network whose gate is the second half of the features of its first projection."""

    def __init__(self, config):
        super().__init__()
        self.activation = GATES[config.feed_forward_type]
        self.up_gated_layer = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.down_layer = nn.Linear(config.intermediate_size, config.hidden_size)

    def forward(self, x):
        up, gate = self.up_gated_layer(x).chunk(2, -1)
        return self.down_layer(up * self.activation(gate))


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.attention = Attention(config)
        if norms_queries(config):
            self.mlp = UpGatedMlp(config)
            self.layer_norm_1, self.layer_norm_2 = (nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps) for _ in range(2))
        elif config.feed_forward_type == "original":
            self.intermediate, self.output = Intermediate(config), ResidualOutput(config, config.intermediate_size)
        else:
            self.mlp = GatedMlp(config)

    def forward(self, x, bias):
        attended, probabilities = self.attention(x, bias)
        if hasattr(self, "layer_norm_1"):
            attended = self.layer_norm_1(x + attended)
            return self.layer_norm_2(attended + self.mlp(attended)), probabilities
        return (self.mlp(attended) if hasattr(self, "mlp") else self.output(self.intermediate(attended), attended)), probabilities


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))


class Pooler(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x):
        return torch.tanh(self.dense(x[:, 0]))


class JinaBertPreTrainedModel(PreTrainedModel):
    config_class = BertConfig
    base_model_prefix = "bert"

    def _init_weights(self, module):
        pass


class JinaBertModel(JinaBertPreTrainedModel):
    def __init__(self, config, pools=True):
        super().__init__(config)
        self.embeddings, self.encoder = Embeddings(config), Encoder(config)
        self.pooler = Pooler(config) if pools else None
        self.post_init()

    def bias(self, mask, shape, dtype):
        """Returns the summand of scores, [batch, heads, queries, keys]: minus distance times slope, plus the lowest
        number for hidden keys."""
        places = torch.arange(shape[1])
        distance = (places[:, None] - places[None, :]).abs().to(dtype)
        bias = -torch.tensor(slopes(self.config.num_attention_heads), dtype=dtype)[:, None, None] * distance
        return bias if mask is None else bias + (1 - mask.to(dtype))[:, None, None, :] * torch.finfo(dtype).min

    def forward(self, input_ids, attention_mask=None, token_type_ids=None, output_hidden_states=False, output_attentions=False, **_):
        x = self.embeddings(input_ids, token_type_ids)
        bias, states, probabilities = self.bias(attention_mask, input_ids.shape, x.dtype), [x], []
        for layer in self.encoder.layer:
            x, own = layer(x, bias)
            states.append(x)
            probabilities.append(own)
        return BaseModelOutputWithPooling(last_hidden_state=x, pooler_output=self.pooler(x) if self.pooler else None,
                                          hidden_states=tuple(states) if output_hidden_states else None,
                                          attentions=tuple(probabilities) if output_attentions else None)


class Transform(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.activation = ACT2FN[config.hidden_act]

    def forward(self, x):
        return self.LayerNorm(self.activation(self.dense(x)))


class Predictions(nn.Module):
    """The head of masked language models. The matrix of its last projection is the table of word embeddings."""

    def __init__(self, config):
        super().__init__()
        self.transform = Transform(config)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))

    def forward(self, x, words):
        return self.transform(x) @ words.T + self.bias


class MaskedLMHead(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.predictions = Predictions(config)


class JinaBertForMaskedLM(JinaBertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert, self.cls = JinaBertModel(config, pools=False), MaskedLMHead(config)
        self.post_init()

    def forward(self, input_ids, **inputs):
        output = self.bert(input_ids, **inputs)
        return MaskedLMOutput(logits=self.cls.predictions(output.last_hidden_state, self.bert.embeddings.word_embeddings.weight),
                              hidden_states=output.hidden_states, attentions=output.attentions)


class JinaBertForSequenceClassification(JinaBertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert, self.classifier = JinaBertModel(config), nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(self, input_ids, **inputs):
        output = self.bert(input_ids, **inputs)
        return SequenceClassifierOutput(logits=self.classifier(output.pooler_output), hidden_states=output.hidden_states,
                                        attentions=output.attentions)


class JinaBertForTokenClassification(JinaBertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert, self.classifier = JinaBertModel(config, pools=False), nn.Linear(config.hidden_size, config.num_labels)
        self.post_init()

    def forward(self, input_ids, **inputs):
        output = self.bert(input_ids, **inputs)
        return TokenClassifierOutput(logits=self.classifier(output.last_hidden_state), hidden_states=output.hidden_states,
                                     attentions=output.attentions)


class JinaBertForQuestionAnswering(JinaBertPreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.bert, self.qa_outputs = JinaBertModel(config, pools=False), nn.Linear(config.hidden_size, 2)
        self.post_init()

    def forward(self, input_ids, **inputs):
        output = self.bert(input_ids, **inputs)
        begin, end = self.qa_outputs(output.last_hidden_state).unbind(-1)
        return QuestionAnsweringModelOutput(start_logits=begin, end_logits=end, hidden_states=output.hidden_states,
                                            attentions=output.attentions)
