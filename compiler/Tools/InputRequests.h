//===- InputRequests.h - Inputs that a compilation is asked for -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_INPUTREQUESTS_H
#define ATTUNE_COMPILER_TOOLS_INPUTREQUESTS_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Support/SafetensorsWriter.h"

namespace attune {

/// Returns the request for an input with the name and the rank of |tensor|, of type F32 if |tensor| has floats, else
/// I64. An input of rank 4, and one of rank 3 whose name ends with "mask", is broadcast along each dimension that has
/// the size 1 in |tensor|, except the last dimension, which is that of the keys.
InputRequest requestInput(const TensorSpec &tensor);
/// Adds to |options| the requests for |inputs| (requestInput) and for inputs called |names|, whose type and shape the
/// model defines. Does nothing if |options| has requests already, or if the model is a file of IR, whose inputs are
/// fixed.
void requestInputs(CompileOptions &options, const std::vector<TensorSpec> &inputs, const std::vector<std::string> &names);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_INPUTREQUESTS_H
