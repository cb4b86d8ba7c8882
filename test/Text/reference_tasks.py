#!/usr/bin/env python3
# ===- reference_tasks.py - Cases of tasks with the reference's results -----===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# reference_tasks.py [CASE…]: writes the folders of cases (all of them without CASE) to Inputs/tasks, and what the
# reference makes of their texts to case.json. Needs, in one environment, transformers 5.23 and sentence-transformers
# 6.2, for the cases of `answer`, whose pipeline transformers 5 gave up, transformers 4.57; attune is in PATH, for
# generated weights. check_tasks.py compares. Cases whose packages are missing are skipped with a message.
# ===-----------------------------------------------------------------------===#
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SPECIAL = {
    "bert": {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "mask_token": "[MASK]"},
    "roberta": {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "unk_token": "<unk>",
        "pad_token": "<pad>",
        "mask_token": "<mask>",
    },
    "t5": {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"},
    "llama": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "</s>"},
}
SIZES = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "hello",
    "Ünïcode, 中文 and emoji 🙂 in one text!",
    "one two three four five six seven",
    "New York is a city; Anna lives there.",
    "don't stop unaffable isn't it",
]
LONG = "a longer text whose words are more than the model has positions for, so that it is cut at the end of the window " * 3


def labels(names):
    return {"id2label": {str(i): name for i, name in enumerate(names)}, "label2id": {name: i for i, name in enumerate(names)}}


def bert(architecture, vocabulary=300, **more):
    return dict(
        architectures=[architecture],
        model_type="bert",
        vocab_size=vocabulary,
        max_position_embeddings=64,
        type_vocab_size=2,
        hidden_act="gelu",
        layer_norm_eps=1e-12,
        pad_token_id=0,
        **SIZES,
        **more,
    )


def roberta(architecture, **more):
    return dict(
        architectures=[architecture],
        model_type="roberta",
        vocab_size=400,
        max_position_embeddings=66,
        type_vocab_size=1,
        hidden_act="gelu",
        layer_norm_eps=1e-5,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        **SIZES,
        **more,
    )


def distilbert(architecture, **more):
    return dict(
        architectures=[architecture],
        model_type="distilbert",
        vocab_size=300,
        max_position_embeddings=64,
        dim=32,
        n_layers=2,
        n_heads=4,
        hidden_dim=64,
        pad_token_id=0,
        **more,
    )


def modules(*names, transformer=""):
    """Returns modules.json for a transformer followed by modules of the types |names|."""
    entries = [{"idx": 0, "name": "0", "path": transformer, "type": "sentence_transformers.models.Transformer"}]
    for i, name in enumerate(names, 1):
        entries.append({"idx": i, "name": str(i), "path": f"{i}_{name}", "type": f"sentence_transformers.models.{name}"})
    return entries


MEAN = {
    "word_embedding_dimension": 32,
    "pooling_mode_cls_token": False,
    "pooling_mode_mean_tokens": True,
    "pooling_mode_max_tokens": False,
    "pooling_mode_mean_sqrt_len_tokens": False,
}
ALL_MODES = {
    "word_embedding_dimension": 32,
    "pooling_mode_cls_token": True,
    "pooling_mode_mean_tokens": True,
    "pooling_mode_max_tokens": True,
    "pooling_mode_mean_sqrt_len_tokens": True,
    "pooling_mode_weightedmean_tokens": True,
    "pooling_mode_lasttoken": True,
    "include_prompt": False,
}
PROMPTS = {"prompts": {"query": "query: ", "passage": "text of a passage: "}, "default_prompt_name": None, "similarity_fn_name": "cosine"}
DENSE = {"in_features": 192, "out_features": 24, "bias": True, "activation_function": "torch.nn.modules.activation.Tanh"}

