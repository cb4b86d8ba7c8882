# ===- pipelines.py - Pipelines ---------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts to labels, words, vectors and texts with the interface of transformers' pipelines: the same arguments of calls, the
same lists and dictionaries. Scores are numbers of Python with the bits of the commands `classify`, `fill` and `answer`."""

from __future__ import annotations

import warnings
from typing import Any, Iterator, Mapping, Sequence

from attune.compiler import Progress, StrPath
from attune.errors import InvalidArgumentError, describe
from attune.generation import GeneratedText
from attune.model import Model, open_for_texts

# Of attune/tasks.h.
_CLASSIFY_TEXTS, _CLASSIFY_TOKENS, _FILL, _ANSWER = 1, 2, 3, 4
_FUNCTIONS = {"default": 0, "softmax": 1, "sigmoid": 2, "none": 3}
_STRATEGIES = ("none", "simple", "first", "average", "max")
_DTYPES = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}
_BATCH = 32
_STATES = "last_hidden_state"

# Arguments of transformers' pipeline() that this package lacks, and what takes their place.
UNSUPPORTED: dict[str, str] = {
    "config": "the folder has it",
    "tokenizer": "the model has its own",
    "feature_extractor": "these pipelines take texts",
    "image_processor": "these pipelines take texts",
    "video_processor": "these pipelines take texts",
    "processor": "these pipelines take texts",
    "framework": "the model is compiled",
    "revision": "nothing is downloaded",
    "token": "nothing is downloaded",
    "trust_remote_code": "no code of others runs",
    "device_map": "a model runs on one device",
    "pipeline_class": "no code of others runs",
    "num_workers": "texts are read by the calling thread",
    "binary_output": "results are objects of Python",
}


class TextsCutWarning(UserWarning):
    """Texts had more tokens than the model allows and were cut. A pipeline with truncation=True does not warn."""


def _integer(name: str, value: Any, least: int = 1, most: int = 2**31 - 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidArgumentError(f"{name}: expected an integer of {least} to {most}, got {describe(value)}")
    return value


def _choice(name: str, value: Any, choices: Sequence[str]) -> str:
    word = getattr(value, "value", value)
    if not isinstance(word, str) or word.lower() not in choices:
        raise InvalidArgumentError(f"{name}: expected one of {', '.join(choices)}, got {describe(value)}")
    return word.lower()


def _given(value: Any) -> bool:
    return value is not None and value is not False


def _flag(given: Mapping[str, Any], name: str) -> bool | None:
    """Returns True, False, or None if it is not given."""
    value = given.get(name)
    if value is not None and not isinstance(value, bool):
        raise InvalidArgumentError(f"{name}: expected True or False, got {describe(value)}")
    return value


def _truncates(given: Mapping[str, Any]) -> bool:
    value = given.get("truncation")
    if value is None or isinstance(value, bool):
        return bool(value)
    choices = ("longest_first", "only_first", "only_second", "do_not_truncate")
    word = _choice("truncation", value, choices)
    if word in choices[1:3]:
        raise InvalidArgumentError(f"truncation: expected True, False or 'longest_first', got {describe(value)}")
    return word == "longest_first"


def _text(value: Any, what: str = "a text") -> str:
    if not isinstance(value, str):
        raise InvalidArgumentError(f"expected {what}, got {describe(value)}")
    return value


def _is_message(value: Any) -> bool:
    return isinstance(value, Mapping) and "role" in value and "content" in value


def _is_chat(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(map(_is_message, value))


class Pipeline:
    """A model for one kind of work on texts, made by attune.pipeline. A call takes a text or a list of texts; of a generator it
    returns a generator, which works text by text. Any number of threads may use it at once."""

    task = ""
    # The names of a call's arguments.
    _names: tuple[str, ...] = ()
    # Arguments of the reference that are refused, and why.
    _refused: dict[str, str] = {}

    def __init__(self, model: Model, batch_size: int | None, parameters: dict[str, Any]) -> None:
        self.model = model
        self._batch = _BATCH if batch_size is None else _integer("batch_size", batch_size)
        self._parameters = self._check(parameters)

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of the model."""
        return self.model.tokenizer

    @property
    def device(self) -> str:
        """ "cpu" or "cuda"."""
        return self.model.device

    def __call__(self, inputs: Any, **arguments: Any) -> Any:
        """Returns the results for |inputs|; |arguments| override those of the pipeline."""
        batch = arguments.pop("batch_size", None)
        batch = self._batch if batch is None else _integer("batch_size", batch)
        given = {**self._parameters, **self._check(arguments)}
        if hasattr(inputs, "__next__"):
            return self._each(inputs, batch, given)
        return self._run(inputs, batch, given)

    def _each(self, inputs: Iterator[Any], batch: int, given: dict[str, Any]) -> Iterator[Any]:
        for one in inputs:
            yield self._run(one, batch, given)

    def _run(self, inputs: Any, batch: int, given: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _check(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Returns |arguments|; fails for unknown ones and for those of the reference that are not supported, by name."""
        for name, value in arguments.items():
            if name in self._names:
                continue
            if name in self._refused:
                if value is None or value is False:
                    continue
                raise InvalidArgumentError(f"{self.task}: '{name}' is not supported: {self._refused[name]}")
            raise InvalidArgumentError(
                f"{self.task}: unknown argument '{name}', expected one of {', '.join(self._names) or 'none'}"
            )
        return {name: value for name, value in arguments.items() if name in self._names}

    def _warn(self, cut: int, given: dict[str, Any]) -> None:
        if cut and not _truncates(given):
            warnings.warn(
                f"{cut} {'text was' if cut == 1 else 'texts were'} cut at the most tokens that the model allows",
                TextsCutWarning,
                stacklevel=4,
            )

    def _length(self, given: dict[str, Any]) -> int:
        """Returns the most tokens of a text, 0 for those that the model allows."""
        _truncates(given)
        if given.get("max_length") is None:
            return 0
        if not _truncates(given):
            raise InvalidArgumentError("max_length: only with truncation=True")
        return _integer("max_length", given["max_length"], 1, 1 << 24)

    def __repr__(self) -> str:
        return f"attune.pipeline('{self.task}', '{self.model.path}')"


class TextClassificationPipeline(Pipeline):
    """Labels of texts or of pairs.

        pipe("text")                                  [{"label": …, "score": …}]
        pipe(["a", "b"])                              [{…}, {…}]
        pipe("text", top_k=None)                      [{…}, {…}, …]: all labels, the best first; top_k=2: two of them
        pipe({"text": "a", "text_pair": "b"})         {"label": …, "score": …}

    function_to_apply   "default", "softmax", "sigmoid" or "none": from logits to scores
    truncation          True: texts are cut at the model's limit, or at max_length tokens, without a warning
    """

    task = "text-classification"
    _names = ("top_k", "function_to_apply", "truncation", "max_length")
    _refused = {"padding": "padding is skipped", "return_all_scores": "top_k=None gives all"}

    def _input(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            if not set(value) <= {"text", "text_pair"} or "text" not in value:
                raise InvalidArgumentError(f"expected a dictionary of text and text_pair, got {describe(value)}")
            text, pair = _text(value["text"]), value.get("text_pair")
            return text if pair is None else (text, _text(pair))
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list) and len(value[0]) == 2:
            return (_text(value[0][0]), _text(value[0][1]))
        return _text(value, "a text, or a dictionary of text and text_pair for a pair")

    def _run(self, inputs: Any, batch: int, given: dict[str, Any]) -> Any:
        many = isinstance(inputs, (list, tuple))
        function = given.get("function_to_apply")
        number = 0 if function is None else _FUNCTIONS[_choice("function_to_apply", function, tuple(_FUNCTIONS))]
        # As there, None and no argument differ: all labels in a list, or the best one.
        ranks = "top_k" in given
        top_k = None if given.get("top_k") is None else _integer("top_k", given["top_k"])
        scores, cut = self.model._text_task(_CLASSIFY_TEXTS).classify(
            [self._input(one) for one in (inputs if many else [inputs])], number, batch, self._length(given)
        )
        self._warn(cut, given)
        labels = self.model.labels
        results: list[Any] = []
        for row in scores.tolist():
            order = sorted(range(len(row)), key=lambda label: -row[label])
            if ranks:
                results.append([{"label": labels[label], "score": row[label]} for label in order[:top_k]])
            else:
                results.append({"label": labels[order[0]], "score": row[order[0]]})
        if many:
            return results
        # As there: a single text without top_k gives a list, too.
        return [results[0]] if isinstance(inputs, str) and not ranks else results[0]


class TokenClassificationPipeline(Pipeline):
    """Labels of tokens, or of the parts of a text that they make.

        pipe("text")                                  [{"entity", "score", "index", "word", "start", "end"}, …]
        pipe("text", aggregation_strategy="simple")   [{"entity_group", "score", "word", "start", "end"}, …]
        pipe(["a", "b"])                              a list of these for each text

    aggregation_strategy   "none", "simple", "first", "average" or "max"
    ignore_labels          labels that are left out, ["O"] by default
    """

    task = "token-classification"
    _names = ("aggregation_strategy", "ignore_labels", "truncation", "max_length")
    _refused = {
        "stride": "long texts are cut; give the text in parts",
        "is_split_into_words": "give a text",
        "delimiter": "give a text",
        "offset_mapping": "offsets are those of the tokenizer",
        "grouped_entities": "aggregation_strategy='simple' groups tokens",
        "ignore_subwords": "aggregation_strategy='first' joins the tokens of words",
    }

    def _run(self, inputs: Any, batch: int, given: dict[str, Any]) -> Any:
        many = isinstance(inputs, (list, tuple))
        if many and not inputs:
            raise InvalidArgumentError("expected a text at least, got an empty list")
        strategy = given.get("aggregation_strategy")
        number = 0 if strategy is None else _STRATEGIES.index(_choice("aggregation_strategy", strategy, _STRATEGIES))
        ignored = given.get("ignore_labels")
        ignored = ["O"] if ignored is None else ignored
        if not isinstance(ignored, (list, tuple, set)) or not all(isinstance(one, str) for one in ignored):
            raise InvalidArgumentError(f"ignore_labels: expected a list of labels, got {describe(ignored)}")
        texts = [_text(one) for one in (inputs if many else [inputs])]
        results = [self._spans(text, number, ignored, given) for text in texts]
        return results if many else results[0]

    def _spans(self, text: str, strategy: int, ignored: Any, given: dict[str, Any]) -> list[dict[str, Any]]:
        spans, cut = self.model._text_task(_CLASSIFY_TOKENS).classify_tokens(
            [text], strategy, "O" not in ignored, self._length(given)
        )
        self._warn(cut, given)
        labels, results = self.model.labels, []
        for label, score, begin, end, index, word in spans:
            name = labels[label]
            found: dict[str, Any]
            if strategy == 0:
                found = {"entity": name, "score": score, "index": index}
            else:
                # Joined tokens have the part behind the first dash.
                name = name.partition("-")[2] if "-" in name else name
                found = {"entity_group": name, "score": score}
            if name not in ignored:
                results.append({**found, "word": word, "start": begin, "end": end})
        return results


class FillMaskPipeline(Pipeline):
    """The best tokens for a mask.

        pipe("a [MASK] fox")            [{"score", "token", "token_str", "sequence"}, …], the best first
        pipe("a [MASK] [MASK]")         a list of these for each mask
        pipe(["a [MASK]", "[MASK]"])    the above for each text

    top_k     candidates for each mask, 5 by default
    targets   the words to choose from; one that is no token counts as its first token, with a warning
    """

    task = "fill-mask"
    _names = ("top_k", "targets", "tokenizer_kwargs", "truncation")
    _refused: dict[str, str] = {}

    def __init__(self, model: Model, batch_size: int | None, parameters: dict[str, Any]) -> None:
        super().__init__(model, batch_size, parameters)
        if model._text_task(_FILL).mask_token() is None:
            raise InvalidArgumentError("fill-mask: expected a tokenizer with a mask token, got one without")

    def _run(self, inputs: Any, batch: int, given: dict[str, Any]) -> Any:
        many = isinstance(inputs, (list, tuple))
        given = {**given, **self._tokenizer_arguments(given.get("tokenizer_kwargs"))}
        top_k = 5 if given.get("top_k") is None else _integer("top_k", given["top_k"])
        targets = given.get("targets")
        ids = None if targets is None else self._target_ids(targets)
        results = []
        for text in inputs if many else [inputs]:
            rows = self._fill(_text(text), top_k, given) if ids is None else self._choose(_text(text), top_k, ids, given)
            results.append(rows[0] if len(rows) == 1 else rows)
        # As there: a list of one text gives the result of this text.
        return results if many and len(results) != 1 else results[0]

    @staticmethod
    def _tokenizer_arguments(value: Any) -> dict[str, Any]:
        if value is None:
            return {}
        if not isinstance(value, dict) or not set(value) <= {"truncation", "max_length"}:
            raise InvalidArgumentError(
                f"tokenizer_kwargs: expected a dictionary of truncation and max_length, got {describe(value)}"
            )
        return value

    def _fill(self, text: str, top_k: int, given: dict[str, Any]) -> list[list[dict[str, Any]]]:
        found, cut = self.model._text_task(_FILL).fill([text], top_k, self._length(given))
        self._warn(cut, given)
        rows: list[list[dict[str, Any]]] = []
        for mask, token, score, word, sequence in found:
            if len(rows) <= mask:
                rows.append([])
            rows[-1].append({"score": score, "token": token, "token_str": word, "sequence": sequence})
        return rows

    def _target_ids(self, targets: Any) -> list[int]:
        words = [targets] if isinstance(targets, str) else targets
        if not isinstance(words, (list, tuple)) or not words:
            raise InvalidArgumentError(f"targets: expected a text or a list of texts, got {describe(targets)}")
        ids: list[int] = []
        for word in words:
            found = self.tokenizer.token_to_id(_text(word))
            if found is None:
                first = self.tokenizer.encode(word, add_special_tokens=False).ids[:1]
                instead = self.tokenizer.id_to_token(first[0]) if first else None
                warnings.warn(
                    f"targets: {describe(word)} is no token" + (f", its first token is '{instead}'" if first else ""),
                    UserWarning,
                    stacklevel=5,
                )
                if not first:
                    continue
                found = first[0]
            if found not in ids:
                ids.append(found)
        if not ids:
            raise InvalidArgumentError("targets: expected a word with a token at least, got none")
        return ids

    def _choose(self, text: str, top_k: int, targets: list[int], given: dict[str, Any]) -> list[list[dict[str, Any]]]:
        """Returns the best of |targets| for each mask, from the logits of the entry forward."""
        import numpy

        mask_token = self.model._text_task(_FILL).mask_token()
        mask_id = self.tokenizer.token_to_id(mask_token)
        most = self._length(given) or self.tokenizer.model_max_length
        batch = self.tokenizer([text], truncation=most is not None, max_length=most, return_tensors="np")
        ids = batch["input_ids"][0]
        places = numpy.flatnonzero(ids == mask_id)
        if len(places) == 0:
            raise InvalidArgumentError(f"expected a text with the mask '{mask_token}', got one without")
        logits = self.model(**batch)["logits"][0]
        if max(targets) >= logits.shape[1]:
            raise InvalidArgumentError(f"targets: expected tokens below {logits.shape[1]}, got {max(targets)}")
        rows = []
        for place in places:
            values = numpy.exp(logits[place] - logits[place].max())
            values /= values.sum()
            order = sorted(range(len(targets)), key=lambda number: -values[targets[number]])[:top_k]
            row = []
            for number in order:
                token = targets[number]
                sequence = ids.copy()
                sequence[place] = token
                row.append(
                    {
                        "score": float(values[token]),
                        "token": token,
                        "token_str": self.tokenizer.decode([token], skip_special_tokens=False),
                        "sequence": self.tokenizer.decode(sequence, skip_special_tokens=len(places) == 1),
                    }
                )
            rows.append(row)
        return rows


class QuestionAnsweringPipeline(Pipeline):
    """Parts of a context that answer a question.

        pipe(question="who?", context="…")             {"score", "start", "end", "answer"}
        pipe({"question": "who?", "context": "…"})     the same
        pipe(question=["a", "b"], context="…")         a list of these
        top_k=3                                       a list of answers for each question, the best first

    max_answer_len, max_seq_len, doc_stride   most tokens of an answer (15), of a window (384), shared by two windows (128)
    handle_impossible_answer                  True: the empty answer competes
    align_to_words                            False: answers need not be whole words
    """

    task = "question-answering"
    _names = (
        "question", "context", "top_k", "doc_stride", "max_answer_len", "max_seq_len", "handle_impossible_answer", "align_to_words",
    )  # fmt: skip
    _refused = {"max_question_len": "a question is never cut", "padding": "padding is skipped", "topk": "give top_k"}

    def __call__(self, inputs: Any = None, **arguments: Any) -> Any:
        """Returns the answers to a question, see QuestionAnsweringPipeline."""
        given = {**self._parameters, **self._check(arguments)}
        if inputs is not None and hasattr(inputs, "__next__"):
            return self._each(inputs, 1, given)
        return self._run(inputs, 1, given)

    def _pairs(self, inputs: Any, given: dict[str, Any]) -> tuple[list[tuple[str, str]], bool]:
        """Returns pairs of question and context, and whether a list was given."""
        question, context = given.get("question"), given.get("context")
        if inputs is None:
            if isinstance(question, (list, tuple)) or isinstance(context, (list, tuple)):
                size = max(len(one) for one in (question, context) if isinstance(one, (list, tuple)))
                both = [list(one) if isinstance(one, (list, tuple)) else [one] * size for one in (question, context)]
                if len(both[0]) != len(both[1]):
                    raise InvalidArgumentError(
                        f"expected as many questions as contexts, got {len(both[0])} and {len(both[1])}"
                    )
                return [self._pair(*one) for one in zip(*both)], True
            return [self._pair(question, context)], False
        many = isinstance(inputs, (list, tuple))
        pairs = []
        for one in inputs if many else [inputs]:
            if not isinstance(one, Mapping) or set(one) != {"question", "context"}:
                raise InvalidArgumentError(f"expected a dictionary of question and context, got {describe(one)}")
            pairs.append(self._pair(one["question"], one["context"]))
        return pairs, many

    @staticmethod
    def _pair(question: Any, context: Any) -> tuple[str, str]:
        for name, value in (("question", question), ("context", context)):
            if not isinstance(value, str) or not value:
                raise InvalidArgumentError(f"{name}: expected a text, got {describe(value)}")
        return question, context

    def _run(self, inputs: Any, batch: int, given: dict[str, Any]) -> Any:
        pairs, many = self._pairs(inputs, given)
        top_k = _integer("top_k", given["top_k"], 1, 1024) if given.get("top_k") is not None else 1
        options = {
            "top_k": top_k,
            "allow_none": int(bool(_flag(given, "handle_impossible_answer"))),
            "align_to_words": int(_flag(given, "align_to_words") is not False),
        }
        for name, field, most in (
            ("max_answer_len", "max_answer", 1 << 20),
            ("max_seq_len", "max_length", 1 << 24),
            ("doc_stride", "stride", 1 << 20),
        ):
            if given.get(name) is not None:
                options[field] = _integer(name, given[name], 1, most)
        results = []
        task = self.model._text_task(_ANSWER)
        for question, context in pairs:
            answers = [
                {"score": score, "start": begin, "end": end, "answer": context[begin:end]}
                for score, begin, end in task.answer([(question, context)], options)
            ]
            results.append(answers[0] if top_k == 1 and answers else answers)
        return results if many else results[0]


class FeatureExtractionPipeline(Pipeline):
    """Vectors of tokens: the output last_hidden_state of a model without a head.

        pipe("text")                        a list [1][tokens][features]
        pipe("text", return_tensors=True)   an array of NumPy, float32 [1, tokens, features]
        pipe(["a", "b"])                    a list of these

    truncation, tokenize_kwargs   arguments of the tokenizer
    """

    task = "feature-extraction"
    _names = ("return_tensors", "truncation", "tokenize_kwargs")
    _refused: dict[str, str] = {}

    def __init__(self, model: Model, batch_size: int | None, parameters: dict[str, Any]) -> None:
        super().__init__(model, batch_size, parameters)
        outputs = [tensor.name for tensor in model.entries["forward"].outputs] if "forward" in model.entries else []
        if _STATES not in outputs:
            raise InvalidArgumentError(
                f"feature-extraction: expected an entry 'forward' with the output {_STATES}, '{model.architecture}' has "
                f"{', '.join(outputs) or 'none'}: take a folder of a model without a head"
            )

    def _run(self, inputs: Any, batch: int, given: dict[str, Any]) -> Any:
        arguments = given.get("tokenize_kwargs")
        arguments = {} if arguments is None else arguments
        if not isinstance(arguments, dict) or "return_tensors" in arguments:
            raise InvalidArgumentError(
                f"tokenize_kwargs: expected a dictionary of arguments of the tokenizer, got {describe(arguments)}"
            )
        if given.get("truncation") is not None:
            if "truncation" in arguments:
                raise InvalidArgumentError("truncation: given twice, as an argument and in tokenize_kwargs")
            arguments = {**arguments, "truncation": given["truncation"]}
        many = isinstance(inputs, (list, tuple))
        known = {tensor.name for tensor in self.model.entries["forward"].inputs}
        results = []
        for text in inputs if many else [inputs]:
            try:
                tokens = self.tokenizer([_text(text)], return_tensors="np", **arguments)
            except TypeError as error:  # an argument that the tokenizer does not have
                raise InvalidArgumentError(f"tokenize_kwargs: {describe(str(error))}") from None
            given_inputs = {key: value for key, value in tokens.items() if key in known}
            array = self.model(entry="forward", **given_inputs)[_STATES]
            results.append(array if _flag(given, "return_tensors") else array.tolist())
        return results if many else results[0]


class TextGenerationPipeline(Pipeline):
    """Texts that go on.

        pipe("Once")                                    [{"generated_text": "Once upon…"}]
        pipe("Once", num_return_sequences=2, …)         [{…}, {…}]
        pipe(["Once", "Then"])                          [[{…}], [{…}]]
        pipe([{"role": "user", "content": "Hi"}])       [{"generated_text": [{"role": "user", …}, {"role": "assistant", …}]}]

    return_full_text    False: only the new text
    return_tensors      True: {"generated_token_ids": ids with those of the prompt}
    stop_sequence       a text or texts that end the generation
    continue_final_message   the last message goes on; by default if its role is "assistant"
    prefix, add_special_tokens, skip_special_tokens, tools, documents

    Further arguments are those of model.generate; as there, what is not given is as the model's files say: greedy search and
    256 new tokens if they say nothing. transformers samples then, which do_sample=True, temperature=0.7 asks for.
    """

    task = "text-generation"
    _names = (
        "return_full_text", "return_text", "return_tensors", "prefix", "stop_sequence", "continue_final_message",
        "add_special_tokens", "skip_special_tokens", "clean_up_tokenization_spaces", "tools", "documents",
    )  # fmt: skip
    _refused = {
        "return_type": "give return_full_text or return_tensors",
        "handle_long_generation": "give the end of the text",
        "truncation": "give the end of the text",
        "padding": "texts of a list are computed without padding between them",
        "tokenizer_encode_kwargs": "give add_special_tokens",
    }

    def _check(self, arguments: dict[str, Any]) -> dict[str, Any]:
        for name, reason in self._refused.items():
            if _given(arguments.get(name)):
                raise InvalidArgumentError(f"{self.task}: '{name}' is not supported: {reason}")
        if _given(arguments.get("clean_up_tokenization_spaces")):
            raise InvalidArgumentError(
                f"{self.task}: 'clean_up_tokenization_spaces' is not supported: texts are those of the tokenizer"
            )
        for name in ("on_text", "on_token", "return_dict_in_generate", "threads"):
            if arguments.get(name) is not None:
                raise InvalidArgumentError(f"{self.task}: '{name}' is an argument of model.generate alone")
        return {name: value for name, value in arguments.items() if name not in self._refused}

    def _run(self, inputs: Any, batch: int, given: dict[str, Any]) -> Any:
        settings = {name: value for name, value in given.items() if name not in self._names}
        stop = given.get("stop_sequence")
        if stop is not None:
            settings["stop_strings"] = [stop] if isinstance(stop, str) else stop
        texts, full = _flag(given, "return_text"), _flag(given, "return_full_text")
        if _flag(given, "return_tensors") and (texts or full is not None):
            raise InvalidArgumentError("return_tensors: not with return_text or return_full_text")
        if texts and full is not None:
            raise InvalidArgumentError("return_full_text: not with return_text")
        many = isinstance(inputs, (list, tuple)) and not _is_chat(inputs)
        items: list[Any] = list(inputs) if many else [inputs]
        prompts = [self._prompt(one, given) for one in items]
        results: list[list[Any]] = [[] for _ in items]
        # Texts of chats have their special tokens already.
        for special in (True, False):
            numbers = [number for number, prompt in enumerate(prompts) if prompt[1] == special]
            if not numbers:
                continue
            found: Any = self.model.generate(
                [prompts[number][0] for number in numbers],
                add_special_tokens=special and _flag(given, "add_special_tokens") is not False,
                skip_special_tokens=_flag(given, "skip_special_tokens") is not False,
                return_dict_in_generate=True,
                **settings,
            )
            for one in found:
                number = numbers[one.input]
                results[number].append(self._record(items[number], prompts[number], one, given))
        return results if many else results[0]

    def _prompt(self, value: Any, given: dict[str, Any]) -> tuple[str, bool]:
        """Returns the text to continue, and whether the tokenizer adds its special tokens."""
        if not _is_chat(value):
            prefix = given.get("prefix")
            return _text("" if prefix is None else prefix, "prefix as a text") + _text(
                value, "a text, or a chat: a list of dictionaries with role and content"
            ), True
        messages = [dict(message) for message in value]
        arguments = {name: given[name] for name in ("tools", "documents") if given.get(name) is not None}
        if not self._continues(value, given):
            text = self.tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=False, **arguments
            )
            return text, False
        # The mark tells where the message ends in the text.
        mark = "CONTINUE_FINAL_MESSAGE_TAG "
        content = _text(messages[-1]["content"], "the last message as a text")
        messages[-1]["content"] = content + mark
        text = self.tokenizer.apply_chat_template(messages, tokenize=False, **arguments)
        place = text.rfind(mark.strip())
        if place < 0 or content.strip() not in text:
            raise InvalidArgumentError("continue_final_message: the chat template changes the last message")
        kept = text[:place]
        return (kept if text[place:].startswith(mark) else kept.rstrip()), False

    @staticmethod
    def _continues(chat: Any, given: dict[str, Any]) -> bool:
        wanted = _flag(given, "continue_final_message")
        return bool(chat[-1]["role"] == "assistant") if wanted is None else wanted

    def _record(self, value: Any, prompt: tuple[str, bool], one: GeneratedText, given: dict[str, Any]) -> dict[str, Any]:
        if given.get("return_tensors"):
            special = prompt[1] and _flag(given, "add_special_tokens") is not False
            ids = self.tokenizer.encode(prompt[0], add_special_tokens=special).ids
            return {"generated_token_ids": [*ids, *one.ids]}
        new = one.text
        if one.finish == "stop":
            # As there, the text ends with the token that completes the stop string.
            new = self.tokenizer.decode(one.ids, skip_special_tokens=_flag(given, "skip_special_tokens") is not False)
        if given.get("return_full_text") is False:
            return {"generated_text": new}
        if not _is_chat(value):
            return {"generated_text": value + new}
        messages = list(value)
        if self._continues(value, given):
            last = messages[-1]
            return {
                "generated_text": [*messages[:-1], {"role": last["role"], "content": last["content"] + new}]
            }
        return {"generated_text": [*messages, {"role": "assistant", "content": new}]}


_PIPELINES: dict[str, type[Pipeline]] = {
    one.task: one
    for one in (
        FeatureExtractionPipeline,
        TextClassificationPipeline,
        TokenClassificationPipeline,
        FillMaskPipeline,
        QuestionAnsweringPipeline,
        TextGenerationPipeline,
    )
}
_ALIASES = {"sentiment-analysis": "text-classification", "ner": "token-classification"}


def pipeline(
    task: str | None = None,
    model: StrPath | Model | None = None,
    *,
    device: Any = None,
    dtype: Any = None,
    model_kwargs: dict[str, Any] | None = None,
    batch_size: int | None = None,
    threads: int | None = None,
    progress: Progress = True,
    **arguments: Any,
) -> Any:
    """Returns a function of texts for |task| with the calls and results of transformers' pipelines: "feature-extraction",
    "text-classification" ("sentiment-analysis"), "token-classification" ("ner"), "fill-mask", "question-answering" or
    "text-generation".

        classify = attune.pipeline("text-classification", "folder", top_k=2)
        classify("a quick fox")                       # [{"label": "…", "score": 0.9}, {…}]

    model          a model folder, which is compiled once and kept, a shared object, or an attune.Model
    dtype          "bfloat16" or "bf16" and the like, a type of PyTorch, or None or "auto" for f32
    model_kwargs   flags of `attune compile`: {"limit": {"length": 128}}
    threads, progress   as for attune.Model
    arguments      arguments of every call, which a call may override

    Without |task| a model with a head for texts says itself what it does."""
    for name, reason in UNSUPPORTED.items():
        if _given(arguments.pop(name, None)):
            raise InvalidArgumentError(f"pipeline: '{name}' is not supported: {reason}")
    arguments.pop("use_fast", None)  # there is one tokenizer
    if model is None:
        raise InvalidArgumentError("pipeline: expected a model, a folder or a shared object, got none")
    if task is not None and (not isinstance(task, str) or _ALIASES.get(task, task) not in _PIPELINES):
        raise InvalidArgumentError(
            f"pipeline: expected a task of {', '.join(sorted([*_PIPELINES, *_ALIASES]))}, got {describe(task)}"
        )
    if model_kwargs is not None and not isinstance(model_kwargs, dict):
        raise InvalidArgumentError(f"model_kwargs: expected a dictionary of flags, got {describe(model_kwargs)}")
    flags = dict(model_kwargs or {})
    if dtype is not None and not (isinstance(dtype, str) and dtype == "auto"):
        word = str(dtype).rpartition(".")[2]
        flags["dtype"] = _DTYPES.get(word, word)
    if isinstance(model, Model):
        opened = open_for_texts(model, threads=threads, **flags)
    else:
        if task == "text-generation":
            flags.setdefault("padding", "compute")
        opened = open_for_texts(model, threads=threads, progress=progress, **flags)
    if device is not None:
        kind = {-1: "cpu", 0: "cuda"}.get(device, "cuda") if isinstance(device, int) else str(device).partition(":")[0]
        if kind != opened.device:
            raise InvalidArgumentError(
                f"device: expected '{opened.device}', for which the model is compiled, got {describe(device)}"
            )
    found = _ALIASES.get(task, task) if task is not None else _find_task(opened)
    return _PIPELINES[found](opened, batch_size, arguments)


def _find_task(model: Model) -> str:
    from attune import _attune

    if "prefill" in model.entries:
        return "text-generation"
    kinds = ("feature-extraction", "text-classification", "token-classification", "fill-mask", "question-answering")
    return kinds[_attune.find_task(model._open())]
