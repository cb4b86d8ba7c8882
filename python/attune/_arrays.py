# ===- _arrays.py - Arrays of numbers --------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions to the dense arrays that the runtime reads. Imports NumPy, so it is imported at first use."""

from __future__ import annotations

from typing import Any

import numpy

from attune.errors import InvalidArgumentError


def as_dense(value: Any, name: str, dtype: str) -> numpy.ndarray[Any, Any]:
    """Returns |value|, a strided array or a list of numbers, as a dense array in row-major order. |dtype| is the type
    that the model declares, "f32", "i64" or "" if it is not known: a list of integers may become floats, but a list of
    floats no integers."""
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array_interface__"):
        return numpy.ascontiguousarray(numpy.from_dlpack(value))
    is_list = isinstance(value, (int, float, list, tuple))
    try:
        array = numpy.asarray(value)
    except (ValueError, OverflowError):
        raise InvalidArgumentError("expected a list of numbers in rows of the same length") from None
    if is_list:
        if array.dtype.kind not in "iuf" or (array.size == 0 and array.dtype.kind == "f" and dtype == "i64"):
            raise InvalidArgumentError("expected a list of numbers in rows of the same length")
        if dtype == "i64" and array.dtype.kind == "f":
            raise InvalidArgumentError("expected integers, got a list with floats")
        if array.dtype.kind == "u":
            raise InvalidArgumentError("an integer has more than 64 bits")
        target = numpy.float32 if dtype == "f32" or array.dtype.kind == "f" else numpy.int64
        with numpy.errstate(over="ignore"):  # a float above the range of float32 is infinite, as in NumPy
            array = array.astype(target, copy=False)
    # Not ascontiguousarray, which makes an array of rank 0 one of rank 1.
    return numpy.require(array, requirements=("C", "A"))
