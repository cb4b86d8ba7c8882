# ===- test_misuse.py - Wrong arguments never crash ------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random arguments give a result, an exception of the package or MemoryError, never another one and never a crash."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import attune

UNICODE = st.text(alphabet=st.characters(), max_size=30)
RELAXED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

arrays = st.one_of(
    hnp.arrays(
        st.sampled_from(
            ["i8", "i4", "i2", "i1", "u8", "f4", "f8", "f2", "?", "c8", "S3", "U2", ">i8", "M8[s]", [("a", "i4")]]
        ),
        hnp.array_shapes(min_dims=0, max_dims=10, min_side=0, max_side=3),
    ),
    hnp.arrays("i8", hnp.array_shapes(min_dims=1, max_dims=3, max_side=5), elements=st.integers(-5, 40000)),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.complex_numbers(),
)
anything = st.one_of(
    scalars,
    arrays,
    st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    st.sampled_from(
        [object(), print, int, np.int64(3), np.float32(2), memoryview(b"abcdefgh"), range(3), {1, 2}, bytearray(8)]
    ),
)


def allowed(call):
    """Calls; lets errors of the package and MemoryError pass."""
    try:
        return call()
    except attune.Error as error:
        assert "\n" not in str(error) and str(error)
    except MemoryError:
        pass


@RELAXED
@given(value=anything, mask=anything)
def test_inputs(bert, value, mask):
    allowed(lambda: bert.model(input_ids=value, attention_mask=mask))


@RELAXED
@given(
    names=st.dictionaries(
        st.one_of(st.text(max_size=12), st.sampled_from(["input_ids", "pooler_output", "last_hidden_state"])),
        anything,
        max_size=3,
    )
)
def test_names(bert, names):
    allowed(lambda: bert.model._pool.run(None, names, None, {}))
    allowed(lambda: bert.model([[101]], out=names))
    allowed(lambda: bert.model([[101]], out=names or 3))


@RELAXED
@given(entry=anything, limit=anything, slots=anything, length=anything)
def test_sessions(chat, entry, limit, slots, length):
    allowed(lambda: chat.model([[5]], entry=entry))
    if not (isinstance(limit, int) and limit > 4096):
        allowed(lambda: chat.model.session(threads=1, batch=limit, length=4, past=4))
    session = chat.model.session(threads=1, batch=1, length=4, past=4)
    allowed(lambda: session.run("prefill", input_ids=[[5]], slots=slots))
    allowed(lambda: session.slot_length(slots))
    allowed(lambda: session.truncate_slot(slots, length))
    allowed(lambda: session.copy_slot(slots, length))
    if isinstance(slots, list):
        allowed(lambda: session.read_cache("past_key_values.0.0", slots, length))
        allowed(lambda: session.write_cache({"past_key_values.0.0": entry}, slots))


@RELAXED
@given(
    value=anything,
    other=anything,
    name=st.sampled_from(
        [
            "max_new_tokens",
            "temperature",
            "eos_token_id",
            "bad_words_ids",
            "stop_strings",
            "seed",
            "num_beams",
            "early_stopping",
            "do_sample",
            "anything",
            "max_length",
        ]
    ),
)
def test_settings(chat, value, other, name):
    cap = {} if name == "max_new_tokens" else {"max_new_tokens": 2}
    if name in ("max_new_tokens", "num_beams", "max_length") and isinstance(value, int) and not isinstance(value, bool):
        value = min(value, 3)
    allowed(lambda: chat.model.generate([5], **{name: value}, **cap))
    allowed(lambda: chat.model.generate("The", **{name: value}, **cap))
    allowed(lambda: chat.model.generate(other, max_new_tokens=1))


@RELAXED
@given(
    text=st.one_of(anything, st.text(alphabet=st.characters(), max_size=30)),
    option=anything,
    name=st.sampled_from(
        [
            "padding",
            "truncation",
            "max_length",
            "stride",
            "return_tensors",
            "text_pair",
            "pad_to_multiple_of",
            "padding_side",
        ]
    ),
)
def test_tokenizer(chat, text, option, name):
    tokenizer = chat.model.tokenizer
    if name in ("max_length", "pad_to_multiple_of") and isinstance(option, int):
        option = min(option, 100)
    if not (isinstance(option, str) and option == "pt"):
        allowed(lambda: tokenizer(text, **{name: option}))
        allowed(lambda: tokenizer(["a", "b"], **{name: option}))
    allowed(lambda: tokenizer.encode(text))
    allowed(lambda: tokenizer.decode(text))
    allowed(lambda: tokenizer.token_to_id(text))
    allowed(lambda: tokenizer.id_to_token(text))
    allowed(lambda: tokenizer.apply_chat_template(text, tokenize=False))
    allowed(lambda: tokenizer.apply_chat_template([{"role": "user", "content": text}], tokenize=False))


@RELAXED
@given(value=anything)
def test_constructors(chat, value):
    if isinstance(value, (str, bytes)) or hasattr(value, "__fspath__"):
        with pytest.raises((attune.Error, TypeError)):
            attune.Model(value)
    allowed(
        lambda: attune.Model(chat.object, weights="x", verify=value if not isinstance(value, np.ndarray) else False)
    )
    allowed(lambda: attune.Model(chat.object, threads=value))
    allowed(lambda: attune.Model(chat.object, gpu=value))
    if isinstance(value, (str, type(None))):
        allowed(lambda: chat.model.chat(system=value, max_new_tokens=1, context=64).send(value))


