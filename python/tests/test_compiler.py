# ===- test_compiler.py - Compilation from Python --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

import attune
from attune import compiler
from conftest import COMMAND, run_attune


def test_files_equal_the_command_lines(bert, tmp_path):
    run_attune("compile", bert.path, "-o", tmp_path / "bert-tiny.so", "--emit=shared")
    assert (tmp_path / "bert-tiny.so").read_bytes() == bert.object.read_bytes()
    assert (tmp_path / "bert-tiny.weights").read_bytes() == bert.object.with_suffix(".weights").read_bytes()


def test_progress(bert, tmp_path):
    steps = []
    attune.compile(bert.path, tmp_path / "x.o", progress=lambda *step: steps.append(step), limit={"length": 64})
    assert (
        steps
        and all(work == "packing" and done <= total for work, done, total in steps)
        and steps[-1][1] == steps[-1][2]
    )

    def fails(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attune.compile(bert.path, tmp_path / "y.o", progress=fails)


def test_cache_is_the_command_lines(chat, tmp_path, monkeypatch):
    monkeypatch.setenv("ATTUNE_CACHE_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    model = attune.Model(chat.path, progress=False, limit={"length": 64})
    (kept,) = json.loads(run_attune("cache", "list", "--json"))["entries"]
    assert kept["in_use"] and "--limit=length=64" in kept["flags"]
    run_attune("cache", "clear")
    assert os.path.exists(model.weights_path)
    assert model.generate([5, 6], max_new_tokens=4).tolist() == chat.model.generate([5, 6], max_new_tokens=4).tolist()
    # The command line finds it.
    done = subprocess.run(
        [COMMAND, "inspect", chat.path, "--limit=length=64"], capture_output=True, text=True, check=True
    )
    assert "compiling" not in done.stderr
    del model
    run_attune("cache", "clear")
    assert json.loads(run_attune("cache", "list", "--json"))["entries"] == []


def test_kept_models_are_not_lost_between_command_and_lock(monkeypatch, bert, tmp_path):
    monkeypatch.setenv("ATTUNE_CACHE_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    run, removed = compiler.run_command, []

    def remove_once(*arguments):
        path = run(*arguments)
        if not removed:
            removed.append(path)
            shutil.rmtree(os.path.dirname(path.strip()))
        return path

    monkeypatch.setattr(compiler, "run_command", remove_once)
    assert attune.Model(bert.path, progress=False)([[101]]).pooler_output.shape == (1, 128)
    assert removed


def test_errors(bert, tmp_path, monkeypatch):
    with pytest.raises(
        attune.CompileError, match="--dtype=f16: not implemented for --target=cpu, expected f32, bf16 or int8"
    ):
        attune.compile(bert.path, tmp_path / "x.so", dtype="f16")
    with pytest.raises(attune.CompileError, match="unknown flag '--nonsense'"):
        attune.Model(bert.path, nonsense=1)
    with pytest.raises(attune.InvalidArgumentError, match="expected a name that ends with .so"):
        attune.compile(bert.path, tmp_path / "x")
    with pytest.raises(attune.InvalidArgumentError, match="dtype: only for a model that is compiled"):
        attune.Model(bert.object, dtype="bf16")
    with pytest.raises(attune.InvalidArgumentError, match="limit: expected a text, a number"):
        attune.compile(bert.path, tmp_path / "x.so", limit=object())
    with pytest.raises(attune.NotFoundError, match="no such file or folder"):
        attune.Model(tmp_path / "none.so")
    with pytest.raises(attune.CompileError, match="config.json"):
        attune.Model(tmp_path)
    with pytest.raises(attune.CompileError, match="expected a folder with a tokenizer"):
        attune.Tokenizer(bert.path)
    (tmp_path / "text").write_text("no object")
    with pytest.raises(attune.CorruptError, match="expected a shared object"):
        attune.Model(tmp_path / "text")
    with pytest.raises(attune.CorruptError):
        attune.Tokenizer(tmp_path / "text")
    data = bert.object.read_bytes()
    (tmp_path / "cut.so").write_bytes(data[: len(data) // 2])
    with pytest.raises(attune.CorruptError):
        attune.Model(tmp_path / "cut.so")
    shutil.copy(bert.object, tmp_path / "alone.so")
    with pytest.raises(attune.NotFoundError, match="weights"):
        attune.Model(tmp_path / "alone.so")
    assert attune.Model(tmp_path / "alone.so", weights=bert.object.parent)([[101]]).pooler_output.shape == (1, 128)
    monkeypatch.setenv("ATTUNE_COMMAND", str(tmp_path / "none"))
    with pytest.raises(attune.NotFoundError, match="ATTUNE_COMMAND: expected a program"):
        attune.compile(bert.path, tmp_path / "x.so")
    monkeypatch.delenv("ATTUNE_COMMAND")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(attune.NotFoundError, match="needs the command 'attune'"):
        attune.compile(bert.path, tmp_path / "x.so")


def test_warnings(bert, tmp_path):
    config = json.loads((bert.path / "config.json").read_text())
    shutil.copytree(bert.path, tmp_path / "folder")
    config["architectures"] = ["BertForMaskedLM"]
    (tmp_path / "folder/config.json").write_text(json.dumps(config))
    with (
        pytest.warns(attune.CompileWarning, match="the tensors are not those of BertForMaskedLM"),
        pytest.raises(attune.CompileError),
    ):
        attune.compile(tmp_path / "folder", tmp_path / "x.so")


def test_threads_come_from_the_environment(bert, monkeypatch):
    monkeypatch.setenv("ATTUNE_THREADS", "1")
    assert attune.Model(bert.object).session(batch=1, length=4).num_threads == 1
    for wrong in ("0", "many", "5000"):
        monkeypatch.setenv("ATTUNE_THREADS", wrong)
        with pytest.raises(attune.InvalidArgumentError, match="ATTUNE_THREADS: expected an integer in 1..1024"):
            attune.Model(bert.object)
    for wrong in (0, -1, True, 1.5, "2"):
        with pytest.raises(attune.InvalidArgumentError, match="threads: expected an integer"):
            attune.Model(bert.object, threads=wrong)


def test_every_status_has_a_class():
    from attune import _attune
    from attune.errors import error_class

    names = []
    for status in range(1, 20):
        name = _attune.status_name(status)
        if name != "unknown status":
            names.append(name)
            assert error_class(status).status == name
    assert len(names) == 10 and len({error_class(i) for i in range(1, 11)}) == 10