# name: tokenizer, special tokens, files beside the tokenizer, calls.
CASES = {
    "classify_bert": (
        "bert_uncased",
        "bert",
        {"config.json": bert("BertForSequenceClassification", **labels(["bad", "so-so", "good"]))},
        [{"command": "classify", "texts": TEXTS}],
    ),
    "classify_multi_label": (
        "wp_nmt",
        "bert",
        {
            "config.json": distilbert(
                "DistilBertForSequenceClassification", **labels(["a", "b", "c", "d"]), problem_type="multi_label_classification"
            )
        },
        [{"command": "classify", "texts": TEXTS}],
    ),
    "classify_regression": (
        "roberta",
        "roberta",
        {"config.json": roberta("RobertaForSequenceClassification", **labels(["x", "y"]), problem_type="regression")},
        [{"command": "classify", "texts": TEXTS}],
    ),
    "rerank_roberta": (
        "roberta",
        "roberta",
        {"config.json": roberta("RobertaForSequenceClassification", **labels(["LABEL_0"]))},
        [{"command": "classify", "texts": TEXTS, "pair": "which fox?"}],
    ),
    "rerank_bert": (
        "bert_cased",
        "bert",
        {"config.json": bert("BertForSequenceClassification", **labels(["LABEL_0"]))},
        [{"command": "classify", "texts": TEXTS, "pair": "which fox?"}],
    ),
    "rerank_types": (
        "bert_uncased",
        "bert",
        {"config.json": bert("BertForSequenceClassification", **labels(["LABEL_0"]))},
        [{"command": "classify", "texts": TEXTS, "pair": "which fox?"}],
    ),
    "tokens_bert": (
        "bert_cased",
        "bert",
        {"config.json": bert("BertForTokenClassification", **labels(TAGS))},
        [{"command": "tokens", "texts": TEXTS, "aggregation": a} for a in ("none", "simple", "first", "average", "max")],
    ),
    "tokens_roberta": (
        "roberta",
        "roberta",
        {"config.json": roberta("RobertaForTokenClassification", **labels(TAGS))},
        [{"command": "tokens", "texts": TEXTS, "aggregation": a} for a in ("none", "simple", "max")],
    ),
    "fill_bert": (
        "bert_uncased",
        "bert",
        {"config.json": bert("BertForMaskedLM")},
        [{"command": "fill", "texts": ["the quick [MASK] fox", "a [MASK] and a [MASK], isn't it?"], "top_k": 4}],
    ),
    "fill_roberta": (
        "roberta",
        "roberta",
        {"config.json": {**roberta("RobertaForMaskedLM"), "vocab_size": 420}},
        [{"command": "fill", "texts": ["the quick <mask> fox", "<mask>! a <mask>"], "top_k": 3}],
    ),
    "answer_bert": (
        "bert_uncased",
        "bert",
        {"config.json": bert("BertForQuestionAnswering")},
        [
            {"command": "answer", "question": "who lives where?", "context": context, **more}
            for context in (TEXTS[4], " ".join(TEXTS), LONG)
            for more in ({}, {"top_k": 3}, {"top_k": 4, "handle_impossible_answer": True, "max_answer_len": 4})
        ],
    ),
    "answer_roberta": (
        "roberta",
        "roberta",
        {"config.json": roberta("RobertaForQuestionAnswering")},
        [{"command": "answer", "question": "who?", "context": context, "top_k": 3} for context in (TEXTS[0], " ".join(TEXTS))],
    ),
    "embed_bert_mean": (
        "bert_uncased",
        "bert",
        {
            "config.json": bert("BertModel"),
            "modules.json": modules("Pooling", "Normalize"),
            "1_Pooling/config.json": MEAN,
            "sentence_bert_config.json": {"max_seq_length": 32, "do_lower_case": False},
            "config_sentence_transformers.json": PROMPTS,
        },
        [{"command": "embed", "texts": TEXTS + [LONG]}, {"command": "embed", "texts": TEXTS, "prompt_name": "passage"}],
    ),
    "embed_all_modes": (
        "bert_cased",
        "bert",
        {
            "0_Transformer/config.json": bert("BertModel"),
            "modules.json": modules("Pooling", "Dense", "Normalize", transformer="0_Transformer"),
            "1_Pooling/config.json": ALL_MODES,
            "2_Dense/config.json": DENSE,
            "config_sentence_transformers.json": PROMPTS,
            "0_Transformer/sentence_bert_config.json": {"max_seq_length": 48, "do_lower_case": True},
        },
        [{"command": "embed", "texts": TEXTS}, {"command": "embed", "texts": TEXTS, "prompt_name": "query"}],
    ),
    "embed_roberta_cls": (
        "roberta",
        "roberta",
        {
            "config.json": roberta("RobertaForMaskedLM"),
            "modules.json": modules("Pooling", "LayerNorm"),
            "1_Pooling/config.json": {"embedding_dimension": 32, "pooling_mode": "cls", "include_prompt": True},
            "2_LayerNorm/config.json": {"dimension": 32},
        },
        [{"command": "embed", "texts": TEXTS}],
    ),
    "embed_t5": (
        "t5",
        "t5",
        {
            "config.json": dict(
                architectures=["T5EncoderModel"],
                model_type="t5",
                vocab_size=152,
                d_model=32,
                d_kv=8,
                d_ff=64,
                num_layers=2,
                num_heads=4,
                relative_attention_num_buckets=8,
                relative_attention_max_distance=20,
                feed_forward_proj="relu",
                pad_token_id=0,
                eos_token_id=1,
                decoder_start_token_id=0,
            ),
            "modules.json": modules("Pooling", "Dense", "Normalize"),
            "1_Pooling/config.json": MEAN,
            "2_Dense/config.json": {**DENSE, "in_features": 32, "bias": False, "activation_function": "torch.nn.modules.linear.Identity"},
            "sentence_bert_config.json": {"max_seq_length": 40},
        },
        [{"command": "embed", "texts": TEXTS}],
    ),
    "embed_qwen3_last": (
        "o200k",
        "llama",
        {
            "config.json": dict(
                architectures=["Qwen3ForCausalLM"],
                model_type="qwen3",
                vocab_size=400,
                num_key_value_heads=2,
                head_dim=8,
                max_position_embeddings=128,
                rms_norm_eps=1e-6,
                hidden_act="silu",
                tie_word_embeddings=True,
                **SIZES,
            ),
            "modules.json": modules("Pooling", "Normalize"),
            "1_Pooling/config.json": {"embedding_dimension": 32, "pooling_mode": "lasttoken", "include_prompt": True},
            "config_sentence_transformers.json": {**PROMPTS, "default_prompt_name": "query"},
        },
        [{"command": "embed", "texts": TEXTS}, {"command": "embed", "texts": TEXTS, "prompt_name": ""}],
    ),
}


