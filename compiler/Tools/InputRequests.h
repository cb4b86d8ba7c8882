//===- InputRequests.h - Inputs that a compilation is asked for -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#ifndef ATTUNE_COMPILER_TOOLS_INPUTREQUESTS_H
#define ATTUNE_COMPILER_TOOLS_INPUTREQUESTS_H

#include "compiler/Driver/CompileOptions.h"
#include "compiler/Support/SafetensorsWriter.h"

namespace attune {

/// Returns the request for an input like |tensor|. Inputs of rank 4 and masks of rank 3 are broadcast along those
/// dimensions that have the size 1 in |tensor|, except the last one, that of the keys.
InputRequest requestInput(const TensorSpec &tensor);
/// Requests inputs like |inputs|, and others called |names| in the form that the model defines, unless |options| has
/// requests already. Does nothing if the model is a file of IR, whose inputs are fixed.
void requestInputs(CompileOptions &options, const std::vector<TensorSpec> &inputs, const std::vector<std::string> &names);

} // namespace attune

#endif // ATTUNE_COMPILER_TOOLS_INPUTREQUESTS_H
