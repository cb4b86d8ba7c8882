# ===- test_text.py - Tokenizers, generation, conversations ----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

import asyncio
import gc
import json
import threading
import time

import numpy as np
import pytest

import attune
from conftest import run_attune

TEXTS = ["the dog", "A fox, über alles 👍!", "", "  two  spaces\n", "e\u0301"]


def test_tokenizer_equals_command_line(chat):
    tokenizer = attune.Tokenizer(chat.path)
    assert tokenizer.vocab_size == chat.model.tokenizer.vocab_size
    for text in TEXTS:
        expected = json.loads(run_attune("tokenize", chat.path, "--json", "--", text))
        for one in (tokenizer, chat.model.tokenizer):
            encoding = one.encode(text)
            assert encoding.ids == expected["ids"] and encoding.tokens == expected["tokens"]
            assert [list(pair) for pair in encoding.offsets] == expected["offsets"]
        assert (
            tokenizer.decode(encoding.ids, skip_special_tokens=False) + "\n"
            == run_attune("tokenize", chat.path, "--decode", "-", input=" ".join(map(str, encoding.ids)) or "\n")
            or not encoding.ids
        )
    assert [one.ids for one in tokenizer.encode_batch(TEXTS)] == [tokenizer.encode(text).ids for text in TEXTS]


def test_batches_and_windows(chat):
    tokenizer = chat.model.tokenizer
    arrays = tokenizer(["the quick brown fox", "dog"], padding=True, return_tensors="np")
    assert arrays.input_ids.shape == arrays.attention_mask.shape and arrays.input_ids.dtype == np.int64
    assert arrays.attention_mask[0].all() and not arrays.attention_mask[1].all()
    lists = tokenizer(["the quick brown fox", "dog"], padding=True)
    assert lists["input_ids"] == arrays.input_ids.tolist()
    assert tokenizer("dog")["input_ids"] == tokenizer.encode("dog").ids
    with pytest.raises(attune.InvalidArgumentError, match="different numbers of tokens.*padding=True"):
        tokenizer(["the quick brown fox", "dog"], return_tensors="np")
    assert tokenizer("dog", padding="max_length", max_length=16, return_tensors="np").input_ids.shape == (1, 16)

    long = "the quick brown fox jumps over the lazy dog"
    whole = tokenizer.encode(long)
    cut = tokenizer.encode(long, max_length=8, stride=2)
    assert cut.ids == whole.ids[:8] and len(cut.overflowing) > 1
    windows = tokenizer(
        [long], truncation=True, max_length=8, stride=2, return_overflowing_tokens=True, return_offsets_mapping=True
    )
    assert windows["input_ids"] == [cut.ids, *(one.ids for one in cut.overflowing)]
    assert set(windows["overflow_to_sample_mapping"]) == {0} and len(windows["offset_mapping"][0]) == 8
    with pytest.raises(attune.InvalidArgumentError, match="expected max_length"):
        attune.Tokenizer(chat.path)("a", truncation=True)
    assert len(tokenizer("dog " * 2000, truncation=True)["input_ids"]) == 512
    pair = tokenizer.encode("the dog", "a fox")
    assert {0, 1} <= set(pair.sequence_ids)


def test_vocabulary(chat):
    tokenizer = chat.model.tokenizer
    id = tokenizer.token_to_id("<|im_end|>")
    assert tokenizer.id_to_token(id) == "<|im_end|>" and tokenizer.is_special(id)
    assert tokenizer.token_to_id("no such token") is None and tokenizer.id_to_token(10**6) is None
    stream = tokenizer.decode_stream()
    ids = tokenizer.encode("über 👍").ids
    assert "".join(map(stream.push, ids)) + stream.finish() == tokenizer.decode(ids)


def test_chat_template(chat):
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi 👍"}]
    text = chat.model.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert text == "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHi 👍<|im_end|>\n<|im_start|>assistant\n"
    ids = chat.model.tokenizer.apply_chat_template(messages, add_generation_prompt=True)
    assert ids == chat.model.tokenizer.encode(text, add_special_tokens=False).ids
    for wrong in ({"messages": 1}, [1], [{"role": object()}], [], "text"):
        with pytest.raises(attune.InvalidArgumentError):
            chat.model.tokenizer.apply_chat_template(wrong)
    with pytest.raises(attune.InvalidArgumentError, match="'continue_final_message' is not supported"):
        chat.model.tokenizer.apply_chat_template(messages, continue_final_message=True)
    with pytest.raises(attune.NotFoundError):
        chat.model.tokenizer.apply_chat_template(messages, chat_template="other")