def write(path, value):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, ensure_ascii=False)
        file.write("\n")


def rounded(value):
    if isinstance(value, float):
        return float(f"{value:.7g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def plain(value):
    """Returns |value| with numpy's numbers as numbers of Python."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.item() if hasattr(value, "item") else value


def classify(folder, call):
    from transformers import pipeline

    run = pipeline("text-classification", folder, top_k=None)
    pair = call.get("pair")
    results = [run({"text": pair, "text_pair": text} if pair else text) for text in call["texts"]]
    return [{"labels": result[0] if isinstance(result[0], list) else result} for result in results]


def tokens(folder, call):
    from transformers import pipeline

    run = pipeline("token-classification", folder, aggregation_strategy=call["aggregation"])
    return [{"spans": run(text)} for text in call["texts"]]


def fill(folder, call):
    from transformers import pipeline

    run = pipeline("fill-mask", folder, top_k=call["top_k"])
    results = [run(text) for text in call["texts"]]
    return [{"masks": result if isinstance(result[0], list) else [result]} for result in results]


def answer(folder, call):
    from transformers import pipeline

    keys = ("top_k", "handle_impossible_answer", "max_answer_len")
    found = pipeline("question-answering", folder)(
        question=call["question"], context=call["context"], **{key: call[key] for key in keys if key in call}
    )
    return found if isinstance(found, list) else [found]


def embed(folder, call):
    from sentence_transformers import SentenceTransformer

    vectors = SentenceTransformer(folder, device="cpu").encode(
        call["texts"], prompt_name=call.get("prompt_name") or None, prompt="" if call.get("prompt_name") == "" else None
    )
    return [{"embedding": [float(x) for x in vector]} for vector in vectors]


def build(name):
    tokenizer, special, files, calls = CASES[name]
    folder = os.path.join(HERE, "Inputs", "tasks", name)
    shutil.rmtree(folder, ignore_errors=True)
    transformer = "0_Transformer/" if "0_Transformer/config.json" in files else ""
    for path, value in files.items():
        write(os.path.join(folder, path), value)
    # The class decides whether the model gets token types.
    config = {"tokenizer_class": "BertTokenizer" if name == "rerank_types" else "PreTrainedTokenizerFast", **SPECIAL[special]}
    if special != "bert" or files.get("config.json", {}).get("model_type") == "distilbert":
        config["model_input_names"] = ["input_ids", "attention_mask"]
    # Version 4 of the reference gives these settings values of its own, whatever tokenizer.json says.
    if name == "answer_bert":
        config["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
    if name == "answer_roberta":
        config["add_prefix_space"] = True
    config["model_max_length"] = 64
    write(os.path.join(folder, transformer + "tokenizer_config.json"), config)
    case = {"tokenizer": tokenizer, "to": transformer + "tokenizer.json", "seed": 7, "calls": calls}
    with tempfile.TemporaryDirectory() as work:
        source, model = os.path.join(work, "source"), os.path.join(work, "model")
        shutil.copytree(folder, source)
        shutil.copy(os.path.join(HERE, "Inputs", tokenizer, "tokenizer.json"), os.path.join(source, case["to"]))
        subprocess.run(["attune", "init", source, "-o", model, "--seed=7"], check=True)
        for call in calls:
            call["expected"] = rounded(plain(globals()[call["command"]](model, call)))
    write(os.path.join(folder, "case.json"), case)


if __name__ == "__main__":
    for case in sys.argv[1:] or CASES:
        try:
            build(case)
            print(case)
        except (ImportError, KeyError) as error:
            shutil.rmtree(os.path.join(HERE, "Inputs", "tasks", case), ignore_errors=True)
            print(f"{case}: skipped, {error}")
