# ===- tokenizer.py - Tokenizers -------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

import json
import os
from typing import Any, Iterable, Sequence

from attune import _attune
from attune.compiler import StrPath, run_command
from attune.errors import InvalidArgumentError, NotFoundError, describe

_TRUNCATIONS = {"longest_first": 0, "only_first": 1, "only_second": 2}


class BatchEncoding(dict[str, Any]):
    """What a tokenizer returns when it is called: `input_ids`, `attention_mask` and the like by name; also attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no '{name}', there are: {', '.join(self)}") from None


class Encoding:
    """The tokens of a text or a pair: lists with one item for each token. `overflowing` are the further windows of a
    truncated text."""

    def __init__(self, handle: _attune.TextHandle, data: _attune.EncodingData) -> None:
        self._handle = handle
        self._data = data
        self.ids: list[int] = data.ids
        self.overflowing: list[Encoding] = []

    @property
    def tokens(self) -> list[str]:
        """The strings of the tokens."""
        return [self._handle.token(one) or "" for one in self.ids]

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """For each token the first character in its text and the one after the last; (0, 0) for special tokens."""
        return self._data.offsets

    @property
    def attention_mask(self) -> list[int]:
        """0 for padding, else 1."""
        return self._data.attention_mask

    @property
    def type_ids(self) -> list[int]:
        """0 for the first text, 1 for the second, unless the template says otherwise."""
        return self._data.type_ids

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for tokens that the template or padding added."""
        return self._data.special_tokens_mask

    @property
    def sequence_ids(self) -> list[int | None]:
        """0 or 1: the text; None for special tokens and padding."""
        return self._data.sequence_ids

    @property
    def word_ids(self) -> list[int | None]:
        """The word of the text, counted by the pre-tokenizer; None for special tokens and padding."""
        return self._data.word_ids

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"attune.Encoding(ids={self.ids}, tokens={self.tokens})"


