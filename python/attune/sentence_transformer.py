# ===- sentence_transformer.py - Texts to vectors ---------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Embeddings with the interface of sentence-transformers. Vectors are those of `attune embed`."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Mapping, Sequence

from attune._arguments import check_choice, check_device, check_flag, check_integer, refuse
from attune.compiler import Progress, StrPath
from attune.errors import InvalidArgumentError, describe
from attune.model import Model, open_for_texts
from attune.tokenizer import BatchEncoding, Tokenizer

# attune_task_kind of attune/tasks.h.
_EMBED = 0
_SIMILARITIES = ("cosine", "dot", "euclidean", "manhattan")
_PRECISIONS = ("float32", "int8", "uint8", "binary", "ubinary")
_LEAST_NORM = 1e-12
# Exceptions of NumPy for objects that are no arrays of numbers, as lists of different lengths.
_NO_ARRAY = (TypeError, ValueError, RuntimeError, BufferError, OverflowError)

# Arguments of sentence-transformers that this package lacks, and what takes their place.
UNSUPPORTED: dict[str, str] = {
    "modules": "a model folder, or what was compiled of it, is opened as a whole",
    "cache_folder": "nothing is downloaded; HF_HOME names the cache of the hub",
    "trust_remote_code": "no code of others runs",
    "revision": "nothing is downloaded",
    "token": "nothing is downloaded",
    "use_auth_token": "nothing is downloaded",
    "model_kwargs": "give the flags of the compiler as arguments, as dtype='bf16'",
    "processor_kwargs": "the tokenizer is compiled as the folder says",
    "tokenizer_kwargs": "the tokenizer is compiled as the folder says",
    "config_kwargs": "give the flags of the compiler as arguments",
    "model_card_data": "models are not published",
    "backend": "the model is compiled",
    "pool": "one process uses all CPUs of its affinity mask",
    "chunk_size": "one process uses all CPUs of its affinity mask",
    "task": "give prompt_name, or call encode_query or encode_document",
}


