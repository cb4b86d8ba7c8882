//===- NumpyArrays.h - New arrays of NumPy ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_PYTHON_NUMPYARRAYS_H
#define ATTUNE_PYTHON_NUMPYARRAYS_H

#include "Errors.h"

namespace attune::python {

/// Returns a new array of NumPy, which is imported at the first call. |dtype| is F32, I64 or I32.
nb::object makeArray(attune_dtype dtype, const int64_t *shape, uint32_t rank);
/// Returns a new array with a copy of |values|.
nb::object copyArray(attune_dtype dtype, const int64_t *shape, uint32_t rank, const void *values);

} // namespace attune::python

#endif // ATTUNE_PYTHON_NUMPYARRAYS_H
