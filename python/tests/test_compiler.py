# ===- test_compiler.py - Compilation from Python --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time

import pytest

import attune
from attune import compiler
from conftest import COMMAND, ROOT, run_attune, run_threads


# By the command, and by the library of this package.
both = pytest.mark.parametrize("in_process", [False, True])


@both
def test_files_equal_the_command_lines(chat, tmp_path, in_process):
    (tmp_path / "by-command").mkdir()
    run_attune("compile", chat.path, "-o", tmp_path / "by-command/model.so", "--emit=shared", "--dtype=bf16")
    (tmp_path / "by-package").mkdir()
    attune.compile(
        chat.path, tmp_path / "by-package/model.so", progress=False, in_process=in_process, dtype="bf16"
    )
    names = sorted(os.listdir(tmp_path / "by-command"))
    assert names == ["model.h", "model.so", "model.text", "model.weights"]
    assert names == sorted(os.listdir(tmp_path / "by-package"))
    for name in names:
        assert (tmp_path / "by-package" / name).read_bytes() == (tmp_path / "by-command" / name).read_bytes(), name


@both
def test_progress(bert, tmp_path, in_process):
    steps = []
    threads = set()

    def show(*step):
        steps.append(step)
        threads.add(threading.get_ident())

    attune.compile(bert.path, tmp_path / "x.o", progress=show, in_process=in_process, limit={"length": 64})
    assert threads == {threading.get_ident()} and len(steps) <= 101
    assert (
        steps
        and all(work == "packing" and done <= total for work, done, total in steps)
        and steps[-1][1] == steps[-1][2]
    )

    def fails(*_):
        raise KeyboardInterrupt

    (tmp_path / "none").mkdir()
    with pytest.raises(KeyboardInterrupt):
        attune.compile(bert.path, tmp_path / "none/y.o", progress=fails, in_process=in_process)
    assert os.listdir(tmp_path / "none") == []


# Compiles, is interrupted when the first part of the weights is packed, and says what came of it.
INTERRUPTED = """
import os, signal, sys
import attune
former = signal.getsignal(signal.SIGINT)
model, out, in_process = sys.argv[1], sys.argv[2], sys.argv[3] == "True"
try:
    if out:
        attune.compile(model, out, progress=lambda *step: os.kill(os.getpid(), signal.SIGINT), in_process=in_process)
    else:
        attune.Model(model, progress=lambda *step: os.kill(os.getpid(), signal.SIGINT), in_process=in_process)
except KeyboardInterrupt:
    assert signal.getsignal(signal.SIGINT) is former
    print("interrupted")
"""


