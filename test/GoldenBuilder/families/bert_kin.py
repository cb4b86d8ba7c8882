# ===- bert_kin.py - Encoders that are BERT or RoBERTa but for little -------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from ..cases import Absent, Case, Family, forward, steps
from .common import BERT, ROBERTA, bert_sizes, even_sizes
from .encoders import ACTS, HEADS, KEY_BIAS, heads, names, roberta

EVEN = {**BERT, "num_attention_heads": 3, "hidden_size": 36}
XLM = {"vocab_size": 101, "emb_dim": 36, "n_layers": 2, "n_heads": 3, "max_position_embeddings": 41, "n_langs": 1, "pad_token_id": 2,
       "bos_token_id": 0, "eos_token_id": 1}
# The bias of keys adds the same to every score of a query.
XLM_KEY_BIAS = (r"k_lin\.bias$",)


def xlm_names(prefix):
    return tuple(prefix + name for name in ("Model", "WithLMHeadModel", "ForSequenceClassification", "ForTokenClassification",
                                            "ForQuestionAnsweringSimple"))


def xlm_heads(prefix):
    return [Case("sequence", prefix + "ForSequenceClassification", ["a summary of the first token"], forward(batch=3, mask="right"),
                 {"num_labels": 3, "summary_activation": "tanh"}),
            Case("last", prefix + "ForSequenceClassification", ["a summary of the last token"], forward(batch=3, mask="left"),
                 {"num_labels": 3, "summary_type": "last"}),
            Case("tokens", prefix + "ForTokenClassification", ["labels of each token"], forward(mask="holes"), {"num_labels": 4}),
            Case("answers", prefix + "ForQuestionAnsweringSimple", ["begin and end of an answer"], forward(mask="right")),
            Case("choice", prefix + "ForMultipleChoice", ["ids [batch, choices, length]"], forward(choices=3, mask="right"))]


def xlm_sizes(rng):
    sizes = bert_sizes(rng)
    return {"emb_dim": sizes["hidden_size"], "n_heads": sizes["num_attention_heads"], "n_layers": sizes["num_hidden_layers"],
            "vocab_size": sizes["vocab_size"], "max_position_embeddings": sizes["max_position_embeddings"]}


def squeeze_sizes(rng):
    heads = int(rng.integers(1, 6))
    hidden = heads * 12 * int(rng.integers(1, 4))
    return {"hidden_size": hidden, "embedding_size": hidden, "num_attention_heads": heads, "num_hidden_layers": int(rng.integers(1, 4)),
            "intermediate_size": 12 * int(rng.integers(1, 9)), "vocab_size": int(rng.integers(40, 140)),
            "max_position_embeddings": int(rng.integers(40, 70))}


