# ===- generation.py - Text generation -------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generation with the argument names of transformers. Settings that are not given are those of the model's files."""

from __future__ import annotations

import json
import queue
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from attune import _attune
from attune.errors import InvalidArgumentError, describe

if TYPE_CHECKING:
    import asyncio

    from attune.model import Model, Session

# Arguments of transformers' generate that this package lacks, and what takes their place.
UNSUPPORTED: dict[str, str] = {
    "logits_processor": "run the entries of a session and attune's settings instead",
    "stopping_criteria": "on_token=, a function that returns False, ends a generation",
    "prefix_allowed_tokens_fn": "constrained search is not implemented",
    "synced_gpus": "a model runs on one machine",
    "assistant_model": "assisted search is not implemented",
    "negative_prompt_ids": "guidance is not implemented",
    "negative_prompt_attention_mask": "guidance is not implemented",
    "custom_generate": "no code of others runs",
    "output_scores": "output_logits=True gives the logits before the rules",
    "output_attentions": "compile with outputs=['attentions'] and run the entry forward",
    "output_hidden_states": "compile with outputs=['hidden_states'] and run the entry forward",
    "past_key_values": "a session keeps them, see Session",
    "cache_implementation": "a session keeps keys and values itself",
    "inputs_embeds": "give input_ids",
}


class GeneratedText(NamedTuple):
    """A text of a result: `text` follows the prompt, `ids` are the new ids, an end id included, `score` is that of a
    hypothesis of a beam search, else 0, `finish` is "end", "stop", "length" or "callback", `input` the number of the prompt."""

    input: int
    text: str
    ids: list[int]
    score: float
    finish: str


class GenerationOutput(NamedTuple):
    """The result of a generation from ids: `sequences` int64 [rows, length], prompt or start token included; after its end a
    row holds pad_token_id. `sequences_scores` float32 [rows] with beams, else None. `logits` float32 [rows, steps, size of
    the vocabulary] with output_logits=True, else None. `reused_tokens`: tokens of the prompts that slots held before."""

    sequences: Any
    sequences_scores: Any
    logits: Any
    reused_tokens: int


class _Listener:
    """The arguments of transformers' generate that act on tokens as they come, as one function of (row, token, length): a
    limit of seconds, a streamer with `put` and `end`, and the caller's own function."""

    def __init__(self, on_token: Any, max_time: Any, streamer: Any, rows: int, settings: dict[str, Any]) -> None:
        self._function = _check_callback("on_token", on_token)
        self._seconds: float | None = None
        if max_time is not None:
            if isinstance(max_time, bool) or not isinstance(max_time, (int, float)) or not 0 < max_time < float("inf"):
                raise InvalidArgumentError(f"max_time: expected seconds above 0, got {describe(max_time)}")
            self._seconds = float(max_time)
        self._streamer = streamer
        if streamer is not None:
            if not callable(getattr(streamer, "put", None)) or not callable(getattr(streamer, "end", None)):
                raise InvalidArgumentError(
                    f"streamer: expected an object with the methods put and end, got {describe(streamer)}"
                )
            counts = [settings.get(name) for name in ("num_beams", "num_return_sequences")]
            if rows != 1 or any(isinstance(count, int) and count > 1 for count in counts):
                raise InvalidArgumentError("streamer: expected one prompt without beams and one sequence for it")
        self._end = float("inf")

    def begin(self, prompt: Callable[[], Any]) -> Callable[[int, int, int], bool | None] | None:
        """Starts max_time and passes the ids of |prompt| to the streamer; returns the function, None if there is nothing to do."""
        if self._seconds is None and self._streamer is None:
            return self._function  # type: ignore[no-any-return]
        if self._seconds is not None:
            self._end = time.monotonic() + self._seconds
        if self._streamer is not None:
            import numpy

            self._streamer.put(numpy.asarray(prompt(), dtype=numpy.int64).reshape(1, -1))
        return self._on_token

    def _on_token(self, row: int, token: int, length: int) -> bool | None:
        if self._streamer is not None:
            import numpy

            self._streamer.put(numpy.array([token], dtype=numpy.int64))
        goes_on = self._function is None or self._function(row, token, length) is not False
        return goes_on and time.monotonic() < self._end

    def finish(self) -> None:
        """Ends the streamer."""
        if self._streamer is not None:
            self._streamer.end()


