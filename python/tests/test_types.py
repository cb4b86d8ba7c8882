# ===- test_types.py - The stub of the compiled module ---------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stub declares what the compiled module has, with the same names of arguments. mypy's stubtest does not know the
functions of nanobind."""

from __future__ import annotations

import ast
import pathlib
import re

import attune
from attune import _attune

STUB = ast.parse((pathlib.Path(attune.__file__).parent / "_attune.pyi").read_text())


def arguments_of(function) -> list[str]:
    """Returns the names of arguments in the signature that nanobind writes into the documentation."""
    signature = function.__doc__.splitlines()[0]
    inside = signature[signature.index("(") + 1 : signature.rindex(")")]
    while (shorter := re.sub(r"\[[^\[\]]*\]|\([^()]*\)", "", inside)) != inside:
        inside = shorter
    return [part.split(":")[0].strip() for part in inside.split(",") if part.strip() not in ("", "/", "*")]


def check_functions(nodes, found, where) -> None:
    declared = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    assert declared, where
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            names = [argument.arg for argument in node.args.args]
            assert arguments_of(getattr(found, node.name)) == names, f"{where}.{node.name}"
    public = {name for name in vars(found) if not name.startswith("_")}
    assert (
        public - declared - {"ABI_VERSION"} - {name for name in public if isinstance(getattr(found, name), type)}
        == set()
    ), where


def test_stub():
    check_functions(STUB.body, _attune, "_attune")
    types = {name for name, value in vars(_attune).items() if isinstance(value, type)}
    declared = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
    assert types <= set(declared)
    for name in types:
        check_functions(declared[name].body, getattr(_attune, name), name)


def test_every_public_name_is_documented():
    for name in attune.__all__:
        value = getattr(attune, name)
        if not isinstance(value, str):
            assert value.__doc__, name
    from attune import integrations, pipelines

    classes = [attune.Model, attune.Session, attune.Tokenizer, attune.Encoding, attune.Chat, attune.Stream]
    classes += [attune.SentenceTransformer, attune.Pipeline, *pipelines._PIPELINES.values()]
    classes += [integrations.LangChainEmbeddings, integrations.LlamaIndexEmbedding, integrations.TextEncoder]
    for cls in classes:
        assert cls.__doc__, cls.__name__
        for name, member in vars(cls).items():
            if not name.startswith("_") and not isinstance(member, (str, tuple)):
                assert member.__doc__, f"{cls.__name__}.{name}"
