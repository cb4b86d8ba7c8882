# ===- test_tasks.py - Embeddings and pipelines -----------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of test/Text/Inputs/tasks have the results of transformers and sentence-transformers on small models; the
command line gives the same bits."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import warnings

import numpy as np
import pytest
from conftest import ROOT, run_attune, run_threads

import attune

INPUTS = ROOT / "test/Text/Inputs"
CASES = sorted(path.name for path in (INPUTS / "tasks").iterdir())
TOLERANCE = 2e-5
FLAGS = {
    "top_k": "--top-k=",
    "max_answer_len": "--max-answer-length=",
    "aggregation": "--aggregation=",
    "pair": "--pair=",
    "prompt_name": "--prompt-name=",
}


class Case:
    """A case: its compiled model, its calls, and results of the command line."""

    def __init__(self, name: str, work: pathlib.Path) -> None:
        source, config = INPUTS / "tasks" / name, work / name / "config"
        data = json.loads((source / "case.json").read_text())
        shutil.copytree(source, config)
        shutil.copy(INPUTS / data["tokenizer"] / "tokenizer.json", config / data["to"])
        os.remove(config / "case.json")
        self.name, self.calls, self.object = name, data["calls"], work / name / "model.so"
        run_attune("init", config, "-o", work / name / "model", f"--seed={data['seed']}")
        attune.compile(work / name / "model", self.object, padding="skip", progress=False)

    def command(self, call, **more):
        """Returns the objects that the command prints for |call|."""
        words = [call["command"].replace("tokens", "classify"), self.object, "--json", "--quiet"]
        words += [FLAGS[key] + str(value) for key, value in {**call, **more}.items() if key in FLAGS and value is not None]
        if call["command"] == "answer":
            words += ["--question=" + call["question"], "--context=" + call["context"]]
            words += ["--allow-none"] if call.get("handle_impossible_answer") else []
            output = run_attune(*words)
        else:
            if call["command"] == "classify":
                words.append("--top-k=100")
            output = run_attune(*words, "-", input="".join(text + "\n" for text in call["texts"]))
        return [json.loads(line) for line in output.splitlines()]


@pytest.fixture(scope="session")
def case(tmp_path_factory):
    made: dict[str, Case] = {}
    work = tmp_path_factory.mktemp("cases")

    def make(name: str) -> Case:
        if name not in made:
            made[name] = Case(name, work)
        return made[name]

    return make