FAMILIES = [
    roberta("data2vec-text", "Data2VecText", []),
    roberta("roberta-prelayernorm", "RobertaPreLayerNorm",
            [Case("causal_steps", "RobertaPreLayerNormForCausalLM", ["is_decoder: norms before the branches, later chunks"],
                  steps(4, 1, 3, 1), {"is_decoder": True})]),
    Family("ernie", {"model_type": "ernie", **BERT, "use_task_id": True, "task_type_vocab_size": 3},
           [Case("model", "ErnieModel", ["task types, all 0"], forward(mask="right", types=True, states=True)),
            Case("no_tasks", "ErnieForMaskedLM", ["use_task_id false"], forward(mask="holes"), {"use_task_id": False}),
            Case("pretraining", "ErnieForPreTraining", ["both heads"], forward(types=True)), *heads("Ernie", answers=False)],
           {"hidden_act": ACTS, "use_task_id": [True, False]}, names("Ernie"), bert_sizes, "encoder", inert=KEY_BIAS),
    Family("megatron-bert", {"model_type": "megatron-bert", **BERT},
           [Case("model", "MegatronBertModel", ["norms before the branches and at the end, none of the embeddings"],
                 forward(mask="right", types=True, states=True)),
            Case("mlm", "MegatronBertForMaskedLM", ["the head has a norm"], forward(mask="holes")),
            Case("causal_steps", "MegatronBertForCausalLM", ["is_decoder: later chunks"], steps(4, 1, 3, 1), {"is_decoder": True}),
            *heads("MegatronBert")],
           {"hidden_act": ACTS}, names("MegatronBert"), bert_sizes, "encoder", inert=KEY_BIAS),
    Family("rembert", {"model_type": "rembert", **BERT, "input_embedding_size": 20, "output_embedding_size": 44},
           [Case("model", "RemBertModel", ["embeddings of another size and their projection"],
                 forward(mask="right", types=True, states=True)),
            Case("mlm", "RemBertForMaskedLM", ["a head of a third size with words of its own"], forward(mask="right")),
            Case("same_size", "RemBertForMaskedLM", ["embeddings of the layers' size are projected, too"], forward(mask="holes"),
                 {"input_embedding_size": 36}), *heads("RemBert")],
           {"hidden_act": ACTS, "input_embedding_size": [7, 20], "output_embedding_size": [9, 44]}, names("RemBert"), bert_sizes, "encoder",
           inert=KEY_BIAS),
    Family("roformer", {"model_type": "roformer", **EVEN, "embedding_size": 20, "rotary_value": False},
           [Case("model", "RoFormerModel", ["rotary of neighbors; embeddings of another size"],
                 forward(mask="right", types=True, states=True)),
            Case("mlm", "RoFormerForMaskedLM", ["the head has the size of the embeddings"], forward(mask="right")),
            Case("same_size", "RoFormerForMaskedLM", ["embedding_size null: no projection"], forward(mask="holes"),
                 {"embedding_size": None}),
            Case("causal_steps", "RoFormerForCausalLM", ["is_decoder: later chunks"], steps(4, 1, 3, 1), {"is_decoder": True}),
            *heads("RoFormer", choice=False)],
           {"hidden_act": ACTS, "embedding_size": [None, 7, 20]}, names("RoFormer"), even_sizes, "encoder",
           constant=("embed_positions",), inert=(r"\.embed_positions",)),
    Family("big_bird", {"model_type": "big_bird", **BERT, "hidden_act": "gelu_new", "attention_type": "block_sparse", "block_size": 4,
                        "num_random_blocks": 1, "use_bias": True, "rescale_embeddings": False, "sep_token_id": 66},
           [Case("model", "BigBirdModel", ["short sequences attend to all keys"], forward(mask="right", types=True, states=True)),
            Case("scaled", "BigBirdForMaskedLM", ["rescale_embeddings; attention_type original_full"], forward(mask="holes", length=35),
                 {"rescale_embeddings": True, "attention_type": "original_full"}),
            Case("embeds", "BigBirdModel", ["inputs_embeds are scaled"], forward(mask="right", embeds=True),
                 {"rescale_embeddings": True}, inert=("word_embeddings",)),
            Case("pretraining", "BigBirdForPreTraining", ["both heads"], forward(types=True)),
            *heads("BigBird", answers=False)],
           {"hidden_act": ACTS, "rescale_embeddings": [True, False], "attention_type": ["original_full"]},
           names("BigBird", tuple(head for head in HEADS if head != "ForQuestionAnswering")), bert_sizes, "encoder",
           # Most heads are above a model whose pooler they do not read.
           inert=(*KEY_BIAS, r"^bert\.pooler\.")),
    Family("bert-generation", {"model_type": "bert-generation", **BERT, "type_vocab_size": Absent},
           [Case("model", "BertGenerationEncoder", ["no token types, no pooler"], forward(mask="right", states=True)),
            Case("causal", "BertGenerationDecoder", ["scores by the word table"], forward(mask="right"), {"is_decoder": True}),
            Case("causal_steps", "BertGenerationDecoder", ["later chunks"], steps(4, 1, 3, 1), {"is_decoder": True})],
           {"hidden_act": ACTS}, ("BertGenerationEncoder",), bert_sizes, "encoder", inert=KEY_BIAS),
    Family("xlm", {"model_type": "xlm", **XLM},
           [Case("model", "XLMModel", ["hidden tokens are zero before every layer; no languages"], forward(mask="right", states=True)),
            Case("languages", "XLMWithLMHeadModel", ["vectors of languages; token types are words; relu"],
                 forward(mask="right", types=True, extra=("langs",)), {"n_langs": 4, "gelu_activation": False}),
            Case("unmasked", "XLMModel", ["without a mask, ids that are not padding are seen"], forward(pads="right")),
            *xlm_heads("XLM")],
           {"gelu_activation": [True, False], "n_langs": [1, 3]}, xlm_names("XLM"), xlm_sizes, "encoder", masks=("", "right"),
           inert=(*XLM_KEY_BIAS, "lang_embeddings")),
    Family("flaubert", {"model_type": "flaubert", **XLM, "pre_norm": False},
           [Case("model", "FlaubertModel", ["XLM under another name"], forward(mask="right", states=True)),
            Case("words", "FlaubertWithLMHeadModel", ["the head"], forward(mask="right")), *xlm_heads("Flaubert")],
           {"gelu_activation": [True, False]}, xlm_names("Flaubert"), xlm_sizes, "encoder", masks=("", "right"), inert=XLM_KEY_BIAS),
    Family("longformer", {"model_type": "longformer", **ROBERTA, "max_position_embeddings": 60, "attention_window": [4, 8]},
           # Attention probabilities of the reference have a column for each token of a window.
           [Case("model", "LongformerModel", ["a window of its own in each layer; sequences longer than it"],
                 forward(mask="right", length=25, kwargs={"output_hidden_states": True})),
            Case("mlm", "LongformerForMaskedLM", ["one window for all layers; holes"], forward(mask="holes", length=24),
                 {"attention_window": 8}),
            Case("tokens", "LongformerForTokenClassification", ["labels of each token"], forward(mask="left"), {"num_labels": 4})],
           {"hidden_act": ACTS, "attention_window": [2, 4, 12]}, names("Longformer", ("Model", "ForMaskedLM", "ForTokenClassification")),
           bert_sizes, "encoder", inert=(*KEY_BIAS, "_global"), states=False),
    Family("squeezebert", {"model_type": "squeezebert", **BERT, "embedding_size": 36, "intermediate_size": 54, "q_groups": 3, "k_groups": 2,
                           "v_groups": 4, "post_attention_groups": 1, "intermediate_groups": 2, "output_groups": 6},
           # `attentions` are masked scores. In f64 the mask is the most negative f64, so only a case without a mask has them.
           [Case("model", "SqueezeBertModel", ["projections in groups"],
                 forward(mask="right", types=True, kwargs={"output_hidden_states": True})),
            Case("scores", "SqueezeBertModel", ["attentions are scores"], forward(states=True)),
            Case("mlm", "SqueezeBertForMaskedLM", ["the head; one group everywhere"], forward(mask="right"),
                 {key: 1 for key in ("q_groups", "k_groups", "v_groups", "intermediate_groups", "output_groups")}),
            *heads("SqueezeBert")],
           {"hidden_act": ACTS, "q_groups": [1, 2], "output_groups": [1, 2], "post_attention_groups": [1, 2]},
           names("SqueezeBert"), squeeze_sizes, "encoder", inert=KEY_BIAS, states=False),
]
