# ===- __init__.py - The package attune ------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs transformer models that Attune has compiled.

    model = attune.Model("bert.so")                       # or a model folder, which is compiled once and kept
    outputs = model(input_ids=[[101, 7592, 102]])         # arrays of NumPy, or anything with DLPack
    outputs.last_hidden_state.shape                       # (1, 3, 768)

    attune.compile("bert-folder", "bert.so", dtype="bf16")
    model.generate("Once upon a time", max_new_tokens=20) # of a model that generates text
    for piece in model.stream("Once upon a time"): ...    # text as it comes; `async for`, too

    attune.SentenceTransformer("folder").encode(texts)    # as sentence-transformers
    attune.pipeline("fill-mask", "folder")("a [MASK]")    # as the pipelines of transformers

Errors are exceptions of attune.errors, one class for each status of the runtime.
"""

from attune._attune import __version__
from attune.errors import (
    BusyError,
    CompileError,
    CompileWarning,
    CorruptError,
    DeviceError,
    Error,
    FileAccessError,
    IncompatibleError,
    InternalError,
    InvalidArgumentError,
    LimitExceededError,
    NotFoundError,
    OutOfMemoryError,
)
from attune._pipeline import Pipeline, TextsCutWarning
from attune.chat import Chat, Reply
from attune.compiler import compile
from attune.generation import GeneratedText, GenerationOutput, Stream
from attune.model import Entry, Model, Outputs, Session, TensorInfo
from attune.pipelines import pipeline
from attune.sentence_transformer import SentenceTransformer, quantize_embeddings
from attune.tokenizer import BatchEncoding, Encoding, Tokenizer

__all__ = [
    "BatchEncoding",
    "BusyError",
    "Chat",
    "CompileError",
    "CompileWarning",
    "CorruptError",
    "DeviceError",
    "Encoding",
    "Entry",
    "Error",
    "FileAccessError",
    "GeneratedText",
    "GenerationOutput",
    "IncompatibleError",
    "InternalError",
    "InvalidArgumentError",
    "LimitExceededError",
    "Model",
    "NotFoundError",
    "OutOfMemoryError",
    "Outputs",
    "Pipeline",
    "Reply",
    "SentenceTransformer",
    "Session",
    "Stream",
    "TensorInfo",
    "TextsCutWarning",
    "Tokenizer",
    "__version__",
    "compile",
    "pipeline",
    "quantize_embeddings",
]
