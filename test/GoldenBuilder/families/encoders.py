# ===- encoders.py - Encoders of text ---------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from ..cases import Absent, Case, Family, forward, steps
from .common import BERT, ROBERTA, bert_sizes, even_sizes

# The keys' bias adds the same to every score of a query, so it changes nothing but the keys themselves.
KEY_BIAS = (r"(\.key|\.k|k_proj|pos_key_proj|key_proj)\.bias$",)
ACTS = ["gelu", "relu", "gelu_new", "silu"]

HEADS = ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


def names(prefix, heads=HEADS):
    return tuple(prefix + head for head in heads)


def heads(prefix, config=None, choice=True, answers=True):
    """Returns cases of the usual heads: labels of sequences and of tokens, answers and choices, as far as the family
    has them."""
    cases = [Case("sequence", prefix + "ForSequenceClassification", ["labels of a sequence"], forward(batch=3, mask="right"),
                  {**(config or {}), "num_labels": 3}),
             Case("tokens", prefix + "ForTokenClassification", ["labels of each token"], forward(mask="holes"),
                  {**(config or {}), "num_labels": 4})]
    if answers:
        cases.append(Case("answers", prefix + "ForQuestionAnswering", ["begin and end of an answer"], forward(mask="right"), config or {}))
    if choice:
        cases.append(Case("choice", prefix + "ForMultipleChoice", ["ids [batch, choices, length]"], forward(choices=3, mask="right"),
                          config or {}))
    return cases


def roberta(name, prefix, more):
    return Family(name, {"model_type": name, **ROBERTA},
                  [Case("model", prefix + "Model", ["positions count ids that are not padding, whatever the mask says"],
                        forward(mask="right", states=True)),
                   Case("no_mask", prefix + "Model",
                        ["padding ids at the end and inside, without a mask: they have no position but are seen"], forward(pads="inside")),
                   Case("mlm", prefix + "ForMaskedLM", ["its activation is exact gelu, whatever hidden_act"], forward(mask="right"),
                        {"hidden_act": "relu"}),
                   *heads(prefix), *more],
                  {"hidden_act": ACTS, "type_vocab_size": [1, 2]}, names(prefix), bert_sizes, "encoder", inert=KEY_BIAS)


DEBERTA = {**BERT, "type_vocab_size": 0, "layer_norm_eps": 1e-7, "relative_attention": True, "max_relative_positions": -1,
           "position_biased_input": False,
           "pos_att_type": ["p2c", "c2p"], "pooler_dropout": 0, "pooler_hidden_act": "gelu", "pooler_hidden_size": 36}
V2 = {**DEBERTA, "model_type": "deberta-v2", "position_buckets": 6, "norm_rel_ebd": "layer_norm", "share_att_key": True,
      "pos_att_type": "p2c|c2p"}

# Configurations of published files with custom code, which the reference has since adopted with other keys.
NOMIC = {"n_embd": 36, "n_head": 3, "n_layer": 2, "n_inner": 256, "n_positions": 41, "layer_norm_epsilon": 1e-12,
         "activation_function": "swiglu", "rotary_emb_base": 1000, "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False,
         "rotary_emb_scale_base": None, "rotary_scaling_factor": None, "prenorm": False, "qkv_proj_bias": False, "mlp_fc1_bias": False,
         "mlp_fc2_bias": False, "use_rms_norm": False, "causal": False, "parallel_block": False, "max_trained_positions": 41,
         "use_flash_attn": True, "fused_bias_fc": True, "scale_attn_weights": True,
         **{key: Absent for key in ("hidden_size", "num_attention_heads", "num_hidden_layers", "intermediate_size", "layer_norm_eps",
                                    "hidden_act", "max_position_embeddings", "rope_parameters")}}
NEW = {"model_type": "new", "rope_parameters": Absent, "rope_theta": 2000.0, "rope_scaling": None, "position_embedding_type": "rope",
       "layer_norm_type": "layer_norm", "pack_qkv": True, "logn_attention_scale": False, "logn_attention_clip1": False,
       "unpad_inputs": False, "use_memory_efficient_attention": False}

JINA_CODE = {"AutoModel": "jinaai/jina-bert-v2-qk-post-norm--modeling_bert.JinaBertModel"}


def gate_query_norms(config):
    """Makes |config| legal: JinaBERT with norms of queries and keys has no feed-forward network without a gate."""
    if config["auto_map"] is JINA_CODE and config["feed_forward_type"] == "original":
        config["feed_forward_type"] = "geglu"


