# ===- compiler.py - Compilation -------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles model folders by the command `attune`: that which the environment variable ATTUNE_COMMAND names, else the one
in this package, else the one on the PATH. On request, compiles by the library of this package in this process. The compile
cache is that of the command line."""

from __future__ import annotations

import os
import re
import warnings
from typing import IO, Any, Callable, Union

from attune.errors import CompileError, CompileWarning, InvalidArgumentError, NotFoundError, describe

StrPath = Union[str, "os.PathLike[str]"]
# A function of (work, done, total), or True for a bar of tqdm where it is installed, on a terminal or in a notebook. The work
# "packing" counts bytes, "calibrating" steps.
Progress = Union[bool, Callable[[str, int, int], None]]

_REPEATED = ("limit", "adapter")
_EMIT = {".so": "shared", ".o": "object", ".s": "asm", ".ptx": "ptx"}


def find_command() -> str:
    """Returns the path of the command `attune`. Fails with NotFoundError if there is none."""
    named = os.environ.get("ATTUNE_COMMAND")
    if named:
        if not os.access(named, os.X_OK):
            raise NotFoundError(f"ATTUNE_COMMAND: expected a program, got '{named}'")
        return named
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "attune")
    if os.access(beside, os.X_OK):
        return beside
    import shutil

    found = shutil.which("attune")
    if not found:
        raise NotFoundError(
            "compiling needs the command 'attune', which is neither in this package nor on the PATH; ATTUNE_COMMAND may name it"
        )
    return found


def format_flags(flags: dict[str, Any]) -> list[str]:
    """Returns |flags| as arguments: `limit={"batch": 8}` as `--limit=batch=8`, `dtype="bf16"` as `--dtype=bf16`, a list
    as words between commas, but `limit` and `adapter` as several flags, and True as a flag without a value. None and
    False leave a flag out."""
    words: list[str] = []
    for name, value in flags.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
            continue
        if isinstance(value, dict):
            value = [f"{key}={item}" for key, item in value.items()]
        if isinstance(value, (list, tuple)):
            items = [str(item) for item in value]
        elif isinstance(value, (str, int, float, os.PathLike)):
            items = [str(value)]
        else:
            raise InvalidArgumentError(
                f"{name}: expected a text, a number, a list or a dictionary, got {type(value).__name__}"
            )
        if any("\0" in item for item in items):
            raise InvalidArgumentError(f"{name}: the value contains NUL")
        words += [f"{flag}={item}" for item in items] if name in _REPEATED else [f"{flag}={','.join(items)}"]
    return words


def _bar(progress: Progress) -> Callable[[str, int, int], None] | None:
    """Returns the function that shows progress, None for none."""
    if callable(progress):
        return progress
    if not progress:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    bars: dict[str, Any] = {}

    def show(work: str, done: int, total: int) -> None:
        if work not in bars:
            # disable=None: tqdm shows no bar where standard error is no terminal.
            bars[work] = tqdm(total=total, desc=work, unit="B" if work == "packing" else "it", unit_scale=True, disable=None, leave=False)
        bars[work].update(done - bars[work].n)
        if done >= total:
            bars[work].close()

    return show


def _read_messages(lines: IO[str], progress: Progress) -> tuple[str, list[str]]:
    """Reads what the command prints to standard error; returns the error and the warnings."""
    show = _bar(progress)
    error, rest = "", []
    found: list[str] = []
    for line in lines:
        line = line.rstrip("\n")
        step = re.fullmatch(r"progress: (\w+) (\d+) (\d+)", line)
        message = re.match(r"attune: (error|warning): (.*)", line)
        if step:
            if show:
                show(step[1], int(step[2]), int(step[3]))
        elif message and message[1] == "error":
            error = error or message[2]
        elif message:
            found.append(message[2])
        else:
            rest.append(line)
    return error or " ".join(rest[-3:]), found


def run_command(arguments: list[str], progress: Progress = False, caller: int = 3) -> str:
    """Runs `attune` with |arguments|; returns what it prints to standard output. Its errors become
    CompileError. Its warnings become CompileWarning, at the line of the function |caller| - 1 levels above this one."""
    import subprocess
    import threading

    command = find_command()
    try:
        process = subprocess.Popen(
            [command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise NotFoundError(f"{command}: {error.strerror}") from None
    with process:
        assert process.stdout and process.stderr
        # Two pipes are read at the same time: a command that waits until one of them has room writes nothing to the other.
        stdout, outputs, failures = process.stdout, list[str](), list[BaseException]()

        def read_output() -> None:
            try:
                outputs.append(stdout.read())
            except BaseException as error:  # raised in the thread that waits
                failures.append(error)

        reader = threading.Thread(target=read_output, name="attune-output", daemon=True)
        try:
            reader.start()
            message, found = _read_messages(process.stderr, progress)
            reader.join()
            if failures:
                raise failures[0]
        except BaseException:
            # A signal interrupted this process, or the caller's function failed: the command ends, too, and leaves nothing half-written.
            process.terminate()
            raise
    for warning in found:
        warnings.warn(warning, CompileWarning, stacklevel=caller)
    if process.returncode < 0:
        raise CompileError(
            f"the command attune was ended by signal {-process.returncode}" + (f": {message}" if message else "")
        )
    if process.returncode == 127:  # the status of the loader, which did not find a library
        raise NotFoundError(f"{command}: {message or 'it cannot be started'}")
    if process.returncode:
        raise CompileError(message or f"the command attune failed with status {process.returncode}")
    return "".join(outputs)


def _run_compile(arguments: list[str], progress: Progress, in_process: bool) -> str:
    """Runs `attune compile` with |arguments|, by the library of this package if |in_process| is true. Returns the path
    of the kept object if |arguments| have --cached; otherwise what the command prints, or "" if |in_process|."""
    if not isinstance(in_process, bool):
        raise InvalidArgumentError(f"in_process: expected True or False, got {describe(in_process)}")
    if not in_process:
        return run_command(["compile", "--progress", *arguments], progress, caller=4)
    from attune import _library

    found: list[str] = []
    succeeded, text = _library.compile(arguments, _bar(progress), found.append)
    for warning in found:
        warnings.warn(warning, CompileWarning, stacklevel=3)
    if not succeeded:
        raise CompileError(text)
    return text


def compile(
    model: StrPath, out: StrPath, *, progress: Progress = True, in_process: bool = False, **flags: Any
) -> str:
    """Compiles |model|, a model folder, a .gguf or a .mlir file, to |out| and the files beside it; returns |out|.

    |out| is a shared object (`.so`), which this package runs, or an object (`.o`), assembly (`.s`) or PTX (`.ptx`).
    |flags| are those of `attune compile` with underscores: dtype="bf16", cpu="x86-64-v3", limit={"length": 128},
    padding="skip", outputs=["hidden_states"], adapter=["adapter:0.5"]. |progress| is True for a bar of tqdm, where it is
    installed, or a function of (work, done, total), where the work "packing" counts bytes.

    in_process=True compiles in this process, if the package has the compiler: without the start of a program, but also
    without its protection. What ends the command, as a lack of memory, would end this process. The files are the same.

    Fails with CompileError, whose text is the compiler's, and with NotFoundError without a compiler.
    """
    target = os.fspath(out)
    suffix = os.path.splitext(target)[1]
    if "emit" not in flags:
        if suffix not in _EMIT:
            raise InvalidArgumentError(f"{target}: expected a name that ends with .so, .o, .s or .ptx, or emit=")
        flags["emit"] = _EMIT[suffix]
    _run_compile([_operand(model), "-o", _operand(out), *format_flags(flags)], progress, in_process)
    return target


def _operand(path: StrPath) -> str:
    """Returns |path| so that it is no flag."""
    text = os.fspath(path)
    if not isinstance(text, str) or not text or "\0" in text:
        raise InvalidArgumentError(f"expected a path without NUL, got {describe(text)}")
    return os.path.join(".", text) if text.startswith("-") else text


class KeptModel:
    """A lock on the model at `path` in the compile cache, which keeps the model as long as this object lives."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = -1
        lock = os.path.join(os.path.dirname(path), "lock")
        self._lock = os.open(lock, os.O_RDONLY)
        import fcntl
        import struct

        # A shared lock of byte 1, as the command line takes it; it belongs to the open file description. struct flock: type, whence,
        # start, length, pid.
        fcntl.fcntl(self._lock, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 1, 1, 0))
        if os.stat(lock).st_ino != os.fstat(self._lock).st_ino or not os.path.exists(path):
            raise FileNotFoundError(path)

    def __del__(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)


def compile_cached(
    model: StrPath, *, progress: Progress = True, in_process: bool = False, **flags: Any
) -> KeptModel:
    """Returns the compiled |model| of the compile cache, where the command line keeps its models, too; compiles it at first
    use, or when a file or a flag changes."""
    arguments = [_operand(model), "--cached", *format_flags(flags)]
    for attempt in range(4):
        path = _run_compile(arguments, progress, in_process).rstrip("\n")
        try:
            return KeptModel(path)
        except OSError:  # another process has removed the model since, to make room
            if attempt == 3:
                raise
    raise AssertionError("not reached")
