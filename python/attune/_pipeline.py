# ===- _pipeline.py - The base of pipelines ---------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The class Pipeline: arguments of a pipeline and of its calls, generators, the warning of cut texts."""

from __future__ import annotations

import sys
import warnings
from typing import Any, Iterator, Mapping

from attune._arguments import check_choice, check_flag, check_integer, refuse
from attune.errors import InvalidArgumentError, describe
from attune.model import Model

_BATCH = 32


class TextsCutWarning(UserWarning):
    """Texts had more tokens than the model allows and were cut. A pipeline with truncation=True does not warn."""


def warn(message: str, category: type[Warning]) -> None:
    """Warns at the line of the caller of a pipeline."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("attune."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def flag(given: Mapping[str, Any], name: str) -> bool | None:
    """Returns True, False, or None if it is not given."""
    return check_flag(name, given.get(name))


def truncates(given: Mapping[str, Any]) -> bool:
    """Returns True if the argument `truncation` lets texts be cut without a warning."""
    value = given.get("truncation")
    if value is None or isinstance(value, bool):
        return bool(value)
    choices = ("longest_first", "only_first", "only_second", "do_not_truncate")
    word = check_choice("truncation", value, choices)
    if word in choices[1:3]:
        raise InvalidArgumentError(f"truncation: expected True, False or 'longest_first', got {describe(value)}")
    return word == "longest_first"


def text_of(value: Any, what: str = "a text") -> str:
    """Returns |value|, a text; |what| names it in the message of the error."""
    if not isinstance(value, str):
        raise InvalidArgumentError(f"expected {what}, got {describe(value)}")
    return value


class Pipeline:
    """A model for one kind of work on texts, made by attune.pipeline. A call takes a text or a list of texts; of a generator it
    returns a generator, which works text by text. Any number of threads may use it at once."""

    task = ""
    # The names of a call's arguments.
    _names: tuple[str, ...] = ()
    # Arguments of transformers that are refused, and why.
    _refused: dict[str, str] = {}

    def __init__(self, model: Model, batch_size: int | None, parameters: dict[str, Any]) -> None:
        self.model = model
        self._batch = _BATCH if batch_size is None else check_integer("batch_size", batch_size)
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
        batch = self._batch if batch is None else check_integer("batch_size", batch)
        given = {**self._parameters, **self._check(arguments)}
        if hasattr(inputs, "__next__"):
            return self._each(inputs, batch, given)
        return self._run(inputs, batch, given)

    def _each(self, inputs: Iterator[Any], batch: int, given: dict[str, Any]) -> Iterator[Any]:
        for one in inputs:
            yield self._run(one, batch, given)

    def _run(self, inputs: Any, batch: int, given: dict[str, Any]) -> Any:
        """Returns the results for |inputs|, at most |batch| texts at once, with the arguments |given|."""
        raise NotImplementedError

    def _check(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Returns |arguments|; fails for unknown ones and for those of transformers that are not supported, by name."""
        kept = refuse(self.task, arguments, self._refused)
        for name in kept:
            if name not in self._names:
                raise InvalidArgumentError(
                    f"{self.task}: unknown argument '{name}', expected one of {', '.join(self._names)}"
                )
        return kept

    def _warn(self, cut: int, given: dict[str, Any]) -> None:
        """Warns that |cut| texts were cut, unless the caller wants this."""
        if cut and not truncates(given):
            texts = "text was" if cut == 1 else "texts were"
            warn(f"{cut} {texts} cut at the most tokens that the model allows", TextsCutWarning)

    def _length(self, given: dict[str, Any]) -> int:
        """Returns the most tokens of a text, 0 for those that the model allows."""
        truncates(given)
        if given.get("max_length") is None:
            return 0
        if not truncates(given):
            raise InvalidArgumentError("max_length: only with truncation=True")
        return check_integer("max_length", given["max_length"], 1, 1 << 24)

    def __repr__(self) -> str:
        return f"attune.pipeline('{self.task}', '{self.model.path}')"