@both
def test_interruption_leaves_nothing(tmp_path, monkeypatch, in_process):
    # So many weights that their packing is under way when the signal comes.
    (tmp_path / "config").mkdir()
    config = json.loads((ROOT / "examples/configs/bert-tiny/config.json").read_text())
    config.update(hidden_size=1024, intermediate_size=4096, num_attention_heads=16)
    (tmp_path / "config/config.json").write_text(json.dumps(config))
    run_attune("init", tmp_path / "config", "-o", tmp_path / "model")
    for name in ("cache", "out"):
        (tmp_path / name).mkdir(mode=0o700)
    monkeypatch.setenv("ATTUNE_CACHE_DIR", str(tmp_path / "cache"))
    for out in (tmp_path / "out/model.so", ""):
        done = subprocess.run(
            [sys.executable, "-c", INTERRUPTED, tmp_path / "model", str(out), str(in_process)],
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")
        assert os.listdir(tmp_path / "out") == []
        # A program that was ended leaves the file that processes lock.
        assert {path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()} <= {"lock"}
        assert in_process is False or os.listdir(tmp_path / "cache") == []


def test_other_threads_run_while_this_process_compiles(bert, tmp_path):
    counted, done = [0], threading.Event()

    def count(_):
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    def compile(number):
        try:
            attune.compile(bert.path, tmp_path / f"{number}.so", progress=False, in_process=True, name="model")
        finally:
            done.set()

    run_threads(lambda number: count(number) if number == 0 else compile(number), 3)
    assert counted[0] > 20
    assert (tmp_path / "1.so").read_bytes() == (tmp_path / "2.so").read_bytes()


def test_import_loads_no_compiler():
    program = "import sys, attune; print('ctypes' in sys.modules, 'LLVM' in open('/proc/self/maps').read())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_command_of_the_package(bert, monkeypatch):
    """`python -m attune` is the command of the package, and gives the same cached models as the one of the build folder."""
    monkeypatch.delenv("ATTUNE_COMMAND")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    done = subprocess.run(
        [sys.executable, "-m", "attune", "compile", bert.path, "--cached"], capture_output=True, text=True, check=True
    )
    assert compiler.find_command() == os.path.join(os.path.dirname(attune.__file__), "bin", "attune")
    assert done.stdout == run_attune("compile", bert.path, "--cached")


@both
def test_cache_is_the_command_lines(chat, tmp_path, monkeypatch, in_process):
    monkeypatch.setenv("ATTUNE_CACHE_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    model = attune.Model(chat.path, progress=False, in_process=in_process, limit={"length": 64})
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
    run, removed = compiler._run_compile, []

    def remove_once(*arguments):
        path = run(*arguments)
        if not removed:
            removed.append(path)
            shutil.rmtree(os.path.dirname(path.strip()))
        return path

    monkeypatch.setattr(compiler, "_run_compile", remove_once)
    assert attune.Model(bert.path, progress=False)([[101]]).pooler_output.shape == (1, 128)
    assert removed


@pytest.mark.parametrize(
    "flags, out",
    [
        ({"dtype": "f16"}, "x.so"),
        ({"dtype": "f99"}, "x.so"),
        ({"nonsense": 1}, "x.so"),
        ({"limit": {"width": 1}}, "x.so"),
        ({"target": "tpu"}, "x.so"),
        ({"architecture": "BertForEverything"}, "x.so"),
        ({"cached": True}, "x.so"),
        ({"calibrate": "/none", "dtype": "int8", "weights_format": "int4:32"}, "x.so"),
        ({"dtype": "int8", "weights_format": "int4:32,nothing=int8:32"}, "x.so"),
        ({}, "none/x.so"),
        ({}, "x\n.so/x.so"),
        ({"emit": "asm", "compile_to": "nowhere"}, "x.so"),
    ],
)
def test_errors_are_the_commands(bert, tmp_path, flags, out):
    texts = set()
    for in_process in (False, True):
        with pytest.raises(attune.CompileError) as caught:
            attune.compile(bert.path, tmp_path / out, in_process=in_process, **flags)
        texts.add(str(caught.value))
    assert len(texts) == 1 and "\n" not in texts.pop()
    assert os.listdir(tmp_path) == []


def test_bad_models_are_refused_in_process(bert, tmp_path):
    for name, content in (("config.json", b"{"), ("config.json", b"["*100000), ("model.safetensors", b"\xff" * 100)):
        shutil.rmtree(tmp_path / "folder", ignore_errors=True)
        shutil.copytree(bert.path, tmp_path / "folder")
        (tmp_path / "folder" / name).write_bytes(content)
        with pytest.raises(attune.CompileError, match=name) as caught:
            attune.compile(tmp_path / "folder", tmp_path / "x.so", in_process=True)
        with pytest.raises(attune.CompileError) as other:
            attune.compile(tmp_path / "folder", tmp_path / "x.so")
        assert str(caught.value) == str(other.value)
    with pytest.raises(attune.CompileError, match="--help: only on the command line"):
        attune.compile(bert.path, tmp_path / "x.so", in_process=True, help=True)
    with pytest.raises(attune.InvalidArgumentError, match="in_process: expected True or False, got 1"):
        attune.compile(bert.path, tmp_path / "x.so", in_process=1)


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


def test_long_outputs(tmp_path, monkeypatch):
    """Output of more bytes than a pipe takes is read while standard error is open."""
    program = tmp_path / "attune"
    program.write_text(
        f"#!{sys.executable}\nimport signal, sys\nsignal.alarm(60)\n"
        "print('x' * 1000000)\nprint('attune: warning: ' + 'y' * 1000000, file=sys.stderr)\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("ATTUNE_COMMAND", str(program))
    with pytest.warns(attune.CompileWarning, match="y{1000000}"):
        assert compiler.run_command([]) == "x" * 1000000 + "\n"


@both
def test_warnings(bert, tmp_path, in_process):
    config = json.loads((bert.path / "config.json").read_text())
    shutil.copytree(bert.path, tmp_path / "folder")
    config["architectures"] = ["BertForMaskedLM"]
    (tmp_path / "folder/config.json").write_text(json.dumps(config))
    with (
        pytest.warns(attune.CompileWarning, match="the tensors are not those of BertForMaskedLM") as found,
        pytest.raises(attune.CompileError),
    ):
        attune.compile(tmp_path / "folder", tmp_path / "x.so", in_process=in_process)
    assert [warning.filename for warning in found] == [__file__]


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
