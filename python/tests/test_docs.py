# ===- test_docs.py - The commands of docs/python.md -----------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the blocks of the page that are marked `test: python`, in order, in one namespace; the block marked
`test: python-output` that follows one says what it prints, where `…` stands for anything."""

from __future__ import annotations

import contextlib
import io
import re

from conftest import ROOT, init_headed, run_attune


def test_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_attune("init", ROOT / "examples/configs/bert-tiny", "-o", "bert")
    run_attune("init", ROOT / "examples/configs/chat-tiny", "-o", "talker")
    run_attune("init", ROOT / "examples/configs/sentence-tiny", "-o", "finder")
    init_headed(tmp_path, "BertForMaskedLM", "filler")
    page = (ROOT / "docs/python.md").read_text()
    blocks = re.findall(r"<!-- test: (python|python-output) -->\n```\w+\n(.*?)```\n", page, re.S)
    assert len(blocks) > 8
    names: dict[str, object] = {}
    printed = ""
    for kind, block in blocks:
        if kind == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(block, "docs/python.md", "exec"), names)
            printed = output.getvalue()
        else:
            pattern = re.escape(block.rstrip("\n")).replace("…", "[^\n]*")
            assert re.fullmatch(pattern, printed.rstrip("\n")), printed


def test_refused_arguments_are_in_the_table():
    from attune.generation import UNSUPPORTED

    page = (ROOT / "docs/python.md").read_text()
    assert [name for name in UNSUPPORTED if f"`{name}`" not in page] == []
