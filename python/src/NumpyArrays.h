//===- NumpyArrays.h - New arrays of NumPy ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_NUMPYARRAYS_H
#define ATTUNE_PYTHON_NUMPYARRAYS_H

#include "Errors.h"

namespace attune::python {

/// Returns a new NumPy array of |shape| [rank] with undefined elements. |dtype| is F32, I64 or I32. The first call
/// imports NumPy.
nb::object makeArray(attune_dtype dtype, const int64_t *shape, uint32_t rank);
/// Returns a new NumPy array with a copy of |values|, the elements in row-major order.
nb::object copyArray(attune_dtype dtype, const int64_t *shape, uint32_t rank, const void *values);

} // namespace attune::python

#endif // ATTUNE_PYTHON_NUMPYARRAYS_H