class Tokenizer:
    """The tokenizer of a compiled model: texts to ids and back. Any number of threads may use it at once.

    `path` is a .text file, which `attune compile` writes beside a model, or a model folder, whose tokenizer is compiled
    (without weights). `model.tokenizer` is that of a model. Ids and offsets are those of `attune tokenize` and of the
    reference library.
    """

    def __init__(self, path: StrPath) -> None:
        name = os.fspath(path)
        if not isinstance(name, str) or "\0" in name:
            raise InvalidArgumentError(f"path: expected a path without NUL, got {describe(path)}")
        self._path = name
        if os.path.isdir(name):
            import tempfile

            with tempfile.TemporaryDirectory(prefix="attune-") as folder:
                compiled = os.path.join(folder, "tokenizer.text")
                operand = os.path.join(".", name) if name.startswith("-") else name
                run_command(["tokenize", operand, f"--output={compiled}"])
                # The file stays mapped when it has no name any more.
                self._handle = _attune.TextHandle(compiled)
        else:
            if not os.path.exists(name):
                raise NotFoundError(f"{name}: no such file or folder")
            self._handle = _attune.TextHandle(name)
        # The inputs that a call returns, and the most tokens for truncation=True; those of the model for model.tokenizer.
        self.model_input_names: list[str] = ["input_ids", "attention_mask"]
        self.model_max_length: int | None = None

    # --- Vocabulary ---

    @property
    def vocab_size(self) -> int:
        """The size of the vocabulary: every id is less."""
        return self._handle.vocab_size()

    def token_to_id(self, token: str) -> int | None:
        """Returns the id of |token|, None if there is none."""
        found = self._handle.token_id(_texts([token])[0])
        return found if found >= 0 else None

    def id_to_token(self, id: int) -> str | None:
        """Returns the string of token |id|, None if there is none."""
        return self._handle.token(_ids([id])[0])

    def is_special(self, id: int) -> bool:
        """Returns True if |id| is a special token, which decoding skips."""
        return self._handle.is_special(_ids([id])[0])

    def __len__(self) -> int:
        return self.vocab_size

    def __repr__(self) -> str:
        return f"attune.Tokenizer('{self._path}', vocab_size={self.vocab_size})"

    # --- Texts to ids ---

    def _options(
        self,
        add_special_tokens: bool,
        truncation: bool | str | None,
        max_length: int | None,
        stride: int,
        truncation_side: str | None = None,
    ) -> dict[str, int]:
        _check_choices(add_special_tokens=add_special_tokens, truncation=truncation, truncation_side=truncation_side)
        options = {"add_special_tokens": int(bool(add_special_tokens))}
        if truncation is True:
            truncation = "longest_first"
        if truncation in (False, None, "do_not_truncate"):
            if _count("stride", stride):
                raise InvalidArgumentError("stride: only with truncation")
            return options
        if truncation not in _TRUNCATIONS:
            raise InvalidArgumentError(
                f"truncation: expected True, False or one of {', '.join(_TRUNCATIONS)}, got {describe(truncation)}"
            )
        most = max_length if max_length is not None else self.model_max_length
        if most is None:
            raise InvalidArgumentError(
                "truncation: expected max_length, too, since the tokenizer does not know a model's"
            )
        options.update(
            truncation=_TRUNCATIONS[truncation], max_length=_count("max_length", most), stride=_count("stride", stride)
        )
        if truncation_side not in (None, "left", "right"):
            raise InvalidArgumentError(f"truncation_side: expected 'left' or 'right', got {describe(truncation_side)}")
        if truncation_side:
            options["truncate_left"] = int(truncation_side == "left")
        return options

    def encode(
        self,
        text: str,
        pair: str | None = None,
        *,
        add_special_tokens: bool = True,
        truncation: bool | str | None = None,
        max_length: int | None = None,
        stride: int = 0,
    ) -> Encoding:
        """Encodes |text|, or |text| with |pair|. |max_length| alone truncates, too; further windows, which share |stride|
        tokens with the one before, are in `overflowing`."""
        return self.encode_batch(
            [text if pair is None else (text, pair)],
            add_special_tokens=add_special_tokens,
            truncation=truncation,
            max_length=max_length,
            stride=stride,
        )[0]

    def encode_batch(
        self,
        texts: Sequence[str | tuple[str, str]],
        *,
        add_special_tokens: bool = True,
        truncation: bool | str | None = None,
        max_length: int | None = None,
        stride: int = 0,
    ) -> list[Encoding]:
        """Encodes each text or pair of texts, without padding."""
        if truncation is None:
            truncation = max_length is not None
        options = self._options(add_special_tokens, truncation, max_length, stride)
        options.update(want_offsets=1, want_overflow=1)
        results: list[Encoding] = []
        previous = -1
        for data in self._handle.encode(_texts(texts), options):
            encoding = Encoding(self._handle, data)
            if data.input == previous:
                results[-1].overflowing.append(encoding)
            else:
                results.append(encoding)
            previous = data.input
        return results

    def __call__(
        self,
        text: str | Sequence[str] | Sequence[tuple[str, str]],
        text_pair: str | Sequence[str] | None = None,
        *,
        add_special_tokens: bool = True,
        padding: bool | str = False,
        truncation: bool | str | None = False,
        max_length: int | None = None,
        stride: int = 0,
        pad_to_multiple_of: int | None = None,
        padding_side: str | None = None,
        truncation_side: str | None = None,
        return_tensors: str | None = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_overflowing_tokens: bool = False,
    ) -> BatchEncoding:
        """Encodes a text or a batch as the tokenizers of transformers do: lists, or with return_tensors="np" or "pt" arrays
        int64 [rows, length]. Without a model's limit of the length truncation needs max_length."""
        _check_choices(padding=padding, padding_side=padding_side, return_tensors=return_tensors)
        is_batch = not isinstance(text, str)
        if is_batch and not isinstance(text, (list, tuple)):
            raise InvalidArgumentError(f"text: expected a text or a list of texts, got {type(text).__name__}")
        inputs: list[Any] = list(text) if is_batch else [text]
        if text_pair is not None:
            if not isinstance(text_pair, (str, list, tuple)):
                raise InvalidArgumentError(
                    f"text_pair: expected a text or a list of texts, got {type(text_pair).__name__}"
                )
            pairs = list(text_pair) if not isinstance(text_pair, str) else [text_pair]
            if isinstance(text_pair, str) == is_batch or len(pairs) != len(inputs):
                raise InvalidArgumentError("text_pair: expected as many texts as text has")
            inputs = list(zip(inputs, pairs))
        options = self._options(add_special_tokens, truncation, max_length, stride, truncation_side)
        options["want_overflow"] = int(return_overflowing_tokens)
        options["want_offsets"] = int(return_offsets_mapping)
        if padding not in (False, None, "do_not_pad"):
            if padding in (True, "longest"):
                options["pad_to_longest"] = 1
            elif padding == "max_length":
                most = max_length if max_length is not None else self.model_max_length
                if most is None:
                    raise InvalidArgumentError("padding='max_length': expected max_length, too")
                options["pad_length"] = _count("max_length", most)
            else:
                raise InvalidArgumentError(
                    f"padding: expected True, False, 'longest' or 'max_length', got {describe(padding)}"
                )
            if pad_to_multiple_of is not None:
                options["pad_to_multiple_of"] = _count("pad_to_multiple_of", pad_to_multiple_of)
        if padding_side not in (None, "left", "right"):
            raise InvalidArgumentError(f"padding_side: expected 'left' or 'right', got {describe(padding_side)}")
        if padding_side:
            options["pad_left"] = int(padding_side == "left")
        if return_tensors not in (None, "np", "pt"):
            raise InvalidArgumentError(f"return_tensors: expected None, 'np' or 'pt', got {describe(return_tensors)}")
        names = list(self.model_input_names)
        for name, wanted in (("token_type_ids", return_token_type_ids), ("attention_mask", return_attention_mask)):
            if wanted is not None and wanted != (name in names):
                names = [*names, name] if wanted else [one for one in names if one != name]
        extra = return_special_tokens_mask or return_offsets_mapping or return_overflowing_tokens
        if return_tensors and not extra:
            arrays = self._handle.encode_arrays(_texts(inputs), options)
            columns = dict(zip(("input_ids", "attention_mask", "token_type_ids"), arrays))
            return BatchEncoding({name: _tensor(columns[name], return_tensors) for name in names})
        data = self._handle.encode(_texts(inputs), options)
        lists: dict[str, list[Any]] = {
            "input_ids": [one.ids for one in data],
            "token_type_ids": [one.type_ids for one in data],
            "attention_mask": [one.attention_mask for one in data],
        }
        result = BatchEncoding({name: lists[name] for name in names})
        if return_special_tokens_mask:
            result["special_tokens_mask"] = [one.special_tokens_mask for one in data]
        if return_offsets_mapping:
            result["offset_mapping"] = [one.offsets for one in data]
        if return_overflowing_tokens:
            result["overflow_to_sample_mapping"] = [one.input for one in data]
        if return_tensors:
            import numpy

            try:
                return BatchEncoding(
                    {
                        name: _tensor(numpy.array(rows, dtype=numpy.int64), return_tensors)
                        for name, rows in result.items()
                    }
                )
            except ValueError:
                raise InvalidArgumentError(
                    "the texts have different numbers of tokens: arrays need padding=True"
                ) from None
        if not is_batch and not return_overflowing_tokens:
            return BatchEncoding({name: rows[0] for name, rows in result.items()})
        return result

    # --- Ids to texts ---

    def decode(self, ids: Any, *, skip_special_tokens: bool = True) -> str:
        """Returns the text of |ids|, a list or an array of one row."""
        return self._handle.decode(_ids(ids), bool(skip_special_tokens))

    def decode_batch(self, rows: Iterable[Any], *, skip_special_tokens: bool = True) -> list[str]:
        """Returns the text of each row of ids."""
        return [self.decode(row, skip_special_tokens=skip_special_tokens) for row in rows]

    batch_decode = decode_batch

    def decode_stream(self, *, skip_special_tokens: bool = True) -> _attune.DecodeStream:
        """Returns a stream with `push(id)`, which returns the text that is now complete, and `finish()`."""
        return _attune.DecodeStream(self._handle, bool(skip_special_tokens))

    # --- Chat ---

    def apply_chat_template(
        self,
        conversation: Sequence[dict[str, Any]],
        *,
        tools: Sequence[Any] | None = None,
        documents: Sequence[dict[str, Any]] | None = None,
        chat_template: str | None = None,
        add_generation_prompt: bool = False,
        tokenize: bool = True,
        return_tensors: str | None = None,
        **variables: Any,
    ) -> Any:
        """Renders |conversation|, dictionaries with `role` and `content`, by the model's chat template, to ids, or to text with
        tokenize=False. |chat_template| is the name of one of several templates; |variables| are those that the template
        reads, as enable_thinking=False. Tools are JSON schemas, not functions."""
        for name in (
            "continue_final_message",
            "return_assistant_tokens_mask",
            "sanitize_control_tokens",
            "tokenizer_kwargs",
            "return_dict",
        ):
            if variables.pop(name, None):
                raise InvalidArgumentError(f"apply_chat_template: '{name}' is not supported")
        if chat_template is not None and (
            not isinstance(chat_template, str) or "{" in chat_template or "\0" in chat_template
        ):
            raise InvalidArgumentError(
                "chat_template: expected the name of a template that was compiled with the model"
            )
        if not isinstance(conversation, (list, tuple)):
            raise InvalidArgumentError(f"conversation: expected a list of messages, got {type(conversation).__name__}")
        given = dict(
            variables,
            messages=list(conversation),
            tools=tools,
            documents=documents,
            add_generation_prompt=bool(add_generation_prompt),
        )
        text, _ = _attune.render_chat(self._handle, dump_variables(given, "apply_chat_template"), chat_template or "")
        if not tokenize:
            if return_tensors:
                raise InvalidArgumentError("return_tensors: only with tokenize=True")
            return text
        ids = self(text, add_special_tokens=False, return_tensors=return_tensors)["input_ids"]
        return ids