def _name(name: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidArgumentError(f"{name}: expected a text, got {describe(value)}")
    return value


def _bar(wanted: bool, total: int) -> tuple[Callable[[int], None] | None, Callable[[], None]]:
    """Returns two functions for a bar of tqdm: one that takes the number of finished texts, None if no bar is wanted or tqdm is
    not installed, and one that ends the bar."""
    if wanted:
        with contextlib.suppress(ImportError):
            from tqdm.auto import tqdm

            bar = tqdm(total=total, desc="Texts")
            return (lambda done: bar.update(done - bar.n)), bar.close
    return None, lambda: None


def quantize_embeddings(embeddings: Any, precision: str) -> Any:
    """Returns |embeddings| float [rows, features] with fewer bits, as sentence-transformers does without calibration data.

    int8, uint8      [rows, features]: 256 steps between the least and the largest value of each feature of these rows
    binary, ubinary  [rows, features / 8]: one bit for each feature, 1 if it is above 0; binary is that minus 128
    """
    import numpy

    precision = check_choice("precision", precision, _PRECISIONS)
    try:
        rows = numpy.asarray(embeddings)
    except _NO_ARRAY:
        raise InvalidArgumentError(f"embeddings: expected floats [rows, features], got {describe(embeddings)}") from None
    if rows.ndim != 2 or rows.dtype.kind != "f":
        raise InvalidArgumentError(
            f"embeddings: expected floats [rows, features], got {rows.dtype} of rank {rows.ndim}"
        )
    if precision == "float32":
        return rows.astype(numpy.float32)
    if precision == "ubinary":
        return numpy.packbits(rows > 0, axis=-1)
    if precision == "binary":
        return (numpy.packbits(rows > 0, axis=-1) - 128).astype(numpy.int8)
    target = numpy.int8 if precision == "int8" else numpy.uint8
    if len(rows) == 0:
        return numpy.zeros(rows.shape, target)
    if len(rows) == 1:
        raise InvalidArgumentError(f"precision '{precision}': expected more than one text, whose values give the range of each feature")
    starts = rows.min(axis=0)
    steps = (rows.max(axis=0) - starts) / 255
    steps = numpy.where(steps == 0, 1, steps)
    values = numpy.clip(numpy.floor((rows - starts) / steps), 0, 255)
    return values.astype(target) if precision == "uint8" else (values - 128).astype(target)


def _normalize(rows: Any) -> Any:
    """Returns |rows| with the length 1 each, in the arithmetic of the runtime."""
    import numpy

    wide = rows.astype(numpy.float64)
    norms = numpy.sqrt((wide * wide).sum(axis=-1, keepdims=True))
    return (wide / numpy.maximum(norms, _LEAST_NORM)).astype(numpy.float32)


def _rows(name: str, embeddings: Any) -> Any:
    """Returns |embeddings|, an array, a tensor or a list of them, as float32 [rows, features]."""
    import numpy

    try:
        if isinstance(embeddings, (list, tuple)):
            array = numpy.stack([numpy.asarray(one) for one in embeddings])
        elif hasattr(embeddings, "__dlpack__") and not hasattr(embeddings, "__array_interface__"):
            array = numpy.from_dlpack(embeddings)
        else:
            array = numpy.asarray(embeddings)
        if array.dtype.kind not in "iuf":
            raise TypeError(array.dtype)
        with numpy.errstate(all="ignore"):
            array = array.astype(numpy.float32)
    except _NO_ARRAY:
        raise InvalidArgumentError(f"{name}: expected numbers [rows, features], got {describe(embeddings)}") from None
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2:
        raise InvalidArgumentError(f"{name}: expected numbers [rows, features], got an array of rank {array.ndim}")
    return array


def _is_tensor(value: Any) -> bool:
    """Returns True for a tensor of PyTorch, or a list that begins with one."""
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return type(first).__module__.partition(".")[0] == "torch"


def _like(result: Any, *sources: Any) -> Any:
    if not any(_is_tensor(source) for source in sources):
        return result
    import torch

    return torch.from_numpy(result)


class SentenceTransformer:
    """A model of sentence-transformers, compiled: texts to vectors with the methods and arguments of the original.

        encoder = attune.SentenceTransformer("all-MiniLM-L6-v2")          # a model folder, compiled once and kept
        vectors = encoder.encode(["a quick fox", "a lazy dog"])            # float32 [2, features]
        encoder.similarity(vectors, vectors)                              # float32 [2, 2]

    `path` is a model folder or a shared object, or an attune.Model. Modules, prompts, the length at which texts are cut and
    the similarity are those of the folder; a folder without modules.json gives the mean over tokens. `threads`, `weights`,
    `verify`, `gpu`, `progress` and the flags of the compiler are those of attune.Model. Any number of threads may use it at
    once. Vectors have the same bits as those of `attune embed`, whatever the batch.
    """

    SUPPORTED_SIMILARITY_FN_NAMES = _SIMILARITIES

    def __init__(
        self,
        path: StrPath | Model,
        *,
        device: str | None = None,
        prompts: Mapping[str, str] | None = None,
        default_prompt_name: str | None = None,
        similarity_fn_name: str | None = None,
        truncate_dim: int | None = None,
        local_files_only: bool = True,
        threads: int | None = None,
        weights: StrPath | None = None,
        verify: bool = False,
        gpu: int = 0,
        progress: Progress = True,
        **flags: Any,
    ) -> None:
        del local_files_only  # nothing is downloaded
        flags = refuse("SentenceTransformer", flags, UNSUPPORTED)
        if not isinstance(path, Model):
            flags["progress"] = progress
        self._model = open_for_texts(path, weights=weights, verify=verify, threads=threads, gpu=gpu, **flags)
        check_device(self._model, device)
        self._task = self._model._text_task(_EMBED)
        self.prompts: dict[str, str] = {"query": "", "document": "", **self._task.prompts()}
        if prompts is not None and not isinstance(prompts, Mapping):
            raise InvalidArgumentError(f"prompts: expected texts by name, got {describe(prompts)}")
        for key, value in (prompts or {}).items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise InvalidArgumentError(f"prompts: expected texts by name, got {describe(prompts)}")
            self.prompts[key] = value
        if _name("default_prompt_name", default_prompt_name) is not None and default_prompt_name not in self.prompts:
            raise InvalidArgumentError(
                f"default_prompt_name: expected one of {', '.join(self.prompts)}, got {describe(default_prompt_name)}"
            )
        self.default_prompt_name = default_prompt_name
        self.truncate_dim = None if truncate_dim is None else check_integer("truncate_dim", truncate_dim)
        self._similarity = _SIMILARITIES[self._task.similarity()]
        if similarity_fn_name is not None:
            self.similarity_fn_name = similarity_fn_name
        self._size = self._task.embedding_size()
        self._max_length = 0
        self._model_length: int | None = None

    # --- Facts ---

    @property
    def model(self) -> Model:
        """The compiled model."""
        return self._model

    @property
    def device(self) -> str:
        """ "cpu" or "cuda"."""
        return self._model.device

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the model."""
        return self._model.tokenizer

    @property
    def max_seq_length(self) -> int:
        """The most tokens of a text, special ones included; longer texts are cut. May be set to less than folder and model
        allow."""
        if self._model_length is None:
            self._model._open()
            self._model_length = self._task.max_length()
        return min(self._max_length or self._model_length, self._model_length)

    @max_seq_length.setter
    def max_seq_length(self, value: int | None) -> None:
        self._max_length = 0 if value is None else check_integer("max_seq_length", value, 1, 1 << 24)

    def get_max_seq_length(self) -> int:
        """Returns max_seq_length."""
        return self.max_seq_length

    def get_embedding_dimension(self) -> int:
        """Returns the number of features of an embedding, after truncation."""
        return self._size if self.truncate_dim is None else min(self._size, self.truncate_dim)

    def get_sentence_embedding_dimension(self) -> int:
        """Returns the number of features of an embedding, after truncation."""
        return self.get_embedding_dimension()

    def __repr__(self) -> str:
        return f"attune.SentenceTransformer('{self._model.path}', features={self._size}, similarity='{self._similarity}')"

    # --- Embeddings ---

    def encode(
        self,
        sentences: Any = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        output_value: str | None = "sentence_embedding",
        precision: str = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: str | None = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        **more: Any,
    ) -> Any:
        """Returns the embeddings of |sentences|: float32 [texts, features] for a list, [features] for one text, an
        empty array of rank 1 for an empty list.

        prompt_name, prompt   the name of a prompt, or a text, that goes before each text; by default the model's
        batch_size            most texts that are computed at once; it changes no bit of a result
        show_progress_bar     True for a bar of tqdm, where it is installed
        precision             "float32", "int8", "uint8", "binary" or "ubinary", see quantize_embeddings
        convert_to_numpy      False: a list of tensors of PyTorch; convert_to_tensor=True: one tensor
        normalize_embeddings  True: vectors have the length 1
        truncate_dim          keeps the first features

        `sentences` is called `inputs` in newer versions of the original; both names are taken."""
        if "inputs" in more:
            if sentences is not None:
                raise InvalidArgumentError("encode: expected sentences or inputs, got both")
            sentences = more.pop("inputs")
        for unknown in refuse("encode", more, UNSUPPORTED):
            raise InvalidArgumentError(f"encode: unknown argument '{unknown}'")
        if not isinstance(output_value, str) or output_value != "sentence_embedding":
            raise InvalidArgumentError(
                f"encode: output_value: expected 'sentence_embedding', got {describe(output_value)}: "
                "model(entry='forward', …) gives the vectors of tokens"
            )
        check_device(self._model, device)
        precision = "float32" if precision is None else check_choice("precision", precision, _PRECISIONS)
        wanted = self.truncate_dim if truncate_dim is None else check_integer("truncate_dim", truncate_dim)
        single = isinstance(sentences, str)
        texts = [sentences] if single else self._list(sentences)
        normalize = bool(check_flag("normalize_embeddings", normalize_embeddings))
        to_numpy = bool(check_flag("convert_to_numpy", convert_to_numpy))
        to_tensor = bool(check_flag("convert_to_tensor", convert_to_tensor))
        cuts = wanted is not None and wanted < self._size
        self._model._open()
        progress, close = _bar(bool(check_flag("show_progress_bar", show_progress_bar)), len(texts))
        try:
            vectors, _ = self._task.embed(
                texts,
                check_integer("batch_size", batch_size),
                self._max_length,
                None,
                self._prompt(prompt_name, prompt),
                normalize and not cuts,
                progress,
            )
        finally:
            close()
        result: Any = vectors
        if cuts:
            result = vectors[:, :wanted].copy()
            if normalize:
                result = _normalize(result)
        if precision != "float32" and texts:
            result = quantize_embeddings(result, precision)
        return self._convert(result, single, to_numpy, to_tensor)

    def encode_query(self, sentences: Any = None, *args: Any, **arguments: Any) -> Any:
        """Returns the embeddings of queries: encode with the prompt "query" unless another is given."""
        return self._encode_as(("query",), sentences, args, arguments)

    def encode_document(self, sentences: Any = None, *args: Any, **arguments: Any) -> Any:
        """Returns the embeddings of documents: encode with the prompt "document", "passage" or "corpus", the first in `prompts`,
        unless another is given. As in the original, `prompts` has "document" in any case, "" if the model lacks it."""
        return self._encode_as(("document", "passage", "corpus"), sentences, args, arguments)

    def _encode_as(self, names: Sequence[str], sentences: Any, args: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
        given = [*args[:2], arguments.get("prompt_name"), arguments.get("prompt")]
        if all(one is None for one in given):
            name = next((name for name in names if name in self.prompts), None)
            if args:
                args = (name, *args[1:])
            else:
                arguments["prompt_name"] = name
        return self.encode(sentences, *args, **arguments)

    def _list(self, sentences: Any) -> list[str]:
        """Returns the texts of a list, a tuple, an array of NumPy or another iterable."""
        if isinstance(sentences, list):
            texts = sentences
        elif hasattr(sentences, "tolist"):
            texts = sentences.tolist()
        elif isinstance(sentences, (bytes, bytearray, memoryview, Mapping)) or not hasattr(sentences, "__iter__"):
            raise InvalidArgumentError(f"sentences: expected a text or a list of texts, got {describe(sentences)}")
        else:
            texts = list(sentences)
        if not isinstance(texts, list):
            raise InvalidArgumentError(f"sentences: expected a text or a list of texts, got {describe(sentences)}")
        for text in texts:
            if not isinstance(text, str):
                raise InvalidArgumentError(f"sentences: expected texts, got an item of the class {type(text).__name__}")
        return texts

    def _prompt(self, prompt_name: str | None, prompt: str | None) -> str | None:
        """Returns the text that goes before each text, None for the default of the model."""
        if _name("prompt", prompt) is not None:
            return prompt
        name = _name("prompt_name", prompt_name)
        if name is None:
            name = self.default_prompt_name
        if name is None:
            return None
        if name not in self.prompts and name != "":
            raise InvalidArgumentError(
                f"prompt_name: expected one of the model's prompts, {', '.join(self.prompts)}, got {describe(name)}"
            )
        return self.prompts.get(name, "")

    @staticmethod
    def _convert(result: Any, single: bool, to_numpy: bool, to_tensor: bool) -> Any:
        import numpy

        if to_tensor or not to_numpy:
            import torch

            if to_tensor:
                tensor = torch.from_numpy(result) if len(result) else torch.tensor([])
                return tensor[0] if single else tensor
            tensors = list(torch.from_numpy(result)) if len(result) else []
            return tensors[0] if single else tensors
        if len(result) == 0:
            return numpy.array([])
        return result[0] if single else result

    @contextlib.contextmanager
    def truncate_sentence_embeddings(self, truncate_dim: int | None) -> Iterator[None]:
        """Sets truncate_dim inside a `with` statement."""
        kept = self.truncate_dim
        self.truncate_dim = None if truncate_dim is None else check_integer("truncate_dim", truncate_dim)
        try:
            yield
        finally:
            self.truncate_dim = kept

    def tokenize(self, texts: Sequence[str]) -> BatchEncoding:
        """Returns the ids of |texts| as encode computes them without a prompt: int64 [texts, length], padded on the right and
        cut at max_seq_length."""
        items = [texts] if isinstance(texts, str) else self._list(texts)
        return self._model.tokenizer(
            items, padding=True, truncation=True, max_length=self.max_seq_length, return_tensors="np"
        )

    # --- Similarity ---

    @property
    def similarity_fn_name(self) -> str:
        """The function that compares embeddings: "cosine", "dot", "euclidean" or "manhattan"; the last two are minus the
        distance. May be set."""
        return self._similarity

    @similarity_fn_name.setter
    def similarity_fn_name(self, value: str | None) -> None:
        self._similarity = "cosine" if value is None else check_choice("similarity_fn_name", value, _SIMILARITIES)

    def _compared(self, embeddings1: Any, embeddings2: Any) -> tuple[Any, Any]:
        a, b = _rows("embeddings1", embeddings1), _rows("embeddings2", embeddings2)
        if a.shape[1] != b.shape[1]:
            raise InvalidArgumentError(
                f"embeddings2: expected {a.shape[1]} features as embeddings1, got {b.shape[1]}"
            )
        return (_normalize(a), _normalize(b)) if self._similarity == "cosine" else (a, b)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Returns the similarity of each row of |embeddings1| [a, features] to each of |embeddings2| [b, features]: float32
        [a, b], an array of NumPy, or a tensor if one of them is a tensor of PyTorch."""
        import numpy

        a, b = self._compared(embeddings1, embeddings2)
        if self._similarity in ("cosine", "dot"):
            result = a @ b.T
        else:
            order = 1 if self._similarity == "manhattan" else 2
            result = numpy.empty((len(a), len(b)), numpy.float32)
            for row, one in enumerate(a):
                result[row] = -numpy.linalg.norm(b - one, ord=order, axis=1)
        return _like(result, embeddings1, embeddings2)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Returns the similarity of each row of |embeddings1| [rows, features] to the same row of |embeddings2|: float32
        [rows], as similarity."""
        import numpy

        a, b = self._compared(embeddings1, embeddings2)
        if len(a) != len(b):
            raise InvalidArgumentError(f"embeddings2: expected {len(a)} rows as embeddings1, got {len(b)}")
        if self._similarity in ("cosine", "dot"):
            result = (a * b).sum(axis=1)
        else:
            result = -numpy.linalg.norm(a - b, ord=1 if self._similarity == "manhattan" else 2, axis=1)
        return _like(result, embeddings1, embeddings2)

    # --- Lifetime ---

    def close(self) -> None:
        """Gives up the model and its memory. May be called twice."""
        self._model.close()

    def __enter__(self) -> SentenceTransformer:
        self._model._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