def _merge_config(settings: dict[str, Any], config: Any) -> dict[str, Any]:
    """Returns the settings of |config|, a dictionary or an object with `to_diff_dict` or `to_dict`, overridden by |settings|."""
    if config is None:
        return settings
    for method in ("to_diff_dict", "to_dict"):
        if not isinstance(config, dict) and callable(getattr(config, method, None)):
            config = getattr(config, method)()
    if not isinstance(config, dict) or not all(isinstance(name, str) for name in config):
        raise InvalidArgumentError(f"generation_config: expected a dictionary of settings, got {describe(config)}")
    # Names that begin with an underscore, and the version, are no settings.
    given = {name: value for name, value in config.items() if value is not None and name[:1] != "_"}
    given.pop("transformers_version", None)
    return {**given, **settings}


def _check_tokenizer(model: Model, tokenizer: Any) -> None:
    """Fails unless |tokenizer|, which transformers needs for stop_strings, is None or that of |model|."""
    if tokenizer is not None and tokenizer is not model._tokenizer:
        raise InvalidArgumentError("generate: 'tokenizer' is not supported: the model has its own")


def _plain(value: Any) -> Any:
    """Returns numbers and arrays of NumPy and PyTorch as numbers and lists, for JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise InvalidArgumentError(f"a setting has a value of the class {type(value).__name__}")


def _is_given(value: Any) -> bool:
    """Returns False for the values of an argument that ask for nothing: None, False, zero and an empty text, list, tuple or
    dictionary. Arrays with dimensions have no truth value of their own, so they and other objects count as given."""
    if isinstance(value, (bool, int, float, str, list, tuple, dict)) or getattr(value, "ndim", None) == 0:
        return bool(value)
    return value is not None


def dump_settings(settings: dict[str, Any]) -> str:
    """Returns |settings| as JSON. Fails for those that are not supported, by name."""
    settings = dict(settings)
    for name, reason in UNSUPPORTED.items():
        if _is_given(settings.pop(name, None)):
            raise InvalidArgumentError(f"generate: '{name}' is not supported: {reason}")
    if settings.pop("use_cache", True) is False:
        raise InvalidArgumentError("generate: 'use_cache' is not supported: a session always keeps keys and values")
    try:
        return json.dumps(settings, default=_plain, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InvalidArgumentError):
            raise
        raise InvalidArgumentError(
            f"generate: a setting is neither a number, a text, a truth value nor a list of them: {describe(str(error))}"
        ) from None


def _is_text(inputs: Any) -> bool:
    return isinstance(inputs, str) or (
        isinstance(inputs, (list, tuple)) and len(inputs) > 0 and all(isinstance(one, str) for one in inputs)
    )


def _check_texts(texts: list[str]) -> list[str]:
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InvalidArgumentError("the text has characters that Unicode has no UTF-8 for (surrogates)") from None
    return texts


def _check_language(name: str, language: str | None) -> str:
    if language is not None and (not isinstance(language, str) or "\0" in language):
        raise InvalidArgumentError(f"{name}: expected the name of a language, got {describe(language)}")
    return _check_texts([language or ""])[0]


def _check_callback(name: str, function: Any) -> Any:
    if function is not None and not callable(function):
        raise InvalidArgumentError(f"{name}: expected a function, got {type(function).__name__}")
    return function


def _collect_inputs(inputs: Any, settings: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Returns the tensors among the arguments: |inputs|, ids or a dictionary of tensors, and those that entries name."""
    tensors: dict[str, Any] = {}
    if hasattr(inputs, "keys"):
        tensors.update({key: inputs[key] for key in inputs.keys()})
    elif inputs is not None:
        tensors["input_ids"] = inputs
    for name in list(settings):
        if name in names or name in ("input_ids", "attention_mask", "decoder_input_ids"):
            tensors[name] = settings.pop(name)
    tensors = {name: value for name, value in tensors.items() if value is not None}
    if "input_ids" not in tensors:
        raise InvalidArgumentError("generate: expected a text, texts, or input_ids")
    ids = tensors["input_ids"]
    if (
        isinstance(ids, (list, tuple))
        and ids
        and not isinstance(ids[0], (list, tuple))
        and not hasattr(ids[0], "__len__")
    ):
        tensors["input_ids"] = [ids]  # one row
    return tensors