def equals(got, expected, where):
    """Compares with the reference: numbers up to the tolerance."""
    if isinstance(expected, float):
        assert abs(got - expected) <= TOLERANCE, where
    elif isinstance(expected, dict):
        assert list(got) == list(expected), where
        for key in expected:
            equals(got[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, list):
        assert isinstance(got, list) and len(got) == len(expected), where
        for number, (x, y) in enumerate(zip(got, expected)):
            equals(x, y, f"{where}[{number}]")
    # The reference decodes words of byte-level tokens twice.
    elif not (where.endswith(".word") and "\ufffd" in str(expected)):
        assert got == expected and type(got) is type(expected), where


def bits(value):
    """Returns |value| with floats as the float32 that their decimals name."""
    if isinstance(value, float):
        return np.float32(value).tobytes()
    if isinstance(value, dict):
        return {key: bits(item) for key, item in value.items()}
    return [bits(item) for item in value] if isinstance(value, list) else value


def run_call(model, call):
    """Returns what the pipeline gives for |call|, in the form of case.json."""
    kind = call["command"]
    if kind == "answer":
        pipe = attune.pipeline("question-answering", model, threads=2)
        arguments = {key: call[key] for key in ("top_k", "max_answer_len", "handle_impossible_answer") if key in call}
        found = pipe(question=call["question"], context=call["context"], **arguments)
        return found if isinstance(found, list) else [found]
    if kind == "classify":
        pipe = attune.pipeline("text-classification", model, threads=2)
        texts = [{"text": call["pair"], "text_pair": text} if "pair" in call else text for text in call["texts"]]
        return [{"labels": one} for one in pipe(texts, top_k=None)]
    if kind == "tokens":
        pipe = attune.pipeline("ner", model, threads=2, aggregation_strategy=call["aggregation"])
        return [{"spans": one} for one in pipe(call["texts"])]
    if kind == "fill":
        pipe = attune.pipeline("fill-mask", model, threads=2)
        found = pipe(call["texts"], top_k=call["top_k"])
        return [{"masks": one if isinstance(one[0], list) else [one]} for one in found]
    encoder = attune.SentenceTransformer(model, threads=2)
    rows = encoder.encode(call["texts"], prompt_name=call.get("prompt_name"))
    assert rows.dtype == np.float32 and rows.flags.c_contiguous
    return [{"embedding": row} for row in rows.tolist()]


@pytest.mark.parametrize("name", CASES)
def test_case(case, name):
    made = case(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", attune.TextsCutWarning)
        for number, call in enumerate(made.calls):
            got = run_call(made.object, call)
            equals(got, call["expected"], f"{name}: call {number}")
            if number in (0, len(made.calls) - 1):
                assert bits(got) == bits(made.command(call)), f"{name}: call {number}"


# --- Embeddings ---


TEXTS = ["the quick brown fox", "a lazy dog", "", "jumps over the dog " * 9, "the", "x" * 300]


def test_batches_change_no_bit(finder):
    texts = [f"{text} {number}" for number in range(400) for text in TEXTS]
    expected = finder.encode(texts)
    assert expected.shape == (2400, 64) and finder.get_sentence_embedding_dimension() == 64
    assert finder.encode(texts, batch_size=1).tobytes() == expected.tobytes()
    assert finder.encode(tuple(texts), batch_size=7, show_progress_bar=True).tobytes() == expected.tobytes()
    assert finder.encode(np.array(texts[:6])).tobytes() == expected[:6].tobytes()
    assert finder.encode(texts[5]).tobytes() == expected[5].tobytes() and finder.encode(texts[5]).shape == (64,)
    assert finder.encode([]).shape == (0,)
    assert finder.encode(text for text in texts[:3]).tobytes() == expected[:3].tobytes()
    assert finder.encode(inputs=texts[:3]).tobytes() == expected[:3].tobytes()


def test_prompts(finder):
    assert finder.prompts == {"query": "query: ", "document": "document: "}
    query = finder.encode("query: the fox").tobytes()
    assert finder.encode("the fox", prompt_name="query").tobytes() == query
    assert finder.encode("the fox", prompt="query: ").tobytes() == query
    assert finder.encode_query("the fox").tobytes() == query
    assert finder.encode_query(sentences="the fox").tobytes() == query
    assert finder.encode_query("the fox", "document").tobytes() == finder.encode_document("the fox").tobytes() != query
    assert finder.encode_query("the fox", prompt="").tobytes() == finder.encode("the fox").tobytes()
    other = attune.SentenceTransformer(finder.model, prompts={"query": "q: "}, default_prompt_name="query")
    assert other.encode("a").tobytes() == finder.encode("q: a").tobytes()
    with pytest.raises(attune.InvalidArgumentError, match="prompt_name: .*query, document, got 'code'"):
        finder.encode("a", prompt_name="code")


def test_prompts_that_a_model_lacks_are_empty(plain):
    """As in sentence-transformers, whose models have the prompts query and document in any case: encode_document does not come
    to "passage"."""
    encoder = attune.SentenceTransformer(plain, prompts={"passage": "passage: "})
    assert encoder.prompts == {"query": "", "document": "", "passage": "passage: "}
    assert encoder.encode_query("a").tobytes() == encoder.encode_document("a").tobytes() == encoder.encode("a").tobytes()
    passage = encoder.encode("a", prompt_name="passage").tobytes()
    assert passage == encoder.encode("passage: a").tobytes() != encoder.encode("a").tobytes()
    del encoder.prompts["document"]
    assert encoder.encode_document("a").tobytes() == passage


def test_lengths(finder):
    assert finder.max_seq_length == finder.get_max_seq_length() == 64
    long = "the quick brown fox jumps over " * 20
    whole = finder.encode(long)
    ids = finder.tokenize([long, "a"])
    assert ids["input_ids"].shape == (2, 64) and ids["attention_mask"][1].sum() < 6
    finder.max_seq_length = 8
    try:
        assert finder.max_seq_length == 8 and finder.tokenize(long)["input_ids"].shape == (1, 8)
        short = finder.encode([long, "a"])
        assert short[0].tobytes() != whole.tobytes() and short[1].tobytes() == finder.encode("a").tobytes()
    finally:
        finder.max_seq_length = None
    assert finder.max_seq_length == 64


def test_truncation_and_normalization(finder):
    vectors = finder.encode(TEXTS)
    cut = finder.encode(TEXTS, truncate_dim=16)
    assert cut.tobytes() == np.ascontiguousarray(vectors[:, :16]).tobytes()
    unit = finder.encode(TEXTS, truncate_dim=16, normalize_embeddings=True)
    assert np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6) and np.allclose(
        unit, cut / np.linalg.norm(cut, axis=1, keepdims=True), atol=1e-6
    )
    with finder.truncate_sentence_embeddings(8):
        assert finder.encode("a").shape == (8,) and finder.get_embedding_dimension() == 8
    assert finder.encode("a", truncate_dim=1000).shape == (64,)


def test_precisions(finder):
    vectors = finder.encode(TEXTS)
    signs = np.packbits(vectors > 0, axis=1)
    assert finder.encode(TEXTS, precision="ubinary").tobytes() == signs.tobytes()
    binary = finder.encode(TEXTS, precision="binary")
    assert binary.dtype == np.int8 and (binary.astype(int) + 128 == signs).all()
    assert finder.encode("the", precision="ubinary").shape == (8,)
    low, high = vectors.min(axis=0), vectors.max(axis=0)
    steps = np.floor((vectors - low) / ((high - low) / 255)).clip(0, 255)
    assert (finder.encode(TEXTS, precision="uint8") == steps).all()
    signed = finder.encode(TEXTS, precision="int8")
    assert signed.dtype == np.int8 and (signed.astype(int) + 128 == steps).all()
    with pytest.raises(attune.InvalidArgumentError, match="floats"):
        attune.quantize_embeddings([[1.0], [1.0, 2.0]], "int8")
    with pytest.raises(attune.InvalidArgumentError, match="more than one text"):
        finder.encode("the", precision="int8")


def test_similarities(finder):
    vectors = finder.encode(TEXTS[:3])
    assert finder.similarity_fn_name == "cosine"
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert np.allclose(finder.similarity(vectors, vectors), unit @ unit.T, atol=1e-6)
    assert np.allclose(finder.similarity_pairwise(vectors, vectors), 1, atol=1e-6)
    assert finder.similarity(vectors[0], vectors).shape == (1, 3)
    difference = vectors[:, None].astype(float) - vectors[None]
    for name, expected in (
        ("dot", vectors @ vectors.T),
        ("euclidean", -np.sqrt((difference**2).sum(-1))),
        ("manhattan", -np.abs(difference).sum(-1)),
    ):
        other = attune.SentenceTransformer(finder.model, similarity_fn_name=name)
        assert np.allclose(other.similarity(list(vectors), vectors), expected, atol=1e-4), name
        assert np.allclose(other.similarity_pairwise(vectors, vectors[::-1]), np.diag(expected[:, ::-1]), atol=1e-4)
    with pytest.raises(attune.InvalidArgumentError, match="expected 64 features"):
        finder.similarity(vectors, vectors[:, :8])


def test_threads_share_an_encoder(finder):
    texts = [[f"{text} {number}" for text in TEXTS] for number in range(6)]
    expected = [finder.encode(one).tobytes() for one in texts]
    wrong = []

    def work(number):
        for _ in range(20):
            if finder.encode(texts[number]).tobytes() != expected[number]:
                wrong.append(number)

    run_threads(work, 6)
    assert not wrong


def test_encoder_works_after_fork(finder):
    expected = finder.encode(TEXTS).tobytes()
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if finder.encode(TEXTS).tobytes() == expected else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def test_mean_over_tokens_without_modules(plain):
    encoder = attune.SentenceTransformer(plain)
    lines = run_attune("embed", plain.path, "the fox", "a dog", "--json", "--quiet").splitlines()
    assert encoder.encode(["the fox", "a dog"]).tolist() == [
        [float(np.float32(value)) for value in json.loads(line)["embedding"]] for line in lines
    ]


def test_closed(folders, finder):
    with attune.SentenceTransformer(folders / "finder", progress=False) as encoder:
        encoder.encode("a")
    with pytest.raises(attune.InvalidArgumentError, match="closed"):
        encoder.encode("a")


def test_refused_arguments_of_encoders(finder):
    from attune.sentence_transformer import UNSUPPORTED

    page = (ROOT / "docs/python.md").read_text()
    for name in UNSUPPORTED:
        with pytest.raises(attune.InvalidArgumentError, match=f"'{name}' is not supported"):
            attune.SentenceTransformer(finder.model.path, **{name: "x"})
        assert f"`{name}`" in page, name
    attune.SentenceTransformer(finder.model.path, trust_remote_code=False, revision=None, progress=False)
    refused = {"pool": {}, "chunk_size": 4, "task": "query", "output_value": "token_embeddings", "device": "cuda", "x": 1}
    for name, value in refused.items():
        with pytest.raises(attune.InvalidArgumentError, match=name):
            finder.encode("a", **{name: value})
    with pytest.raises(attune.InvalidArgumentError, match="expected a model that can classify texts"):
        attune.pipeline("text-classification", finder.model)("a")


def test_tensors(finder):
    torch = pytest.importorskip("torch")
    vectors = finder.encode(TEXTS)
    tensor = finder.encode(TEXTS, convert_to_tensor=True)
    assert isinstance(tensor, torch.Tensor) and tensor.numpy().tobytes() == vectors.tobytes()
    rows = finder.encode(TEXTS, convert_to_numpy=False)
    assert isinstance(rows, list) and torch.equal(torch.stack(rows), tensor)
    assert isinstance(finder.similarity(tensor, tensor), torch.Tensor)


# --- Pipelines ---


def test_forms_of_text_classification(case):
    made = case("classify_bert")
    pipe = attune.pipeline("sentiment-analysis", made.object)
    texts = made.calls[0]["texts"][:3]
    labels = [one["labels"] for one in made.command(made.calls[0])]
    best = pipe(texts)
    assert [list(one) for one in best] == [["label", "score"]] * 3
    assert [one["label"] for one in best] == [one[0]["label"] for one in labels[:3]]
    assert pipe(texts[0]) == [best[0]]
    assert [one["label"] for one in pipe(texts[0], top_k=2)] == [one["label"] for one in labels[0][:2]]
    assert pipe([texts[0]], top_k=1) == [[best[0]]]
    assert pipe({"text": texts[0]}) == best[0]
    assert pipe([[texts[:2]]]) == pipe([{"text": texts[0], "text_pair": texts[1]}]) != [best[0]]
    assert list(pipe(text for text in texts)) == [[one] for one in best]
    assert attune.pipeline("text-classification", made.object, top_k=None, progress=False)(texts[0]) == pipe(
        texts[0], top_k=None
    )
    logits = pipe(texts, top_k=None, function_to_apply="none")
    softmax = pipe(texts, top_k=None, function_to_apply="softmax")
    for row, scores in zip(logits, softmax):
        values = np.exp([one["score"] for one in row])
        assert np.allclose(values / values.sum(), [one["score"] for one in scores], atol=1e-6)
    assert pipe(texts, batch_size=1) == best
    assert attune.pipeline(model=made.object).task == "text-classification"


def test_long_texts_warn(case):
    pipe = attune.pipeline("text-classification", case("classify_bert").object)
    long = "the quick brown fox " * 100
    with pytest.warns(attune.TextsCutWarning, match="1 text was cut") as warned:
        cut = pipe(long)
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pipe(long, truncation=True) == cut != pipe(long, truncation=True, max_length=8)
    tagger = attune.pipeline("ner", case("tokens_bert").object)
    with pytest.warns(attune.TextsCutWarning, match="1 text was cut") as warned:
        tagger([long])
    assert warned[0].filename == __file__
    fill = attune.pipeline("fill-mask", case("fill_bert").object)
    for targets in (None, "the"):
        with pytest.warns(attune.TextsCutWarning, match="1 text was cut") as warned:
            fill("[MASK] " + long, targets=targets)
        assert warned[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fill("[MASK] " + long, targets=targets, tokenizer_kwargs={"truncation": True})


def test_forms_of_token_classification(case):
    made = case("tokens_bert")
    pipe = attune.pipeline("ner", made.object)
    assert attune.pipeline(model=made.object).task == "token-classification"
    text = made.calls[0]["texts"][4]
    spans = pipe(text)
    assert list(spans[0]) == ["entity", "score", "index", "word", "start", "end"] and pipe([text]) == [spans]
    assert all(one["entity"] != "O" for one in spans)
    everything = pipe(text, ignore_labels=[])
    assert len(everything) == len(pipe.tokenizer.encode(text, add_special_tokens=False))
    some = pipe(text, ignore_labels=[spans[0]["entity"]])
    assert some == [one for one in everything if one["entity"] != spans[0]["entity"]]
    grouped = pipe(text, aggregation_strategy="simple")
    assert list(grouped[0]) == ["entity_group", "score", "word", "start", "end"]


def test_forms_of_fill_mask(case):
    made = case("fill_bert")
    pipe = attune.pipeline("fill-mask", made.object)
    assert attune.pipeline(model=made.object).task == "fill-mask"
    one, two = made.calls[0]["texts"]
    found = pipe(one)
    assert len(found) == 5 and list(found[0]) == ["score", "token", "token_str", "sequence"]
    assert pipe([one]) == found and pipe([one, one]) == [found, found]
    assert [len(row) for row in pipe(two, top_k=2)] == [2, 2]
    everything = pipe(one, top_k=300)
    assert len(everything) == 300 and abs(sum(item["score"] for item in everything) - 1) < 1e-5
    words = [everything[3]["token_str"], everything[200]["token_str"], everything[100]["token_str"]]
    chosen = pipe(one, targets=words)
    by_token = {item["token"]: item for item in everything}
    assert [item["score"] for item in chosen] == sorted((item["score"] for item in chosen), reverse=True)
    for item in chosen:
        same = by_token[item["token"]]
        assert abs(item["score"] - same["score"]) < 1e-6
        assert {**item, "score": 0} == {**same, "score": 0}
    assert len(pipe(one, targets=words, top_k=1)) == 1
    with pytest.warns(UserWarning, match="is no token") as warned:
        pipe(one, targets="quickest brown")
    assert warned[0].filename == __file__
    with pytest.raises(attune.InvalidArgumentError, match=r"\[MASK\]"):
        pipe("no mask")


def test_forms_of_question_answering(case):
    made = case("answer_bert")
    pipe = attune.pipeline("question-answering", made.object)
    assert attune.pipeline(model=made.object).task == "question-answering"
    call = made.calls[0]
    pair = {"question": call["question"], "context": call["context"]}
    one = pipe(**pair)
    assert list(one) == ["score", "start", "end", "answer"] and pair["context"][one["start"] : one["end"]] == one["answer"]
    assert pipe(pair) == one and pipe([pair, pair]) == [one, one]
    assert pipe(question=[pair["question"]] * 2, context=pair["context"]) == [one, one]
    assert pipe(pair, top_k=2)[0] == one and pipe(pair, batch_size=1) == one
    with pytest.raises(attune.InvalidArgumentError, match="both forms"):
        pipe(pair, question="who?")


def test_forms_of_feature_extraction(plain):
    pipe = attune.pipeline("feature-extraction", plain)
    array = pipe("the fox", return_tensors=True)
    ids = pipe.tokenizer("the fox")["input_ids"]
    assert array.shape == (1, len(ids), 64) and pipe("the fox") == array.tolist()
    assert [one.shape[0] for one in pipe(["the fox", "a"], return_tensors=True)] == [1, 1]
    states = pipe.model(input_ids=[ids]).last_hidden_state
    assert states.tobytes() == array.tobytes()
    long = "the quick brown fox " * 100
    with pytest.raises(attune.LimitExceededError):
        pipe(long)
    assert pipe(long, truncation=True, return_tensors=True).shape[1] == pipe.tokenizer.model_max_length
    assert pipe("the fox", truncation=True, tokenize_kwargs={"max_length": 3}, return_tensors=True).shape[1] == 3


def test_feature_extraction_refuses_heads(case):
    with pytest.raises(attune.InvalidArgumentError, match="'BertForMaskedLM' has logits: take a folder"):
        attune.pipeline("feature-extraction", case("fill_bert").object)


def test_forms_of_text_generation(chat):
    pipe = attune.pipeline("text-generation", chat.path, progress=False, max_new_tokens=5)
    text = chat.model.generate("The quick", max_new_tokens=5)
    assert pipe("The quick") == [{"generated_text": "The quick" + text}]
    assert pipe("The quick", return_full_text=False) == [{"generated_text": text}]
    assert pipe(["The quick", "A dog"])[0] == [{"generated_text": "The quick" + text}]
    assert len(pipe("The quick", num_beams=3, num_return_sequences=2)) == 2
    [tokens] = pipe("The quick", return_tensors=True)
    prompt = pipe.tokenizer.encode("The quick").ids
    assert tokens["generated_token_ids"][: len(prompt)] == prompt and len(tokens["generated_token_ids"]) <= len(prompt) + 5
    messages = [{"role": "user", "content": "Hi"}]
    [reply] = pipe(messages)
    assert reply["generated_text"][:1] == messages and reply["generated_text"][1]["role"] == "assistant"
    rendered = pipe.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    expected = chat.model.generate(rendered, max_new_tokens=5, add_special_tokens=False)
    assert reply["generated_text"][1]["content"] == expected
    assert pipe([messages, messages]) == [[reply], [reply]]
    begun = [*messages, {"role": "assistant", "content": "Hello"}]
    [more] = pipe(begun)
    assert len(more["generated_text"]) == 2 and more["generated_text"][1]["content"].startswith("Hello")
    rendered = pipe.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True) + "Hello"
    expected = "Hello" + chat.model.generate(rendered, max_new_tokens=5, add_special_tokens=False)
    assert more["generated_text"][1]["content"] == expected
    stop = next(letter for letter in text if letter.isprintable() and letter != "\ufffd")
    for given in (stop, [stop, "never"]):
        [stopped] = pipe("The quick", stop_sequence=given, return_full_text=False)
        # The last token may have more than the stop string.
        assert stopped["generated_text"].startswith(text[: text.index(stop) + 1])
        assert len(stopped["generated_text"]) <= text.index(stop) + 2


def test_refused_arguments_of_pipelines(plain, case):
    from attune import pipelines

    page = (ROOT / "docs/python.md").read_text()
    for name in pipelines.UNSUPPORTED:
        with pytest.raises(attune.InvalidArgumentError, match=f"'{name}' is not supported"):
            attune.pipeline("feature-extraction", plain, **{name: "x"})
        assert f"`{name}`" in page, name
    for made in pipelines._PIPELINES.values():
        for name in made._refused:
            assert f"`{name}`" in page, name
    for arguments, message in (
        ({"task": "summarization"}, "expected a task of"),
        ({"task": 3}, "expected a task of"),
        ({"task": "fill-mask", "model": plain}, "fill masks"),
        ({"task": "feature-extraction", "model": plain, "device": "cuda"}, "device: expected 'cpu'"),
        ({"task": "feature-extraction", "model": plain, "colour": 1}, "unknown argument 'colour'"),
        ({"task": "feature-extraction", "model": None}, "expected a model"),
    ):
        with pytest.raises(attune.InvalidArgumentError, match=message):
            attune.pipeline(**{"model": plain, **arguments})
    tagger = attune.pipeline("ner", case("tokens_bert").object)
    with pytest.raises(attune.InvalidArgumentError, match="'stride' is not supported"):
        tagger("a", stride=4)
