# ===- test_integrations.py - Models inside other packages -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that need PyTorch are skipped where it is missing: requirements-test.txt does not name it, since it is large."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

import attune
from attune.integrations import LangChainEmbeddings, LlamaIndexEmbedding

IDS = np.array([[101, 7592, 102, 5], [101, 102, 7, 9]])


def test_module_takes_and_returns_tensors(bert):
    torch = pytest.importorskip("torch")
    from attune.integrations import TorchModule

    module = TorchModule(bert.model)
    expected = bert.model(input_ids=IDS)
    found = module(input_ids=torch.from_numpy(IDS))
    assert list(found) == list(expected)
    for name, array in expected.items():
        assert isinstance(found[name], torch.Tensor) and found[name].numpy().tobytes() == array.tobytes()
    assert torch.equal(found.last_hidden_state, found["last_hidden_state"])
    inside = torch.nn.Sequential(torch.nn.Identity(), module)
    assert torch.equal(inside(torch.from_numpy(IDS)).last_hidden_state, found.last_hidden_state)
    assert not list(module.parameters()) and "input_ids" in repr(module)


def test_module_refuses_gradients_and_unknown_entries(bert):
    torch = pytest.importorskip("torch")
    from attune.integrations import TorchModule

    with pytest.raises(attune.InvalidArgumentError, match="no gradients"):
        TorchModule(bert.model)(input_ids=torch.zeros(1, 4, requires_grad=True))
    with pytest.raises(attune.InvalidArgumentError, match="no entry 'nothing'"):
        TorchModule(bert.model, "nothing")


def test_langchain(finder):
    store = LangChainEmbeddings(finder, encode_kwargs={"normalize_embeddings": True})
    texts = ["a fox", "the dog"]
    documents = store.embed_documents(texts)
    assert documents == finder.encode(texts, prompt_name="document", normalize_embeddings=True).tolist()
    query = store.embed_query("a fox")
    assert query == finder.encode("a fox", prompt_name="query", normalize_embeddings=True).tolist() != documents[0]
    assert type(query[0]) is float and store.embed_documents([]) == []
    assert asyncio.run(store.aembed_documents(texts)) == documents and asyncio.run(store.aembed_query("a fox")) == query


def test_llama_index(finder):
    index = LlamaIndexEmbedding(finder)
    texts = ["a fox", "the dog"]
    documents = index.get_text_embedding_batch(texts, show_progress=False)
    assert documents == finder.encode_document(texts).tolist()
    assert index.get_text_embedding(texts[0]) == documents[0] and index.model_name == finder.model.path
    query = index.get_query_embedding("a fox")
    assert query == finder.encode_query("a fox").tolist()
    assert index.get_agg_embedding_from_queries(["a fox", "a fox"]) == query
    assert abs(index.similarity(query, query) - 1) < 1e-6
    assert asyncio.run(index.aget_text_embedding(texts[1])) == documents[1]
    assert asyncio.run(index.aget_query_embedding("a fox")) == query
    assert asyncio.run(index.aget_text_embedding_batch(texts)) == documents

    class Node:
        embedding = None

        def get_content(self, metadata_mode):
            return "a fox"

    assert index([Node()])[0].embedding == documents[0]


def test_integrations_refuse(finder):
    with pytest.raises(attune.InvalidArgumentError, match="threads: only for a path"):
        LangChainEmbeddings(finder, threads=2)
    with pytest.raises(attune.InvalidArgumentError, match="expected a text"):
        LangChainEmbeddings(finder).embed_query(["a"])
    with pytest.raises(attune.InvalidArgumentError, match="unknown argument 'batch'"):
        LangChainEmbeddings(finder, encode_kwargs={"batch": 2}).embed_query("a")
    with pytest.raises(AttributeError, match="nothing"):
        attune.integrations.nothing