@RELAXED
@given(
    value=anything,
    text=st.one_of(UNICODE, st.lists(UNICODE, max_size=4), anything),
    name=st.sampled_from(
        [
            "prompt_name",
            "prompt",
            "batch_size",
            "show_progress_bar",
            "output_value",
            "precision",
            "device",
            "normalize_embeddings",
            "truncate_dim",
            "pool",
            "inputs",
            "anything",
        ]
    ),
)
def test_encoders(finder, value, text, name):
    if not (name == "batch_size" and isinstance(value, int)):
        allowed(lambda: finder.encode(text, **{name: value}))
    allowed(lambda: finder.encode(text, convert_to_numpy=True if value is None or value is False else value))
    allowed(lambda: finder.encode_query(text, prompt_name=value))
    allowed(lambda: finder.tokenize(text))
    allowed(lambda: finder.similarity(value, text))
    allowed(lambda: finder.similarity_pairwise(value, value))
    allowed(lambda: attune.quantize_embeddings(value, "int8"))
    allowed(lambda: setattr(finder, "similarity_fn_name", value))
    allowed(lambda: setattr(finder, "max_seq_length", value))
    finder.similarity_fn_name = finder.max_seq_length = None
    allowed(lambda: attune.SentenceTransformer(finder.model, prompts=value))
    allowed(lambda: attune.SentenceTransformer(finder.model, default_prompt_name=value))
    allowed(lambda: attune.SentenceTransformer(finder.model, truncate_dim=value))
    allowed(lambda: attune.SentenceTransformer(finder.model, **{name: value}))


@RELAXED
@given(
    first=st.integers(-(2**70), 2**70),
    second=st.integers(-(2**70), 2**70),
    texts=st.one_of(anything, st.lists(UNICODE, max_size=3)),
    value=anything,
)
def test_tasks_of_the_module(finder, first, second, texts, value):
    """The compiled module is called as no part of the package does."""
    from attune import _attune

    def lenient(call):
        try:
            allowed(call)
        except (TypeError, OverflowError):  # of nanobind
            pass

    task = finder._task
    for name in ("classify", "classify_tokens"):
        lenient(lambda: getattr(task, name)(texts, first, second, 5))
    lenient(lambda: task.embed(texts, min(first, 64), min(second, 4096), value, None, True, None))
    lenient(lambda: task.embed(texts, 1, 0, None, value, False, None))
    lenient(lambda: task.fill(texts, first, second))
    lenient(lambda: task.answer(texts, {"top_k": first, "stride": second}))
    lenient(lambda: task.answer(["a"], {"x": value}))
    lenient(lambda: _attune.TextTask(finder.model._compiled, finder.tokenizer._handle, first, 1))


@pytest.fixture(scope="session")
def pipes(folders):
    """A pipeline of each task that has a head, on models with random weights."""
    import json

    from conftest import init_headed

    labels = json.dumps({"id2label": {"0": "O", "1": "B-LOC", "2": "I-LOC"}})[1:-1]
    heads = {
        "text-classification": "BertForSequenceClassification",
        "token-classification": "BertForTokenClassification",
        "fill-mask": "BertForMaskedLM",
        "question-answering": "BertForQuestionAnswering",
    }
    return {
        task: attune.pipeline(task, init_headed(folders, head, task, labels), threads=1, progress=False)
        for task, head in heads.items()
    }


@RELAXED
@given(
    value=anything,
    text=st.one_of(UNICODE, st.lists(UNICODE, max_size=3), anything, st.just("the [MASK] fox")),
    task=st.sampled_from(["text-classification", "token-classification", "fill-mask", "question-answering"]),
    data=st.data(),
)
@pytest.mark.filterwarnings("ignore")
def test_pipelines(pipes, value, text, task, data):
    pipe = pipes[task]
    name = data.draw(st.sampled_from([*pipe._names, *pipe._refused, "batch_size", "anything"]))

    def run(*inputs, **arguments):
        found = pipe(*inputs, **arguments)
        return list(found) if hasattr(found, "__next__") else found

    allowed(lambda: run(text))
    if not (name == "batch_size" and isinstance(value, int)):
        allowed(lambda: run(text, **{name: value}))
        allowed(lambda: run("the [MASK] fox", **{name: value}))
    if task == "question-answering":
        allowed(lambda: run(question=text, context=value))
        allowed(lambda: run({"question": "who?", "context": text}, **{name: value}))
    allowed(lambda: attune.pipeline(task, pipe.model, **{name: value}))
    allowed(lambda: attune.pipeline(task, pipe.model, dtype=value))
    allowed(lambda: attune.pipeline(task, pipe.model, device=value))
    allowed(lambda: attune.pipeline(value, pipe.model))


@RELAXED
@given(
    value=anything,
    name=st.sampled_from(
        [
            "return_full_text",
            "return_text",
            "return_tensors",
            "prefix",
            "stop_sequence",
            "continue_final_message",
            "tools",
            "documents",
            "add_special_tokens",
            "truncation",
            "generation_config",
            "max_time",
            "streamer",
            "tokenizer",
            "anything",
        ]
    ),
)
def test_text_generation(chat, value, name):
    pipe = attune.pipeline("text-generation", chat.model, max_new_tokens=1)
    allowed(lambda: pipe("The", **{name: value}))
    allowed(lambda: pipe([{"role": "user", "content": value}], **{name: value}))
    allowed(lambda: pipe([{"role": "assistant", "content": "a"}], **{name: value}))
    allowed(lambda: pipe(value))
    allowed(lambda: chat.model.generate([5], max_new_tokens=1, **{name: value}))
