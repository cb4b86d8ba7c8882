# ===- _library.py - The compiler in this process --------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls the functions of compiler/Tools/CompilerLibrary.h, in the shared library of this package, which is loaded at the first
compilation. The compiler works on a thread of its own, without the interpreter's lock; the caller's thread shows progress and
sees interruptions, so that no handler of signals changes."""

from __future__ import annotations

import ctypes
import os
import queue
import threading
from typing import Any, Callable

from attune.errors import BusyError, NotFoundError

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_PATH = os.path.join(_FOLDER, "lib", "libattune_compiler.so")
# The stack that the system gives the command.
_STACK = 8 << 20

_Warning = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
_Progress = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64)


class _Events(ctypes.Structure):
    """attune_compiler_events."""

    _fields_ = [
        ("context", ctypes.c_void_p),
        ("warning", _Warning),
        ("progress", _Progress),
        ("stop", ctypes.POINTER(ctypes.c_int)),
    ]


_lock = threading.Lock()
_loaded: ctypes.CDLL | None = None
# The process that loaded it: threads of LLVM's pool, for which a compilation waits, do not survive a fork.
_process = 0


def is_available() -> bool:
    """Returns True if this package has the library."""
    return os.path.exists(_PATH)


def _load() -> ctypes.CDLL:
    """Returns the library."""
    global _loaded, _process
    if _process not in (0, os.getpid()):
        raise BusyError(
            "in_process: this process was forked from one that has compiled; in_process=False compiles by the command attune"
        )
    with _lock:
        if _loaded is None:
            if not is_available():
                raise NotFoundError(
                    "in_process: this package was built without the compiler; in_process=False compiles by the command attune"
                )
            try:
                library = ctypes.CDLL(_PATH)
            except OSError as error:
                raise NotFoundError(f"in_process: the compiler cannot be loaded: {error}") from None
            library.attune_compiler_set_program.restype = None
            library.attune_compiler_set_program.argtypes = [ctypes.c_char_p]
            library.attune_compiler_compile.restype = ctypes.c_int
            library.attune_compiler_compile.argtypes = [
                ctypes.POINTER(ctypes.c_char_p),
                ctypes.c_size_t,
                ctypes.POINTER(_Events),
                ctypes.POINTER(ctypes.c_void_p),
            ]
            library.attune_compiler_free.restype = None
            library.attune_compiler_free.argtypes = [ctypes.c_void_p]
            library.attune_compiler_set_program(os.fsencode(os.path.join(_FOLDER, "bin", "attune")))
            _loaded, _process = library, os.getpid()
        return _loaded


def _start(work: Callable[[], None]) -> threading.Thread:
    """Starts |work| on a thread with the stack of a command."""
    thread = threading.Thread(target=work, name="attune-compile")
    with _lock:
        former = threading.stack_size(_STACK)
        try:
            thread.start()
        finally:
            threading.stack_size(former)
    return thread


def compile(
    arguments: list[str], show: Callable[[str, int, int], None] | None, warn: Callable[[str], None]
) -> tuple[bool, str]:
    """Executes `attune compile` with |arguments|, those behind `compile`. Calls |show| with progress and |warn| with each
    warning. Returns True and, with --cached, the path of the kept object, else "", or False and the error. An exception
    of |show| or |warn|, or KeyboardInterrupt, ends the compilation, which then leaves no files."""
    library = _load()
    stop = ctypes.c_int(0)
    happened: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()

    def decode(text: bytes) -> str:
        return text.decode(errors="replace")

    events = _Events(
        None,
        _Warning(lambda _, message: happened.put(("warning", decode(message)))),
        _Progress(lambda _, work, done, total: happened.put(("progress", (decode(work), done, total)))),
        ctypes.pointer(stop),
    )
    words = (ctypes.c_char_p * len(arguments))(*map(os.fsencode, arguments))

    def work() -> None:
        result = ctypes.c_void_p()
        end = (False, "the compilation could not be started")
        try:
            status = library.attune_compiler_compile(words, len(arguments), ctypes.byref(events), ctypes.byref(result))
            text = os.fsdecode(ctypes.string_at(result.value)) if result.value else "out of memory"
            library.attune_compiler_free(result)
            end = (status == 0, text)
        finally:
            happened.put(("end", end))

    thread = None
    try:
        thread = _start(work)
        while True:
            kind, value = happened.get()
            if kind == "end":
                succeeded, text = value
                return succeeded, text
            if kind == "warning":
                warn(value)
            elif show:
                show(*value)
    finally:
        stop.value = 1
        while thread and thread.is_alive():
            try:
                thread.join()
            except KeyboardInterrupt:  # the compilation is about to end already
                pass