def _entry_inputs(model: Model) -> set[str]:
    return {
        tensor.name for name in ("prefill", "encode") if name in model.entries for tensor in model.entries[name].inputs
    }


def _pack(result: _attune.GenerationResult, as_output: bool) -> Any:
    if not as_output:
        return result["sequences"]
    return GenerationOutput(result["sequences"], result["sequences_scores"], result["logits"], result["reused_tokens"])


def generate(
    model: Model,
    inputs: Any = None,
    *,
    return_dict_in_generate: bool = False,
    on_token: Callable[[int, int, int], bool | None] | None = None,
    on_text: Callable[[int, str], bool | None] | None = None,
    source_language: str | None = None,
    target_language: str | None = None,
    add_special_tokens: bool = True,
    skip_special_tokens: bool = True,
    threads: int | None = None,
    generation_config: Any = None,
    max_time: float | None = None,
    streamer: Any = None,
    tokenizer: Any = None,
    **settings: Any,
) -> Any:
    """Generates text by greedy search, sampling (do_sample=True) or beam search (num_beams=4).

    inputs        a text or a list of texts, which gives a text (a list if num_return_sequences is above 1) or a list of
                  texts; or ids [rows, length] (arrays, lists, or the dictionary that a tokenizer returns), which gives ids
                  int64 [rows, length], as transformers does.
                  A decoder continues them; an encoder-decoder takes them as the source. The caller pads shorter prompts
                  of a batch of ids on the left and gives an `attention_mask` that hides the padding
    return_dict_in_generate   returns a list of GeneratedText, or a GenerationOutput
    on_token      a function of (row, token, length so far); with beams the token is -1. If it returns False, the generation ends
    on_text       texts only: a function of (row, piece of text)
    source_language, target_language   texts and translators only: as "eng_Latn"
    add_special_tokens, skip_special_tokens   texts only: the tokenizer's own around the prompt; in results
    generation_config   settings as a dictionary or an object of transformers; arguments override them
    max_time      seconds; the generation ends at the first token after them
    streamer      one prompt without beams and one sequence for it: an object with `put`, which gets arrays of ids, first those
                  of the prompt, and `end`, as TextStreamer of transformers
    tokenizer     that of the model, model.tokenizer, or None
    settings      max_length, max_new_tokens, min_length, min_new_tokens, num_beams, num_return_sequences, length_penalty,
                  early_stopping, no_repeat_ngram_size, repetition_penalty, do_sample, temperature, top_k, top_p, min_p, typical_p,
                  epsilon_cutoff, eta_cutoff, seed, eos_token_id, pad_token_id, bad_words_ids, suppress_tokens, stop_strings, … as
                  `attune generate --set` takes them; output_logits=True

    Texts without a length get at most 256 new tokens, ids the default of the model's files.
    """
    from attune.model import read_threads

    workers = model._threads if threads is None else read_threads(threads)
    compiled = model._open()
    settings = _merge_config(settings, generation_config)
    max_time = settings.pop("max_time", None) if max_time is None else max_time
    return_dict_in_generate = settings.pop("return_dict_in_generate", None) is True or return_dict_in_generate
    _check_tokenizer(model, tokenizer)
    if _is_text(inputs):
        texts = _check_texts([inputs] if isinstance(inputs, str) else list(inputs))
        listener = _Listener(on_token, max_time, streamer, len(texts), settings)
        found = _attune.generate_texts(
            compiled,
            model.tokenizer._handle,
            texts,
            dump_settings(settings),
            _check_callback("on_text", on_text),
            listener.begin(lambda: model.tokenizer.encode(texts[0], add_special_tokens=bool(add_special_tokens)).ids),
            _check_language("source_language", source_language),
            _check_language("target_language", target_language),
            bool(add_special_tokens),
            bool(skip_special_tokens),
            workers,
        )
        listener.finish()
        results = [GeneratedText(*one) for one in found]
        if return_dict_in_generate:
            return results
        plain = [one.text for one in results]
        return plain[0] if isinstance(inputs, str) and len(plain) == 1 else plain
    if on_text is not None or source_language is not None or target_language is not None:
        raise InvalidArgumentError("generate: on_text, source_language and target_language need a text, got ids")
    tensors = _collect_inputs(inputs, settings, _entry_inputs(model))
    listener = _Listener(on_token, max_time, streamer, _count_rows(tensors["input_ids"]), settings)
    result = _attune.generate(
        compiled, tensors, dump_settings(settings), workers, listener.begin(lambda: tensors["input_ids"])
    )
    listener.finish()
    return _pack(result, return_dict_in_generate)