def dump_variables(variables: dict[str, Any], origin: str) -> str:
    """Returns the variables of a chat template as JSON."""
    try:
        text = json.dumps(
            {name: value for name, value in variables.items() if value is not None}, ensure_ascii=False, allow_nan=False
        )
        text.encode()
        return text
    except UnicodeEncodeError:
        raise InvalidArgumentError(
            f"{origin}: a text has characters that Unicode has no UTF-8 for (surrogates)"
        ) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgumentError(
            f"{origin}: a value is neither a text, a number, a list nor a dictionary: {describe(str(error))}"
        ) from None


def _texts(texts: Sequence[Any]) -> Sequence[Any]:
    if isinstance(texts, (str, bytes)) or not isinstance(texts, (list, tuple)):
        raise InvalidArgumentError(f"expected a list of texts, got {type(texts).__name__}")
    for text in texts:
        parts = text if isinstance(text, (tuple, list)) and len(text) == 2 else (text,)
        for part in parts:
            if not isinstance(part, str):
                raise InvalidArgumentError(f"expected a text, got {type(part).__name__}")
    return [tuple(text) if isinstance(text, list) else text for text in texts]


def _ids(ids: Any) -> list[int]:
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    if isinstance(ids, int) and not isinstance(ids, bool):
        ids = [ids]
    if isinstance(ids, (str, bytes)) or not isinstance(ids, (list, tuple, range)):
        raise InvalidArgumentError(f"expected a list of ids, got {type(ids).__name__}")
    result = []
    item: Any
    for item in ids:
        one = item.item() if getattr(item, "ndim", None) == 0 else item  # a number of NumPy or PyTorch
        if isinstance(one, bool) or not isinstance(one, int):
            raise InvalidArgumentError(f"expected ids, got an item of the class {type(one).__name__}")
        value = one
        if not -(2**31) <= value < 2**31:
            raise InvalidArgumentError(f"expected ids, got {value}")
        result.append(value)
    return result


def _check_choices(**values: Any) -> None:
    """Fails for values that are neither words nor truth values: comparisons with arrays would fail later."""
    for name, value in values.items():
        if value is not None and not isinstance(value, (bool, str)):
            raise InvalidArgumentError(f"{name}: expected a word or True or False, got {describe(value)}")


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**40:
        raise InvalidArgumentError(f"{name}: expected a number of tokens, got {describe(value)}")
    return value


def _tensor(array: Any, kind: str) -> Any:
    if kind == "np":
        return array
    import torch

    return torch.from_numpy(array)