FAMILIES = [
    roberta("xlm-roberta", "XLMRoberta",
            [Case("causal_steps", "XLMRobertaForCausalLM", ["is_decoder: positions of later chunks"], steps(4, 1, 3, 1),
                  {"is_decoder": True}),
             Case("types", "XLMRobertaForSequenceClassification", ["token types and positions given; a head of one label"],
                  forward(types=True, positions=True),
                  {"type_vocab_size": 2, "num_labels": 1}),
             Case("embeds", "XLMRobertaModel", ["inputs_embeds: positions count from pad_token_id + 1"], forward(mask="right", embeds=True),
                  inert=("word_embeddings",)),
             Case("buffers", "XLMRobertaForMaskedLM", ["a file with position_ids"], forward(mask="right"), weights="file",
                  buffers={"roberta.embeddings.position_ids": (1, 41)})]),
    roberta("camembert", "Camembert", []),
    Family("xlm-roberta-xl", {"model_type": "xlm-roberta-xl", **ROBERTA},
           [Case("model", "XLMRobertaXLModel", ["norms before the branches, one at the end, none of the embeddings"],
                 forward(mask="right", states=True)),
            Case("mlm", "XLMRobertaXLForMaskedLM", ["head with exact gelu"], forward(mask="holes"), {"hidden_act": "relu"}),
            *heads("XLMRobertaXL", choice=False)],
           {"hidden_act": ACTS}, names("XLMRobertaXL"), bert_sizes, "encoder", inert=KEY_BIAS),
    Family("electra", {"model_type": "electra", **BERT, "embedding_size": 20},
           [Case("discriminator", "ElectraForPreTraining", ["one logit per token; embeddings of another size and their projection"],
                 forward(mask="right", types=True, states=True)),
            Case("generator", "ElectraForMaskedLM", ["head of embedding_size: exact gelu, norm, tied table and own bias"],
                 forward(mask="right"), {"hidden_act": "relu"}),
            Case("gamma", "ElectraForPreTraining", ["a file that says gamma and beta"], forward(mask="right"), weights="file",
                 rename=((r"LayerNorm\.weight$", "LayerNorm.gamma"), (r"LayerNorm\.bias$", "LayerNorm.beta"))),
            Case("same_size", "ElectraForPreTraining", ["embedding_size equals hidden_size: no projection"], forward(mask="holes"),
                 {"embedding_size": 36}),
            Case("model", "ElectraModel", ["no pooler; names without prefix"], forward(types=True, positions=True)), *heads("Electra")],
           {"hidden_act": ACTS, "embedding_size": [7, 20]}, names("Electra") + ("ElectraForPreTraining",), bert_sizes, "encoder",
           inert=KEY_BIAS),
    Family("albert", {"model_type": "albert", **BERT, "hidden_act": "gelu_new", "embedding_size": 20, "num_hidden_layers": 3,
                      "num_hidden_groups": 1, "inner_group_num": 1},
           [Case("model", "AlbertModel", ["one layer, three times; embeddings of another size"],
                 forward(mask="right", types=True, states=True)),
            Case("groups", "AlbertModel", ["two groups of two layers, four steps; embedding_size equals hidden_size but is mapped"],
                 forward(mask="right", states=True),
                 {"num_hidden_groups": 2, "inner_group_num": 2, "num_hidden_layers": 4, "embedding_size": 36}),
            Case("mlm", "AlbertForMaskedLM", ["head of embedding_size with hidden_act"], forward(mask="right")),
            Case("pretraining", "AlbertForPreTraining", ["order of sentences on the pooled vector"], forward(types=True)),
            *heads("Albert")],
           {"hidden_act": ACTS, "embedding_size": [7, 20], "num_hidden_groups": [1], "inner_group_num": [1, 2]}, names("Albert"),
           bert_sizes, "encoder",
           inert=KEY_BIAS),
    Family("mpnet", {"model_type": "mpnet", **ROBERTA, "type_vocab_size": Absent, "relative_attention_num_buckets": 32},
           [Case("model", "MPNetModel", ["buckets of distances, one table for all layers"], forward(length=35, batch=1, states=False)),
            Case("masked", "MPNetModel", ["positions count ids that are not 1; states"], forward(mask="right", states=True)),
            Case("buckets", "MPNetModel", ["relative_attention_num_buckets sizes the table, while distances take 32 buckets"],
                 forward(length=14),
                 {"relative_attention_num_buckets": 40}),
            Case("mlm", "MPNetForMaskedLM", ["head with exact gelu"], forward(mask="right"), {"hidden_act": "relu"}), *heads("MPNet")],
           {"hidden_act": ACTS}, names("MPNet"), bert_sizes, "encoder", inert=KEY_BIAS),
    Family("deberta", {"model_type": "deberta", **DEBERTA},
           [Case("model", "DebertaModel",
                 ["scores of content and position both ways; q, k, v packed per head; no positions or types added"],
                 forward(mask="right", states=True)),
            Case("absolute", "DebertaModel", ["absolute positions and token types added; embedding_size; one term of two"],
                 forward(mask="right", types=True),
                 {"position_biased_input": True, "type_vocab_size": 2, "embedding_size": 20, "pos_att_type": ["c2p"],
                  "max_relative_positions": 7}),
            Case("plain", "DebertaModel", ["relative_attention false"], forward(mask="holes"),
                 {"relative_attention": False, "position_biased_input": True}),
            Case("short", "DebertaModel", ["distances beyond max_relative_positions are clamped"], forward(length=13),
                 {"max_relative_positions": 5, "pos_att_type": "p2c|c2p"}),
            Case("mlm", "DebertaForMaskedLM", ["legacy head"], forward(mask="right")),
            Case("mlm_new", "DebertaForMaskedLM", ["lm_predictions, legacy false"], forward(mask="right"), {"legacy": False}),
            *heads("Deberta", choice=False)],
           {"hidden_act": ACTS, "max_relative_positions": [-1, 5], "pos_att_type": [["c2p"], ["p2c"], ["p2c", "c2p"]],
            "position_biased_input": [True, False],
            "type_vocab_size": [0, 2], "legacy": [True, False]}, names("Deberta"),
           lambda rng: (lambda s: {**s, "pooler_hidden_size": s["hidden_size"]})(bert_sizes(rng)),
           "encoder", inert=KEY_BIAS),
    Family("deberta-v2", V2,
           [Case("model", "DebertaV2Model", ["v3: shared projections, logarithmic buckets, norm of the table"],
                 forward(length=15, mask="right", states=True)),
            Case("separate", "DebertaV2Model", ["pos_key_proj and pos_query_proj; no buckets; no norm; attention_head_size"],
                 forward(mask="right"),
                 {"share_att_key": False, "position_buckets": -1, "norm_rel_ebd": "none", "max_relative_positions": 6}),
            Case("conv", "DebertaV2Model", ["v2-xlarge: a convolution of the embeddings joins after the first layer"],
                 forward(length=13, mask="right", states=True),
                 {"conv_kernel_size": 3, "conv_act": "gelu"}),
            Case("one_term", "DebertaV2Model", ["c2p alone; absolute positions and types added; conv_groups, tanh"],
                 forward(mask="holes", types=True),
                 {"pos_att_type": ["c2p"], "position_biased_input": True, "type_vocab_size": 2, "conv_kernel_size": 3, "conv_groups": 3},
                 inert=(r"encoder\.LayerNorm\.bias",)),  # the same key for every distance
            Case("long", "DebertaV2Model", ["rows longer than the buckets reach"], forward(length=37, batch=1),
                 {"position_buckets": 4, "max_relative_positions": 16}),
            Case("mlm", "DebertaV2ForMaskedLM", ["legacy head"], forward(mask="right")),
            Case("mlm_new", "DebertaV2ForMaskedLM", ["lm_predictions, legacy false"], forward(mask="right"), {"legacy": False}),
            *heads("DebertaV2")],
           {"hidden_act": ACTS, "position_buckets": [-1, 4, 9], "share_att_key": [True, False], "norm_rel_ebd": ["none", "layer_norm"],
            "pos_att_type": [["c2p"], ["p2c"], ["p2c", "c2p"]], "conv_kernel_size": [0, 3], "position_biased_input": [True, False],
            "type_vocab_size": [0, 2]},
           names("DebertaV2"), lambda rng: (lambda s: {**s, "pooler_hidden_size": s["hidden_size"]})(bert_sizes(rng)), "encoder",
           inert=KEY_BIAS),
    Family("modernbert", {"model_type": "modernbert", "vocab_size": 101, "hidden_size": 36, "intermediate_size": 53, "num_hidden_layers": 4,
                          "num_attention_heads": 3,
                          "hidden_activation": "gelu", "max_position_embeddings": 64, "norm_eps": 1e-5, "pad_token_id": 3,
                          "bos_token_id": 1, "eos_token_id": 2,
                          "cls_token_id": 1, "sep_token_id": 2, "global_attn_every_n_layers": 3, "local_attention": 8,
                          "global_rope_theta": 160000.0,
                          "local_rope_theta": 10.0},
           [Case("model", "ModernBertModel",
                 ["local layers see four tokens on each side; two rotary tables; no norm before the first attention"],
                 forward(length=17, mask="right", states=True)),
            Case("biases", "ModernBertModel",
                 ["biases of norms, attention and feed-forward; layer_types and rope_parameters, the new spelling"],
                 forward(length=13, mask="holes"),
                 {"norm_bias": True, "attention_bias": True, "mlp_bias": True, "global_attn_every_n_layers": Absent,
                  "global_rope_theta": Absent,
                  "local_rope_theta": Absent, "num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"],
                  "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 500.0},
                                      "sliding_attention": {"rope_type": "default", "rope_theta": 20.0}}}),
            Case("mlm", "ModernBertForMaskedLM", ["head of dense, gelu and norm; tied table with its own bias"],
                 forward(length=13, mask="right")),
            Case("mean", "ModernBertForSequenceClassification", ["classifier_pooling mean over the mask"], forward(batch=3, mask="right"),
                 {"classifier_pooling": "mean", "num_labels": 3}),
            *heads("ModernBert", {"classifier_bias": True, "classifier_activation": "relu", "decoder_bias": False})],
           {"global_attn_every_n_layers": [1, 2, 3], "local_attention": [2, 6, 20], "norm_bias": [True, False],
            "attention_bias": [True, False],
            "mlp_bias": [True, False],
            "classifier_pooling": ["cls", "mean"], "classifier_bias": [True, False], "hidden_activation": ["gelu", "silu"]},
           names("ModernBert"), even_sizes, "encoder",
           inert=KEY_BIAS),
    Family("nomic_bert", {"model_type": "nomic_bert", **BERT, "hidden_act": "silu", "layer_norm_eps": 1e-12,
                          "rope_parameters": {"rope_type": "default", "rope_theta": 1000.0}},
           [Case("model", "NomicBertModel", ["rotary, packed q, k, v, gate in fc12; norms after the branches"],
                 forward(mask="right", types=True, states=True)),
            Case("custom", "NomicBertModel", ["the configuration of the older custom code"], forward(mask="right", types=True),
                 {"intermediate_size": 256}, published=NOMIC),
            Case("memory", "NomicBertModel", ["a file with the names of transformers 5"], forward(mask="right"), weights="memory"),
            Case("mlm", "NomicBertForMaskedLM", ["head with a tied table"], forward(mask="right"), {"rope_parameters": Absent}),
            *heads("NomicBert", choice=False, answers=False)],
           {"hidden_act": ["silu", "gelu"], "type_vocab_size": [1, 2]}, names("NomicBert", HEADS[:-1]), even_sizes, "encoder"),
    Family("gte", {"model_type": "gte", **BERT, "type_vocab_size": 1, "pad_token_id": 1,
                   "rope_parameters": {"rope_type": "default", "rope_theta": 2000.0}},
           [Case("model", "GteModel", ["rotary, packed q, k, v with bias, packed up and gate without"], forward(mask="right", states=True)),
            Case("mlm", "GteForMaskedLM", ["head"], forward(mask="right")),
            Case("custom", "GteModel", ["the configuration of the older custom code, model_type new"], forward(mask="right"),
                 published={"architectures": ["NewModel"], **NEW}),
            Case("custom_sequence", "GteForSequenceClassification", ["model_type new; a file with the prefix new."],
                 forward(batch=3, mask="right"), {"num_labels": 3}, weights="file", rename=((r"^gte\.", "new."),),
                 published={"architectures": ["NewForSequenceClassification"], **NEW}), *heads("Gte", choice=False, answers=False)],
           {"hidden_act": ["gelu", "relu"], "type_vocab_size": [1, 2]}, names("Gte", HEADS[:-1]), even_sizes, "encoder"),
    Family("dpr", {"model_type": "dpr", **BERT, "projection_dim": 0},
           [Case("question", "DPRQuestionEncoder", ["the vector of the first token; without a mask, ids that are not padding are seen"],
                 forward(pads="right")),
            Case("context", "DPRContextEncoder", ["projection_dim"],
                 forward(mask="right", types=True, kwargs={"output_hidden_states": True}),
                 {"projection_dim": 20}),
            Case("reader", "DPRReader", ["begin, end and relevance; without a mask every id is seen"], forward(batch=3, pads="right"))],
           {"projection_dim": [0, 11], "hidden_act": ACTS}, ("DPRQuestionEncoder", "DPRContextEncoder"), bert_sizes, "encoder",
           inert=(*KEY_BIAS, r"pooler\.")),  # the pooler is saved but not used
    Family("esm", {"model_type": "esm", **BERT, "vocab_size": 33, "layer_norm_eps": 1e-5, "position_embedding_type": "rotary",
                   "token_dropout": True,
                   "emb_layer_norm_before": False, "pad_token_id": 1, "mask_token_id": 32, "type_vocab_size": Absent, "hidden_act": Absent},
           [Case("mlm", "EsmForMaskedLM", ["rotary; token_dropout: masked tokens are zeros and the others are scaled by their number"],
                 forward(batch=3, mask="right", special="mask_token_id", states=True)),
            Case("absolute", "EsmModel", ["absolute positions that count ids; a norm of the embeddings; no token_dropout"],
                 forward(mask="right", states=True),
                 {"position_embedding_type": "absolute", "emb_layer_norm_before": True, "token_dropout": False}),
            Case("no_mask", "EsmModel", ["token_dropout without a mask"], forward(special="mask_token_id")),
            *heads("Esm", choice=False, answers=False)],
           {"position_embedding_type": ["rotary", "absolute"], "token_dropout": [True, False], "emb_layer_norm_before": [True, False]},
           names("Esm", HEADS[:-1]),
           even_sizes, "encoder", constant=(r"inv_freq$",), inert=(*KEY_BIAS, r"contact_head")),  # contacts are no output of these classes
    # The reference is ../jina.py.
    Family("jina_bert", {"model_type": "bert", **BERT, "position_embedding_type": "alibi", "feed_forward_type": "geglu"},
           [Case("model", "JinaBertModel", ["distances times slopes of five heads; gated feed-forward, the gate first"],
                 forward(mask="right", types=True, states=True), {"hidden_size": 40, "num_attention_heads": 5}),
            Case("original", "JinaBertModel", ["a feed-forward without gate"], forward(mask="holes"),
                 {"feed_forward_type": "original", "hidden_act": "relu"}),
            Case("mlm", "JinaBertForMaskedLM", ["gated by ReLU; head with a tied table"], forward(mask="right"),
                 {"feed_forward_type": "reglu"}),
            Case("query_norms", "JinaBertModel", ["qk-post-norm: norms of queries and keys, the residual twice, the gate last"],
                 forward(mask="right", states=True), {"auto_map": JINA_CODE}),
            *heads("JinaBert", choice=False)],
           {"feed_forward_type": ["original", "reglu", "geglu"], "hidden_act": ACTS, "auto_map": [Absent, JINA_CODE],
            "type_vocab_size": [1, 2]},
           names("JinaBert"), bert_sizes, "encoder", inert=(*KEY_BIAS, r"layer_norm_k\.bias$"), repair=gate_query_norms),
    # The base model has a pooler that only some heads use.
    Family("layoutlm", {"model_type": "layoutlm", **BERT, "max_2d_position_embeddings": 50},
           [Case("model", "LayoutLMModel", ["six tables of positions on the page"], forward(mask="right", types=True, states=True,
                                                                                            extra=("bbox",))),
            Case("no_boxes", "LayoutLMModel", ["without boxes the first row of each table is added"], forward(mask="right")),
            Case("mlm", "LayoutLMForMaskedLM", ["head"], forward(extra=("bbox",))),
            Case("sequence", "LayoutLMForSequenceClassification", ["labels"], forward(mask="right", extra=("bbox",)), {"num_labels": 3}),
            Case("tokens", "LayoutLMForTokenClassification", ["labels"], forward(mask="right", extra=("bbox",)), {"num_labels": 3}),
            Case("answers", "LayoutLMForQuestionAnswering", ["begin and end"], forward(mask="right", extra=("bbox",)))],
           {"hidden_act": ACTS}, names("LayoutLM"), bert_sizes, "encoder", inert=(*KEY_BIAS, r"layoutlm\.pooler")),
]