SETTINGS = [
    {},
    {"do_sample": True, "seed": 7, "temperature": 0.8, "top_p": 0.9},
    {"num_beams": 3, "num_return_sequences": 2},
    {"repetition_penalty": 1.2},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_texts_equal_command_line(chat, settings):
    flags = [f"--set={name}={json.dumps(value)}" for name, value in settings.items()]
    printed = run_attune(
        "generate", chat.object, "--prompt=The quick", "--json", "--max-new-tokens=12", *flags
    ).splitlines()
    found = chat.model.generate("The quick", max_new_tokens=12, return_dict_in_generate=True, **settings)
    assert [(one.ids, one.text, one.finish) for one in found] == [
        (one["ids"], one["text"], one["finish"]) for one in map(json.loads, printed)
    ]
    plain = chat.model.generate("The quick", max_new_tokens=12, **settings)
    assert plain == (found[0].text if len(found) == 1 else [one.text for one in found])


def test_translation_equals_command_line(translate):
    sources = ["the quick brown fox", "over the lazy dog"]
    printed = [
        run_attune("generate", translate.object, f"--prompt={source}", "--max-new-tokens=9") for source in sources
    ]
    assert [text + "\n" for text in translate.model.generate(sources, max_new_tokens=9)] == printed


def test_ids(chat):
    ids = np.array([[5, 6, 7]])
    found = chat.model.generate(ids, max_new_tokens=6)
    assert found.shape == (1, 9) and found[0, :3].tolist() == [5, 6, 7]
    printed = run_attune("generate", chat.object, "--ids=5,6,7", "--max-new-tokens=6", "--print")
    assert all(str(id) in printed for id in found[0])
    assert chat.model.generate([5, 6, 7], max_new_tokens=6).tolist() == found.tolist()
    output = chat.model.generate(input_ids=ids, max_new_tokens=6, return_dict_in_generate=True, output_logits=True)
    assert output.logits.shape == (1, 6, 402) and output.logits[0].argmax(-1).tolist() == found[0, 3:].tolist()
    beams = chat.model.generate(ids, max_new_tokens=6, num_beams=2, return_dict_in_generate=True)
    assert beams.sequences_scores.shape == (1,) and beams.logits is None

    with chat.model.session(batch=1, length=16, past=32) as session:
        first = session.generate(ids, max_new_tokens=4)
        longer = np.concatenate([first, [[8, 9]]], axis=1)
        again = session.generate(longer, max_new_tokens=4, reuse_cache=True, return_dict_in_generate=True)
        assert again.sequences.tolist() == chat.model.generate(longer, max_new_tokens=4).tolist()
    padded = np.array([[0, 0, 5], [5, 6, 7]])
    mask = np.array([[0, 0, 1], [1, 1, 1]])
    both = chat.model.generate(padded, attention_mask=mask, max_new_tokens=5)
    assert both[1].tolist() == chat.model.generate([5, 6, 7], max_new_tokens=5)[0].tolist()
    assert both[0, 2:].tolist() == chat.model.generate([5], max_new_tokens=5)[0].tolist()


def test_callbacks(chat):
    tokens = []
    chat.model.generate(
        [5, 6, 7], max_new_tokens=8, on_token=lambda row, token, length: tokens.append((row, token, length))
    )
    assert [length for _, _, length in tokens] == list(range(4, 12))
    assert chat.model.generate([5, 6, 7], max_new_tokens=8, on_token=lambda *_: False).shape == (1, 4)
    pieces = []
    text = chat.model.generate("The", max_new_tokens=8, on_text=lambda row, piece: pieces.append(piece))
    assert "".join(pieces) == text

    class Oops(Exception):
        pass

    def fails(*_):
        raise Oops

    for arguments in ({"on_token": fails}, {"on_text": fails}):
        with pytest.raises(Oops):
            chat.model.generate("The", max_new_tokens=8, **arguments)


def test_streams(chat):
    text = chat.model.generate("The quick", max_new_tokens=16)
    stream = chat.model.stream("The quick", max_new_tokens=16)
    pieces = list(stream)
    assert len(pieces) > 1 and "".join(pieces) == text == stream.result
    ids = chat.model.generate([5, 6], max_new_tokens=8)
    assert list(chat.model.stream([5, 6], max_new_tokens=8)) == ids[0, 2:].tolist()
    with pytest.raises(attune.InvalidArgumentError, match="unknown setting 'nonsense'"):
        list(chat.model.stream("The", nonsense=1))
    with pytest.raises(attune.InvalidArgumentError, match="expected ids of one row"):
        list(chat.model.stream([[5], [6]], max_new_tokens=4))

    # A stream that nobody reads to its end leaves no thread behind.
    stream = chat.model.stream("The", max_new_tokens=500)
    next(stream)
    stream.close()
    other = chat.model.stream("The", max_new_tokens=500)
    next(other)
    del other
    gc.collect()
    end = time.monotonic() + 20
    while any(thread.name == "attune-stream" for thread in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert list(stream) == []


def test_async(chat):
    expected = chat.model.generate("The quick", max_new_tokens=16)

    async def collect():
        return "".join([piece async for piece in chat.model.stream("The quick", max_new_tokens=16)])

    async def several():
        return await asyncio.gather(collect(), collect(), chat.model.generate_async("The quick", max_new_tokens=16))

    assert asyncio.run(several()) == [expected] * 3

    async def cancelled():
        seen = []
        task = asyncio.create_task(
            chat.model.generate_async("The", max_new_tokens=500, on_token=lambda *token: seen.append(token))
        )
        while not seen:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return seen

    assert len(asyncio.run(cancelled())) < 500


def test_conversation(chat):
    printed = run_attune(
        "chat", chat.object, "--system=You are kind.", "--max-new-tokens=12", "--json", input="Hello!\nAnd now?\n"
    )
    expected = [json.loads(line) for line in printed.splitlines()]
    talk = chat.model.chat(system="You are kind.", max_new_tokens=12)
    first = talk.send("Hello!")
    stream = talk.stream("And now?")
    second = "".join(stream)
    assert [first.text, second] == [one["content"] for one in expected]
    assert str(first) == first.text and stream.result.text == second
    assert stream.result.reused_tokens > 0
    talk.reset()
    assert talk.send("Hello!").text == first.text
    with pytest.raises(attune.InvalidArgumentError, match="message: expected a text, got int"):
        talk.send(5)
    with pytest.raises(attune.LimitExceededError):
        chat.model.chat(context=64).send("long " * 500)


def test_unsupported_arguments_are_refused_by_name(chat):
    from attune.generation import UNSUPPORTED

    for name in UNSUPPORTED:
        with pytest.raises(attune.InvalidArgumentError, match=f"'{name}' is not supported"):
            chat.model.generate([5], **{name: [1]})
        with pytest.raises(attune.InvalidArgumentError, match=f"'{name}' is not supported"):
            chat.model.generate([5], **{name: np.zeros((1, 4))})
        for nothing in (None, False, []):
            chat.model.generate([5], max_new_tokens=1, **{name: nothing})
    for name, value in (("guidance_scale", 2.0), ("penalty_alpha", 0.5), ("sequence_bias", [1])):
        with pytest.raises(attune.InvalidArgumentError, match=name):
            chat.model.generate([5], **{name: value})
    for name, value in (
        ("max_new_tokens", "many"),
        ("temperature", [1]),
        ("num_beams", 0),
        ("top_k", -1),
        ("do_sample", 3),
        ("eos_token_id", "x"),
        ("max_new_tokens", object()),
        ("seed", 2**70),
        ("temperature", float("nan")),
    ):
        with pytest.raises(attune.InvalidArgumentError):
            chat.model.generate([5], **{name: value})
    assert chat.model.generate([5], max_new_tokens=np.int64(3), eos_token_id=np.array([401])).shape[1] <= 4


def test_arguments_of_transformers(chat):
    """Each setting of GenerationConfig of transformers 5.23 is taken, or refused by its name."""
    names = """assistant_confidence_threshold assistant_early_exit assistant_lookbehind bad_words_ids begin_suppress_tokens
    bos_token_id cache_config cache_implementation compile_config constraints decoder_start_token_id disable_compile
    diversity_penalty do_sample dola_layers early_stopping encoder_no_repeat_ngram_size encoder_repetition_penalty eos_token_id
    epsilon_cutoff eta_cutoff exponential_decay_length_penalty force_words_ids forced_bos_token_id forced_eos_token_id
    guidance_scale is_assistant length_penalty low_memory max_length max_matching_ngram_size max_new_tokens max_time min_length
    min_new_tokens min_p no_repeat_ngram_size num_assistant_tokens num_assistant_tokens_schedule num_beam_groups num_beams
    num_return_sequences output_attentions output_hidden_states output_logits output_scores pad_token_id penalty_alpha
    prefill_chunk_size prompt_lookup_num_tokens remove_invalid_values renormalize_logits repetition_penalty
    return_dict_in_generate sequence_bias stop_strings suppress_tokens target_lookbehind temperature token_healing top_h top_k
    top_p typical_p use_cache watermarking_config logits_processor stopping_criteria prefix_allowed_tokens_fn synced_gpus
    assistant_model negative_prompt_ids negative_prompt_attention_mask custom_generate""".split()
    lists = {"bad_words_ids": [[3]], "begin_suppress_tokens": [3], "suppress_tokens": [3], "stop_strings": ["a"]}
    taken = 0
    for name in names:
        value = lists.get(name, 1)
        if name in ("do_sample", "early_stopping", "output_logits", "renormalize_logits", "return_dict_in_generate", "use_cache"):
            value = True
        try:
            chat.model.generate([[5, 6]], **{"max_new_tokens": 2, name: value})
            taken += 1
        except attune.InvalidArgumentError as error:
            assert name in str(error), (name, str(error))
    assert taken >= 30


def test_generation_config_streamer_and_time(chat):
    model = chat.model
    expected = model.generate([[5, 6]], max_new_tokens=4)
    assert model.generate([[5, 6]], generation_config={"max_new_tokens": 4}).tolist() == expected.tolist()

    class Config:
        def to_diff_dict(self):
            return {"max_new_tokens": 9, "transformers_version": "5", "_from_model_config": True, "top_k": None}

    assert model.generate([[5, 6]], generation_config=Config(), max_new_tokens=4).tolist() == expected.tolist()

    class Streamer:
        def __init__(self):
            self.arrays, self.ended = [], 0

        def put(self, array):
            self.arrays.append(array)

        def end(self):
            self.ended += 1

    streamer = Streamer()
    model.generate([[5, 6]], max_new_tokens=4, streamer=streamer)
    assert streamer.arrays[0].tolist() == [[5, 6]] and streamer.ended == 1
    assert [array.tolist() for array in streamer.arrays[1:]] == [[token] for token in expected[0, 2:].tolist()]
    streamer = Streamer()
    text = model.generate("The", max_new_tokens=4, streamer=streamer, tokenizer=model.tokenizer)
    ids = [token for array in streamer.arrays[1:] for token in array.tolist()]
    assert model.tokenizer.decode(ids) == text
    with model.session(batch=1, length=8, past=8) as session:
        streamer = Streamer()
        session.generate([[5, 6]], generation_config={"max_new_tokens": 4}, streamer=streamer)
        assert len(streamer.arrays) == 5
    late = model.generate([[5, 6]], max_new_tokens=50, max_time=1e-9)
    assert late.shape == (1, 3)
    for arguments, message in (
        ({"streamer": 3}, "put and end"),
        ({"streamer": Streamer(), "num_beams": 2}, "without beams"),
        ({"streamer": Streamer(), "do_sample": True, "num_return_sequences": 2}, "one sequence"),
        ({"max_time": -1}, "seconds above 0"),
        ({"tokenizer": "a"}, "the model has its own"),
        ({"generation_config": 3}, "generation_config"),
    ):
        with pytest.raises(attune.InvalidArgumentError, match=message):
            model.generate([[5, 6]], **arguments)
