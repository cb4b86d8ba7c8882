# ===- errors.py - Exceptions ----------------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One class for each status of the runtime. The text of an exception is the runtime's: one line that names the tensor,
file or setting, what was expected and what was found."""

from __future__ import annotations


class Error(Exception):
    """The base of all exceptions of this package; `status` is the name of the runtime's status."""

    status = "ATTUNE_INTERNAL"


class InvalidArgumentError(Error, ValueError):
    """An unknown name, or a wrong shape, type or value."""

    status = "ATTUNE_INVALID_ARGUMENT"


class NotFoundError(Error, FileNotFoundError):
    """No such file, or no weights file with the object's build id."""

    status = "ATTUNE_NOT_FOUND"


class FileAccessError(Error, OSError):
    """The system refused to open, read or map a file."""

    status = "ATTUNE_IO_ERROR"


class CorruptError(Error):
    """A file that is damaged, or of another kind."""

    status = "ATTUNE_CORRUPT"


class IncompatibleError(Error):
    """Another version or build, or a CPU feature that this machine lacks."""

    status = "ATTUNE_INCOMPATIBLE"


class LimitExceededError(Error, ValueError):
    """A dimension above the limit of the model or of the session."""

    status = "ATTUNE_LIMIT_EXCEEDED"


class OutOfMemoryError(Error, MemoryError):
    """Memory or threads could not be had."""

    status = "ATTUNE_OUT_OF_MEMORY"


class BusyError(Error):
    """The session or the conversation is running another call."""

    status = "ATTUNE_BUSY"


class InternalError(Error):
    """Compiled code reported failure: a bug."""

    status = "ATTUNE_INTERNAL"


class DeviceError(Error):
    """The GPU or its driver reported failure."""

    status = "ATTUNE_DEVICE_ERROR"


class CompileError(Error):
    """The compiler refused the model or a flag; the text is the compiler's."""

    status = "ATTUNE_INVALID_ARGUMENT"


class CompileWarning(UserWarning):
    """A warning of the compiler."""


def describe(value: object) -> str:
    """Returns |value| for a message: its repr in one short line."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # the repr of a class of the caller
        text = f"an object of the class {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


# In the order of attune_status, without ATTUNE_OK.
_CLASSES: tuple[type[Error], ...] = (
    InvalidArgumentError,
    NotFoundError,
    FileAccessError,
    CorruptError,
    IncompatibleError,
    LimitExceededError,
    OutOfMemoryError,
    BusyError,
    InternalError,
    DeviceError,
)


def error_class(status: int) -> type[Error]:
    """Returns the class of the runtime's |status|, a number above 0."""
    return _CLASSES[status - 1] if 1 <= status <= len(_CLASSES) else Error
