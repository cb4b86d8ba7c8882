# ===- pipelines.py - Pipelines ---------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts to labels, words, vectors and texts with the interface of transformers' pipelines: the same arguments of calls, the
same lists and dictionaries. Scores are numbers of Python with the bits of the commands `classify`, `fill` and `answer`; only
those of fill-mask with `targets` may differ in the last bits."""

from __future__ import annotations

from typing import Any, Mapping

from attune._arguments import check_choice, check_device, check_integer, refuse
from attune._generation_pipeline import TextGenerationPipeline
from attune._pipeline import Pipeline, flag, text_of, warn
from attune.compiler import Progress, StrPath
from attune.errors import InvalidArgumentError, describe
from attune.model import Model, open_for_texts

# Values of the enumerations in attune/tasks.h.
_CLASSIFY_TEXTS, _CLASSIFY_TOKENS, _FILL, _ANSWER = 1, 2, 3, 4
_FUNCTIONS = {"default": 0, "softmax": 1, "sigmoid": 2, "none": 3}
_STRATEGIES = ("none", "simple", "first", "average", "max")
_DTYPES = {"float32": "f32", "bfloat16": "bf16", "float16": "f16"}
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
            text, pair = text_of(value["text"]), value.get("text_pair")
            return text if pair is None else (text, text_of(pair))
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list) and len(value[0]) == 2:
            return (text_of(value[0][0]), text_of(value[0][1]))
        return text_of(value, "a text, or a dictionary of text and text_pair for a pair")

    def _run(self, inputs: Any, batch: int, given: dict[str, Any]) -> Any:
        many = isinstance(inputs, (list, tuple))
        function = given.get("function_to_apply")
        number = 0 if function is None else _FUNCTIONS[check_choice("function_to_apply", function, tuple(_FUNCTIONS))]
        # As in transformers, None and no argument differ: all labels in a list, or the best one.
        ranks = "top_k" in given
        top_k = None if given.get("top_k") is None else check_integer("top_k", given["top_k"])
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
        # As in transformers: a single text without top_k gives a list, too.
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
        number = 0 if strategy is None else _STRATEGIES.index(check_choice("aggregation_strategy", strategy, _STRATEGIES))
        ignored = given.get("ignore_labels")
        ignored = ["O"] if ignored is None else ignored
        if not isinstance(ignored, (list, tuple, set)) or not all(isinstance(one, str) for one in ignored):
            raise InvalidArgumentError(f"ignore_labels: expected a list of labels, got {describe(ignored)}")
        texts = [text_of(one) for one in (inputs if many else [inputs])]
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

    top_k              candidates for each mask, 5 by default
    targets            the words to choose from; one that is no token counts as its first token, with a warning
    tokenizer_kwargs   {"truncation": True}: texts are cut at the model's limit, or at "max_length" tokens, without a warning
    """

    task = "fill-mask"
    _names = ("top_k", "targets", "tokenizer_kwargs")
    _refused: dict[str, str] = {}

    def __init__(self, model: Model, batch_size: int | None, parameters: dict[str, Any]) -> None:
        super().__init__(model, batch_size, parameters)
        if model._text_task(_FILL).mask_token() is None:
            raise InvalidArgumentError("fill-mask: expected a tokenizer with a mask token, got one without")

    def _run(self, inputs: Any, batch: int, given: dict[str, Any]) -> Any:
        many = isinstance(inputs, (list, tuple))
        given = {**given, **self._tokenizer_arguments(given.get("tokenizer_kwargs"))}
        top_k = 5 if given.get("top_k") is None else check_integer("top_k", given["top_k"])
        targets = given.get("targets")
        ids = None if targets is None else self._target_ids(targets)
        results = []
        for text in inputs if many else [inputs]:
            rows = self._fill(text_of(text), top_k, given) if ids is None else self._choose(text_of(text), top_k, ids, given)
            results.append(rows[0] if len(rows) == 1 else rows)
        # As in transformers: a list of one text gives the result of this text.
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
            found = self.tokenizer.token_to_id(text_of(word))
            if found is None:
                first = self.tokenizer.encode(word, add_special_tokens=False).ids[:1]
                instead = self.tokenizer.id_to_token(first[0]) if first else None
                warn(
                    f"targets: {describe(word)} is no token" + (f", its first token is '{instead}'" if first else ""),
                    UserWarning,
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
        self._warn(int(len(self.tokenizer.encode(text).ids) > len(ids)), given)
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
        return super().__call__(inputs, **arguments)

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
        if question is not None or context is not None:
            raise InvalidArgumentError("question, context: expected these or dictionaries with both, got both forms")
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
        top_k = check_integer("top_k", given["top_k"], 1, 1024) if given.get("top_k") is not None else 1
        options = {
            "top_k": top_k,
            "allow_none": int(bool(flag(given, "handle_impossible_answer"))),
            "align_to_words": int(flag(given, "align_to_words") is not False),
        }
        for name, field, most in (
            ("max_answer_len", "max_answer", 1 << 20),
            ("max_seq_len", "max_length", 1 << 24),
            ("doc_stride", "stride", 1 << 20),
        ):
            if given.get(name) is not None:
                options[field] = check_integer(name, given[name], 1, most)
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
                tokens = self.tokenizer([text_of(text)], return_tensors="np", **arguments)
            except TypeError as error:  # an argument that the tokenizer does not have
                raise InvalidArgumentError(f"tokenize_kwargs: {describe(str(error))}") from None
            given_inputs = {key: value for key, value in tokens.items() if key in known}
            array = self.model(entry="forward", **given_inputs)[_STATES]
            results.append(array if flag(given, "return_tensors") else array.tolist())
        return results if many else results[0]


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

    Without |task| the model's outputs choose it."""
    arguments = refuse("pipeline", arguments, UNSUPPORTED)
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
    check_device(opened, device)
    found = _ALIASES.get(task, task) if task is not None else _find_task(opened)
    return _PIPELINES[found](opened, batch_size, arguments)


def _find_task(model: Model) -> str:
    from attune import _attune

    if "prefill" in model.entries:
        return "text-generation"
    kinds = ("feature-extraction", "text-classification", "token-classification", "fill-mask", "question-answering")
    return kinds[_attune.find_task(model._open())]
