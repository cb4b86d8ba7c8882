# ===- typed_program.py - A program that mypy checks -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Uses the package as a program with strict types does; scripts/check-python runs mypy on it."""

from __future__ import annotations

import attune
from attune.integrations import LangChainEmbeddings


async def use(path: str) -> None:
    model = attune.Model(path, threads=2, dtype="bf16")
    outputs: attune.Outputs = model(input_ids=[[1, 2]])
    print(outputs.last_hidden_state, model.entries["forward"].inputs[0].shape, model.labels)
    with model.session(batch=2, length=8) as session:
        session.run("prefill", input_ids=[[1]])
        count: int = session.slot_length(0)
        print(count)
    for piece in model.stream("text", max_new_tokens=5):
        print(piece)
    async for piece in model.stream("text"):
        print(piece)
    reply: attune.Reply = model.chat(system="Be kind.").send("Hello")
    print(reply.text, attune.compile(path, "out.so", limit={"length": 8}))
    tokenizer: attune.Tokenizer = model.tokenizer
    ids: list[int] = tokenizer.encode("text", max_length=5).ids
    encoder: attune.SentenceTransformer = attune.SentenceTransformer(path, threads=1, dtype="bf16")
    print(encoder.encode(["text"], normalize_embeddings=True), encoder.prompts["query"], encoder.max_seq_length)
    print(attune.pipeline("fill-mask", model)("a [MASK]"), attune.quantize_embeddings([[1.0]], "binary"))
    vectors: list[list[float]] = LangChainEmbeddings(encoder).embed_documents(["text"])
    print(vectors)
    try:
        print(tokenizer.decode(ids), tokenizer(["a"], padding=True, return_tensors="np")["input_ids"])
    except attune.InvalidArgumentError as error:
        print(error.status)