def _count_rows(ids: Any) -> int:
    """Returns the number of rows of |ids|, an array or a list of rows; 0 if it has another form."""
    shape = getattr(ids, "shape", None)
    return int(shape[0]) if shape is not None and len(shape) == 2 else len(ids) if isinstance(ids, (list, tuple)) else 0


def generate_on(
    session: Session,
    inputs: Any,
    *,
    return_dict_in_generate: bool = False,
    on_token: Callable[[int, int, int], bool | None] | None = None,
    **settings: Any,
) -> Any:
    """Generates ids from ids on |session|, as generate does."""
    settings = _merge_config(settings, settings.pop("generation_config", None))
    _check_tokenizer(session.model, settings.pop("tokenizer", None))
    return_dict_in_generate = settings.pop("return_dict_in_generate", None) is True or return_dict_in_generate
    max_time, streamer = settings.pop("max_time", None), settings.pop("streamer", None)
    tensors = _collect_inputs(inputs, settings, _entry_inputs(session.model))
    listener = _Listener(
        on_token, max_time, streamer, _count_rows(tensors["input_ids"]), settings
    )
    result = _attune.generate_on(
        session._open(), tensors, dump_settings(settings), listener.begin(lambda: tensors["input_ids"])
    )
    listener.finish()
    return _pack(result, return_dict_in_generate)


class _Work:
    """The state that a stream and its thread share, so that the thread does not keep the stream alive."""

    def __init__(self) -> None:
        self.cancelled = False
        self.put: Callable[[tuple[str, Any]], None] = lambda item: None

    def goes_on(self) -> bool:
        # When the interpreter ends, it waits for this thread, so the generation must end.
        return not self.cancelled and threading.main_thread().is_alive()


