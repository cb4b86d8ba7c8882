# ===- encoder_decoders.py - Encoder-decoders of text -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from ..cases import Case, Family, forward, generate, steps
from .common import BART, T5, bart_sizes, t5_sizes

# Without rotary embeddings the keys' bias adds the same to every score of a query.
KEY_BIAS = (r"k_proj\.bias$",)
SWITCHES = {"scale_embedding": [True, False], "activation_function": ["gelu", "relu", "silu"], "tie_word_embeddings": [True, False]}


def seq2seq_cases(prefix, more=(), generation=None, model=True, greedy=None):
    """Returns both stacks with all states, decoding in steps, greedy search and the model without head."""
    whole = prefix + "ForConditionalGeneration"
    cases = [Case("forward", whole, ["source and target with masks; all states"], forward(target=9, mask="right", target_mask="right",
                                                                                          states=True)),
             Case("steps", whole, ["decoding in chunks; keys and values of both attentions"],
                  steps(1, 2, 1, 3, seq2seq=True, mask="right")),
             Case("greedy", whole, ["greedy search from the start token",
                                    *(["ids forced by generation_config.json"] if generation else [])],
                  generate(mask="right"), greedy or {}, generation)]
    if model:
        cases.append(Case("model", prefix + "Model", ["the model without head, names without prefix"], forward(target=7, mask="right")))
    return [*cases, *more]


def bart_family(name, prefix, config, more=(), generation=None, classes=(), **options):
    return Family(name, {"model_type": name, **BART, **config}, seq2seq_cases(prefix, more, generation), SWITCHES,
                  (prefix + "ForConditionalGeneration", prefix + "Model", *(prefix + one for one in classes)), bart_sizes,
                  "encoder-decoder",
                  inert=KEY_BIAS, **options)


def decoder_alone(prefix):
    alone = {"is_decoder": True, "is_encoder_decoder": False, "decoder_layers": 2}
    return [Case("decoder", prefix + "ForCausalLM", ["the decoder behind states that are given"],
                 forward(mask="right", states=True, extra=("encoder_hidden_states", "encoder_attention_mask")), alone),
            Case("decoder_steps", prefix + "ForCausalLM", ["the decoder alone, in chunks: cross attention is left out"], steps(4, 1, 3),
                 alone,
                 inert=("encoder_attn",))]


LABELS = {"num_labels": 3}
T5_HEADS = ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")


def t5_family(name, prefix, config, more=()):
    # The reference's cache for generation has as many layers as the encoder.
    cases = [*seq2seq_cases(prefix, more, greedy={"num_decoder_layers": 2}),
             Case("encoder", prefix + "EncoderModel", ["the encoder alone"], forward(length=15, mask="right", states=True)),
             Case("sequence", prefix + "ForSequenceClassification", ["the row of the last end"], forward(batch=3, mask="right"), LABELS),
             Case("tokens", prefix + "ForTokenClassification", ["labels of each token, by the encoder"], forward(mask="right"), LABELS),
             Case("answers", prefix + "ForQuestionAnswering", ["decoder ids are the input ids, shifted"], forward(mask="right"))]
    return Family(name, {"model_type": name, **T5, **config}, cases,
                  {"feed_forward_proj": ["relu", "gated-gelu", "gated-silu"]},
                  (prefix + "ForConditionalGeneration", prefix + "EncoderModel"), t5_sizes, "encoder-decoder")


