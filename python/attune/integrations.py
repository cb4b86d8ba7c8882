# ===- integrations.py - Models for other packages -------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interfaces of LangChain, LlamaIndex, scikit-learn and PyTorch around models. None of these packages is needed but
PyTorch, which is imported when `TorchModule` is first named."""

from __future__ import annotations

from typing import Any, Iterable, Sequence

from attune.errors import InvalidArgumentError, describe
from attune.sentence_transformer import SentenceTransformer

__all__ = ["LangChainEmbeddings", "LlamaIndexEmbedding", "TextEncoder", "TorchModule"]


def __getattr__(name: str) -> Any:
    if name == "TorchModule":
        from attune._torch import TorchModule

        return TorchModule
    raise AttributeError(f"module 'attune.integrations' has no attribute '{name}'")


class _Embeddings:
    """An encoder, and the arguments of its calls."""

    def __init__(self, encoder: Any, *, encode_kwargs: dict[str, Any] | None = None, **flags: Any) -> None:
        if isinstance(encoder, SentenceTransformer):
            if flags:
                raise InvalidArgumentError(f"{next(iter(flags))}: only for a path, got an open encoder")
            self.encoder = encoder
        else:
            self.encoder = SentenceTransformer(encoder, **flags)
        if encode_kwargs is not None and not isinstance(encode_kwargs, dict):
            raise InvalidArgumentError(f"encode_kwargs: expected a dictionary, got {describe(encode_kwargs)}")
        self.encode_kwargs = dict(encode_kwargs or {})

    def _documents(self, texts: Iterable[str], show_progress: bool = False) -> list[list[float]]:
        arguments = {**self.encode_kwargs, **({"show_progress_bar": True} if show_progress else {})}
        vectors = self.encoder.encode_document(list(texts), **arguments)
        return [[float(value) for value in row] for row in vectors.tolist()]

    def _query(self, text: str) -> list[float]:
        if not isinstance(text, str):
            raise InvalidArgumentError(f"expected a text, got {describe(text)}")
        return [float(value) for value in self.encoder.encode_query(text, **self.encode_kwargs).tolist()]


class LangChainEmbeddings(_Embeddings):
    """The interface `Embeddings` of LangChain: documents get the prompt "document" of the model, queries its prompt "query".

        store = InMemoryVectorStore(LangChainEmbeddings("folder"))

    `encoder` is an attune.SentenceTransformer, or what it opens with the same flags; `encode_kwargs` are arguments of its
    method encode, as {"normalize_embeddings": True}."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Returns a vector of floats [features] for each text."""
        return self._documents(texts)

    def embed_query(self, text: str) -> list[float]:
        """Returns the vector of a query, floats [features]."""
        return self._query(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """The same as embed_documents, in a thread."""
        import asyncio

        return await asyncio.to_thread(self._documents, texts)

    async def aembed_query(self, text: str) -> list[float]:
        """The same as embed_query, in a thread."""
        import asyncio

        return await asyncio.to_thread(self._query, text)


class LlamaIndexEmbedding(_Embeddings):
    """The interface `BaseEmbedding` of LlamaIndex. Arguments are those of LangChainEmbeddings."""

    @property
    def model_name(self) -> str:
        """The path of the model."""
        return self.encoder.model.path

    def get_text_embedding(self, text: str) -> list[float]:
        """Returns the vector of a document, floats [features]."""
        return self._documents([text])[0]

    def get_query_embedding(self, query: str) -> list[float]:
        """Returns the vector of a query, floats [features]."""
        return self._query(query)

    def get_text_embedding_batch(self, texts: list[str], show_progress: bool = False) -> list[list[float]]:
        """Returns a vector for each document. show_progress=True: with a bar of tqdm, where it is installed."""
        return self._documents(texts, show_progress)

    def get_agg_embedding_from_queries(self, queries: list[str], agg_fn: Any = None) -> list[float]:
        """Returns the mean of the vectors of queries, or what |agg_fn| makes of them."""
        vectors = [self._query(query) for query in queries]
        if agg_fn is not None:
            return list(agg_fn(vectors))
        if not vectors:
            raise InvalidArgumentError("expected a query at least, got none")
        return [sum(column) / len(vectors) for column in zip(*vectors)]

    def similarity(self, embedding1: Sequence[float], embedding2: Sequence[float], mode: Any = None) -> float:
        """Returns the similarity of two vectors by the model's function."""
        if mode is not None:
            raise InvalidArgumentError("similarity: 'mode' is not supported: similarity_fn_name of the encoder decides")
        return float(self.encoder.similarity(list(embedding1), list(embedding2))[0][0])

    async def aget_text_embedding(self, text: str) -> list[float]:
        """The same as get_text_embedding, in a thread."""
        return (await self.aget_text_embedding_batch([text]))[0]

    async def aget_query_embedding(self, query: str) -> list[float]:
        """The same as get_query_embedding, in a thread."""
        import asyncio

        return await asyncio.to_thread(self._query, query)

    async def aget_text_embedding_batch(self, texts: list[str], show_progress: bool = False) -> list[list[float]]:
        """The same as get_text_embedding_batch, in a thread."""
        import asyncio

        return await asyncio.to_thread(self._documents, texts, show_progress)

    def __call__(self, nodes: Sequence[Any], **_: Any) -> Sequence[Any]:
        """Sets `embedding` of each node, as a transformation of LlamaIndex."""
        texts = [node.get_content(metadata_mode="embed") for node in nodes]
        for node, vector in zip(nodes, self._documents(texts)):
            node.embedding = vector
        return nodes


class TextEncoder:
    """A transformer of scikit-learn: texts to features float32 [texts, features], for pipelines, grid searches and clones.

        make_pipeline(TextEncoder("folder"), LogisticRegression()).fit(texts, labels)

    model        what attune.SentenceTransformer opens; it is opened at first use, as by fit or transform
    prompt_name, normalize_embeddings, truncate_dim, batch_size   arguments of its method encode
    threads      workers of a call
    """

    _NAMES = ("model", "prompt_name", "normalize_embeddings", "truncate_dim", "batch_size", "threads")

    def __init__(
        self,
        model: Any = None,
        *,
        prompt_name: str | None = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        batch_size: int = 32,
        threads: int | None = None,
    ) -> None:
        # As scikit-learn wants it: arguments are kept as they are and checked when they are used.
        self.model = model
        self.prompt_name = prompt_name
        self.normalize_embeddings = normalize_embeddings
        self.truncate_dim = truncate_dim
        self.batch_size = batch_size
        self.threads = threads
        self._opened: tuple[Any, Any, SentenceTransformer] | None = None

    def _open(self) -> SentenceTransformer:
        if isinstance(self.model, SentenceTransformer):
            return self.model
        if self.model is None:
            raise InvalidArgumentError("TextEncoder: expected a model, got none")
        opened = self._opened
        if opened is None or opened[0] is not self.model or opened[1] != self.threads:
            encoder = SentenceTransformer(self.model, threads=self.threads, progress=False)
            self._opened = opened = (self.model, self.threads, encoder)
        return opened[2]

    def fit(self, X: Any, y: Any = None) -> TextEncoder:
        """Opens the model; learns nothing."""
        self.n_features_out_ = self._size()
        return self

    def _size(self) -> int:
        size = self._open().get_embedding_dimension()
        return size if self.truncate_dim is None else min(size, self.truncate_dim)

    def transform(self, X: Any) -> Any:
        """Returns the embeddings of the texts |X|: float32 [texts, features]."""
        if isinstance(X, str):
            raise InvalidArgumentError(f"TextEncoder: expected a list of texts, got {describe(X)}")
        found = self._open().encode(
            X,
            prompt_name=self.prompt_name,
            normalize_embeddings=self.normalize_embeddings,
            truncate_dim=self.truncate_dim,
            batch_size=self.batch_size,
        )
        return found if len(found) else found.reshape(0, self._size()).astype("float32")

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Returns the embeddings of |X|."""
        return self.fit(X, y).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Returns the names of the features, "embedding0", "embedding1", …."""
        import numpy

        return numpy.array([f"embedding{number}" for number in range(self._size())], dtype=object)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns the arguments by name."""
        return {name: getattr(self, name) for name in self._NAMES}

    def set_params(self, **params: Any) -> TextEncoder:
        """Sets arguments by name."""
        for name, value in params.items():
            if name not in self._NAMES:
                raise InvalidArgumentError(f"TextEncoder: unknown argument '{name}', expected one of {', '.join(self._NAMES)}")
            setattr(self, name, value)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(string=True, two_d_array=False, one_d_array=True),
            requires_fit=False,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leaves the open model out: a copy in another process opens its own."""
        return {**self.__dict__, "_opened": None}

    def __repr__(self) -> str:
        return f"TextEncoder({self.model!r})"