class Stream:
    """Pieces of a generation as they come: `for piece in stream`, or `async for piece in stream`. The generation begins
    when the first piece is requested, in a thread of its own, and ends early when the stream is closed or garbage-collected.
    After the last piece, `result` is what `generate` would have returned."""

    def __init__(self, run: Callable[[_Work], Any]) -> None:
        self._run = run
        self._work = _Work()
        self._queue: queue.SimpleQueue[tuple[str, Any]] | None = None
        self._async_queue: asyncio.Queue[tuple[str, Any]] | None = None
        self._ended = False
        self._result: Any = None

    @property
    def result(self) -> Any:
        """The whole result, once the stream has given its last piece, else None."""
        return self._result

    def _start(self, put: Callable[[tuple[str, Any]], None]) -> None:
        work, run = self._work, self._run
        work.put = put

        def work_on() -> None:
            try:
                item: tuple[str, Any] = ("end", run(work))
            except BaseException as error:
                item = ("error", error)
            try:
                work.put(item)
            except RuntimeError:  # the event loop is closed: nobody reads it
                pass

        threading.Thread(target=work_on, name="attune-stream").start()

    def _take(self, item: tuple[str, Any]) -> tuple[bool, Any]:
        """Returns (True, piece), or (False, None) at the end."""
        kind, value = item
        if kind == "piece":
            return True, value
        self._ended = True
        if kind == "error":
            raise value
        self._result = value
        return False, None

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Any:
        if self._async_queue is not None:
            raise InvalidArgumentError("the stream is read by 'async for' already")
        if self._ended:
            raise StopIteration
        if self._queue is None:
            self._queue = queue.SimpleQueue()
            self._start(self._queue.put)
        found, piece = self._take(self._queue.get())
        if not found:
            raise StopIteration
        return piece

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Any:
        if self._queue is not None:
            raise InvalidArgumentError("the stream is read by 'for' already")
        if self._ended:
            raise StopAsyncIteration
        if self._async_queue is None:
            import asyncio

            loop, pieces = asyncio.get_running_loop(), asyncio.Queue()  # type: ignore[var-annotated]
            self._async_queue = pieces

            def put(item: tuple[str, Any]) -> None:
                loop.call_soon_threadsafe(pieces.put_nowait, item)

            self._start(put)
        found, piece = self._take(await self._async_queue.get())
        if not found:
            raise StopAsyncIteration
        return piece

    def close(self) -> None:
        """Ends the generation at its next token. May be called twice."""
        self._work.cancelled = True
        self._ended = True

    async def aclose(self) -> None:
        """The same as close."""
        self.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self._work.cancelled = True


def stream(model: Model, inputs: Any, **arguments: Any) -> Stream:
    """Returns a stream of the texts that follow |inputs|, a text, or of the ids that follow ids of one row. Pieces of text
    are complete characters; text that may begin a stop string waits. The arguments are those of generate, without on_token
    and on_text."""
    for name in ("on_token", "on_text"):
        if arguments.get(name) is not None:
            raise InvalidArgumentError(f"stream: '{name}' is for generate, a stream gives pieces itself")
    if not _is_text(inputs) and int(arguments.get("num_beams") or 1) > 1:
        raise InvalidArgumentError("stream: a beam search chooses its ids at the end; stream a text or call generate")
    model._open()
    if isinstance(inputs, str):

        def run(work: _Work) -> Any:
            def on_text(row: int, piece: str) -> bool:
                work.put(("piece", piece))
                return work.goes_on()

            return generate(model, inputs, on_text=on_text, on_token=lambda *_: work.goes_on(), **arguments)

    elif _is_text(inputs):
        raise InvalidArgumentError(f"stream: expected one text, got {len(inputs)}")
    else:
        ids = inputs

        def run(work: _Work) -> Any:
            def on_token(row: int, token: int, length: int) -> bool:
                if row:
                    raise InvalidArgumentError("stream: expected ids of one row, got more")
                work.put(("piece", token))
                return work.goes_on()

            return generate(model, ids, on_token=on_token, **arguments)

    return Stream(run)


async def generate_async(model: Model, inputs: Any = None, **arguments: Any) -> Any:
    """Runs generate in a thread. If the caller is cancelled, the generation ends at its next token."""
    import asyncio

    listener = _check_callback("on_token", arguments.pop("on_token", None))
    work = _Work()

    def on_token(row: int, token: int, length: int) -> bool:
        return work.goes_on() and (listener is None or listener(row, token, length) is not False)

    try:
        return await asyncio.to_thread(generate, model, inputs, on_token=on_token, **arguments)
    finally:
        work.cancelled = True