FAMILIES = [
    bart_family("mbart", "MBart", {"scale_embedding": True, "activation_function": "relu", "pad_token_id": 1, "bos_token_id": 0,
                                   "eos_token_id": 2, "decoder_start_token_id": 2,
                                   "forced_eos_token_id": 2},
                [Case("shifted", "MBartModel", ["no decoder ids: the last id that is not padding moves to the front"],
                      forward(mask="right")),
                 Case("unscaled", "MBartForConditionalGeneration", ["scale_embedding false; gelu; the decoder starts with a language"],
                      forward(target=5),
                      {"scale_embedding": False, "activation_function": "gelu", "decoder_start_token_id": None}),
                 Case("sequence", "MBartForSequenceClassification", ["the row of the decoder's last end"], forward(batch=3, mask="right")),
                 Case("answers", "MBartForQuestionAnswering", ["begin and end"], forward(mask="right"), {"num_labels": 2}),
                 Case("rules", "MBartForConditionalGeneration", ["penalties of ids and n-grams of the source; the first id is forced, the "
                                                                 "second one may not be any"],
                      generate(11, mask="right"),
                      generation={"forced_bos_token_id": 57, "forced_eos_token_id": 2, "encoder_repetition_penalty": 1.5,
                                  "repetition_penalty": 1.2, "encoder_no_repeat_ngram_size": 2, "begin_suppress_tokens": [20, 21, 22, 23],
                                  "decoder_start_token_id": 2, "pad_token_id": 1, "eos_token_id": [2, 44, 71]}),
                 *decoder_alone("MBart")],
                {"forced_bos_token_id": 57}),
    bart_family("m2m_100", "M2M100", {"scale_embedding": True, "activation_function": "relu", "pad_token_id": 1, "bos_token_id": 0,
                                      "eos_token_id": 2,
                                      "decoder_start_token_id": 2},
                [Case("no_mask", "M2M100ForConditionalGeneration", ["sinusoids count ids that are not padding, also without a mask"],
                      forward(length=17, target=11, pads="inside"),
                      {"scale_embedding": False, "activation_function": "gelu"})],
                {"forced_bos_token_id": 57}),
    bart_family("pegasus", "Pegasus", {"scale_embedding": True, "activation_function": "relu", "pad_token_id": 0, "eos_token_id": 1,
                                       "decoder_start_token_id": 0,
                                       "forced_eos_token_id": 1},
                decoder_alone("Pegasus"), constant=(r"embed_positions\.weight$",)),
    bart_family("blenderbot", "Blenderbot", {"scale_embedding": False, "activation_function": "gelu", "pad_token_id": 0, "bos_token_id": 1,
                                             "eos_token_id": 2,
                                             "decoder_start_token_id": 1, "forced_eos_token_id": 2, "decoder_layers": 3},
                [Case("scaled", "BlenderbotForConditionalGeneration", ["scale_embedding"], forward(target=6, mask="right"),
                      {"scale_embedding": True}),
                 *decoder_alone("Blenderbot")]),
    bart_family("blenderbot-small", "BlenderbotSmall", {"scale_embedding": True, "activation_function": "gelu", "pad_token_id": 0,
                                                        "bos_token_id": 1, "eos_token_id": 2,
                                                        "decoder_start_token_id": 1, "forced_eos_token_id": 2},
                [Case("unscaled", "BlenderbotSmallForConditionalGeneration", ["scale_embedding false"], forward(target=6, mask="right"),
                      {"scale_embedding": False}),
                 *decoder_alone("BlenderbotSmall")]),
    t5_family("mt5", "MT5", {"feed_forward_proj": "gated-gelu"},
              [Case("own_head", "MT5ForConditionalGeneration",
                    ["tie_word_embeddings false and a head of its own in the file; logits are not scaled"],
                    forward(target=6, mask="right"), {"tie_word_embeddings": False}, add={"lm_head.weight": (101, 34)})]),
    t5_family("umt5", "UMT5", {"feed_forward_proj": "gated-gelu"},
              [Case("own_head", "UMT5ForConditionalGeneration", ["a head of its own in the file; logits are scaled all the same"],
                    forward(target=6, mask="right"), {"tie_word_embeddings": False}, add={"lm_head.weight": (101, 34)})]),
    Family("t5", {"model_type": "t5", **T5},
           [Case("flan", "T5ForConditionalGeneration",
                 ["T5 1.1 and Flan: gated, tie_word_embeddings false, a head of its own, logits not scaled"],
                 forward(target=6, mask="right", states=True), {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
                 add={"lm_head.weight": (101, 34)}),
            Case("flan_steps", "T5ForConditionalGeneration", ["the same in chunks"], steps(1, 3, 1, 2, seq2seq=True, mask="right"),
                 {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}, add={"lm_head.weight": (101, 34)}),
            Case("tied", "T5ForConditionalGeneration", ["tied: logits are scaled by d_model^-0.5"], forward(target=6, target_mask="right"),
                 {"feed_forward_proj": "relu"}),
            Case("byt5", "T5ForConditionalGeneration", ["ByT5: three times as many encoder as decoder layers"], forward(target=6),
                 {"num_layers": 3, "num_decoder_layers": 1, "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
                 add={"lm_head.weight": (101, 34)})],
           {"feed_forward_proj": ["relu", "gated-gelu", "gated-silu"]}, ("T5ForConditionalGeneration", "T5EncoderModel"), t5_sizes,
           "encoder-decoder"),
]
