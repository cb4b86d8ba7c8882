# ===- _arguments.py - Checks of arguments ----------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of arguments that SentenceTransformer and pipelines share. All fail with InvalidArgumentError."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Sequence

from attune.errors import InvalidArgumentError, describe

if TYPE_CHECKING:
    from attune.model import Model


def check_integer(name: str, value: Any, least: int = 1, most: int = 2**31 - 1) -> int:
    """Returns |value|, an integer of |least| to |most|."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidArgumentError(f"{name}: expected an integer of {least} to {most}, got {describe(value)}")
    return value


def check_flag(name: str, value: Any) -> bool | None:
    """Returns |value|, True, False or None."""
    if value is not None and not isinstance(value, bool):
        raise InvalidArgumentError(f"{name}: expected True or False, got {describe(value)}")
    return value


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Returns |value| in lower case, a text or a member of an enumeration; |choices| are in lower case."""
    word = getattr(value, "value", value)
    if not isinstance(word, str) or word.lower() not in choices:
        raise InvalidArgumentError(f"{name}: expected one of {', '.join(choices)}, got {describe(value)}")
    return word.lower()


def refuse(origin: str, arguments: Mapping[str, Any], unsupported: Mapping[str, str]) -> dict[str, Any]:
    """Returns |arguments| without those that |unsupported| names; fails if one of these is neither None nor False."""
    for name, reason in unsupported.items():
        value = arguments.get(name)
        if value is not None and value is not False:
            raise InvalidArgumentError(f"{origin}: '{name}' is not supported: {reason}")
    return {name: value for name, value in arguments.items() if name not in unsupported}


def check_device(model: Model, device: Any) -> None:
    """Fails unless |device| is that of |model|: None, a text as "cpu" and "cuda:0", a device of PyTorch, or the number of a
    GPU, -1 for the CPU. The number of the GPU is not compared."""
    if device is None:
        return
    if isinstance(device, int):
        kind = "cpu" if device == -1 else "cuda"
    else:
        kind = str(device).partition(":")[0]
    if kind != model.device:
        raise InvalidArgumentError(
            f"device: expected '{model.device}', for which the model is compiled, got {describe(device)}"
        )
